//! What is sent: method, headers, content, idempotency key.

use serde_json::{Value, json};

use crate::support::*;

async fn sent(inputs: Value) -> Received {
    let server = Server::start(|_| respond(200, &[], "")).await;
    let mut inputs = inputs;
    inputs["Url"] = server.url("/path?a=b#part").into();
    service_for(&server, "").send(&task(inputs)).await.expect("an answer");
    server.received().remove(0)
}

#[tokio::test]
async fn the_inputs_make_the_request() {
    let request = sent(json!({
        "Method": "POST", "Content": {"n": 1}, "ContentType": "application/json", "Authorization": "Bearer abc",
        "RequestHeaders": {"X-One": "1", "X-Many": ["a", "b"], "X-Number": 5, "traceparent": "00-abc-def-01", "X-None": null}
    }))
    .await;
    assert_eq!((&*request.method, &*request.path, &*request.body), ("POST", "/path?a=b", r#"{"n":1}"#));
    let expected = [
        ("content-type", "application/json"),
        ("authorization", "Bearer abc"),
        ("x-one", "1"),
        ("x-number", "5"),
        ("traceparent", "00-abc-def-01"),
        ("idempotency-key", "00000000-0000-0000-0000-000000000007"),
    ];
    for (name, value) in expected {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    let many: Vec<_> = request.headers.iter().filter(|(name, _)| name == "x-many").map(|(_, value)| &**value).collect();
    assert_eq!(many, ["a", "b"]);
    assert_eq!(request.header("x-none"), None);
}

#[tokio::test]
async fn content_needs_a_content_type() {
    let request = sent(json!({"Method": "PUT", "Content": "text"})).await;
    assert_eq!((&*request.body, request.header("content-type")), ("", None));
    let request = sent(json!({"Method": "PUT", "Content": "text", "ContentType": "text/plain"})).await;
    assert_eq!(request.body, "text");
    let form = json!({"a b": "c&d", "n": [1, 2]});
    let request =
        sent(json!({"Method": "POST", "Content": form, "ContentType": "application/x-www-form-urlencoded"})).await;
    assert_eq!(request.body, "a+b=c%26d&n=1&n=2");
    let request = sent(json!({"Method": "POST", "Content": [1.50, "x"], "ContentType": "application/vnd.x"})).await;
    assert!(request.body.starts_with("[1.5"), "{}", request.body);
}

#[tokio::test]
async fn the_idempotency_key_is_the_task_unless_the_definition_sets_one() {
    for (inputs, expected) in [
        (json!({"Method": "DELETE"}), Some("00000000-0000-0000-0000-000000000007")),
        (json!({"Method": "POST", "RequestHeaders": {"IDEMPOTENCY-key": "order-42"}}), Some("order-42")),
        (json!({}), None),
        (json!({"Method": "head"}), None),
    ] {
        assert_eq!(sent(inputs.clone()).await.header("idempotency-key"), expected, "{inputs}");
    }
}

#[tokio::test]
async fn each_request_has_a_trace_context() {
    for (inputs, expected) in [
        (json!({}), "00-00000000000000000000000000000009-0000000000000006-01"),
        (json!({"Method": "POST"}), "00-00000000000000000000000000000009-0000000000000006-01"),
        (json!({"RequestHeaders": {"Traceparent": "00-abc-def-00"}}), "00-abc-def-00"),
    ] {
        assert_eq!(sent(inputs.clone()).await.header("traceparent"), Some(expected), "{inputs}");
    }
}

#[tokio::test]
async fn invalid_requests_are_not_sent() {
    let server = Server::start(|_| respond(200, &[], "")).await;
    let service = service_for(&server, "");
    let invalid = [
        json!({"Method": "BREW"}),
        json!({"Method": 1}),
        json!({"Url": null}),
        json!({"Url": 7}),
        json!({"RequestHeaders": "X: y"}),
        json!({"RequestHeaders": {"X Y": "z"}}),
        json!({"RequestHeaders": {"X": "a\r\nY: b"}}),
        json!({"RequestHeaders": {"X\r\nY": "b"}}),
        json!({"RequestHeaders": {"Host": "public.example"}}),
        json!({"RequestHeaders": {"Transfer-Encoding": "chunked"}}),
        json!({"RequestHeaders": {"content-length": "0"}}),
        json!({"Authorization": "a\nb"}),
        json!({"Authorization": {"secret": 7}}),
        json!({"Authorization": {"secret": "bank", "more": 1}}),
        json!({"Content": "x", "ContentType": "text/plain\r\nX: y"}),
        json!({"Content": "x", "ContentType": ["text/plain"]}),
    ];
    for mut inputs in invalid {
        if inputs.get("Url").is_none() {
            inputs["Url"] = server.url("/").into();
        }
        assert_eq!(code(service.send(&task(inputs.clone())).await), "invalid_request", "{inputs}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_proxy_in_the_environment_is_ignored() {
    let (server, proxy) =
        (Server::start(|_| respond(200, &[], "")).await, Server::start(|_| respond(200, &[], "")).await);
    // SAFETY: no other thread of this test reads the environment meanwhile, and no other test needs these variables.
    unsafe {
        std::env::set_var("http_proxy", proxy.url("/"));
        std::env::set_var("ALL_PROXY", proxy.url("/"));
    }
    service_for(&server, "").send(&get(server.url("/"))).await.expect("an answer");
    assert_eq!((server.connections(), proxy.connections()), (1, 0));
}
