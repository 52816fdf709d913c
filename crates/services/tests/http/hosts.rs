//! The circuit breaker and the rate of each host.

use std::time::Duration;

use workflow_services::task::Then;

use crate::support::*;

#[tokio::test]
async fn calls_pause_when_a_host_is_down() {
    let down = Server::start(|_| respond(503, &[], "")).await;
    let up = Server::start(|_| respond(500, &[], "")).await;
    let allowed = format!("--allow-addresses 127.0.0.1:{},127.0.0.1:{}", down.port, up.port);
    let service = service(&format!("{allowed} --breaker-failures 3 --breaker-seconds 600"));
    for _ in 0..3 {
        service.send(&get(down.url("/"))).await.expect("an answer");
    }
    let failure = service.send(&get(down.url("/"))).await.expect_err("the breaker is open");
    assert!(matches!(failure.then, Then::Postpone(time) if time > Duration::ZERO), "{failure:?}");
    assert_eq!(down.received().len(), 3);
    // Another host is called, and an error of an application is no sign that its host is down.
    for _ in 0..5 {
        service.send(&get(up.url("/"))).await.expect("an answer");
    }
}

#[tokio::test]
async fn without_a_breaker_calls_do_not_pause() {
    let down = Server::start(|_| vec![]).await;
    let service = service_for(&down, "--breaker-failures 0");
    for _ in 0..20 {
        assert_eq!(service.send(&get(down.url("/"))).await.expect("an answer")["error"], "connect");
    }
}
