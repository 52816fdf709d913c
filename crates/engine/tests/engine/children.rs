//! Child workflows from the engine's point of view: the children that a burst starts, and how it handles their reports.

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::child::{self, Begin};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus;

use crate::support::{World, line};

/// An object with the members of both.
fn with(mut value: Value, more: &Value) -> Value {
    let (members, more) = (value.as_object_mut().expect("an object"), more.as_object().expect("an object"));
    members.extend(more.clone());
    value
}

fn child_of(kind: &str, more: Value) -> Value {
    with(json!({ "id": "call", "type": kind, "workflowDefinitionId": "other" }), &more)
}

fn ended(world: &World, index: usize, sub_status: SubStatus, output: Value) -> Value {
    child::report(world.children[index].id, sub_status, output.as_object().unwrap_or(&Map::new())).expect("room")
}

#[test]
fn execute_workflow_asks_for_a_child_and_waits_for_its_report() {
    for (wait, begin) in [(false, Begin::Now), (true, Begin::NowToTheEnd)] {
        let call = child_of(
            "ExecuteWorkflow",
            json!({
                "input": {"object": {"n": 1}}, "correlationId": "c-1", "waitForCompletion": wait, "result": {"var": "R"}
            }),
        );
        let mut world = World::new(json!({ "variables": {"R": null}, "root": [call, line("after")] }));
        world.start();
        let asked = world.children[0].copy().unwrap();
        assert_eq!((asked.begin, asked.correlation_id.as_deref()), (begin, Some("c-1")));
        assert_eq!(
            asked.input,
            json!({"n": 1, "ParentInstanceId": world.instance.id.to_string()}).as_object().unwrap().clone()
        );
        assert_eq!(asked.bookmark_id, Some(world.bookmarks[0].id));
        assert_eq!(world.bookmarks[0].payload, Some(json!({"ChildInstanceId": asked.id.to_string()})));
        assert!(world.lines().is_empty());
        let report = ended(&world, 0, SubStatus::Finished, json!({"Sum": 3}));
        world.resume_at(0, Some(&report));
        assert_eq!(world.status(), SubStatus::Finished);
        assert_eq!(world.lines(), ["after"]);
        assert_eq!(
            world.variable("R"),
            &json!({"WorkflowInstanceId": asked.id.to_string(), "Status": "Finished", "SubStatus": "Finished", "Output": {"Sum": 3}})
        );
    }
}

#[test]
fn a_definition_that_is_missing_faults_the_activity_and_leaves_no_child() {
    for kind in ["ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"] {
        let call = json!({ "type": kind, "workflowDefinitionId": "missing", "items": [1] });
        let mut world = World::new(json!({ "root": call }));
        world.start();
        assert_eq!(world.status(), SubStatus::Faulted, "{kind}");
        assert_eq!(world.last.incidents[0].fault.sqlstate, "42704");
        assert!(world.children.is_empty() && world.bookmarks.is_empty());
    }
}

#[test]
fn a_child_that_an_activation_strategy_refuses_faults_the_activity() {
    let mut world = World::new(json!({ "root": child_of("ExecuteWorkflow", json!({})) }));
    world.start();
    let refusal = child::refusal(world.children[0].id, "no further instance");
    world.resume_at(0, Some(&refusal));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].fault.message, "no further instance");
}

#[test]
fn dispatch_workflow_goes_on_at_once_unless_it_waits() {
    let mut world = World::new(json!({ "root": [child_of("DispatchWorkflow", json!({})), line("after")] }));
    world.start();
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!((world.children[0].begin, world.children[0].bookmark_id), (Begin::Later, None));

    let call = child_of("DispatchWorkflow", json!({ "waitForCompletion": true, "result": {"var": "R"} }));
    let mut world = World::new(json!({ "variables": {"R": null}, "root": call }));
    world.start();
    let report = ended(&world, 0, SubStatus::Finished, json!({"Sum": 3}));
    world.resume_at(0, Some(&report));
    assert_eq!(world.variable("R"), &json!({"Sum": 3}));
}

fn bulk(more: Value) -> World {
    let call = child_of(
        "BulkDispatchWorkflows",
        json!({
            "childCompleted": {"type": "WriteLine", "text": {"js": "`completed ${getChildInstanceId()}`"}},
            "childFaulted": {"type": "WriteLine", "text": {"js": "`faulted ${getChildInstanceId()}`"}},
        }),
    );
    let call = with(call, &more);
    World::new(json!({ "root": {
        "type": "Flowchart",
        "activities": [call, {"id": "done", "type": "WriteLine", "text": "done"}, {"id": "completed", "type": "WriteLine", "text": "completed"}],
        "connections": [["call", "done"], ["call", "Completed", "completed"]]
    } }))
}

#[test]
fn bulk_dispatch_starts_a_child_for_each_item_and_ends_with_the_last() {
    let mut world = bulk(json!({
        "items": [{"n": 1}, 2, "x"], "input": {"object": {"n": 0, "all": true}}, "defaultItemInputKey": "Fruit",
        "correlationIdFunction": {"js": "`c-${JSON.stringify(getItem())}`"}
    }));
    world.start();
    let asked: Vec<_> =
        world.children.iter().map(|child| (child.input.clone(), child.correlation_id.clone().unwrap())).collect();
    let parent = world.instance.id.to_string();
    let input = |value: Value| value.as_object().unwrap().clone();
    assert_eq!(
        asked,
        [
            (input(json!({"n": 1, "all": true, "ParentInstanceId": parent})), "c-{\"n\":1}".to_owned()),
            (input(json!({"n": 0, "all": true, "Fruit": 2, "ParentInstanceId": parent})), "c-2".to_owned()),
            (input(json!({"n": 0, "all": true, "Fruit": "x", "ParentInstanceId": parent})), "c-\"x\"".to_owned()),
        ]
    );
    assert_eq!(world.bookmarks.len(), 1);
    let ids: Vec<String> = world.children.iter().map(|child| child.id.to_string()).collect();
    for (index, sub_status) in [(1, SubStatus::Faulted), (0, SubStatus::Cancelled)] {
        let report = ended(&world, index, sub_status, json!({}));
        world.resume_at(0, Some(&report));
        assert_eq!(world.status(), SubStatus::Suspended);
    }
    let report = ended(&world, 2, SubStatus::Finished, json!({}));
    world.resume_at(0, Some(&report));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(
        world.lines(),
        [format!("faulted {}", ids[1]).as_str(), &format!("completed {}", ids[2]), "done", "completed"]
    );
}

#[test]
fn many_reports_are_one_burst_and_leave_the_state_as_small() {
    let items: Vec<u32> = (0..200).collect();
    let mut world = bulk(json!({ "items": items, "childCompleted": null, "childFaulted": null }));
    world.start();
    let before = world.state_size();
    let reports: Vec<Value> = (0..199).map(|i| ended(&world, i, SubStatus::Finished, json!({}))).collect();
    world.resume_each(0, &reports);
    assert_eq!(world.status(), SubStatus::Suspended);
    assert!(world.state_size() <= before, "{} grew to {}", before, world.state_size());
    let last = ended(&world, 199, SubStatus::Finished, json!({}));
    // A late report has no effect.
    world.resume_each(0, &[last.clone(), last]);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["done", "completed"]);
    assert_eq!(world.journaled(EventKind::Resumed).len(), 200);
}

#[test]
fn bulk_dispatch_of_nothing_or_without_waiting_ends_at_once() {
    for more in
        [json!({ "items": [] }), json!({ "items": null }), json!({ "items": [1, 2], "waitForCompletion": false })]
    {
        let mut world = bulk(more);
        world.start();
        assert_eq!(world.status(), SubStatus::Finished);
        assert_eq!(world.lines(), ["done"]);
        assert!(world.children.iter().all(|child| child.bookmark_id.is_none()));
    }
}

#[test]
fn ports_that_wait_outlive_the_last_report() {
    let mut world =
        bulk(json!({ "items": [1], "childCompleted": {"id": "ask", "type": "RunTask", "taskName": "look"} }));
    world.start();
    let report = ended(&world, 0, SubStatus::Finished, json!({}));
    world.resume_at(0, Some(&report));
    assert_eq!(world.waiting(), ["ask"]);
    world.resume_at(0, None);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn what_is_no_report_does_not_count_as_a_child() {
    let mut world = bulk(json!({ "items": [1] }));
    world.start();
    world.resume_at(0, Some(&json!({"WorkflowOutput": {}})));
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.journaled(EventKind::Note), ["call"]);
    let report = ended(&world, 0, SubStatus::Finished, json!({}));
    world.resume_at(0, Some(&report));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_ne!(world.children[0].id, Uuid::nil());
}

/// Executions that the last burst has abandoned, by the ids of their activities.
fn abandoned(world: &World, before: &[Bookmark]) -> Vec<String> {
    let id_of = |execution: &Uuid| {
        let found = before.iter().find(|bookmark| bookmark.activity_instance_id == *execution);
        found.expect("it waited").activity_id.clone()
    };
    world.last.abandoned.iter().map(id_of).collect()
}

fn time_is_over(world: &mut World, activity: &str) -> Vec<Bookmark> {
    let before = world.bookmarks.clone();
    let is_it = |bookmark: &Bookmark| bookmark.name == stimulus::TIMEOUT && bookmark.activity_id == activity;
    world.resume_at(before.iter().position(is_it).expect("a timeout"), None);
    before
}

#[test]
fn a_timeout_gives_up_the_children_that_are_waited_for() {
    let call = |kind: &str, more: Value| with(child_of(kind, json!({"id": kind, "waitForCompletion": true})), &more);
    let calls = json!([
        call("ExecuteWorkflow", json!({})),
        call("DispatchWorkflow", json!({})),
        call("BulkDispatchWorkflows", json!({"items": [1, 2]})),
        {"id": "E", "type": "Event", "eventName": "E"},
    ]);
    let body = json!({"id": "body", "type": "Parallel", "timeout": "1 hour", "activities": calls});
    let mut world = World::started(json!([body]));
    let before = time_is_over(&mut world, "body");
    assert_eq!(abandoned(&world, &before), ["ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows"]);
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn another_attempt_gives_them_up() {
    let mut call = child_of("ExecuteWorkflow", json!({"waitForCompletion": true, "timeout": "1 hour"}));
    call["retry"] = json!({"maxAttempts": 2, "delay": "0 s"});
    let mut world = World::started(json!([call]));
    let before = time_is_over(&mut world, "call");
    assert_eq!((abandoned(&world, &before), world.last.children.len()), (vec!["call".to_owned()], 1));
    // A parallel fault: the container starts again, with another child.
    let call = child_of("ExecuteWorkflow", json!({"waitForCompletion": true}));
    let policy = json!({"maxAttempts": 2, "delay": "0 s"});
    let branches = json!([call, [{"id": "E", "type": "Event", "eventName": "E"}, {"type": "Fault", "message": "no"}]]);
    let mut world =
        World::started(json!([{"id": "both", "type": "Parallel", "activities": branches, "retry": policy}]));
    let before = world.bookmarks.clone();
    world.resume("E", Value::Null);
    assert_eq!((abandoned(&world, &before), world.last.children.len()), (vec!["call".to_owned()], 1));
}

#[test]
fn a_catch_gives_them_up_and_one_that_was_only_asked_for_does_not_begin() {
    let call = child_of("ExecuteWorkflow", json!({"waitForCompletion": true}));
    let fault = json!({"type": "Fault", "message": "no"});
    let caught = |branch: Value| {
        let body = json!({"type": "Parallel", "activities": [call, branch]});
        json!([{"type": "Try", "body": body, "catch": [{"body": line("caught")}]}])
    };
    let world = World::started(caught(fault.clone()));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["caught"]));
    assert!(world.children.is_empty() && world.journaled(EventKind::ChildStarted).is_empty());

    let mut world = World::started(caught(json!([{"id": "E", "type": "Event", "eventName": "E"}, fault])));
    let before = world.bookmarks.clone();
    world.resume("E", Value::Null);
    assert_eq!((abandoned(&world, &before), world.children.len()), (vec!["call".to_owned()], 1));
}

#[test]
fn other_endings_of_a_branch_leave_them_alone() {
    let call = child_of("ExecuteWorkflow", json!({"waitForCompletion": true}));
    let other = json!({"id": "E", "type": "Event", "eventName": "E"});
    let mut world = World::started(json!([{"type": "Fork", "joinMode": "WaitAny", "branches": [call, other]}]));
    world.resume("E", Value::Null);
    assert_eq!((world.status(), world.last.abandoned.len()), (SubStatus::Finished, 0));
    // A child that is not waited for is not abandoned.
    let call = child_of("DispatchWorkflow", json!({}));
    let mut world =
        World::started(json!([{"id": "body", "type": "Sequence", "timeout": "1 hour", "activities": [call, other]}]));
    time_is_over(&mut world, "body");
    assert!(world.last.abandoned.is_empty());
}
