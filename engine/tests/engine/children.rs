//! Child workflows, as the engine sees them: the children that a burst asks for, and how it takes reports.

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::child::{self, Begin};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

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
    // A report that comes too late has no effect.
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
