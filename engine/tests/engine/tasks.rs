//! Tasks that workers do not complete.

use serde_json::{Value, json};
use workflow_engine::Fault;
use workflow_engine::execution;
use workflow_engine::fault::TASK_FAILED;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus::LEASE;

use crate::support::{World, event, line};

fn task(more: Value) -> Value {
    let mut activity = json!({"id": "ask", "type": "RunTask", "taskName": "Ask"});
    activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    activity
}

fn declined() -> Fault {
    Fault { code: Some("declined".into()), ..Fault::new(TASK_FAILED, "the card was declined") }
}

#[test]
fn a_task_is_opened_with_its_priority() {
    let world = World::started(json!([task(json!({"priority": -3}))]));
    assert_eq!((world.last.tasks[0].priority, world.last.tasks[0].attempts), (-3, 0));
    let world = World::started(json!([task(json!({"priority": 3_000_000_000_i64}))]));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22003");
}

#[test]
fn the_failure_of_a_worker_is_the_fault_of_the_activity_and_no_policy_of_its_own_repeats_it() {
    let mut world = World::started(json!([task(json!({"retry": {"maxAttempts": 9}})), line("after")]));
    world.fail(0, 3, declined());
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    assert_eq!(world.last.incidents[0].fault, declined());
    assert!(!world.last.keep_resumed);
    world.retry(None).expect("it has faulted");
    assert_eq!(world.last.tasks[0].attempts, 0);
    world.resume("ask", Value::Null);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));
}

#[test]
fn a_container_around_it_may_begin_again() {
    let body = json!([line("body"), task(json!({}))]);
    let around = json!({"type": "Sequence", "activities": body, "retry": {"maxAttempts": 2, "delay": "0 s", "on": ["declined"]}});
    let mut world = World::started(json!([around]));
    world.fail(0, 1, declined());
    assert_eq!((world.lines(), world.status()), (vec!["body", "body"], SubStatus::Suspended));
    world.fail(0, 1, declined());
    assert_eq!(world.status(), SubStatus::Faulted);
}

#[test]
fn a_catch_learns_the_number_of_attempts() {
    let catch = json!([{"on": ["declined"], "variable": "E", "body": event("Repair")}]);
    let root = json!({"variables": {"E": null}, "root": {"type": "Try", "body": task(json!({})), "catch": catch}});
    let mut world = World::started(root);
    world.fail(0, 4, declined());
    assert_eq!((world.waiting(), world.variable("E")["attempts"].as_u64()), (vec!["Repair"], Some(4)));
}

#[test]
fn attempts_of_the_activity_before_the_task_count() {
    let mut world =
        World::started(json!([task(json!({"timeout": "1 hour", "retry": {"maxAttempts": 3, "delay": "0 s"}}))]));
    world.resume_at(1, None);
    assert_eq!(world.last.tasks[0].attempts, 1);
}

#[test]
fn the_end_of_the_last_lease_fails_the_activity() {
    let mut world = World::started(json!([task(json!({"timeout": "1 hour", "retry": {"maxAttempts": 5}}))]));
    world.lease(0, 5);
    assert_eq!(world.bookmarks[2].name, LEASE);
    world.resume_at(2, None);
    let fault = &world.last.incidents[0].fault;
    assert_eq!((fault.sqlstate.as_str(), fault.code.as_deref()), ("WF001", Some("lease_expired")));
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
}

#[test]
fn what_ends_the_wait_ends_the_last_lease() {
    for index in [0, 1] {
        let mut world = World::started(json!([task(json!({"timeout": "1 hour"}))]));
        world.lease(0, 1);
        world.resume_at(index, None);
        assert!(world.bookmarks.is_empty());
    }
    let mut world = World::started(json!([task(json!({}))]));
    world.lease(0, 1);
    world.fail(0, 1, declined());
    assert_eq!((world.journaled(EventKind::Faulted), world.bookmarks.len()), (vec!["ask"], 0));
}

#[test]
fn a_lease_that_is_given_back_is_not_counted() {
    let mut world = World::started(json!([task(json!({}))]));
    world.lease(0, 1);
    let lease = world.bookmarks.pop().expect("the lease");
    execution::drop_lease(&mut world.instance, lease.activity_instance_id);
    world.check();
    world.resume("ask", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
}
