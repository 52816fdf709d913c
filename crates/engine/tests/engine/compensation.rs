//! `Compensable`, `Compensate`, `Confirm`, `CancellationScope`, and how cancelling affects them.

use serde_json::{Value, json};
use workflow_engine::fault::{Error, Fault, TASK_FAILED};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, broken, event, line};

/// A `Compensable` whose handlers write what they do.
fn step(id: &str) -> Value {
    around(id, line(id))
}

/// The same with a body.
fn around(id: &str, body: Value) -> Value {
    json!({"id": id, "type": "Compensable", "body": body, "compensation": line(&format!("undo {id}")),
        "confirmation": line(&format!("keep {id}")), "cancellation": line(&format!("drop {id}"))})
}

fn compensate(target: Option<&str>) -> Value {
    json!({"type": "Compensate", "target": target})
}

/// Cancels an instance, and lets the workers process what is due.
fn cancelled(world: &mut World) {
    world.cancel();
    world.resume_all_due();
}

#[test]
fn what_finished_is_confirmed_in_the_order_of_completion() {
    let world = World::started(json!([step("a"), step("b"), line("end")]));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["a", "b", "end", "keep a", "keep b"]);
    assert_eq!(world.journaled(EventKind::Confirmed), ["a", "b"]);
}

#[test]
fn a_cancel_compensates_what_has_completed_the_latest_first() {
    let mut world = World::started(json!([step("a"), step("b"), around("c", event("go"))]));
    assert_eq!(world.take_lines(), ["a", "b"]);
    world.cancel();
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.take_lines(), [""; 0], "the caller runs no handler");
    assert_eq!(world.bookmarks.len(), 1);
    assert_eq!(world.bookmarks[0].name, "Workflow.Compensation");
    world.resume_at(0, None);
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert_eq!(world.take_lines(), ["drop c", "undo b", "undo a"]);
    assert_eq!(world.journaled(EventKind::Compensated), ["b", "a"]);
    assert_eq!(world.journaled(EventKind::CancellationHandled), ["c"]);
}

#[test]
fn a_handler_may_wait_and_the_next_one_waits_for_it() {
    let mut slow = step("b");
    slow["compensation"] = json!([line("undoing b"), event("undone"), line("undo b")]);
    let mut world = World::started(json!([step("a"), slow, event("go")]));
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.take_lines(), ["undoing b"]);
    world.cancel();
    assert_eq!(world.waiting(), ["undone"], "a second cancel changes nothing");
    world.resume("undone", Value::Null);
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert_eq!(world.take_lines(), ["undo b", "undo a"]);
}

#[test]
fn without_anything_to_handle_a_cancel_is_as_ever() {
    let mut world = World::started(json!([event("go"), step("a")]));
    world.cancel();
    assert_eq!(world.status(), SubStatus::Cancelled);
}

#[test]
fn without_compensate_on_cancel_the_rest_is_confirmed() {
    let mut world =
        World::started(json!({"options": {"compensateOn": []}, "root": [step("a"), around("b", event("go"))]}));
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert_eq!(world.take_lines(), ["drop b", "keep a"]);
}

#[test]
fn compensate_takes_back_all_of_the_scope_or_one_activity() {
    let world = World::started(json!([step("a"), step("b"), step("a2"), compensate(Some("b")), line("end")]));
    assert_eq!(world.lines(), ["a", "b", "a2", "undo b", "end", "keep a", "keep a2"]);
    let world = World::started(json!([step("a"), step("b"), compensate(None), line("end"), step("c")]));
    assert_eq!(world.lines(), ["a", "b", "undo b", "undo a", "end", "c", "keep c"]);
    let world = World::started(json!([step("a"), step("b"), {"type": "Confirm", "target": "a"}, compensate(None)]));
    assert_eq!(world.lines(), ["a", "b", "keep a", "undo b"]);
}

#[test]
fn each_execution_of_a_loop_is_compensated_with_the_values_it_had() {
    let body = json!({"id": "book", "type": "Compensable", "body": {"type": "SetVariable", "variable": "N", "value": {"sql": "N + 1"}},
        "compensation": {"type": "WriteLine", "text": {"js": "`${getCurrentValue()} was ${getN()}`"}}});
    let mut world = World::started(json!({"variables": {"N": 0},
        "root": [{"type": "ForEach", "items": ["x", "y", "z"], "body": body}, event("go")]}));
    cancelled(&mut world);
    assert_eq!(world.lines(), ["z was 3", "y was 2", "x was 1"]);
}

#[test]
fn a_variable_of_the_workflow_that_a_handler_sets_is_the_present_one() {
    let undo =
        |id: &str| json!({"type": "SetVariable", "variable": "Log", "value": {"js": format!("getLog() + ' {id}'")}});
    let step = |id: &str| json!({"type": "Compensable", "body": line(id), "compensation": undo(id)});
    let world =
        World::started(json!({"variables": {"Log": "undone:"}, "root": [step("a"), step("b"), compensate(None)]}));
    assert_eq!(world.variable("Log"), "undone: b a");
}

#[test]
fn outputs_of_the_body_are_those_of_its_execution() {
    let body = json!({"id": "js", "type": "RunJavaScript", "script": "return getCurrentValue() * 10"});
    let step = json!({"type": "Compensable", "body": body,
        "compensation": {"type": "WriteLine", "text": {"js": "`${getOutputFrom('js')}`"}}});
    let world = World::started(json!([{"type": "ForEach", "items": [1, 2], "body": step}, compensate(None)]));
    assert_eq!(world.lines(), ["20", "10"]);
}

#[test]
fn a_compensation_replaces_those_inside_unless_it_calls_them() {
    let nested = json!([step("in1"), step("in2")]);
    let world = World::started(json!([around("out", nested.clone()), compensate(None)]));
    assert_eq!(world.lines(), ["in1", "in2", "undo out", "keep in1", "keep in2"]);
    let calling = json!({"id": "out", "type": "Compensable", "body": nested.clone(),
        "compensation": [line("undo out"), compensate(Some("in1")), compensate(None), line("out is undone")]});
    let world = World::started(json!([calling, compensate(None)]));
    assert_eq!(world.lines(), ["in1", "in2", "undo out", "undo in1", "undo in2", "out is undone"]);
    let without = json!({"id": "out", "type": "Compensable", "body": nested});
    let world = World::started(json!([without.clone(), compensate(None)]));
    assert_eq!(world.lines(), ["in1", "in2", "undo in2", "undo in1"]);
    let world = World::started(json!([without]));
    assert_eq!(world.lines(), ["in1", "in2", "keep in1", "keep in2"]);
}

#[test]
fn an_interrupted_body_is_given_up_from_the_inside() {
    let inner = around("in", event("go"));
    let mut world = World::started(json!([around("out", json!([step("done"), inner.clone()]))]));
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(
        world.take_lines(),
        ["drop in", "drop out", "keep done"],
        "its handler is answerable for what is inside"
    );
    let without = json!({"id": "out", "type": "Compensable", "body": [step("done"), inner]});
    let mut world = World::started(json!([without]));
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["drop in", "undo done"]);
}

#[test]
fn a_catch_runs_after_the_cancellation_of_what_was_interrupted() {
    let body = json!([step("done"), around("open", json!([line("open"), broken("bad")]))]);
    let world =
        World::started(json!([{"type": "Try", "body": body, "catch": [{"body": line("caught")}]}, line("end")]));
    assert_eq!(world.lines(), ["done", "open", "drop open", "caught", "end", "keep done"]);
    let world = World::started(json!([{"type": "Try", "body": body,
        "catch": [{"body": [line("caught"), compensate(Some("done"))]}]}, line("end")]));
    assert_eq!(world.lines(), ["done", "open", "drop open", "caught", "undo done", "end"]);
}

#[test]
fn a_cancellation_that_waits_lets_the_rest_go_on() {
    let mut slow = around("open", event("never"));
    slow["cancellation"] = json!([line("dropping"), event("dropped"), line("drop open")]);
    let mut world = World::started(
        json!([{"type": "Fork", "joinMode": "WaitAny", "branches": [slow, line("quick")]}, line("end")]),
    );
    assert_eq!(world.take_lines(), ["quick", "dropping", "end"]);
    assert_eq!(world.status(), SubStatus::Suspended);
    world.resume("dropped", Value::Null);
    assert_eq!(world.take_lines(), ["drop open"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_scope_is_cancelled_with_its_handler_and_compensated() {
    let scope = |body: Value| json!({"id": "scope", "type": "CancellationScope", "body": body, "cancellation": line("give up")});
    let race = |body: Value| {
        json!([step("before"), {"type": "Fork", "joinMode": "WaitAny",
        "branches": [scope(body), event("enough")]}, line("end")])
    };
    let mut world = World::started(race(json!([step("a"), step("b"), event("go")])));
    world.take_lines();
    world.resume("enough", Value::Null);
    assert_eq!(world.take_lines(), ["give up", "undo b", "undo a", "end", "keep before"]);

    let mut world = World::started(race(json!([step("a"), event("go")])));
    world.take_lines();
    world.resume("go", Value::Null);
    assert_eq!(world.take_lines(), ["end", "keep before", "keep a"], "a scope that completes hands on what it holds");

    let mut world = World::started(race(json!([step("a"), event("go")])));
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["give up", "undo a", "undo before"]);
}

#[test]
fn one_order_across_branches_when_the_run_is_cancelled() {
    let branch = |first: &str, event_name: &str, then: &str| json!({"type": "CancellationScope", "body": [step(first), event(event_name), step(then), event("never")]});
    let mut world =
        World::started(json!({"type": "Parallel", "activities": [branch("a", "x", "b"), branch("c", "y", "d")]}));
    world.resume("y", Value::Null);
    world.resume("x", Value::Null);
    world.take_lines();
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["undo b", "undo d", "undo c", "undo a"]);
}

#[test]
fn a_fault_ends_and_compensates_the_run_where_the_options_say_so() {
    let root = json!([step("a"), {"type": "Parallel", "activities": [around("b", event("go")), [step("c"), event("then"), broken("bad")]]}]);
    let mut world = World::started(json!({"options": {"compensateOn": ["fault"]}, "root": root}));
    world.take_lines();
    world.resume("then", Value::Null);
    assert_eq!(world.take_lines(), ["drop b", "undo c", "undo a"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents.len(), 1);
    assert_eq!(world.last.incidents[0].activity_id, "bad");
    assert_eq!(world.retry(None), Err(Error::HasFailed { is_compensated: true }));
    world.cancel();
    assert_eq!(world.status(), SubStatus::Cancelled);

    let mut world = World::started(json!({"options": {"compensateOn": ["fault"]}, "root": [step("a"), broken("bad")]}));
    assert_eq!(world.lines(), ["a", "undo a"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.retry(None), Err(Error::HasFailed { is_compensated: true }));
    world.cancel();
}

#[test]
fn without_the_option_a_fault_leaves_everything_to_a_retry() {
    let mut world = World::started(json!([step("a"), {"id": "sql", "type": "Sql", "statement": "RAISE"}]));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.take_lines(), ["a"]);
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["undo a"]);
    assert_eq!(world.status(), SubStatus::Cancelled);
}

#[test]
fn a_compensation_that_fails_for_good_names_what_is_left_and_can_be_retried() {
    let mut failing = step("b");
    failing["compensation"] = json!([line("try"), {"id": "undo", "type": "Sql", "statement": "S"}]);
    let mut world = World::started(json!([step("a"), failing, step("c"), event("go")]));
    world.take_lines();
    world.host.broken = true;
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["undo c", "try"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    let detail = world.last.incidents[0].fault.detail.as_deref();
    assert_eq!(detail, Some("Activity \"b\" is not compensated. Still to be handled: \"b\", \"a\"."));
    world.host.broken = false;
    world.retry(None).expect("only the compensation runs again");
    assert_eq!(world.take_lines(), ["undo a"]);
    assert_eq!(world.status(), SubStatus::Cancelled);
}

#[test]
fn a_compensation_has_attempts_of_its_own() {
    let mut failing = step("a");
    failing["compensation"] = json!({"id": "undo", "type": "RunTask", "taskName": "undo", "retry": {"maxAttempts": 2}});
    let mut world = World::started(json!([failing, event("go")]));
    cancelled(&mut world);
    world.fail(0, 2, Fault::new(TASK_FAILED, "no"));
    assert_eq!(world.status(), SubStatus::Faulted);
    world.retry(None).expect("a retry");
    world.resume("undo", Value::Null);
    assert_eq!(world.status(), SubStatus::Cancelled);
}

#[test]
fn force_drops_what_is_left_and_names_it() {
    let mut world = World::started(json!([step("a"), step("b"), around("c", event("go"))]));
    world.take_lines();
    world.cancel();
    world.cancel_by_force();
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert_eq!(world.take_lines(), [""; 0]);
    let fault = &world.last.incidents[0].fault;
    assert_eq!(fault.code.as_deref(), Some("compensation_dropped"));
    assert_eq!(fault.detail.as_deref(), Some("Not compensated: \"c\", \"b\", \"a\"."));
}

#[test]
fn a_finish_confirms_and_gives_up_what_is_open_elsewhere() {
    let world = World::started(json!([step("a"), {"type": "Parallel", "activities": [
        around("open", event("go")), around("done", json!([line("done"), {"type": "Finish"}]))]}]));
    assert_eq!(world.lines(), ["a", "done", "drop open", "keep a", "keep done"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_finish_in_a_handler_ends_the_handler() {
    let mut early = step("b");
    early["compensation"] = json!([line("undo b"), {"type": "Finish"}, line("never")]);
    let world = World::started(json!([step("a"), early, compensate(None), line("end")]));
    assert_eq!(world.lines(), ["a", "b", "undo b", "undo a", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_catch_around_compensate_leaves_what_failed_for_later() {
    let mut failing = step("b");
    failing["compensation"] = json!({"type": "Sql", "statement": "S"});
    let mut world = World::new(json!([step("a"), failing,
        {"type": "Try", "body": compensate(None), "catch": [{"body": line("caught")}]}, event("go")]));
    world.host.broken = true;
    world.start();
    assert_eq!(world.take_lines(), ["a", "b", "caught"]);
    world.host.broken = false;
    cancelled(&mut world);
    assert_eq!(world.take_lines(), ["undo a"]);
    assert_eq!(world.journaled(EventKind::Compensated), ["b", "a"]);
}

#[test]
fn an_attempt_of_a_compensable_that_fails_is_given_up_before_the_next_one() {
    let mut twice = around("twice", json!([line("begun"), step("in"), {"type": "Sql", "statement": "S"}]));
    twice["retry"] = json!({"maxAttempts": 2, "delay": "0 s"});
    twice.as_object_mut().expect("an object").remove("cancellation");
    let mut world = World::new(json!([twice, line("end")]));
    world.host.broken = true;
    world.start();
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.lines(), ["begun", "in", "undo in", "begun", "in"]);
}

#[test]
fn a_target_must_be_compensable() {
    let world = World::started(json!([step("a"), {"type": "Compensate", "target": {"js": "'b'"}}]));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "42704");
}

#[test]
fn an_inlined_workflow_is_a_scope_whose_handlers_read_its_inputs() {
    let used = json!({"definitionId": "Used", "options": {"usableAsActivity": true}, "inputs": [{"name": "Seat", "type": "String"}],
        "root": [{"id": "book", "type": "Compensable", "body": line("book"),
            "compensation": {"type": "WriteLine", "text": {"js": "`free ${getInput('Seat')}`"}}}, event("go")]});
    let library = crate::support::Library::of([used]);
    let root = json!([step("before"), {"type": "Fork", "joinMode": "WaitAny",
        "branches": [{"type": "Used", "seat": "7A"}, event("enough")]}, line("end")]);
    let document = json!({"definitionId": "test", "root": root});
    let mut world = World::of(library.compile(&document).expect("a definition"), json!({}));
    world.start();
    world.take_lines();
    world.resume("enough", Value::Null);
    assert_eq!(world.take_lines(), ["free 7A", "end", "keep before"]);
    let mut world = World::of(library.compile(&document).expect("a definition"), json!({}));
    world.start();
    world.resume("go", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn two_that_ask_for_the_same_take_turns() {
    let mut slow = step("a");
    slow["compensation"] = json!([event("undone"), line("undo a")]);
    let both = json!({"type": "Parallel", "activities": [compensate(None), compensate(None)]});
    let mut world = World::started(json!([step("b"), slow, both, line("end")]));
    world.take_lines();
    assert_eq!(world.waiting(), ["undone"]);
    world.resume("undone", Value::Null);
    assert_eq!(world.take_lines(), ["undo a", "undo b", "end"]);
    assert_eq!(world.journaled(EventKind::Compensated), ["a", "b"]);
}

#[test]
fn one_that_waited_for_another_goes_on_when_that_one_is_given_up() {
    let mut slow = step("a");
    slow["compensation"] = json!([event("undone"), line("undo a")]);
    let fork = json!({"type": "Parallel", "activities": [
        {"type": "Fork", "joinMode": "WaitAny", "branches": [compensate(None), event("enough")]}, compensate(None)]});
    let mut world = World::started(json!([slow, fork, line("end")]));
    world.resume("enough", Value::Null);
    assert_eq!(world.waiting(), ["undone"]);
    world.resume("undone", Value::Null);
    assert_eq!(world.lines(), ["a", "undo a", "end"]);
}

#[test]
fn a_handler_reaches_only_what_its_record_holds() {
    let mut own = step("a");
    own["compensation"] = json!([{"type": "Compensate", "target": "a"}, {"type": "Compensate"}, line("undo a")]);
    let world = World::started(json!([step("b"), own, compensate(Some("a")), line("end")]));
    assert_eq!(world.lines(), ["b", "a", "undo a", "end", "keep b"]);
}

#[test]
fn one_whose_time_is_over_was_interrupted_and_has_not_completed() {
    let mut timed = around("pay", event("paid"));
    timed["timeout"] = json!("1 hour");
    let chart = json!({"type": "Flowchart", "activities": [timed, {"id": "late", "type": "WriteLine", "text": "late"}],
        "connections": [["pay", "Timeout", "late"]]});
    let mut world = World::started(json!([chart, event("go")]));
    let timeout = world.bookmarks.iter().position(|made| made.name == "Workflow.Timeout").expect("a timeout");
    world.resume_at(timeout, None);
    assert_eq!(world.take_lines(), ["drop pay", "late"]);
    cancelled(&mut world);
    assert_eq!(world.take_lines(), [""; 0]);
}

#[test]
fn what_a_scope_inside_held_goes_to_the_scope_that_ends_in_the_same_burst() {
    let inner = json!({"type": "CancellationScope", "body": [step("a"), event("never")]});
    let race = json!({"type": "Fork", "joinMode": "WaitAny", "branches": [inner, [[event("x")]]]});
    let outer = json!({"type": "CancellationScope", "body": race});
    let mut world =
        World::started(json!({"options": {"compensateOn": ["fault"]}, "root": [outer.clone(), broken("bad")]}));
    world.take_lines();
    world.resume("x", Value::Null);
    assert_eq!(world.take_lines(), ["undo a"]);
    let mut world = World::started(json!({"options": {"compensateOn": []}, "root": [outer, line("end")]}));
    world.take_lines();
    world.resume("x", Value::Null);
    assert_eq!(world.take_lines(), ["end", "keep a"]);
    let beside = json!({"type": "CancellationScope", "body": {"type": "Parallel", "activities": [
        {"type": "CancellationScope", "body": [step("a"), event("never")]}, [event("x"), {"type": "Finish"}]]}});
    let mut world = World::started(json!({"options": {"compensateOn": []}, "root": beside}));
    world.take_lines();
    world.resume("x", Value::Null);
    assert_eq!(world.take_lines(), ["keep a"]);
}
