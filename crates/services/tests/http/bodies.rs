//! What comes back: content, files, limits, responses that never end, and none at all.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use crate::support::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

#[tokio::test]
async fn a_response_is_status_headers_and_content() {
    let server = Server::start(|_| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Set-Cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("x-caf", "caf\u{e9}"),
        ];
        respond(201, &headers, r#"{"amount": 1.10, "big": 12345678901234567890123}"#)
    })
    .await;
    let answer = service_for(&server, "").send(&get(server.url("/"))).await.expect("an answer");
    assert_eq!(answer["statusCode"], 201);
    assert_eq!(answer["headers"]["Content-Type"], "application/json");
    assert_eq!(answer["headers"]["Set-Cookie"], json!(["a=1", "b=2"]));
    assert_eq!(answer["content"].to_string(), r#"{"amount":1.10,"big":12345678901234567890123}"#);
}

#[tokio::test]
async fn a_file_arrives_byte_for_byte() {
    let server = Server::start(|_| respond(200, &[("Content-Type", "application/json")], b"\0\xff{\"a\"")).await;
    let task = named_task("Elsa.DownloadHttpFile", json!({"Url": server.url("/")}));
    let service = service_for(&server, "");
    assert_eq!(service.send(&task).await.expect("an answer")["content"], BASE64.encode(b"\0\xff{\"a\""));
    let download = service.download(&server.url("/a.csv"), 6, &task).await.expect("a file");
    assert_eq!(
        (&*download.content, download.content_type.as_deref()),
        (&b"\0\xff{\"a\""[..], Some("application/json"))
    );
}

#[tokio::test]
async fn a_download_fails_by_its_status() {
    let server = Server::start(|request| respond(request.path[1..].parse().expect("a status"), &[], "")).await;
    let (service, task) = (service_for(&server, ""), get(""));
    for status in [404, 429, 503] {
        let failure = service.download(&server.url(&format!("/{status}")), 1, &task).await.expect_err("a failure");
        assert_eq!(failure.code, format!("http_{status}"));
    }
}

#[tokio::test]
async fn compressed_content_is_decompressed() {
    let server = Server::start(|request| {
        assert!(request.header("accept-encoding").is_some_and(|value| value.contains("gzip")));
        respond(200, &[("Content-Encoding", "gzip"), ("Content-Type", "text/plain")], gzip(b"some text"))
    })
    .await;
    let answer = service_for(&server, "").send(&get(server.url("/"))).await.expect("an answer");
    assert_eq!(answer["content"], "some text");
}

#[tokio::test]
async fn large_bodies_are_refused_however_they_are_sent() {
    let server = Server::start(|request| match request.path.as_str() {
        "/announced" => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\n".to_vec()), Step::Stall],
        "/bomb" => respond(200, &[("Content-Encoding", "gzip")], gzip(&vec![0; 100_000_000])),
        "/endless" => {
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            std::iter::once(Step::Send(head)).chain(std::iter::repeat_n(Step::Send(chunk), 100)).collect()
        }
        _ => respond(200, &[], vec![b'x'; 1_000_000]),
    })
    .await;
    let service = service_for(&server, "--max-body 1");
    for path in ["/announced", "/bomb", "/endless"] {
        assert_eq!(code(service.send(&get(server.url(path))).await), "too_large", "{path}");
    }
    let answer = service.send(&get(server.url("/largest"))).await.expect("an answer");
    assert_eq!(answer["content"].as_str().map(str::len), Some(1_000_000));
}

#[tokio::test]
async fn services_that_drip_do_not_hold_up_others() {
    let server = Server::start(|request| match request.path.as_str() {
        "/drip" => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n".to_vec();
            vec![Step::Send([head, vec![b'x'; 300_000]].concat()), Step::Stall]
        }
        _ => respond(200, &[], vec![b'x'; 1_000_000]),
    })
    .await;
    let service = Arc::new(service_for(&server, "--max-body 1"));
    for _ in 0..10 {
        let (service, task) = (Arc::clone(&service), get(server.url("/drip")));
        tokio::spawn(async move { drop(service.send(&task).await) });
    }
    while server.received().len() < 10 {
        tokio::task::yield_now().await;
    }
    let mut task = get(server.url("/large"));
    // Before those of the others, which end with their deadlines.
    task.deadline = Instant::now() + Duration::from_secs(300);
    let answer = service.send(&task).await.expect("an answer");
    assert_eq!(answer["content"].as_str().map(str::len), Some(1_000_000), "{}", answer["error"]);
}

/// Each has more than the part that needs no memory before any of them gets the rest.
#[tokio::test]
async fn many_large_bodies_at_once_all_arrive() {
    const BODIES: usize = 40;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let all_begun = Arc::new(tokio::sync::Barrier::new(BODIES));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let all_begun = Arc::clone(&all_begun);
            tokio::spawn(async move {
                let mut head = [0; 4096];
                assert!(stream.read(&mut head).await.expect("a request") > 0);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await.expect("a head");
                stream.write_all(&[b'x'; 300_000]).await.expect("the begin");
                all_begun.wait().await;
                stream.write_all(&[b'x'; 700_000]).await.expect("the rest");
            });
        }
    });
    let service = Arc::new(service(&format!("--max-body 1 --allow-addresses 127.0.0.1:{port}")));
    let mut bodies = tokio::task::JoinSet::new();
    for _ in 0..BODIES {
        let (service, task) = (Arc::clone(&service), get(format!("http://127.0.0.1:{port}/")));
        bodies.spawn(async move { service.send(&task).await });
    }
    for answer in bodies.join_all().await {
        let answer = answer.expect("an answer");
        assert_eq!(answer["content"].as_str().map(str::len), Some(1_000_000), "{}", answer["error"]);
    }
}

/// The error of an answer without a response.
async fn error(server: &Server, path: &str, time: Duration) -> Value {
    let mut task = get(server.url(path));
    task.deadline = Instant::now() + time;
    service_for(server, "").send(&task).await.expect("an answer")["error"].clone()
}

#[tokio::test]
async fn responses_that_do_not_end_time_out() {
    let server = Server::start(|request| match request.path.as_str() {
        "/silent" => vec![Step::Stall],
        "/head" => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()), Step::Stall],
        _ => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome".to_vec()), Step::Stall],
    })
    .await;
    for path in ["/silent", "/head", "/body"] {
        assert_eq!(error(&server, path, Duration::from_millis(300)).await, "timeout", "{path}");
    }
}

#[tokio::test]
async fn broken_responses_are_no_connection() {
    let server = Server::start(|request| match request.path.as_str() {
        "/nothing" => vec![],
        "/nonsense" => vec![Step::Send(b"\0\x01 this is not HTTP\r\n\r\n".to_vec())],
        "/short" => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome".to_vec())],
        "/head" => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-".to_vec())],
        "/both" => vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nsome".to_vec())],
        "/headers" => {
            let many: String = (0..10_000).map(|number| format!("X-{number}: {number}\r\n")).collect();
            vec![Step::Send(format!("HTTP/1.1 200 OK\r\n{many}\r\n").into_bytes())]
        }
        _ => respond(200, &[("Content-Encoding", "gzip")], b"this is not gzip"),
    })
    .await;
    for path in ["/nothing", "/nonsense", "/short", "/head", "/both", "/headers", "/gzip"] {
        assert_eq!(error(&server, path, Duration::from_secs(600)).await, "connect", "{path}");
    }
    // Each request is an attempt that the database counts, so none was repeated.
    assert_eq!(server.received().len(), 7);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_no_connection() {
    // A port where nothing listens.
    let service = service("--allow-addresses 127.0.0.1:1");
    let answer = service.send(&get("http://127.0.0.1:1/?token=hidden")).await.expect("an answer");
    assert_eq!(answer["error"], "connect");
    let message = answer["message"].as_str().expect("a message");
    assert!(message.contains("refused") && !message.contains("hidden"), "{message}");
    let answer = service.send(&get("http://nowhere.example/")).await.expect("an answer");
    assert_eq!(answer["error"], "connect");
    assert!(answer["message"].as_str().is_some_and(|message| message.contains("no such host")), "{answer}");
}

#[tokio::test]
async fn retry_after_is_part_of_the_answer() {
    let server = Server::start(|request| match request.path.as_str() {
        "/busy" => respond(503, &[("Retry-After", "120")], ""),
        "/now" => respond(503, &[("Retry-After", "0")], ""),
        _ => respond(503, &[], ""),
    })
    .await;
    let service = service_for(&server, "");
    assert_eq!(service.send(&get(server.url("/busy"))).await.expect("an answer")["retryAfter"], 120);
    // The delay of the policy applies.
    for path in ["/", "/now"] {
        assert_eq!(service.send(&get(server.url(path))).await.expect("an answer").get("retryAfter"), None, "{path}");
    }
}
