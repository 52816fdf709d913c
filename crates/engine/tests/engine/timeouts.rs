//! Timeouts: what ends when the timeout of an activity expires, and what follows.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::stimulus::{RETRY, TIMEOUT};

use crate::support::{World, event, line};

fn timed(mut activity: Value, timeout: &str) -> Value {
    activity["timeout"] = json!(timeout);
    activity
}

/// Resumes the bookmark of a timeout, as time does.
fn time_is_over(world: &mut World, activity: &str) {
    let is_it = |bookmark: &workflow_engine::Bookmark| bookmark.name == TIMEOUT && bookmark.activity_id == activity;
    let index = world.bookmarks.iter().position(is_it).expect("a timeout");
    world.resume_at(index, None);
}

fn names(world: &World) -> Vec<&str> {
    world.bookmarks.iter().map(|bookmark| bookmark.name.as_str()).collect()
}

#[test]
fn an_activity_that_ends_at_once_has_no_bookmark_for_it() {
    let world = World::started(json!([
        timed(line("a"), "1 s"),
        timed(json!({"type": "Sequence", "activities": [line("b")]}), "1 s")
    ]));
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.journaled(EventKind::BookmarkCreated).is_empty());
}

#[test]
fn an_activity_that_waits_in_time_goes_on_as_without() {
    let mut world = World::started(json!([timed(event("E"), "1 hour"), line("after")]));
    assert_eq!(names(&world), ["Elsa.Event", TIMEOUT]);
    assert_eq!(world.bookmarks[1].due_at.expect("a due time").to_rfc3339(), "2027-01-15T09:00:00+00:00");
    world.resume_at(0, None);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["after"]));
}

#[test]
fn when_the_time_is_over_everything_below_is_cancelled_and_the_activity_faults() {
    let body = json!({"id": "body", "type": "Parallel", "activities": [event("E"), timed(event("F"), "2 hours")]});
    let mut world = World::started(json!([timed(body, "1 hour"), line("after")]));
    time_is_over(&mut world, "body");
    let fault = &world.last.incidents[0].fault;
    assert_eq!((fault.sqlstate.as_str(), fault.code.as_deref()), ("WF002", Some("timeout")));
    assert_eq!(fault.message, "activity \"body\" took longer than 3600 s");
    assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Faulted, 0));
    world.retry(None).expect("it has faulted");
    assert_eq!((world.status(), names(&world).len()), (SubStatus::Suspended, 4));
}

#[test]
fn each_attempt_has_its_own_time() {
    let mut ask = timed(event("E"), "1 hour");
    ask["retry"] = json!({"maxAttempts": 2, "delay": "1 s", "on": ["timeout"]});
    let mut world = World::started(json!([ask, line("after")]));
    time_is_over(&mut world, "E");
    assert_eq!(names(&world), [RETRY]);
    world.resume_at(0, None);
    assert_eq!(names(&world), ["Elsa.Event", TIMEOUT]);
    time_is_over(&mut world, "E");
    assert_eq!((world.status(), world.last.incidents.len()), (SubStatus::Faulted, 1));
    assert_eq!(world.journaled(EventKind::Retrying), ["E"]);
}

#[test]
fn a_connection_is_taken_instead_of_the_fault() {
    for mode in ["counter", "token"] {
        let chart = json!({"type": "Flowchart", "mode": mode, "activities": [timed(event("E"), "1 hour"), {"id": "late", "type": "WriteLine", "text": "late"},
            {"id": "done", "type": "WriteLine", "text": "done"}], "connections": [["E", "Timeout", "late"], ["E", "done"]]});
        let mut world = World::started(json!([chart, line("after")]));
        time_is_over(&mut world, "E");
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["late", "after"]));
        assert!(world.journaled(EventKind::Faulted).is_empty());
    }
}

#[test]
fn an_outcome_of_the_type_itself_is_not_taken_for_it() {
    let ask = timed(json!({"id": "ask", "type": "FlowSendHttpRequest", "url": "https://a.example"}), "1 hour");
    let chart = json!({"type": "Flowchart", "activities": [ask, {"id": "late", "type": "WriteLine", "text": "late"}],
        "connections": [["ask", "Timeout", "late"]]});
    let mut world = World::started(chart.clone());
    time_is_over(&mut world, "ask");
    let codes: Vec<_> = world.last.incidents.iter().map(|incident| incident.fault.code.as_deref()).collect();
    assert_eq!((world.status(), world.lines(), codes), (SubStatus::Faulted, vec![], vec![Some("timeout")]));
    // The connection is for an answer with that outcome.
    let mut world = World::started(chart);
    let task = world.bookmarks.iter().position(|bookmark| bookmark.name != TIMEOUT).expect("a task");
    world.resume_at(task, Some(&json!({"error": "timeout"})));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["late"]));
}

#[test]
fn a_catch_may_name_it() {
    let body = timed(event("E"), "1 hour");
    let root = json!({"type": "Try", "body": body, "catch": [{"on": ["22"]}, {"on": ["timeout"], "variable": "What", "body": line("late")}]});
    let mut world = World::started(json!({"variables": {"What": null}, "root": root}));
    time_is_over(&mut world, "E");
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["late"]));
    assert_eq!(
        (&world.variable("What")["code"], &world.variable("What")["activityId"]),
        (&json!("timeout"), &json!("E"))
    );
}

#[test]
fn it_is_no_bookmark_of_the_activity_itself() {
    // The last bookmark of a custom activity must complete it, and a timeout does not count.
    let mut world = World::new(timed(json!({"id": "ask", "type": "Approval"}), "1 hour"));
    world
        .host
        .functions
        .insert("Approval".into(), |_| Ok(json!({"bookmarks": [{"name": "one", "autoComplete": false}]})));
    world.start();
    world.resume("ask", Value::Null);
    assert_eq!(
        (world.status(), world.last.incidents[0].fault.message.contains("the last of its activity")),
        (SubStatus::Faulted, true)
    );
    // A faulted activity has no timeout any more.
    assert_eq!(names(&world), ["one"]);
}

#[test]
fn it_stays_when_an_activity_drops_its_own_bookmarks() {
    let report = |id: &str| json!({"ChildInstanceId": id, "SubStatus": "Finished"});
    let bulk = json!({"id": "bulk", "type": "BulkDispatchWorkflows", "workflowDefinitionId": "other", "items": [1], "waitForCompletion": true,
        "childCompleted": event("Seen")});
    let mut world = World::started(timed(bulk, "1 hour"));
    let child = world.children[0].id.to_string();
    let index = world.bookmarks.iter().position(|bookmark| bookmark.name != TIMEOUT).expect("a bookmark");
    world.resume_at(index, Some(&report(&child)));
    let due = world.bookmarks.iter().find(|bookmark| bookmark.name == TIMEOUT).and_then(|bookmark| bookmark.due_at);
    assert_eq!(due.expect("a timeout").to_rfc3339(), "2027-01-15T09:00:00+00:00");
}

#[test]
fn a_try_whose_own_time_is_over_ends_without_finally() {
    let body = json!({"type": "Try", "id": "try", "body": event("E"), "finally": line("no")});
    let mut world = World::started(timed(body, "1 hour"));
    time_is_over(&mut world, "try");
    assert_eq!((world.status(), world.lines()), (SubStatus::Faulted, Vec::<&str>::new()));
    // A fault in the body is like any other.
    let mut world =
        World::started(json!({"type": "Try", "body": timed(event("E"), "1 hour"), "finally": line("finally")}));
    time_is_over(&mut world, "E");
    assert_eq!((world.status(), world.lines()), (SubStatus::Faulted, vec!["finally"]));
}

#[test]
fn the_time_of_a_background_activity_begins_when_it_is_executed() {
    let mut world = World::started(timed(
        json!({"id": "E", "type": "RunTask", "taskName": "t", "runAsynchronously": true}),
        "1 hour",
    ));
    assert_eq!(names(&world), ["BackgroundActivity"]);
    world.resume_at(0, None);
    assert_eq!(names(&world), ["Elsa.RunTask", TIMEOUT]);
}
