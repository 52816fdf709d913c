//! Spans of workflows, as a collector gets them.

use serde_json::Value;

use crate::metrics::create_roles;
use crate::servers::http::{HttpServer, Request};
use crate::support::{World, wait_until};

const DEFINE: &str =
    r#"SELECT wf_define('{"definitionId": "traced", "root": {"id": "Ask", "type": "RunTask", "taskName": "Ask"}}')"#;
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const CLAIM: &str =
    "SELECT pg_catalog.concat_ws(' ', task_id, token, split_part(traceparent, '-', 3)) FROM wf_claim_tasks('{Ask}')";

/// A collector that fails at first and then accepts less, and a gateway that sends spans to it.
fn exporting(runtime: &tokio::runtime::Runtime) -> (World, HttpServer) {
    let collector = runtime.block_on(HttpServer::start());
    let endpoint = collector.url("traces", &["503", "413"]);
    let world = World::with(&["--traces-endpoint", &endpoint, "--traces-role", "watcher"]);
    create_roles();
    // What happened before the first search is not sent.
    wait_until("there is a cursor", || world.value("SELECT id::text FROM workflow.span_cursor").is_some());
    (world, collector)
}

fn spans(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
}

fn named<'a>(spans: &'a [Value], name: &str) -> Option<&'a Value> {
    spans.iter().find(|span| span["name"] == name)
}

#[test]
fn the_spans_of_a_run_are_sent_until_the_collector_accepts_them() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, collector) = exporting(&runtime);
    world.sql(DEFINE);
    world.sql(&format!(
        "BEGIN; SET LOCAL workflow.traceparent = '00-{TRACE}-{CALLER}-01'; SELECT wf_start('traced'); COMMIT"
    ));
    let claimed = world.value(CLAIM).expect("a task");
    let [task, token, handed] = claimed.split(' ').collect::<Vec<_>>()[..] else { panic!("{claimed}") };
    world.sql(&format!("SELECT wf_complete_task('{task}', token => '{token}')"));

    // The first two requests have failed: what was in them has come again.
    let accepted = || collector.requests().iter().skip(2).flat_map(spans).collect::<Vec<Value>>();
    wait_until("the run has been sent", || named(&accepted(), "traced version 1").is_some());
    let (first, accepted) = (spans(&collector.requests()[0]), accepted());
    assert!(!first.is_empty());
    for span in &first {
        assert!(accepted.contains(span), "{span} was lost: {accepted:?}");
    }

    assert!(accepted.iter().all(|span| span["traceId"] == TRACE), "{accepted:?}");
    let (run, wait) = (named(&accepted, "traced version 1").unwrap(), named(&accepted, "wait: Ask").unwrap());
    assert_eq!(run["parentSpanId"], CALLER);
    assert_eq!(wait["parentSpanId"], run["spanId"]);
    // The worker's own spans are below the wait for it.
    assert_eq!(wait["spanId"], handed);
    assert!(named(&accepted, "traced").is_some_and(|burst| burst["parentSpanId"] == run["spanId"]), "{accepted:?}");
    let request = &collector.requests()[0];
    assert_eq!((request.method.as_str(), request.header("content-type")), ("POST", "application/json"));
    // What has been accepted is not sent again.
    wait_until("all has been read", || {
        world.value("SELECT 'yes' FROM workflow.span_cursor WHERE from_xid = until_xid").is_some()
    });
    let accepted: Vec<Value> = collector.requests().iter().skip(2).flat_map(spans).collect();
    let ids: Vec<&Value> = accepted.iter().map(|span| &span["spanId"]).collect();
    let mut once = ids.clone();
    once.sort_unstable_by_key(|id| id.to_string());
    once.dedup();
    assert_eq!(once.len(), ids.len(), "{accepted:?}");
}
