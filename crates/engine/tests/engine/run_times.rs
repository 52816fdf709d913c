//! The timeout of a run: `options.timeout`.

use serde_json::{Value, json};
use workflow_engine::execution;
use workflow_engine::fault::Error;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus::RUN_TIMEOUT;

use crate::support::{World, event, line};

fn bounded(root: Value) -> Value {
    json!({"options": {"timeout": "1 hour"}, "root": root})
}

fn deadline(world: &World) -> usize {
    world.bookmarks.iter().position(|bookmark| bookmark.name == RUN_TIMEOUT).expect("the time of the run")
}

/// Lets the timeout of the run expire.
fn time_is_over(world: &mut World) {
    world.resume_at(deadline(world), None);
}

#[test]
fn a_run_that_ends_in_its_first_burst_has_no_bookmark_for_it() {
    let world = World::started(bounded(json!([line("a")])));
    assert_eq!((world.status(), world.journaled(EventKind::BookmarkCreated).len()), (SubStatus::Finished, 0));
}

#[test]
fn one_that_waits_has_one_from_its_beginning_to_its_end() {
    let mut world = World::started(bounded(json!([event("E"), event("F")])));
    let made = world.bookmarks[deadline(&world)].clone();
    assert_eq!(made.due_at.expect("a due time").to_rfc3339(), "2027-01-15T09:00:00+00:00");
    world.resume("E", Value::Null);
    assert_eq!(world.bookmarks[deadline(&world)], made);
    world.resume("F", Value::Null);
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Finished, 0));
}

#[test]
fn every_end_of_a_run_uses_it_up() {
    let mut finished = World::started(bounded(json!([event("E"), {"type": "Finish"}])));
    finished.resume("E", Value::Null);
    let mut cancelled = World::started(bounded(json!([event("E")])));
    cancelled.cancel();
    assert_eq!((finished.status(), cancelled.status()), (SubStatus::Finished, SubStatus::Cancelled));
    assert!(finished.bookmarks.is_empty() && cancelled.bookmarks.is_empty());
}

#[test]
fn a_run_that_is_cancelled_with_handlers_keeps_it_until_they_have_ended() {
    let step = json!({"type": "Compensable", "body": line("done"), "compensation": event("undone")});
    let mut world = World::started(bounded(json!([step, event("E")])));
    let made = world.bookmarks[deadline(&world)].clone();
    world.cancel();
    world.resume_all_due();
    assert_eq!((world.status(), &world.bookmarks[deadline(&world)]), (SubStatus::Suspended, &made));
    world.resume("undone", Value::Null);
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Cancelled, 0));
}

#[test]
fn when_the_time_is_over_everything_is_cancelled_and_the_instance_is_faulted_for_good() {
    let body = json!({"type": "Try", "body": [event("E")], "catch": [{"body": line("no")}], "finally": line("no")});
    let mut world = World::started(bounded(json!({"id": "root", "type": "Parallel", "activities": [body, event("F")],
        "retry": {"maxAttempts": 5}})));
    time_is_over(&mut world);
    let incident = &world.last.incidents[0];
    assert_eq!((incident.fault.sqlstate.as_str(), incident.fault.code.as_deref()), ("WF002", Some("timeout")));
    assert_eq!(incident.fault.message, "a run of workflow \"test\" took longer than 3600 s");
    assert_eq!((incident.activity_id.as_str(), world.lines().len()), ("root", 0));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    assert_eq!(world.journaled(EventKind::Canceled).len(), 5);
    assert!(world.instance.has_failed());
    assert_eq!(world.retry(None), Err(Error::HasFailed { is_compensated: false }));
    let mut host = crate::support::FakeHost::default();
    let delta = execution::cancel(&world.program, &mut world.instance, None, false, &mut host).expect("a cancel");
    assert!(delta.clear_all && world.instance.sub_status == SubStatus::Cancelled);
}

#[test]
fn an_instance_that_is_faulted_already_keeps_it() {
    let mut world = World::started(bounded(json!([line("a"), {"id": "f", "type": "Fault", "message": "no"}])));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 1));
    world.retry(None).expect("it has faulted");
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 1));
    time_is_over(&mut world);
    assert_eq!((world.status(), world.bookmarks.len(), world.last.incidents.len()), (SubStatus::Faulted, 0, 1));
    assert_eq!(world.retry(None), Err(Error::HasFailed { is_compensated: false }));
}

#[test]
fn a_root_that_begins_again_does_not_touch_it() {
    let root = json!([event("E"), {"type": "Fault", "message": "no"}]);
    let mut root = json!({"id": "root", "type": "Sequence", "activities": root});
    (root["retry"], root["timeout"]) = (json!({"maxAttempts": 2, "delay": "0 s"}), json!("1 minute"));
    let mut world = World::started(bounded(root));
    let made = world.bookmarks[deadline(&world)].clone();
    world.resume("E", Value::Null);
    assert_eq!((world.status(), &world.bookmarks[deadline(&world)]), (SubStatus::Suspended, &made));
    world.resume("E", Value::Null);
    assert_eq!((world.status(), &world.bookmarks[deadline(&world)]), (SubStatus::Faulted, &made));
}

#[test]
fn it_gives_up_the_children_that_are_waited_for() {
    let call = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "other", "waitForCompletion": true});
    let mut world = World::started(bounded(json!([call])));
    let execution = world.bookmarks[0].activity_instance_id;
    time_is_over(&mut world);
    assert_eq!(world.last.abandoned, [execution]);
}
