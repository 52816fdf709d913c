//! `Try`: which faults it handles, what it cancels, and when `finally` runs.

use serde_json::{Value, json};
use workflow_engine::definition::{ReadLimits, compile};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, broken, event, line};

fn attempt(body: Value, more: Value) -> Value {
    let mut activity = json!({"id": "try", "type": "Try", "body": body});
    activity.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    activity
}

fn started(root: Value) -> World {
    World::started(json!({"variables": {"E": null, "N": 0}, "root": root}))
}

/// A statement that fails with 22012.
fn sql() -> Value {
    json!({"id": "sql", "type": "Sql", "statement": "RAISE"})
}

#[test]
fn a_body_that_ends_is_followed_by_finally() {
    let world = started(json!([
        attempt(line("body"), json!({"catch": [{"body": line("no")}], "finally": line("finally")})),
        line("after")
    ]));
    assert_eq!(world.lines(), ["body", "finally", "after"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn the_first_catch_that_names_the_fault_takes_it() {
    let catch = json!([{"on": ["23", "timeout"], "body": line("no")}, {"on": ["22012"], "variable": "E", "body": line("caught")}, {"body": line("no")}]);
    let body = json!([line("begin"), sql(), line("no")]);
    let world = started(json!([attempt(body, json!({"catch": catch, "finally": line("finally")})), line("after")]));
    assert_eq!(world.lines(), ["begin", "caught", "finally", "after"]);
    assert_eq!((world.status(), world.instance.incident_count), (SubStatus::Finished, 0));
    assert_eq!(
        *world.variable("E"),
        json!({"code": null, "sqlstate": "22012", "message": "division by zero", "detail": null, "activityId": "sql", "attempts": 1})
    );
    assert_eq!((world.journaled(EventKind::Faulted), world.journaled(EventKind::Caught)), (vec!["sql"], vec!["try"]));
}

#[test]
fn a_catch_without_a_list_takes_all_and_may_do_nothing() {
    let world = started(json!([attempt(broken("f"), json!({"catch": [{}]})), line("after")]));
    assert_eq!((world.lines(), world.status()), (vec!["after"], SubStatus::Finished));
}

#[test]
fn everything_below_the_body_is_cancelled_before_the_catch_runs() {
    let body = json!({"type": "Parallel", "activities": [event("Go"), broken("f")]});
    let mut world = started(json!([attempt(body, json!({"catch": [{"body": event("Repair")}]})), line("after")]));
    assert_eq!(world.waiting(), ["Repair"]);
    world.resume("Repair", Value::Null);
    assert_eq!((world.lines(), world.status()), (vec!["after"], SubStatus::Finished));
}

#[test]
fn a_fault_that_none_takes_goes_on_after_finally() {
    let mut world = started(json!([
        attempt(broken("f"), json!({"catch": [{"on": ["22"], "body": line("no")}], "finally": event("Clean")})),
        line("after")
    ]));
    assert_eq!(
        (world.status(), world.waiting(), world.instance.incident_count),
        (SubStatus::Suspended, vec!["Clean"], 0)
    );
    world.resume("Clean", Value::Null);
    let incident = &world.last.incidents[0];
    assert_eq!((incident.activity_id.as_str(), incident.fault.message.as_str()), ("try", "broken"));
    assert_eq!((world.status(), world.lines()), (SubStatus::Faulted, Vec::<&str>::new()));
    world.retry(None).expect("it has faulted");
    assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["Clean"]));
}

#[test]
fn without_finally_the_incident_is_that_of_the_activity_itself() {
    let world = started(attempt(broken("f"), json!({"catch": [{"on": ["22"], "body": line("no")}]})));
    assert_eq!((world.status(), world.last.incidents[0].activity_id.as_str()), (SubStatus::Faulted, "f"));
}

#[test]
fn a_fault_in_a_catch_is_not_taken_by_the_same_activity() {
    let inner = attempt(broken("f"), json!({"catch": [{"body": sql()}], "finally": line("finally")}));
    let mut outer = attempt(inner, json!({"catch": [{"variable": {"var": "E"}, "body": line("outer")}]}));
    outer["id"] = json!("outer");
    let world = started(outer);
    assert_eq!((world.lines(), world.status()), (vec!["finally", "outer"], SubStatus::Finished));
    assert_eq!(
        (&world.variable("E")["sqlstate"], &world.variable("E")["activityId"]),
        (&json!("22012"), &json!("try"))
    );
}

#[test]
fn a_fault_in_finally_replaces_the_one_that_goes_on() {
    let world = started(attempt(broken("f"), json!({"finally": sql()})));
    assert_eq!((world.status(), world.last.incidents.len()), (SubStatus::Faulted, 1));
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22012");
}

#[test]
fn finally_runs_on_break_and_not_on_finish_or_cancel() {
    let body = attempt(json!([line("body"), {"type": "Break"}]), json!({"finally": line("finally")}));
    let world = started(json!([{"type": "While", "condition": true, "body": body}, line("after")]));
    assert_eq!(world.lines(), ["body", "finally", "after"]);
    // It leaves the loop from a catch as well, and from finally; a fault that no catch handles still propagates.
    let caught =
        json!({"catch": [{"body": [line("caught"), {"type": "Break"}, line("no")]}], "finally": line("finally")});
    let world =
        started(json!([{"type": "While", "condition": true, "body": attempt(broken("f"), caught)}, line("after")]));
    assert_eq!(world.lines(), ["caught", "finally", "after"]);
    let last = json!({"finally": [line("finally"), {"type": "Break"}, line("no")]});
    let body = attempt(line("body"), last.clone());
    let world = started(json!([{"type": "While", "condition": true, "body": body}, line("after")]));
    assert_eq!(world.lines(), ["body", "finally", "after"]);
    let body = attempt(broken("f"), last);
    let world = started(json!([{"type": "While", "condition": true, "body": body}, line("after")]));
    assert_eq!((world.lines(), world.status()), (vec!["finally"], SubStatus::Faulted));
    let world = started(json!([attempt(json!([{"type": "Finish"}]), json!({"finally": line("no")})), line("no")]));
    assert_eq!((world.lines(), world.status()), (Vec::<&str>::new(), SubStatus::Finished));
    let mut world = started(attempt(event("Go"), json!({"finally": line("no")})));
    world.cancel();
    assert_eq!((world.lines(), world.status()), (Vec::<&str>::new(), SubStatus::Cancelled));
}

#[test]
fn the_policy_of_the_activity_that_faulted_comes_before_the_catch_and_that_of_try_after_it() {
    let mut inner = broken("f");
    inner["retry"] = json!({"maxAttempts": 3, "delay": "0 s"});
    let world = started(json!([attempt(inner, json!({"catch": [{"variable": "E", "body": line("caught")}]}))]));
    assert_eq!((world.lines(), &world.variable("E")["attempts"]), (vec!["caught"], &json!(3)));
    let mut outer =
        attempt(json!([line("body"), broken("f")]), json!({"catch": [{"on": ["22"]}], "finally": line("finally")}));
    outer["retry"] = json!({"maxAttempts": 2, "delay": "0 s"});
    let world = started(outer);
    assert_eq!((world.lines(), world.status()), (vec!["body", "finally", "body", "finally"], SubStatus::Faulted));
}

#[test]
fn what_a_catch_cannot_say_is_refused() {
    let problems = |catch: Value| {
        let document = json!({"definitionId": "d", "root": {"type": "Try", "body": line("a"), "catch": catch}});
        let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
        let problems = compile(&document, &(), &limits, false).err().unwrap_or_default();
        problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect::<Vec<_>>()
    };
    assert!(problems(json!([{"on": ["22", "timeout"], "body": line("a")}, {}])).is_empty());
    let found = [
        (json!([{"on": "22"}]), "/root/catch/0/on: \"on\" must be a list"),
        (json!([{"on": []}]), "/root/catch/0/on: \"on\" must not be empty"),
        (json!([{"on": ["40001"]}]), "/root/catch/0/on: \"on\" must not name \"40001\""),
        (json!([{"variable": "Missing"}]), "/root/catch/0/variable: variable \"Missing\" is not declared"),
        (
            json!([{"bodi": line("a")}]),
            "/root/catch/0/bodi: unknown member \"bodi\" of a catch (did you mean \"body\"?)",
        ),
    ];
    for (catch, expected) in found {
        let problems = problems(catch);
        assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:#?}");
    }
}
