//! `runAsynchronously`: an activity waits for a burst of its own, and then behaves like any other.

use serde_json::json;
use workflow_engine::execution;
use workflow_engine::instance::SubStatus;

use crate::support::World;

/// Fires the only bookmark, as a worker does.
fn fire(world: &mut World) {
    assert_eq!(world.bookmarks.len(), 1);
    let bookmark = &world.bookmarks[0];
    assert_eq!((bookmark.name.as_str(), bookmark.due_at.is_some()), ("BackgroundActivity", true));
    world.resume_at(0, None);
}

#[test]
fn inputs_are_evaluated_when_it_runs_and_outputs_are_there_afterwards() {
    let mut world = World::started(json!({
        "variables": {"Name": "before"},
        "root": {"type": "Parallel", "activities": [
            [{"id": "say", "type": "SetOutput", "runAsynchronously": true, "outputName": "Said", "outputValue": {"var": "Name"}},
             {"type": "WriteLine", "text": {"js": "'said ' + getVariable('Name')"}}],
            {"type": "SetVariable", "variable": "Name", "value": "after"}]}}));
    assert_eq!(world.instance.sub_status, SubStatus::Suspended);
    assert_eq!(world.instance.output.get("Said"), None);
    fire(&mut world);
    assert_eq!(world.instance.output["Said"], "after");
    assert_eq!(world.host.lines, ["said after"]);
    assert_eq!(world.instance.sub_status, SubStatus::Finished);
    assert!(world.bookmarks.is_empty());
}

#[test]
fn the_flag_of_elsa_is_read_where_elsa_writes_it() {
    let mut world = World::started(json!({"type": "Elsa.Sequence", "activities": [
        {"type": "Elsa.WriteLine", "id": "a", "customProperties": {"runAsynchronously": true},
         "text": {"typeName": "String", "expression": {"type": "Literal", "value": "a"}}}]}));
    assert!(world.host.lines.is_empty());
    fire(&mut world);
    assert_eq!(world.host.lines, ["a"]);
}

#[test]
fn outcomes_lead_on_in_a_flowchart() {
    let mut world = World::started(json!({"type": "Flowchart", "activities": [
            {"id": "ask", "type": "FlowDecision", "runAsynchronously": true, "condition": true},
            {"id": "yes", "type": "WriteLine", "text": "yes"}, {"id": "no", "type": "WriteLine", "text": "no"}],
        "connections": [["ask", "True", "yes"], ["ask", "False", "no"]]}));
    fire(&mut world);
    assert_eq!(world.host.lines, ["yes"]);
    assert_eq!(world.instance.sub_status, SubStatus::Finished);
}

#[test]
fn a_loop_waits_in_each_round() {
    let mut world = World::started(json!({"type": "ForEach", "items": ["a", "b"],
        "body": {"type": "WriteLine", "runAsynchronously": true, "text": {"var": "CurrentValue"}}}));
    fire(&mut world);
    assert_eq!(world.host.lines, ["a"]);
    fire(&mut world);
    assert_eq!(world.host.lines, ["a", "b"]);
    assert_eq!(world.instance.sub_status, SubStatus::Finished);
}

#[test]
fn a_container_waits_once_and_goes_on_inline() {
    let mut world = World::started(json!({"type": "Sequence", "runAsynchronously": true,
        "activities": [{"type": "WriteLine", "text": "a"}, {"type": "WriteLine", "text": "b"}]}));
    fire(&mut world);
    assert_eq!(world.host.lines, ["a", "b"]);
}

#[test]
fn what_it_waits_for_itself_is_an_ordinary_bookmark() {
    let mut world =
        World::started(json!({"id": "ask", "type": "RunTask", "taskName": "ask", "runAsynchronously": true,
        "result": {"output": "Answer"}}));
    assert!(world.last.tasks.is_empty());
    fire(&mut world);
    assert_eq!((world.last.tasks.len(), world.bookmarks.len()), (1, 1));
    assert_eq!(world.bookmarks[0].due_at, None);
    world.resume("ask", json!(42));
    assert_eq!(world.instance.output["Answer"], 42);
}

#[test]
fn a_fault_uses_the_bookmark_up_and_a_retry_runs_at_once() {
    let mut world = World::started(json!({"variables": {"Ready": false}, "root": [
        {"id": "work", "type": "If", "runAsynchronously": true,
         "condition": {"js": "if (!getReady()) throw new Error('not yet'); return true;"}, "then": {"type": "WriteLine", "text": "done"}}]}));
    fire(&mut world);
    assert_eq!(world.instance.sub_status, SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].activity_id, "work");
    assert!(world.bookmarks.is_empty());
    world.instance.variables["Ready"] = json!(true);
    world.retry(None).expect("a faulted activity");
    assert_eq!(world.host.lines, ["done"]);
    assert_eq!(world.instance.sub_status, SubStatus::Finished);
}

#[test]
fn cancelling_takes_the_bookmark_away() {
    let mut world = World::started(json!({"type": "WriteLine", "runAsynchronously": true, "text": "never"}));
    let delta = execution::cancel(&world.program, &mut world.instance, None, false, &mut world.host).expect("cancels");
    assert!(delta.clear_all);
    // Cancelling a branch removes its bookmark as well.
    let mut race = World::started(json!({"type": "Fork", "joinMode": "WaitAny", "branches": [
        {"type": "WriteLine", "runAsynchronously": true, "text": "never"}, {"type": "WriteLine", "text": "first"}]}));
    assert_eq!(race.host.lines, ["first"]);
    assert!(race.bookmarks.is_empty());
    assert_eq!(race.instance.sub_status, SubStatus::Finished);
    race.host.lines.clear();
}

#[test]
fn a_trigger_is_never_put_off() {
    let event = json!({"id": "paid", "type": "Event", "eventName": "Paid", "canStartWorkflow": true, "runAsynchronously": true});
    let mut world = World::new(json!([event, {"type": "WriteLine", "text": "started"}]));
    world.try_start(Some("paid"), Some(&json!(1))).expect("the burst ends");
    assert_eq!(world.host.lines, ["started"]);
    // Within a run the activity waits for its event from the start.
    let waiting = World::started(json!([{"type": "Event", "eventName": "Paid", "runAsynchronously": true}]));
    assert_eq!(waiting.bookmarks[0].name, "Elsa.Event");
}
