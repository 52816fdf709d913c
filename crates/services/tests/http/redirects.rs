//! Redirects: methods, headers, limits.

use std::sync::Arc;

use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn the_method_follows_the_rules_of_redirects() {
    let cases = [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (301, "PUT", "PUT"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (302, "GET", "GET"),
        (303, "DELETE", "GET"),
    ];
    for (status, before, after) in cases {
        let server = Server::start(move |request| match request.path.as_str() {
            "/a/first" => respond(status, &[("Location", "second")], ""),
            _ => respond(200, &[], ""),
        })
        .await;
        let inputs =
            json!({"Url": server.url("/a/first"), "Method": before, "Content": "x", "ContentType": "text/plain"});
        let answer = service_for(&server, "").send(&task(inputs)).await.expect("an answer");
        assert_eq!(answer["statusCode"], 200, "{status} {before}");
        let second = &server.received()[1];
        assert_eq!((&*second.path, &*second.method), ("/a/second", after), "{status} {before}");
        let keeps_content = before == after;
        assert_eq!(second.body == "x", keeps_content, "{status} {before}");
        assert_eq!(second.header("content-type").is_some(), keeps_content, "{status} {before}");
    }
}

#[tokio::test]
async fn headers_stay_with_their_origin() {
    let other = Server::start(|_| respond(200, &[], "")).await;
    let target = format!("http://127.0.0.1:{}/", other.port);
    let server = Server::start(move |request| match request.path.as_str() {
        "/elsewhere" => respond(307, &[("Location", &target)], ""),
        "/here" => respond(307, &[("Location", "/end")], ""),
        _ => respond(200, &[], ""),
    })
    .await;
    let service = service(&format!("--allow-addresses 127.0.0.1:{},127.0.0.1:{}", server.port, other.port));
    let inputs = |path: &str| {
        json!({"Url": server.url(path), "Method": "POST", "Content": "x", "ContentType": "text/plain", "Authorization": "Bearer abc",
               "RequestHeaders": {"X-Api-Key": "k", "Cookie": "c=1", "Accept": "text/plain", "traceparent": "00-a-b-01"}})
    };
    service.send(&task(inputs("/here"))).await.expect("an answer");
    let second = &server.received()[1];
    for name in ["authorization", "x-api-key", "cookie", "accept", "idempotency-key", "traceparent", "content-type"] {
        assert!(second.header(name).is_some(), "{name}");
    }
    service.send(&task(inputs("/elsewhere"))).await.expect("an answer");
    let second = &other.received()[0];
    for name in ["accept", "idempotency-key", "traceparent", "content-type"] {
        assert!(second.header(name).is_some(), "{name}");
    }
    for name in ["authorization", "x-api-key", "cookie", "referer"] {
        assert_eq!(second.header(name), None, "{name}");
    }
}

#[tokio::test]
async fn redirects_are_limited() {
    let server = Server::start(|request| {
        let left: u32 = request.path.trim_start_matches('/').parse().expect("a number");
        let target = format!("/{}", left.saturating_sub(1));
        if left == 0 { respond(200, &[], "end") } else { respond(302, &[("Location", &target)], "") }
    })
    .await;
    let service = service_for(&server, "");
    assert_eq!(service.send(&get(server.url("/5"))).await.expect("an answer")["content"], "end");
    assert_eq!(code(service.send(&get(server.url("/6"))).await), "too_many_redirects");
    assert_eq!(server.received().len(), 12);
    let none = service_for(&server, "--max-redirects 0");
    assert_eq!(code(none.send(&get(server.url("/1"))).await), "too_many_redirects");
}

#[tokio::test]
async fn other_statuses_are_answers() {
    let server = Server::start(|request| {
        let status = request.path.trim_start_matches('/').parse().expect("a number");
        let headers: &[(&str, &str)] = if status == 302 { &[] } else { &[("Location", "/200")] };
        respond(status, headers, "")
    })
    .await;
    let service = service_for(&server, "");
    for status in [201, 300, 302, 304, 404] {
        let answer = service.send(&get(server.url(&format!("/{status}")))).await.expect("an answer");
        assert_eq!(answer["statusCode"], status);
    }
}

#[tokio::test]
async fn a_circle_of_hosts_ends() {
    let server = Server::start_at("127.0.0.1:0", Arc::new(|_| respond(301, &[("Location", "/")], "")), None).await;
    assert_eq!(code(service_for(&server, "").send(&get(server.url("/"))).await), "too_many_redirects");
}
