//! Manual alterations: where the instance continues.

use serde_json::{Value, json};
use workflow_engine::alteration::{Alteration, Changes, InstanceFilter, MAX_ALTERATIONS, Target};
use workflow_engine::fault::Error;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, event, line};

fn cancel(id: &str) -> Alteration {
    Alteration::CancelActivity(Target { activity_id: Some(id.into()), execution: None })
}

fn schedule(id: &str) -> Alteration {
    Alteration::ScheduleActivity(Target { activity_id: Some(id.into()), execution: None })
}

fn set(name: &str, value: Value) -> Alteration {
    Alteration::ModifyVariable { name: name.into(), value, scope: None }
}

fn wait(id: &str) -> Value {
    json!({"id": id, "type": "Event", "eventName": id})
}

fn problems(made: Result<(), Error>) -> Vec<String> {
    match made {
        Err(Error::NotAltered(problems)) => problems.into_iter().map(|problem| problem.message).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_problem_keeps_all_of_a_plan_from_being_made() {
    let mut world = World::started(json!({"root": [wait("a"), wait("b")], "variables": {"x": 1}}));
    let made = world.alter(&[set("x", json!(2)), cancel("b"), cancel("c"), set("y", json!(1))]);
    assert_eq!(problems(made).len(), 3, "each problem is told");
    assert_eq!((world.variable("x"), world.waiting()), (&json!(1), vec!["a"]));
    world.alter(&[set("x", json!(2)), cancel("a")]).expect("made");
    assert_eq!((world.variable("x"), world.waiting()), (&json!(2), vec!["b"]));
}

#[test]
fn a_cancelled_activity_can_be_replaced_in_the_same_plan() {
    for root in [
        json!({"type": "Sequence", "activities": [wait("a"), wait("b"), wait("c")]}),
        json!({"type": "Flowchart", "activities": [wait("a"), wait("b"), wait("c")], "connections": [["a", "b"], ["b", "c"]]}),
    ] {
        let mut world = World::started(root);
        world.alter(&[cancel("a"), schedule("c")]).expect("made");
        assert_eq!(world.waiting(), ["c"]);
        world.resume("c", json!(null));
        assert_eq!(world.status(), SubStatus::Finished);
    }
}

#[test]
fn what_begins_again_hears_nothing_of_the_run_that_is_over() {
    for root in [
        json!({"id": "all", "type": "Sequence", "activities": [wait("a"), wait("b")]}),
        json!({"id": "all", "type": "Parallel", "activities": [wait("a"), {"type": "WriteLine", "text": "x"}]}),
        json!({"id": "all", "type": "Flowchart", "activities": [wait("a"), wait("b")], "connections": [["a", "b"]]}),
        json!({"id": "all", "type": "Flowchart", "mode": "token", "activities": [wait("a"), wait("b")], "connections": [["a", "b"]]}),
        json!({"id": "all", "type": "While", "condition": true, "body": wait("a")}),
        json!({"id": "all", "type": "Try", "body": wait("a"), "catch": [{"body": wait("b")}]}),
    ] {
        let mut world = World::started(json!({"id": "root", "type": "Sequence", "activities": [root]}));
        world.alter(&[cancel("a"), schedule("all")]).expect("made");
        assert_eq!((world.waiting(), world.status()), (vec!["a"], SubStatus::Suspended));
        assert!(world.trail.iter().all(|event| event.kind != EventKind::Faulted));
        let made = world.alter(&[schedule("all"), schedule("a")]);
        assert_eq!(problems(made), ["the activity that holds it begins again by the same call"]);
    }
}

#[test]
fn what_runs_because_of_an_alteration_sees_variables_that_are_set_with_it() {
    let mut world = World::started(json!({"variables": {"x": 1}, "root": [
        wait("a"), {"id": "tell", "type": "WriteLine", "text": {"var": "x"}}]}));
    world.alter(&[cancel("a"), set("x", json!(7))]).expect("made");
    assert_eq!((world.lines(), world.status()), (vec!["7"], SubStatus::Finished));
}

#[test]
fn loops_and_branches_go_on_after_a_cancelled_child() {
    let body = || json!({"id": "a", "type": "Event", "eventName": "a"});
    let roots = [
        json!({"type": "ForEach", "items": [1, 2], "body": body()}),
        json!({"type": "For", "start": 1, "end": 2, "body": body()}),
        json!({"type": "If", "condition": true, "then": body()}),
        json!({"type": "Fork", "branches": [body(), line("x")]}),
        json!({"type": "Try", "body": body(), "finally": line("y")}),
        json!({"type": "ParallelForEach", "items": [1, 2], "body": body()}),
    ];
    for root in roots {
        let mut world = World::started(json!([root, line("end")]));
        while world.status() == SubStatus::Suspended {
            world.alter(&[cancel("a")]).expect("made");
        }
        assert_eq!((world.status(), world.lines().last()), (SubStatus::Finished, Some(&"end")));
    }
}

#[test]
fn a_state_machine_does_not_take_a_transition_whose_trigger_is_cancelled() {
    let mut world = World::started(
        json!({"id": "m", "type": "StateMachine", "initialState": "A", "states": ["A", "B"], "transitions": [
        {"from": "A", "to": "B", "trigger": wait("go")}, {"from": "A", "to": "B", "trigger": wait("or")}]}),
    );
    world.alter(&[cancel("go")]).expect("made");
    assert_eq!(world.waiting(), ["or"]);
    world.alter(&[cancel("or")]).expect("made");
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_handler_cannot_be_altered() {
    let mut world = World::started(json!([
        {"id": "book", "type": "Compensable", "body": line("booked"), "compensation": wait("undo")},
        {"id": "back", "type": "Compensate"}]));
    assert_eq!(world.waiting(), ["undo"]);
    for alteration in [cancel("undo"), schedule("undo"), cancel("back")] {
        assert_eq!(
            problems(world.alter(&[alteration])),
            ["an activity that compensates or confirms cannot be altered"]
        );
    }
    world.resume("undo", json!(null));
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_scope_that_is_cancelled_after_its_body_takes_back_what_it_holds() {
    let book = json!({"type": "Compensable", "body": line("booked"), "compensation": line("given back")});
    let mut world = World::started(json!([
        {"id": "scope", "type": "CancellationScope", "body": {"id": "body", "type": "Sequence", "activities": [book, wait("a")]}},
        wait("b")]));
    world.alter(&[cancel("body"), cancel("scope")]).expect("made");
    assert_eq!((world.lines(), world.waiting()), (vec!["booked", "given back"], vec!["b"]));
}

#[test]
fn a_race_in_a_flowchart_is_not_won_by_a_cancelled_branch() {
    let mut world = World::started(json!({"type": "Flowchart", "activities": [
        {"id": "s", "type": "Start"}, wait("a"), wait("b"), {"id": "j", "type": "FlowJoin", "mode": "WaitAny"}, wait("c")],
        "connections": [["s", "a"], ["s", "b"], ["a", "j"], ["b", "j"], ["j", "c"]]}));
    world.alter(&[cancel("a")]).expect("made");
    assert_eq!(world.waiting(), ["b"]);
    world.resume("b", json!(null));
    assert_eq!(world.waiting(), ["c"]);
}

#[test]
fn what_was_altered_is_in_the_journal() {
    let mut world = World::started(json!({"root": [event("e"), line("x")], "variables": {"n": 1}}));
    world.alter(&[set("n", json!(2))]).expect("made");
    let altered = world.trail.last().expect("an event");
    assert_eq!(altered.kind, EventKind::Altered);
    let data = json!({"by": "operator", "type": "ModifyVariable", "variable": "n", "from": 1, "to": 2});
    assert_eq!(altered.data.as_ref().expect("data").0, data);
}

#[test]
fn plans_are_read_in_either_letter_case() {
    let camel = json!([{"type": "ModifyVariable", "variableId": "x", "value": null}, {"type": "Cancel"}]);
    let pascal = json!([{"Type": "ModifyVariable", "VariableId": "x", "Value": null}, {"Type": "Cancel"}]);
    assert_eq!(Changes::read(&camel), Changes::read(&pascal));
    let fails = |plan: Value| Changes::read(&plan).map(drop).map_err(|fault| fault.sqlstate);
    for (plan, sqlstate) in [
        (json!({}), "22023"),
        (json!([]), "22023"),
        (json!([1]), "22023"),
        (json!([{"type": "Nothing"}]), "22023"),
        (json!([{"type": 1}]), "22023"),
        (json!([{"type": "Cancel", "reson": 1}]), "22023"),
        (json!([{"type": "Cancel"}, {"type": "Cancel"}]), "22023"),
        (json!([{"type": "ModifyVariable", "variableId": "x"}]), "22023"),
        (json!([{"type": "CancelActivity"}]), "22023"),
        (json!([{"type": "CancelActivity", "activityInstanceId": "x"}]), "22023"),
        (json!(vec![json!({"type": "Cancel"}); MAX_ALTERATIONS + 1]), "54000"),
        (json!([{"type": "Migrate"}, {"type": "Cancel"}]), "22023"),
        (json!([{"type": "Cancel"}, {"type": "Migrate"}]), "22023"),
        (json!([{"type": "Migrate", "targetVersion": "2"}]), "22023"),
        (json!([{"type": "Migrate", "targetVersion": 2.5}]), "22023"),
        (json!([{"type": "Migrate", "targetVersion": 3_000_000_000_i64}]), "22023"),
        (json!([{"type": "Migrate", "mapping": {"a": 1}}]), "22023"),
        (json!([{"type": "Migrate", "timers": "later"}]), "22023"),
        (json!([{"type": "Migrate", "version": 2}]), "22023"),
    ] {
        assert_eq!(fails(plan.clone()), Err(sqlstate.to_owned()), "{plan}");
    }
}

#[test]
fn a_filter_that_selects_everything_says_so() {
    let fails = |filter: Value| InstanceFilter::read(&filter).map(drop).map_err(|fault| fault.sqlstate);
    for filter in [
        json!({}),
        json!([]),
        json!({"names": null}),
        json!({"names": []}),
        json!({"names": "x"}),
        json!({"emptyFilterSelectsAll": false}),
        json!({"workflowInstanceIds": ["x"]}),
        json!({"statuses": ["running"]}),
        json!({"subStatuses": ["Waiting"]}),
        json!({"timestampFilters": [{"column": "CreatedAt", "operator": "Is", "timestamp": "yesterday"}]}),
        json!({"timestampFilters": [{"column": "Created", "operator": "Is", "timestamp": "2026-01-01T00:00:00Z"}]}),
        json!({"name": ["x"]}),
    ] {
        assert_eq!(fails(filter.clone()), Err("22023".to_owned()), "{filter}");
    }
    assert_eq!(fails(json!({"EmptyFilterSelectsAll": true})), Ok(()));
    assert_eq!(fails(json!({"Names": ["x"], "hasIncidents": false})), Ok(()));
}
