//! Addresses that the worker must not connect to, in every spelling, and name servers that change their mind.

use std::sync::Arc;

use workflow_services::http::HttpService;
use workflow_services::secrets::Secrets;

use crate::support::*;

/// URLs that lead to this host, to its network, or nowhere. `P` is the port of a server that listens on all its addresses.
const REFUSED: &[&str] = &[
    // IPv4 in every notation that a URL has.
    "http://127.0.0.1:P/",
    "http://127.0.0.1.:P/",
    "http://127.1:P/",
    "http://127.0.1:P/",
    "http://2130706433:P/",
    "http://0x7f000001:P/",
    "http://0x7f.0.0.1:P/",
    "http://0x7f.1:P/",
    "http://0177.0.0.1:P/",
    "http://017700000001:P/",
    "http://0177.0x0.0.1:P/",
    "http://127.000.000.001:P/",
    "http://0:P/",
    "http://0.0.0.0:P/",
    "http://127.127.127.127:P/",
    "http://①②⑦.⓪.⓪.①:P/",
    "http://127。0。0。1:P/",
    "http://127.0.0.%31:P/",
    "http://%31%32%37.0.0.1:P/",
    "http://１２７.0.0.1:P/",
    "HTTP://127.0.0.1:P/",
    "http:/127.0.0.1:P/",
    "http:127.0.0.1:P/",
    "http:\\\\127.0.0.1:P\\",
    " http://127.0.0.1:P/ ",
    "http://127.0.0.1\t:P/",
    "ht\ntp://127.0.0.1:P/",
    "http://127.0.0.1:0P/",
    // IPv6, also as a spelling of IPv4.
    "http://[::1]:P/",
    "http://[0:0:0:0:0:0:0:1]:P/",
    "http://[::]:P/",
    "http://[::ffff:127.0.0.1]:P/",
    "http://[::ffff:7f00:1]:P/",
    "http://[0:0:0:0:0:ffff:7f00:1]:P/",
    "http://[::127.0.0.1]:P/",
    "http://[::7f00:1]:P/",
    "http://[64:ff9b::127.0.0.1]:P/",
    "http://[64:ff9b::7f00:1]:P/",
    "http://[64:ff9b:1::7f00:1]:P/",
    "http://[2002:7f00:1::]:P/",
    "http://[2002:7f00:1::1]:P/",
    "http://[2001:0:0:0:0:0:80ff:fffe]:P/",
    "http://[2001::80ff:fffe]:P/",
    "http://[fe80::1]:P/",
    "http://[fc00::1]:P/",
    "http://[fd12:3456::1]:P/",
    "http://[ff02::1]:P/",
    "http://[2001:db8::1]:P/",
    "http://[3fff::1]:P/",
    "http://[5f00::1]:P/",
    "http://[100::1]:P/",
    // Networks that are private or special.
    "http://10.0.0.1:P/",
    "http://172.16.0.1:P/",
    "http://192.168.1.1:P/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xA9FEA9FE/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.64.0.1/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    // Names, whatever the name server says about them.
    "http://localhost:P/",
    "http://LOCALHOST:P/",
    "http://localhost.:P/",
    "http://a.localhost:P/",
    "http://lo%63alhost:P/",
    "http://loopback.example:P/",
    "http://loopback6.example:P/",
    "http://mapped.example:P/",
    "http://private.example:P/",
    "http://metadata.example/",
    "http://nat64.example:P/",
    "http://unspecified.example:P/",
    // Other protocols behind public addresses.
    "http://public.example:22/",
    "http://public.example:25/",
    "http://1.1.1.1:6379/",
];

/// What is no URL of a service.
const INVALID: &[&str] = &[
    "",
    "127.0.0.1:P",
    "//127.0.0.1:P/",
    "file:///etc/passwd",
    "ftp://127.0.0.1:P/",
    "gopher://127.0.0.1:P/",
    "data:,x",
    "unix:/var/run/docker.sock",
    "http://",
    "http:///",
    "http://user@127.0.0.1:P/",
    "http://user:password@public.example/",
    "http://public.example@127.0.0.1:P/",
    "http://127.0.0.1:P@public.example/",
    "http://[fe80::1%25lo]:P/",
    "http://[fe80::1%lo]:P/",
    "http://[::1",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://0x100000000/",
    "http://127.0.0.1:99999/",
    "http://public.example:0/",
    "http://a b.example/",
    "http://127.0.0.1\0.example/",
    "javascript:alert(1)",
];

fn names() -> Arc<Names> {
    let names = Names::default();
    for (host, address) in [
        ("loopback.example", "127.0.0.1"),
        ("loopback6.example", "::1"),
        ("mapped.example", "::ffff:127.0.0.1"),
        ("private.example", "10.0.0.1"),
        ("metadata.example", "169.254.169.254"),
        ("nat64.example", "64:ff9b::7f00:1"),
        ("unspecified.example", "0.0.0.0"),
        ("public.example", "1.1.1.1"),
        ("localhost", "1.1.1.1"),
    ] {
        names.add(host, &[&[address]]);
    }
    Arc::new(names)
}

#[tokio::test]
async fn no_spelling_reaches_a_refused_address() {
    assert!(REFUSED.len() >= 60);
    let server = Server::start_at("[::]:0", Arc::new(|_: &Received| respond(200, &[], "reached")), None).await;
    // Another port of the same host is listed.
    let options = options("--allow-addresses 127.0.0.1:1,[::1]:1");
    let service = HttpService::new(&options, Secrets::default(), names()).expect("a service");
    for (urls, expected) in [(REFUSED, "address_refused"), (INVALID, "invalid_request")] {
        for url in urls {
            let url = url.replace(":P", &format!(":{}", server.port)).replace(":0P", &format!(":0{}", server.port));
            assert_eq!(code(service.send(&get(url.clone())).await), expected, "{url:?}");
        }
    }
    // Which option would permit it is said, and not which addresses a name has.
    for host in ["127.0.0.1", "loopback.example"] {
        let failure = service.send(&get(format!("http://{host}:{}/", server.port))).await.expect_err(host);
        assert!(failure.message.contains(&format!("{host}:{}: ", server.port)), "{failure:?}");
        assert!(failure.message.ends_with("allow-addresses lists"), "{failure:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_listed_address_is_reached_in_every_spelling() {
    let server = Server::start(|_| respond(200, &[], "reached")).await;
    let (options, names) = (options(&format!("--allow-addresses 127.0.0.1:{}", server.port)), names());
    let service = HttpService::new(&options, Secrets::default(), names).expect("a service");
    for host in
        ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "loopback.example", "mapped.example", "LOOPBACK.example."]
    {
        let answer = service.send(&get(format!("http://{host}:{}/", server.port))).await.expect(host);
        assert_eq!(answer["content"], "reached", "{host}");
    }
    // Of several addresses, those that are permitted are used.
    assert_eq!(server.connections(), 7);
}

#[tokio::test]
async fn the_connection_goes_to_the_address_that_was_checked() {
    let server = Server::start(|_| respond(200, &[], "reached")).await;
    let refused =
        Server::start_at(&format!("127.0.0.2:{}", server.port), Arc::new(|_| respond(200, &[], "no")), None).await;
    let names = Arc::new(Names::default());
    let both: &[&str] = &["127.0.0.2", "127.0.0.1"];
    names.add("fickle.example", &[&["127.0.0.1"], &["127.0.0.2"], both, &["10.0.0.1", "127.0.0.2"], &["127.0.0.1"]]);
    let options = options(&format!("--allow-addresses 127.0.0.1:{}", server.port));
    let service = HttpService::new(&options, Secrets::default(), Arc::clone(&names) as Arc<_>).expect("a service");
    let url = format!("http://fickle.example:{}/", server.port);
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(match service.send(&get(url.clone())).await {
            Ok(answer) => answer["content"].as_str().unwrap_or_default().to_owned(),
            Err(failure) => failure.code.into_owned(),
        });
    }
    assert_eq!(answers, ["reached", "address_refused", "reached", "address_refused", "reached"]);
    assert_eq!((server.connections(), refused.connections()), (3, 0));
    // A name is looked up once for each connection: nothing can change between the check and the connection.
    assert_eq!(names.asked().len(), 5);
}

#[tokio::test]
async fn a_redirect_is_checked_like_a_request() {
    let hidden = Server::start(|_| respond(200, &[], "reached")).await;
    let port = hidden.port;
    let server = Server::start(move |request| {
        let target = match request.path.as_str() {
            "/address" => format!("http://127.0.0.1:{port}/"),
            "/decimal" => format!("//2130706433:{port}/"),
            "/name" => format!("http://loopback.example:{port}/"),
            "/file" => "file:///etc/passwd".into(),
            "/user" => format!("http://user@127.0.0.1:{port}/"),
            _ => "http://[::1".into(),
        };
        respond(302, &[("Location", &target)], "")
    })
    .await;
    let options = options(&format!("--allow-addresses 127.0.0.1:{}", server.port));
    let service = HttpService::new(&options, Secrets::default(), names()).expect("a service");
    for (path, expected) in [
        ("/address", "address_refused"),
        ("/decimal", "address_refused"),
        ("/name", "address_refused"),
        ("/file", "invalid_request"),
        ("/user", "invalid_request"),
        ("/invalid", "invalid_redirect"),
    ] {
        assert_eq!(code(service.send(&get(server.url(path))).await), expected, "{path}");
    }
    assert_eq!(hidden.connections(), 0);
}
