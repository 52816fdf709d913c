//! `ContinueAs`, and the events that a burst leaves.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::instance::SubStatus;
use workflow_engine::instance::compensation::Ending;
use workflow_engine::journal::EventKind;

use crate::support::{World, event, line};

fn goes_on(more: &Value) -> Value {
    let mut activity = json!({"id": "on", "type": "ContinueAs", "input": {"object": {"n": 1}}});
    let (members, more) = (activity.as_object_mut().expect("an object"), more.as_object().expect("an object"));
    members.extend(more.clone());
    activity
}

/// A step whose confirmation waits.
fn confirmed_later() -> Value {
    json!({"id": "pay", "type": "Compensable", "body": line("paid"), "confirmation": [event("booked"), line("booked")]})
}

#[test]
fn the_run_ends_and_hands_over_what_begins_in_its_place() {
    let mut world = World::started(json!({"type": "Fork", "joinMode": "WaitAll", "branches": [
        event("other"), [event("go"), goes_on(&json!({})), line("never")]]}));
    assert_eq!(world.last.continuation, None);
    world.resume("go", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.lines().is_empty() && world.waiting().is_empty());
    let next = world.last.continuation.as_ref().expect("it goes on");
    assert_eq!((next.version_id, &next.input.0), (Uuid::from_u128(1), &json!({"n": 1})));
    assert_eq!(next.definition_id, world.program.definition_id);
    assert_ne!(next.id, world.instance.id);
    let event = world.trail.iter().find(|event| event.kind == EventKind::WorkflowContinued).expect("an event");
    assert_eq!(event.data.as_ref().unwrap().0["instance_id"], next.id.to_string());
    assert_eq!(world.trail.last().unwrap().kind, EventKind::WorkflowFinished);
    assert_eq!(world.instance.state.continuation, None, "it is not handed over twice");
}

#[test]
fn a_fault_of_the_activity_ends_nothing() {
    for (activity, sqlstate) in [
        (goes_on(&json!({"definitionId": "missing"})), "42704"),
        (json!({"id": "on", "type": "ContinueAs", "input": {"object": [1]}}), "22023"),
        (json!([{"type": "DispatchWorkflow", "workflowDefinitionId": "child"}, goes_on(&json!({}))]), "55000"),
        (json!([confirmed_later(), goes_on(&json!({}))]), "55000"),
    ] {
        let world = World::started(json!({"type": "Fork", "branches": [event("other"), activity]}));
        assert_eq!(world.status(), SubStatus::Faulted);
        assert_eq!(world.last.incidents[0].fault.sqlstate, sqlstate);
        assert_eq!(world.waiting(), ["other"], "the other branch still waits");
        assert_eq!((&world.last.continuation, &world.instance.state.continuation), (&None, &None));
    }
}

#[test]
fn what_begins_waits_for_the_confirmations() {
    let mut world = World::started(json!([confirmed_later(), goes_on(&json!({"confirm": true}))]));
    assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["booked"]));
    assert_eq!(world.instance.state.ending(), Ending::Finished);
    assert_eq!(world.last.continuation, None);
    let kept = world.instance.state.continuation.as_ref().expect("it is kept").id;
    world.resume("booked", Value::Null);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["paid", "booked"]));
    assert_eq!(world.last.continuation.as_ref().map(|next| next.id), Some(kept));
}

#[test]
fn a_run_that_is_cancelled_first_does_not_go_on() {
    let mut world = World::started(json!([confirmed_later(), goes_on(&json!({"confirm": true}))]));
    world.cancel_by_force();
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert_eq!((&world.last.continuation, &world.instance.state.continuation), (&None, &None));
}

#[test]
fn the_journal_has_what_the_options_say() {
    let kinds = |journal: &str, mode: Value| {
        let mut said = line("said");
        said["customProperties"] = json!({ "logPersistenceMode": mode });
        let definition = json!({"options": {"journal": journal}, "root": [said, event("go")]});
        let world = World::started(definition);
        world.trail.iter().map(|event| event.kind).collect::<Vec<_>>()
    };
    use EventKind::{BookmarkCreated, Completed, Line, Started, WorkflowStarted, WorkflowSuspended};
    let full = [WorkflowStarted, Started, Line, Completed, BookmarkCreated, WorkflowSuspended];
    assert_eq!(kinds("full", json!("Inherit")), full);
    assert_eq!(kinds("milestones", json!("Inherit")), [WorkflowStarted, BookmarkCreated, WorkflowSuspended]);
    assert_eq!(
        kinds("milestones", json!("Include")),
        full.into_iter().filter(|kind| *kind != Started).collect::<Vec<_>>()
    );
    assert_eq!(kinds("none", json!({"default": "Include"})), [Line, Completed]);
    assert_eq!(kinds("none", json!("Inherit")), []);
    assert_eq!(kinds("full", json!("Exclude")), [WorkflowStarted, Started, BookmarkCreated, WorkflowSuspended]);
}
