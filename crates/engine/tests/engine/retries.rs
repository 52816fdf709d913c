//! Retry policies: what a covered fault rolls back, what waits, and what starts again.

use std::cell::Cell;

use serde_json::{Value, json};
use workflow_engine::child;
use workflow_engine::definition::{ReadLimits, export};
use workflow_engine::execution::Limits;
use workflow_engine::fault::Fault;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus::RETRY;

use crate::support::{Library, World, broken, event, line, program};

thread_local! {
    /// How often the functions below fail from now on.
    static FAILURES: Cell<u32> = const { Cell::new(0) };
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

fn fail(times: u32) {
    FAILURES.set(times);
    CALLS.set(0);
}

fn calls() -> u32 {
    CALLS.get()
}

fn unreliable() -> Result<(), Fault> {
    CALLS.set(CALLS.get() + 1);
    match FAILURES.get() {
        0 => Ok(()),
        left => {
            FAILURES.set(left - 1);
            Err(Fault::new("22012", "division by zero"))
        }
    }
}

/// A world whose activity type `Approval` fails as often as [`fail`] says, and asks with a bookmark if it has `asks`.
/// The callback of the bookmark fails likewise.
fn world(definition: Value) -> World {
    let mut world = World::new(definition);
    world.host.functions.insert("Approval".into(), |context| {
        if context["inputs"]["asks"] == json!(true) {
            return Ok(json!({"bookmarks": [{"name": "ask", "callback": "decide"}]}));
        }
        unreliable().map(|()| Value::Null)
    });
    world
        .host
        .functions
        .insert("decide".into(), |context| unreliable().map(|()| json!({"outputs": {"result": context["input"]}})));
    world
}

fn started(definition: Value) -> World {
    let mut world = world(definition);
    world.start();
    world
}

fn call(policy: Value) -> Value {
    json!({"id": "call", "type": "Approval", "retry": policy})
}

fn retries(world: &World) -> Vec<Value> {
    let events = world.trail.iter().filter(|event| event.kind == EventKind::Retrying);
    events.map(|event| event.data.as_ref().expect("what went wrong").0.clone()).collect()
}

#[test]
fn a_fault_that_is_covered_waits_for_its_next_attempt() {
    fail(2);
    let mut world =
        started(json!([call(json!({"maxAttempts": 3, "delay": "10 s", "backoff": "exponential"})), line("after")]));
    assert_eq!((world.status(), calls()), (SubStatus::Suspended, 1));
    assert_eq!((world.instance.incident_count, world.last.incidents.len()), (0, 0));
    let bookmark = &world.bookmarks[0];
    assert_eq!((bookmark.name.as_str(), bookmark.activity_id.as_str()), (RETRY, "call"));
    assert_eq!(bookmark.due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:00:10+00:00");
    world.resume_at(0, None);
    assert_eq!(world.bookmarks[0].due_at.expect("a due time").to_rfc3339(), "2027-01-15T08:00:20+00:00");
    world.resume_at(0, None);
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 3));
    assert_eq!(world.lines(), ["after"]);
    let told = retries(&world);
    assert_eq!(
        told[1],
        json!({"attempt": 2, "max_attempts": 3, "sqlstate": "22012", "message": "division by zero", "due_at": "2027-01-15T08:00:20Z"})
    );
    assert!(world.journaled(EventKind::Faulted).is_empty());
}

#[test]
fn a_delay_of_zero_goes_on_in_the_same_burst() {
    fail(2);
    let world = started(json!([call(json!({"maxAttempts": 3, "delay": "0 s"})), line("after")]));
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 3));
    assert_eq!(world.lines(), ["after"]);
}

#[test]
fn a_loop_of_attempts_without_delay_is_bounded_like_any_other() {
    fail(u32::MAX);
    let mut world = world(call(json!({"maxAttempts": 1_000_000, "delay": "0 s"})));
    world.limits = Limits { max_steps: 100, ..Limits::default() };
    assert!(world.try_start(None, None).is_err());
}

#[test]
fn attempts_that_are_used_up_are_an_incident_and_wf_retry_counts_anew() {
    fail(5);
    let mut world = started(json!([call(json!({"maxAttempts": 2, "delay": "1 s"}))]));
    world.resume_at(0, None);
    assert_eq!((world.status(), calls()), (SubStatus::Faulted, 2));
    assert_eq!(world.instance.incident_count, 1);
    assert_eq!(world.journaled(EventKind::Faulted), ["call"]);
    world.retry(None).expect("it has faulted");
    assert_eq!((world.status(), calls(), world.waiting()), (SubStatus::Suspended, 3, vec!["call"]));
    world.resume_at(0, None);
    assert_eq!((world.status(), calls()), (SubStatus::Faulted, 4));
    world.retry(None).expect("it has faulted");
    world.resume_at(0, None);
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 6));
}

#[test]
fn faults_that_are_not_covered_and_calls_without_retries_fault_at_once() {
    for policy in [json!({"maxAttempts": 3, "on": ["23"]}), json!({"maxAttempts": 3, "except": ["22012"]})] {
        fail(1);
        assert_eq!(started(call(policy)).status(), SubStatus::Faulted);
    }
    fail(1);
    let mut world = world(call(json!({"maxAttempts": 3, "on": ["22"]})));
    world.limits.retries = false;
    world.start();
    assert_eq!((world.status(), calls()), (SubStatus::Faulted, 1));
}

#[test]
fn a_container_begins_again_with_everything_below_it() {
    fail(1);
    let body = json!({"id": "body", "type": "Sequence", "retry": {"maxAttempts": 2, "delay": "1 s"},
        "variables": {"N": 0}, "activities": [
            {"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}},
            {"type": "WriteLine", "text": {"js": "`N is ${getN()}`"}},
            {"type": "Parallel", "activities": [event("E"), {"id": "call", "type": "Approval"}]}]});
    let mut world = started(json!([body, line("after")]));
    assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["body"]));
    assert_eq!(retries(&world)[0]["activity_id"], json!("call"));
    assert_eq!(world.journaled(EventKind::Faulted), ["call"]);
    assert!(world.journaled(EventKind::Canceled).contains(&"E"));
    world.resume_at(0, None);
    assert_eq!(world.waiting(), ["E"]);
    world.resume_at(0, None);
    assert_eq!(world.lines(), ["N is 1", "N is 1", "after"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn the_innermost_policy_counts_and_the_outer_one_sees_the_fault_when_it_is_used_up() {
    fail(3);
    let inner = call(json!({"maxAttempts": 2, "delay": "0 s"}));
    let outer = json!({"id": "body", "type": "Sequence", "retry": {"maxAttempts": 2, "delay": "0 s"}, "activities": [line("begin"), inner]});
    let world = started(outer);
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 4));
    assert_eq!(world.lines(), ["begin", "begin"]);
    assert_eq!(world.journaled(EventKind::Retrying), ["call", "body", "call"]);
}

#[test]
fn what_runs_beside_it_goes_on() {
    fail(1);
    let mut world = started(
        json!([{"type": "Parallel", "activities": [call(json!({"maxAttempts": 2})), event("E")]}, line("after")]),
    );
    world.resume("E", Value::Null);
    assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["call"]));
    world.resume_at(0, None);
    assert_eq!(world.lines(), ["after"]);
}

#[test]
fn a_container_that_waits_for_its_next_attempt_ends_with_what_is_around_it() {
    fail(1);
    let branches = json!([call(json!({"maxAttempts": 2})), event("E")]);
    let mut world = started(json!([{"type": "Fork", "joinMode": "WaitAny", "branches": branches}, line("after")]));
    world.resume("E", Value::Null);
    assert_eq!((world.status(), world.lines(), calls()), (SubStatus::Finished, vec!["after"], 1));
}

#[test]
fn the_input_of_a_resume_that_failed_is_given_again_where_the_activity_waits_for_the_same() {
    for delay in ["0 s", "1 s"] {
        fail(2);
        let ask = json!({"id": "ask", "type": "Approval", "asks": true, "retry": {"maxAttempts": 3, "delay": delay}, "result": {"var": "Said"}});
        let mut world = world(json!({"variables": {"Said": null}, "root": [ask]}));
        world.start();
        world.resume("ask", json!({"answer": 42}));
        if delay == "1 s" {
            assert_eq!((world.status(), world.bookmarks.len(), calls()), (SubStatus::Suspended, 1, 1));
            assert_eq!(world.bookmarks[0].name, RETRY);
        }
        world.run_to_end();
        assert_eq!((world.status(), calls()), (SubStatus::Finished, 3));
        assert_eq!(*world.variable("Said"), json!({"answer": 42}));
    }
}

#[test]
fn it_is_not_given_below_a_container_that_begins_again() {
    fail(1);
    let ask = |id: &str| json!({"id": id, "type": "Approval", "asks": true, "result": {"var": id}});
    let body = json!({"type": "Sequence", "retry": {"maxAttempts": 2}, "activities": [ask("First"), ask("Second")]});
    let mut world = world(json!({"variables": {"First": null, "Second": null}, "root": body}));
    world.start();
    world.resume("First", json!(1));
    world.resume_at(0, None);
    assert_eq!((world.waiting(), world.variable("First")), (vec!["First"], &json!(null)));
}

#[test]
fn of_several_bookmarks_of_a_name_the_one_with_the_same_payload_gets_it() {
    fail(1);
    let mut world = World::new(
        json!({"variables": {"Said": null}, "root": {"id": "vote", "type": "Approval", "result": {"var": "Said"},
        "retry": {"maxAttempts": 2}}}),
    );
    world.host.functions.insert("Approval".into(), |_| {
        Ok(json!({"bookmarks": [{"name": "Vote", "payload": "ann", "callback": "count"}, {"name": "Vote", "payload": "bob", "callback": "count"}]}))
    });
    world.host.functions.insert("count".into(), |context| {
        unreliable()?;
        Ok(json!({"outputs": {"result": [context["bookmark"]["payload"], context["input"]]}, "complete": false}))
    });
    world.start();
    world.resume_at(1, Some(&json!("yes")));
    world.resume_at(0, None);
    assert_eq!(*world.variable("Said"), json!(["bob", "yes"]));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Suspended, 1));
}

#[test]
fn the_report_of_a_child_is_not_given_to_another_child() {
    let child = json!({"id": "run", "type": "ExecuteWorkflow", "workflowDefinitionId": "other", "waitForCompletion": true,
        "result": {"var": "R"}, "retry": {"maxAttempts": 2, "delay": "0 s"}});
    let mut world = World::started(json!({"variables": {"R": null}, "root": child}));
    let report = child::refusal(world.children[0].id, "another instance runs");
    world.resume("run", report);
    // It waits for the second child, which reports separately.
    assert_eq!((world.children.len(), world.waiting(), retries(&world).len()), (2, vec!["run"], 1));
}

#[test]
fn wf_retry_counts_the_attempts_of_a_container_anew() {
    fail(3);
    let body = json!({"id": "body", "type": "Sequence", "retry": {"maxAttempts": 2, "delay": "0 s"}, "activities": [{"id": "call", "type": "Approval"}]});
    let mut world = started(body);
    assert_eq!((world.status(), calls()), (SubStatus::Faulted, 2));
    world.retry(None).expect("it has faulted");
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 4));
}

#[test]
fn an_incident_that_another_attempt_has_superseded_is_none() {
    let body = json!({"type": "Parallel", "retry": {"maxAttempts": 2, "on": ["22"]}, "activities": [
        broken("first"), {"id": "second", "type": "Sql", "statement": "RAISE"}]});
    let world = started(body);
    assert_eq!(
        (world.status(), world.last.incidents.len(), world.instance.incident_count),
        (SubStatus::Suspended, 0, 0)
    );
}

#[test]
fn a_bookmark_stays_as_before_where_the_attempts_are_used_up() {
    fail(1);
    let ask = json!({"id": "ask", "type": "Approval", "asks": true, "retry": {"maxAttempts": 1}});
    let mut world = started(ask);
    world.resume("ask", json!("no"));
    assert_eq!((world.status(), world.last.keep_resumed, world.waiting()), (SubStatus::Faulted, true, vec!["ask"]));
    world.resume("ask", json!("yes"));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_trigger_that_faults_runs_again_as_the_trigger_with_its_input() {
    fail(1);
    let document = json!({"id": "row", "type": "RowInserted", "canStartWorkflow": true, "retry": {"maxAttempts": 2}});
    let mut world = World::new(document.clone());
    world.host.functions.insert("RowInserted".into(), |context| {
        assert_eq!((&context["isTrigger"], &context["input"]), (&json!(true), &json!({"row": 7})));
        unreliable().map(|()| Value::Null)
    });
    world.try_start(Some("row"), Some(&json!({"row": 7}))).expect("the burst ends");
    assert_eq!(world.bookmarks[0].name, RETRY);
    world.resume_at(0, None);
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 2));
    // Without a stimulus it has the input of the workflow, each time.
    fail(1);
    let mut named = World::with_input(document, json!({"row": 7}));
    named.host.functions = world.host.functions;
    named.try_start(Some("row"), None).expect("the burst ends");
    named.resume_at(0, None);
    assert_eq!((named.status(), calls()), (SubStatus::Finished, 2));
}

#[test]
fn options_give_a_policy_to_activities_that_hold_no_others() {
    let options = json!({"retry": {"maxAttempts": 2, "delay": "0 s"}});
    let own = json!({"id": "own", "type": "Approval", "retry": {"maxAttempts": 5}});
    let program =
        program(json!({"options": options, "root": [own, line("a"), {"id": "if", "type": "If", "condition": true}]}));
    let attempts = |id: &str| {
        let node = program.nodes.iter().find(|node| node.id == id).expect("an activity");
        node.retry_policy(None).map(|policy| policy.max_attempts)
    };
    assert_eq!(
        (attempts("own"), attempts("WriteLine1"), attempts("if"), attempts("Sequence1")),
        (Some(5), Some(2), None, None)
    );
}

#[test]
fn the_activities_of_an_inlined_workflow_have_the_policy_of_its_own_options() {
    let used = json!({"definitionId": "Used", "options": {"usableAsActivity": true, "retry": {"maxAttempts": 4}}, "root": [broken("inner")]});
    let library = Library::of([used]);
    let program = library.compile(&json!({"definitionId": "test", "root": [
        {"id": "used", "type": "Used", "retry": {"maxAttempts": 2}}, broken("outer")]}));
    let program = program.expect("a definition");
    let attempts = |id: &str| {
        let node = program.nodes.iter().find(|node| node.id == id).expect("an activity");
        node.retry_policy(None).map(|policy| policy.max_attempts)
    };
    assert_eq!((attempts("used"), attempts("inner"), attempts("outer")), (Some(2), Some(4), None));
}

#[test]
fn an_export_keeps_policies_where_elsa_keeps_properties() {
    let policy = json!({"maxAttempts": 3, "delay": "1 s", "on": ["22"]});
    let document =
        json!({"definitionId": "test", "root": [{"id": "call", "type": "RunTask", "taskName": "t", "retry": policy}]});
    let exported = export(&document, "test", 1, true, true, &());
    let call = &exported["root"]["activities"][0];
    assert_eq!((&call["customProperties"]["retry"], call.get("retry")), (&policy, None));
    let again = workflow_engine::definition::compile(
        &exported,
        &(),
        &ReadLimits { is_new: true, ..ReadLimits::default() },
        false,
    );
    let again = again.expect("acceptable");
    assert_eq!(again.nodes[1].retry, program(document).nodes[1].retry);
}

#[test]
fn a_trigger_that_has_run_waits_when_a_container_begins_again() {
    fail(1);
    let begin = json!({"id": "begin", "type": "Event", "eventName": "Begin", "canStartWorkflow": true});
    let body = json!({"type": "Sequence", "retry": {"maxAttempts": 2, "delay": "0 s"}, "activities": [begin, {"id": "call", "type": "Approval"}]});
    let mut world = world(body);
    world.try_start(Some("begin"), None).expect("the burst ends");
    assert_eq!((world.status(), world.waiting(), calls()), (SubStatus::Suspended, vec!["begin"], 1));
    world.resume("begin", Value::Null);
    assert_eq!((world.status(), calls()), (SubStatus::Finished, 2));
}
