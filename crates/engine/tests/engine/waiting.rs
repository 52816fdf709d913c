//! Bookmarks, events, tasks, triggers, cancellation.

use serde_json::{Value, json};
use workflow_engine::fault::Error;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::{stimulus, trigger};

use crate::support::{FakeHost, World, event, line, program};

#[test]
fn a_bookmark_blocks_what_follows_until_it_is_resumed() {
    let mut world = World::started(json!([line("Start"), event("Go"), line("End")]));
    assert_eq!(world.status(), SubStatus::Suspended);
    assert_eq!(world.lines(), ["Start"]);
    let bookmark = &world.last.created[0];
    assert_eq!(bookmark.name, "Elsa.Event");
    assert_eq!(bookmark.payload, Some(json!({"EventName": "Go"})));
    assert_eq!(bookmark.hash(), stimulus::hash("Elsa.Event", bookmark.payload.as_ref(), None));
    let id = bookmark.id;
    world.resume("Go", Value::Null);
    assert_eq!(world.last.burned, [id]);
    assert!(world.last.cleared.is_empty(), "a used bookmark is not cleared once more");
    assert!(!world.last.clear_all);
    assert_eq!(world.lines(), ["Start", "End"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_task_has_its_bookmarks_id_and_returns_what_completed_it() {
    let mut world = World::started(json!({"variables": {"D": null}, "root":
        {"id": "t", "type": "RunTask", "taskName": "approve", "payload": {"days": 3}, "result": {"var": "D"}}}));
    let task = &world.last.tasks[0];
    assert_eq!((task.name.as_str(), task.activity_id.as_str()), ("approve", "t"));
    assert_eq!(task.payload, Some(json!({"days": 3})));
    let bookmark = &world.last.created[0];
    assert_eq!(bookmark.id, task.bookmark_id);
    let payload = bookmark.payload.as_ref().expect("a payload");
    assert_eq!(payload["TaskId"], json!(task.bookmark_id.to_string()));
    world.resume("t", json!({"ok": true}));
    assert_eq!(*world.variable("D"), json!({"ok": true}));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_task_whose_branch_lost_within_the_burst_is_never_opened() {
    let task = json!({"type": "RunTask", "taskName": "t"});
    let world = World::started(json!({"type": "Fork", "joinMode": "WaitAny", "branches": [task, line("won")]}));
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.last.tasks.is_empty() && world.last.created.is_empty());
}

#[test]
fn publishing_leaves_a_stimulus_for_the_shell() {
    let world = World::started(
        json!({"type": "PublishEvent", "eventName": "Shipped", "payload": {"n": 1}, "isLocalEvent": true}),
    );
    let published = &world.last.stimuli[0];
    assert_eq!(published.name, "Elsa.Event");
    assert_eq!(published.payload, Some(json!({"EventName": "Shipped"})));
    assert_eq!(published.input, Some(json!({"n": 1})));
    assert!(published.local);
}

fn triggered() -> Value {
    json!({"variables": {"R": null}, "root": {"type": "Flowchart", "activities": [
        {"id": "other", "type": "Event", "eventName": "Other", "canStartWorkflow": true},
        {"id": "start", "type": "Event", "eventName": "Go", "canStartWorkflow": true, "result": {"var": "R"}},
        {"id": "next", "type": "WriteLine", "text": "next"},
    ], "connections": [["other", "next"], ["start", "next"]]}})
}

#[test]
fn the_trigger_of_its_own_run_does_not_wait_and_starts_the_flowchart() {
    let mut world = World::new(triggered());
    world.try_start(Some("start"), Some(&json!({"n": 1}))).expect("a trigger");
    assert_eq!(world.lines(), ["next"]);
    assert_eq!(*world.variable("R"), json!({"n": 1}));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn without_a_trigger_the_first_one_waits() {
    let mut world = World::started(triggered());
    assert_eq!(world.waiting(), ["other"]);
    world.resume("other", Value::Null);
    assert_eq!(world.lines(), ["next"]);
}

#[test]
fn a_trigger_that_is_reached_again_waits() {
    let mut world = World::new(json!({"type": "While", "condition": true, "body":
        {"id": "e", "type": "Event", "eventName": "E", "canStartWorkflow": true}}));
    world.try_start(Some("e"), None).expect("a trigger");
    assert_eq!(world.waiting(), ["e"]);
    world.resume("e", Value::Null);
    assert_eq!(world.waiting(), ["e"]);
}

#[test]
fn what_is_no_trigger_cannot_start() {
    for id in ["next", "missing", ""] {
        let mut world = World::new(triggered());
        let error = world.try_start(Some(id), None).expect_err("no trigger");
        assert_eq!(error, Error::UnknownTrigger(id.into()));
    }
}

#[test]
fn triggers_are_indexed_with_their_stimulus() {
    let program = program(json!({"variables": {"Name": "FromVariable"}, "root": {"type": "Flowchart", "activities": [
        {"id": "a", "type": "Event", "eventName": "Go", "canStartWorkflow": true},
        {"id": "b", "type": "Event", "eventName": {"var": "Name"}, "canStartWorkflow": true},
        {"id": "c", "type": "Event", "eventName": "No"},
        {"id": "d", "type": "RowInserted", "canStartWorkflow": true},
    ]}}));
    let mut host = FakeHost { payloads: vec![json!({"t": 1}), json!({"t": 2})], ..FakeHost::default() };
    let index = trigger::index(&program, &mut host, &Default::default()).expect("triggers");
    let found: Vec<_> = index.iter().map(|t| (t.activity_id.as_str(), t.payload.clone())).collect();
    assert_eq!(
        found,
        [
            ("a", Some(json!({"EventName": "Go"}))),
            ("b", Some(json!({"EventName": "FromVariable"}))),
            ("d", Some(json!({"t": 1}))),
            ("d", Some(json!({"t": 2}))),
        ]
    );
    assert_eq!(index[3].name, "RowInserted");
    assert_ne!(index[2].hash, index[3].hash);
}

#[test]
fn a_trigger_that_cannot_be_evaluated_is_named() {
    let program = program(json!({"type": "Sequence", "activities": [
        {"id": "a", "type": "Event", "eventName": {"sql": "raise"}, "canStartWorkflow": true}]}));
    let (id, fault) = trigger::index(&program, &mut FakeHost::default(), &Default::default()).expect_err("a fault");
    assert_eq!((id.as_str(), fault.sqlstate.as_str()), ("a", "22012"));
}

#[test]
fn cancelling_clears_everything_and_says_why() {
    let mut world = World::started(json!({"type": "Parallel", "activities": [event("A"), event("B")]}));
    world.cancel();
    assert_eq!(world.status(), SubStatus::Cancelled);
    assert!(world.last.clear_all);
    assert_eq!(world.journaled(EventKind::Canceled).len(), 3);
    let last = world.last.events.last().expect("an event");
    assert_eq!(last.kind, EventKind::WorkflowCancelled);
    assert_eq!(last.data.as_ref().expect("a reason").0, json!("no longer needed"));
    world.cancel();
    assert!(world.last.events.is_empty(), "cancelling twice does nothing");
}

#[test]
fn a_bookmark_of_a_closed_activity_is_reported() {
    let mut world = World::started(json!([event("A"), event("B")]));
    let stale = world.bookmarks[0].clone();
    world.resume("A", Value::Null);
    world.bookmarks.push(stale);
    let error = world.try_resume(1, None).expect_err("lost");
    assert!(matches!(error, Error::LostActivity(_)));
}

#[test]
fn cancelling_one_of_several_executions_of_a_node_leaves_the_others_bookmarks() {
    // Two rounds of one loop body, each with its own execution of the event.
    let body = json!({"type": "Fork", "joinMode": "WaitAny", "branches": [event("A"), event("B")]});
    let mut world = World::started(json!({"type": "Parallel", "activities": [
        {"type": "For", "start": 1, "end": 2, "body": body}, event("C")]}));
    world.resume("A", Value::Null);
    assert_eq!(world.waiting(), ["C", "A", "B"]);
    world.resume("B", Value::Null);
    assert_eq!(world.waiting(), ["C"]);
}

#[test]
fn the_journal_tells_the_story_in_few_words() {
    let mut world = World::started(json!({"id": "s", "type": "Sequence", "activities": [
        {"id": "l", "type": "WriteLine", "text": "x"}, event("e")]}));
    let kinds: Vec<_> = world.trail.iter().map(|e| (e.kind, e.activity_id.clone())).collect();
    let expect = |kind, id: &str| (kind, id.to_owned());
    assert_eq!(
        kinds,
        [
            expect(EventKind::WorkflowStarted, ""),
            expect(EventKind::Started, "s"),
            expect(EventKind::Line, "l"),
            expect(EventKind::Completed, "l"),
            expect(EventKind::BookmarkCreated, "e"),
            expect(EventKind::WorkflowSuspended, ""),
        ]
    );
    world.trail.clear();
    world.resume("e", Value::Null);
    let kinds: Vec<_> = world.trail.iter().map(|e| (e.kind, e.activity_id.clone())).collect();
    assert_eq!(
        kinds,
        [
            expect(EventKind::WorkflowResumed, ""),
            expect(EventKind::Resumed, "e"),
            expect(EventKind::Completed, "e"),
            expect(EventKind::Completed, "s"),
            expect(EventKind::WorkflowFinished, ""),
        ]
    );
}
