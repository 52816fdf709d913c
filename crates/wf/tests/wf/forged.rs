//! Requests with a forged host or origin.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{Answer, NEVER, World};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// The status of the answer to a request with these lines as its headers.
fn status(world: &World, first: &str, headers: &str) -> String {
    let address = world.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    write!(stream, "{first}\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    String::from_utf8_lossy(&received).split(' ').nth(1).unwrap_or_default().to_owned()
}

/// A page with another host name that resolves to our address could read our answers.
#[test]
fn other_hosts_get_no_answer() {
    let world = World::new();
    let address = world.url.trim_start_matches("http://");
    let port = address.rsplit(':').next().unwrap();
    let key = format!("Authorization: ApiKey {}\r\n", world.key("ada"));
    let of = |host: &str| {
        let headers = format!("Host: {host}\r\n{key}");
        let all = ["/elsa/api/workflow-definitions", "/inbox", "/login", "/static/workflow.css", "/nowhere"]
            .map(|path| status(&world, &format!("GET {path} HTTP/1.1"), &headers));
        assert!(all.iter().all(|one| (one == "421") == (all[0] == "421")), "{host}: {all:?}");
        all[0].clone()
    };
    for host in [address, &format!("localhost:{port}"), &format!("[::1]:{port}")] {
        assert_eq!(of(host), "200", "{host}");
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        "127.0.0.1:1",
        &format!("127.0.0.2:{port}"),
        &format!("{address}.evil.example"),
        &format!("evil.example.{address}"),
        &format!("localhost.evil.example:{port}"),
        &format!("{address}@evil.example"),
        &format!("evil.example@{address}"),
        "",
    ] {
        assert_eq!(of(host), "421", "{host}");
    }
    for first in ["GET /inbox HTTP/1.0", "POST /login HTTP/1.0"] {
        assert_eq!(status(&world, first, ""), "421", "{first}");
    }
    // A request that names two hosts is for the gateway only if both are known.
    let (known, evil) = (format!("Host: {address}\r\n"), "Host: evil.example\r\n");
    let target = |host: &str| format!("GET http://{host}/login HTTP/1.1");
    assert_eq!(status(&world, &target(address), &known), "200");
    for (first, headers) in [
        (target("evil.example"), known.clone()),
        (target(address), evil.to_owned()),
        ("GET /login HTTP/1.1".to_owned(), format!("{known}{evil}")),
        ("GET /login HTTP/1.1".to_owned(), format!("{evil}{known}")),
    ] {
        assert_eq!(status(&world, &first, &headers), "421", "{first} {headers}");
    }
    // A monitoring system need not know the host name, and learns nothing else.
    assert_eq!(status(&world, "GET /readyz HTTP/1.1", "Host: evil.example\r\n"), "200");
}

#[test]
fn behind_a_proxy_its_name_and_origin_count() {
    // Browsers write it in lower case and without the default port.
    let world = World::with(&["--public-url", "https://Workflows.example.com:443/"]);
    let log_in = |headers: &[(&str, &str)]| -> Answer {
        world.send("POST", "/login", &[headers, &[FORM]].concat(), "role=ada&password=lovelace")
    };
    let host = ("Host", "workflows.example.com");
    for origin in [
        world.url.as_str(),
        "http://workflows.example.com",
        "https://workflows.example.com.evil.example",
        "https://workflows.example.com:8443",
        "null",
    ] {
        assert_eq!(log_in(&[host, ("Origin", origin)]).status, 403, "{origin}");
    }
    let answer = log_in(&[host, ("Origin", "https://workflows.example.com")]);
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-workflow=") && set.contains("; Secure"), "{set}");
    assert!(answer.headers.contains_key("strict-transport-security"), "{answer:?}");
    assert_eq!(world.send("GET", "/login", &[("Host", "WORKFLOWS.example.com")], "").status, 200);
    for host in ["workflows.example.com:8443", "example.com", "workflows.example.com.", "x.workflows.example.com"] {
        assert_eq!(world.send("GET", "/login", &[("Host", host)], "").status, 421, "{host}");
    }
}
