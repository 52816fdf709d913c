//! Migration: an instance continues in another version of its definition, or is refused.

use serde_json::{Value, json};
use workflow_engine::host::Host;
use workflow_engine::instance::SubStatus;
use workflow_engine::instance::compensation::HELD_BY_INSTANCE;
use workflow_engine::migration::{Problem, Severity, Timers};

use crate::support::{World, event, line};

fn definition(root: Value) -> Value {
    json!({"definitionId": "w", "root": root})
}

fn wait(id: &str) -> Value {
    let mut wait = event("E");
    wait["id"] = json!(id);
    wait
}

fn sequence(activities: Value) -> Value {
    json!({"id": "all", "type": "Sequence", "activities": activities})
}

/// Starts `old` and migrates the instance to `new`.
fn moved(old: Value, new: Value, mapping: Value) -> World {
    let (old, new) = (definition(old), definition(new));
    let mut world = World::started(old.clone());
    world.migrate((&old, &new), &mapping, Timers::Keep).expect("it can go on");
    world
}

/// The error of a migration that is refused.
fn refused(old: Value, new: Value, mapping: Value) -> String {
    refused_after(old, new, mapping, |_| {})
}

fn refused_after(old: Value, new: Value, mapping: Value, then: impl FnOnce(&mut World)) -> String {
    let (old, new) = (definition(old), definition(new));
    let mut world = World::started(old.clone());
    then(&mut world);
    let problems = world.migrate((&old, &new), &mapping, Timers::Keep).expect_err("it is refused");
    // It continues as before.
    world.run_to_end();
    problems.into_iter().find(|problem| problem.severity == Severity::Error).expect("an error").message
}

#[test]
fn a_sequence_goes_on_behind_the_open_step() {
    let old = sequence(json!([line("1"), wait("a"), line("2")]));
    let new = sequence(json!([line("0"), line("1"), wait("b"), line("new"), line("2"), line("behind")]));
    let mut world = moved(old, new, json!({"a": "b"}));
    assert_eq!(world.waiting(), ["b"]);
    world.run_to_end();
    assert_eq!(world.lines(), ["1", "new", "2", "behind"]);
}

#[test]
fn what_is_cancelled_is_passed_over() {
    let old = sequence(json!([wait("a"), line("2")]));
    let new = sequence(json!([line("1"), line("2")]));
    let world = moved(old, new, json!({"a": null}));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["1", "2"]));
}

#[test]
fn each_branch_that_is_cancelled_counts() {
    let with = |kind: &str, ids: &[&str]| {
        let branches: Vec<Value> = ids.iter().map(|id| wait(id)).collect();
        let key = if kind == "Fork" { "branches" } else { "activities" };
        json!({"id": "p", "type": kind, "joinMode": "WaitAll", key: branches})
    };
    for kind in ["Fork", "Parallel"] {
        let old = with(kind, &["a", "b", "c"]);
        let mut world = moved(old.clone(), with(kind, &["c"]), json!({"a": null, "b": null}));
        assert_eq!((world.status(), world.waiting()), (SubStatus::Suspended, vec!["c"]), "{kind}");
        world.resume("c", json!({}));
        assert_eq!(world.status(), SubStatus::Finished, "{kind}");
        let world = moved(old, with(kind, &["x"]), json!({"a": null, "b": null, "c": null}));
        assert_eq!((world.status(), world.bookmarks.len()), (SubStatus::Finished, 0), "{kind}");
    }
}

#[test]
fn branches_are_found_by_their_ids() {
    let old =
        json!({"id": "p", "type": "Parallel", "activities": [wait("a"), sequence(json!([wait("b"), line("b")]))]});
    let new = json!({"id": "p", "type": "Parallel", "activities": [sequence(json!([wait("b"), line("b")])), wait("c"), wait("a")]});
    let (old, new) = (definition(old), definition(new));
    let mut world = World::started(old.clone());
    let problems = world.migrate((&old, &new), &json!({}), Timers::Keep).expect("it can go on");
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.starts_with("branch \"c\""), "{problems:?}");
    world.resume("a", json!({}));
    assert_eq!(world.status(), SubStatus::Suspended);
    world.resume("b", json!({}));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["b"]));
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let task = json!({"id": "a", "type": "RunTask", "taskName": "t"});
    let inside = |inner: Value| json!({"id": "x", "type": "Sequence", "activities": [inner]});
    let cases = [
        (sequence(json!([wait("b")])), json!({}), "activity \"a\" waits, and version 2 does not have it"),
        (
            sequence(json!([task])),
            json!({}),
            "activity \"a\" waits as Elsa.Event, and \"a\" of version 2 is Elsa.RunTask",
        ),
        (
            sequence(json!([inside(wait("a"))])),
            json!({}),
            "activity \"a\" is open inside \"all\", and in version 2 it is inside \"x\"",
        ),
        (
            json!({"id": "other", "type": "Sequence", "activities": [wait("a")]}),
            json!({}),
            "activity \"all\" is open, and version 2 does not have it",
        ),
        (
            sequence(json!([inside(wait("b")), wait("b")])),
            json!({"a": "b"}),
            "\"b\" is the id of 2 activities of version 2; use the node id",
        ),
        (sequence(json!([wait("a")])), json!({"a": "zz"}), "\"zz\" is no activity of version 2"),
        (
            sequence(json!([wait("a")])),
            json!({"zz": "a"}),
            "\"zz\" is no activity of the version that the instance runs",
        ),
        (
            sequence(json!([wait("a")])),
            json!({"all": null}),
            "\"all\" is the root, and a migration does not cancel the instance",
        ),
    ];
    for (new, mapping, message) in cases {
        assert_eq!(refused(sequence(json!([wait("a")])), new, mapping), message);
    }
}

#[test]
fn the_root_stays_the_root() {
    let refused = refused(wait("a"), sequence(json!([wait("a")])), json!({}));
    assert_eq!(refused, "activity \"a\" is open as the root, and in version 2 it is inside \"all\"");
}

#[test]
fn two_places_onto_one_are_refused() {
    let both = |first: Value| json!({"id": "p", "type": "Parallel", "activities": first});
    let (old, new) = (both(json!([wait("a"), wait("b")])), both(json!([wait("b")])));
    let one = refused(old.clone(), new.clone(), json!({"a": "b"}));
    assert_eq!(one, "\"a\" and \"b\" are both open, and both would be \"b\"");
    let two = refused(old, both(json!([wait("c")])), json!({"a": "c", "b": "c"}));
    assert_eq!(two, "\"a\" and \"b\" are mapped to the same activity");
}

#[test]
fn two_places_can_be_exchanged() {
    let both = json!({"id": "p", "type": "Parallel", "activities": [wait("a"), wait("b")]});
    let mut world = moved(both.clone(), both, json!({"a": "b", "b": "a"}));
    assert_eq!(world.waiting(), ["b", "a"]);
    world.run_to_end();
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn variables_are_converted_or_refused() {
    let with = |variables: Value, inner: Value| {
        json!({"definitionId": "w", "variables": variables, "root": {"id": "all", "type": "Sequence", "variables": inner,
            "activities": [wait("a"), {"type": "WriteLine", "text": {"js": "`${getN()} ${getM()} ${getNew()}`"}}]}})
    };
    let typed = |name: &str, kind: &str, value: Value| json!({"name": name, "type": kind, "value": value});
    let old = with(
        json!([typed("N", "String", json!("7")), typed("Old", "String", json!("x"))]),
        json!([typed("M", "String", json!("8"))]),
    );
    let new = with(
        json!([typed("N", "Int32", json!(1)), typed("New", "String", json!("n"))]),
        json!([typed("Other", "Int32", json!(1)), typed("M", "Int32", json!(1))]),
    );
    let mut world = World::started(old.clone());
    let problems = world.migrate((&old, &new), &json!({}), Timers::Keep).expect("it can go on");
    assert_eq!(problems[0].message, "variable \"Old\" is not declared in version 2; its value is kept");
    assert_eq!((world.variable("N"), world.variable("Old")), (&json!(7), &json!("x")));
    world.run_to_end();
    assert_eq!(world.lines(), ["7 8 n"]);
    for wrong in [
        with(json!([typed("N", "Guid", json!(null))]), json!([typed("M", "Int32", json!(1))])),
        with(json!([typed("N", "Int32", json!(1))]), json!([typed("M", "Guid", json!(null))])),
    ] {
        let mut world = World::started(old.clone());
        let problems = world.migrate((&old, &wrong), &json!({}), Timers::Keep).expect_err("it is refused");
        assert!(problems.iter().any(|one| one.message.contains("cannot be converted")), "{problems:?}");
    }
}

/// A flowchart of these activities and connections, which starts with a fork.
fn flow(mode: &str, activities: &[Value], connections: Value) -> Value {
    let fork = json!({"id": "fork", "type": "FlowFork", "branches": ["1", "2"]});
    let activities: Vec<Value> = std::iter::once(fork).chain(activities.iter().cloned()).collect();
    json!({"id": "f", "type": "Flowchart", "mode": mode, "activities": activities, "connections": connections})
}

fn told(id: &str) -> Value {
    json!({"id": id, "type": "WriteLine", "text": id, "mergeMode": "Merge"})
}

#[test]
fn a_join_goes_on_waiting() {
    for mode in ["Counter", "Token"] {
        let old = flow(
            mode,
            &[wait("a"), wait("b"), told("j")],
            json!([["fork", "1", "a"], ["fork", "2", "b"], ["a", "j"], ["b", "j"]]),
        );
        let new = flow(
            mode,
            &[told("j"), told("x"), wait("b"), wait("a"), told("end")],
            json!([["b", "x"], ["fork", "2", "b"], ["a", "j"], ["x", "j"], ["fork", "1", "a"], ["j", "end"]]),
        );
        let (old, new) = (definition(old), definition(new));
        let mut world = World::started(old.clone());
        world.resume("a", json!({}));
        world.migrate((&old, &new), &json!({}), Timers::Keep).expect("it can go on");
        world.resume("b", json!({}));
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["x", "j", "end"]), "{mode}");
    }
}

#[test]
fn a_token_or_a_join_that_is_lost_is_refused() {
    for mode in ["Counter", "Token"] {
        let old = flow(
            mode,
            &[wait("a"), wait("b"), told("j")],
            json!([["fork", "1", "a"], ["fork", "2", "b"], ["a", "j"], ["b", "j"]]),
        );
        let gone = flow(
            mode,
            &[wait("a"), wait("b"), told("j"), told("x")],
            json!([["fork", "1", "a"], ["fork", "2", "b"], ["a", "x"], ["x", "j"], ["b", "j"]]),
        );
        let error = refused_after(old.clone(), gone, json!({}), |world| world.resume("a", json!({})));
        assert_eq!(
            error,
            "\"j\" waits, and has been reached by the connection \"Done\" from \"a\", which version 2 does not have"
        );
        let unreachable = flow(
            mode,
            &[wait("a"), wait("b"), wait("c"), told("j")],
            json!([["fork", "1", "a"], ["fork", "2", "b"], ["fork", "1", "c"], ["a", "j"], ["b", "j"], ["c", "j"]]),
        );
        let error = refused_after(old, unreachable, json!({}), |world| world.resume("a", json!({})));
        assert_eq!(
            error,
            "\"j\" would wait for the connection from \"c\" of version 2, which can no longer be reached"
        );
    }
}

#[test]
fn a_join_that_waits_for_nothing_any_more_runs() {
    for mode in ["Counter", "Token"] {
        let old = flow(
            mode,
            &[wait("a"), wait("b"), told("j")],
            json!([["fork", "1", "a"], ["fork", "2", "b"], ["a", "j"], ["b", "j"]]),
        );
        let new = flow(mode, &[wait("a"), told("j")], json!([["fork", "1", "a"], ["a", "j"]]));
        let (old, new) = (definition(old), definition(new));
        let mut world = World::started(old.clone());
        world.resume("a", json!({}));
        world.migrate((&old, &new), &json!({"b": null}), Timers::Keep).expect("it can go on");
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["j"]), "{mode}");
    }
}

#[test]
fn a_loop_in_a_flowchart_counts_on() {
    let again = |inserted: bool| {
        let decide = json!({"id": "d", "type": "FlowDecision", "condition": {"js": "getVariable('N') < 3"}});
        let count = json!({"id": "n", "type": "SetVariable", "variable": "N", "value": {"js": "getVariable('N') + 1"}});
        let connections = match inserted {
            false => json!([["fork", "1", "a"], ["a", "n"], ["n", "d"], ["d", "True", "a"], ["d", "False", "end"]]),
            true => json!([
                ["fork", "1", "a"],
                ["a", "x"],
                ["x", "n"],
                ["n", "d"],
                ["d", "True", "a"],
                ["d", "False", "end"]
            ]),
        };
        let mut activities = vec![wait("a"), count, decide, told("end")];
        activities.extend(inserted.then(|| told("x")));
        json!({"definitionId": "w", "variables": {"N": 0}, "root": flow("Counter", &activities, connections)})
    };
    let (old, new) = (again(false), again(true));
    let mut world = World::started(old.clone());
    world.resume("a", json!({}));
    world.migrate((&old, &new), &json!({}), Timers::Keep).expect("it can go on");
    world.run_to_end();
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["x", "x", "end"]));
}

#[test]
fn the_mode_of_an_open_flowchart_stays() {
    let with = |mode: &str| flow(mode, &[wait("a")], json!([["fork", "1", "a"]]));
    let error = refused(with("Counter"), with("Token"), json!({}));
    assert_eq!(error, "\"f\" is open in mode CounterBased, and its mode in version 2 is TokenBased");
}

fn machine(states: Value, transitions: Value) -> Value {
    json!({"id": "m", "type": "StateMachine", "initialState": "Open", "states": states, "transitions": transitions})
}

#[test]
fn a_machine_stays_in_its_state() {
    let to = |to: &str, id: &str| json!({"from": "Open", "to": to, "trigger": wait(id), "action": line(to)});
    let old = machine(json!(["Open", "Paid", "Gone"]), json!([to("Paid", "a"), to("Gone", "b")]));
    let new =
        machine(json!(["Gone", "New", "Paid", "Open"]), json!([to("New", "c"), to("Gone", "b"), to("Paid", "a")]));
    let mut world = moved(old.clone(), new, json!({}));
    world.resume("b", json!({}));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["Gone"]));
    let without =
        json!({"id": "m", "type": "StateMachine", "initialState": "Paid", "states": ["Paid"], "transitions": []});
    assert!(refused(old.clone(), without, json!({"a": null, "b": null})).starts_with("\"m\" is in state \"Open\""));
    let fewer = machine(json!(["Open", "Paid", "Gone"]), json!([to("Paid", "a")]));
    assert_eq!(
        refused(old, fewer, json!({"b": null})),
        "nothing would follow in state machine \"m\" what is to be cancelled"
    );
}

#[test]
fn a_recorded_compensation_and_an_open_try_need_a_counterpart() {
    let paid = |id: &str| json!({"id": id, "type": "Compensable", "body": line("paid"), "compensation": line("back")});
    let undo = json!({"type": "Compensate"});
    let old = sequence(json!([paid("pay"), wait("a"), undo]));
    let mut world = moved(old.clone(), sequence(json!([line("0"), paid("p"), wait("a"), undo])), json!({"pay": "p"}));
    world.run_to_end();
    assert_eq!(world.lines(), ["paid", "back"]);
    let error = refused(old, sequence(json!([wait("a")])), json!({}));
    assert_eq!(error, "\"pay\" has done what may have to be compensated, and version 2 has no such activity");
    let attempt = |id: &str| json!({"id": id, "type": "Try", "body": wait("a"), "finally": line("f")});
    assert_eq!(
        refused(attempt("t"), attempt("u"), json!({})),
        "activity \"t\" is open, and version 2 does not have it"
    );
    let turned = json!({"id": "t", "type": "Try", "body": line("b"), "finally": wait("a")});
    let error = refused(attempt("t"), turned, json!({}));
    assert_eq!(error, "activity \"a\" is open, and has another place inside \"t\" in version 2");
}

/// The problems for which a mapping to null is refused, with their paths. The instance continues as if nothing had been
/// requested.
fn not_given_up(root: &Value, before: impl Fn(&mut World), id: &str) -> Vec<String> {
    let old = definition(root.clone());
    let (mut stays, mut goes) = (World::started(old.clone()), World::started(old.clone()));
    before(&mut stays);
    before(&mut goes);
    let problems = goes.migrate((&old, &old), &json!({id: null}), Timers::Keep).expect_err("it is refused");
    stays.run_to_end();
    goes.run_to_end();
    assert_eq!((goes.status(), goes.lines()), (stays.status(), stays.lines()));
    assert!(goes.host.records.is_empty());
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

#[test]
fn a_handler_is_not_given_up() {
    let inner = json!({"id": "b", "type": "Compensable", "body": line("b"), "confirmation": line("confirm b"),
        "compensation": line("compensate b")});
    let outer = |handler: &str| json!({"id": "a", "type": "Compensable", "body": inner, handler: wait("h")});
    let scope = json!({"id": "s", "type": "CancellationScope", "body": wait("x"), "cancellation": wait("h")});
    let race = json!({"id": "f", "type": "Fork", "joinMode": "WaitAny", "branches": [wait("go"), scope]});
    let undo = json!({"id": "undo", "type": "Compensate"});
    let cases = [
        (sequence(json!([outer("confirmation")])), "Workflow1:all:a:h"),
        (sequence(json!([outer("compensation"), undo, wait("end")])), "Workflow1:all:a:h"),
        (sequence(json!([race, wait("end")])), "Workflow1:all:f:s:h"),
    ];
    for (root, path) in cases {
        let begin = |world: &mut World| {
            if world.waiting().contains(&"go") {
                world.resume("go", json!({}));
            }
            assert!(world.waiting().contains(&"h"));
        };
        let problems = not_given_up(&root, begin, "h");
        assert_eq!(problems, [format!("{path}: activity \"h\" compensates or confirms, and cannot be cancelled")]);
    }
}

/// Of two executions that request the same record, one runs the handler, and the other waits for that.
#[test]
fn what_runs_a_handler_is_not_given_up() {
    let pay = json!({"id": "pay", "type": "Compensable", "body": line("paid"), "compensation": wait("h")});
    let branch = |id: &str, undo: &str, last: &str| {
        json!({"id": id, "type": "Sequence",
        "activities": [{"id": undo, "type": "Compensate"}, wait(last)]})
    };
    let both =
        json!({"id": "p", "type": "Parallel", "activities": [branch("s", "first", "x"), branch("t", "second", "y")]});
    let root = sequence(json!([pay, both]));
    let begun = |world: &mut World| assert_eq!(world.waiting(), ["h"]);
    let refused =
        |path: &str, id: &str| format!("{path}: activity \"{id}\" compensates or confirms, and cannot be cancelled");
    assert_eq!(not_given_up(&root, begun, "s"), [refused("Workflow1:all:p:s:first", "first")]);
    assert_eq!(not_given_up(&root, begun, "t"), [refused("Workflow1:all:p:t:second", "second")]);
    assert_eq!(not_given_up(&root, begun, "first"), [refused("Workflow1:all:p:s:first", "first")]);
}

#[test]
fn what_has_handlers_for_its_cancellation_is_not_given_up() {
    let refused = |path: &str, id: &str| {
        format!(
            "{path}: handlers run when \"{id}\" is cancelled, and a migration runs none; cancel it with wf_cancel_activity first"
        )
    };
    let begun = |_: &mut World| {};
    let scope =
        |body: Value| json!({"id": "s", "type": "CancellationScope", "body": body, "cancellation": line("given up")});
    let root = sequence(json!([scope(wait("x")), wait("end")]));
    assert_eq!(not_given_up(&root, begun, "s"), [refused("Workflow1:all:s", "s")]);
    // Also inside a cancelled activity.
    let around = json!({"id": "in", "type": "Sequence", "activities": [scope(wait("x")), line("never")]});
    assert_eq!(not_given_up(&sequence(json!([around])), begun, "in"), [refused("Workflow1:all:in:s", "s")]);
    // An interrupted body.
    let body = |handler: &str| json!({"id": "c", "type": "Compensable", "body": wait("x"), handler: line("handled")});
    assert_eq!(not_given_up(&sequence(json!([body("cancellation")])), begun, "c"), [refused("Workflow1:all:c", "c")]);
    // What would be compensated then, although it has another position in the new version.
    let paid = json!({"id": "pay", "type": "Compensable", "body": line("paid"), "compensation": line("back")});
    let plain = |inner: Value| json!({"id": "s", "type": "CancellationScope", "body": {"type": "Sequence", "activities": [inner, wait("x")]}});
    let (old, new) = (sequence(json!([plain(paid.clone()), wait("end")])), sequence(json!([wait("end"), paid])));
    let mapping = json!({"s": null, "pay": "pay"});
    let error = self::refused(old.clone(), new.clone(), mapping.clone());
    assert!(error.starts_with("handlers run when \"s\" is cancelled"), "{error}");
    // Unless it is passed to what encloses the scope.
    let kept = |root: Value| json!({"definitionId": "w", "options": {"compensateOn": []}, "root": root});
    let (old, new) = (kept(old), kept(new));
    let mut world = World::started(old.clone());
    world.migrate((&old, &new), &mapping, Timers::Keep).expect("it can go on");
    assert_eq!((world.waiting(), world.host.records.len()), (vec!["end"], 1));
    assert!(world.host.records.values().all(|(holder, _)| *holder == HELD_BY_INSTANCE));
    // Cancelling these runs nothing.
    let world =
        moved(sequence(json!([body("compensation"), line("end")])), sequence(json!([line("end")])), json!({"c": null}));
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["end"]));
}

#[test]
fn a_problem_of_many_executions_and_records_is_told_once() {
    let paid = json!({"id": "pay", "type": "Compensable", "body": line("paid"), "compensation": line("back")});
    let body = json!({"id": "body", "type": "Sequence", "activities": [paid, wait("a")]});
    let each = |body: Value| json!({"id": "each", "type": "ParallelForEach", "items": [1, 2, 3], "body": body});
    let (old, new) =
        (definition(each(body)), definition(each(json!({"id": "body", "type": "Sequence", "activities": []}))));
    let mut world = World::started(old.clone());
    let problems = world.migrate((&old, &new), &json!({}), Timers::Keep).expect_err("it is refused");
    let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "activity \"a\" waits, and version 2 does not have it",
            "\"pay\" has done what may have to be compensated, and version 2 has no such activity",
        ]
    );
}

#[test]
fn timers_stay_or_begin_anew() {
    let late = |span: &str| sequence(json!([{"id": "d", "type": "Delay", "timeSpan": span}, line("late")]));
    let (old, new) = (definition(late("1:00:00")), definition(late("2:00:00")));
    for (timers, hours, warnings) in [(Timers::Keep, 1, 1), (Timers::Anew, 2, 0)] {
        let mut world = World::started(old.clone());
        let began = world.bookmarks[0].due_at.expect("a time") - chrono::TimeDelta::hours(1);
        let problems = world.migrate((&old, &new), &json!({}), timers).expect("it can go on");
        assert_eq!(problems.len(), warnings, "{problems:?}");
        assert_eq!(world.bookmarks[0].due_at.expect("a time") - began, chrono::TimeDelta::hours(hours));
        world.run_to_end();
        assert_eq!(world.lines(), ["late"]);
    }
}

/// The next attempt has the inputs of the new version; a waiting attempt keeps its own, or starts again.
#[test]
fn an_attempt_that_waits_is_told_from_the_wait_for_the_next() {
    let late = |span: &str| {
        let delay = json!({"id": "d", "type": "Delay", "timeSpan": {"sql": span}, "retry": {"maxAttempts": 3, "delay": "1 minute"}});
        json!({"definitionId": "w", "variables": {"One": "1:00:00", "Two": "2:00:00"}, "root": sequence(json!([delay]))})
    };
    let (old, new) = (late("One"), late("Two"));
    let broken = || {
        let mut world = World::new(old.clone());
        world.host.broken = true;
        world.start();
        assert_eq!(world.bookmarks[0].name, "Workflow.Retry");
        world.host.broken = false;
        world
    };
    let hours = |world: &World| (world.bookmarks[0].due_at.expect("a time") - world.host.now()).num_hours();
    for timers in [Timers::Keep, Timers::Anew] {
        let mut world = broken();
        let due_at = world.bookmarks[0].due_at;
        assert_eq!(world.migrate((&old, &new), &json!({}), timers), Ok(Vec::new()));
        assert_eq!(world.bookmarks[0].due_at, due_at);
        world.resume_at(0, None);
        assert_eq!(hours(&world), 2);
    }
    for (timers, warnings, then) in [(Timers::Keep, 1, 1), (Timers::Anew, 0, 2)] {
        let mut world = broken();
        world.resume_at(0, None);
        assert_eq!(hours(&world), 1);
        let problems = world.migrate((&old, &new), &json!({}), timers).expect("it can go on");
        assert_eq!((problems.len(), hours(&world)), (warnings, then), "{problems:?}");
    }
}

#[test]
fn timeouts_follow_the_timers() {
    let bounded = |own: Value, run: Value| {
        let mut waits = wait("a");
        waits["timeout"] = own;
        json!({"definitionId": "w", "options": {"timeout": run}, "root": waits})
    };
    let old = bounded(json!("1 hour"), json!("1 day"));
    let due = |world: &World| {
        let mut due: Vec<_> = world.bookmarks.iter().filter_map(|bookmark| bookmark.due_at).collect();
        due.sort_unstable();
        due.windows(2).map(|pair| (pair[1] - pair[0]).num_hours()).collect::<Vec<i64>>()
    };
    let mut world = World::started(old.clone());
    assert_eq!((world.bookmarks.len(), due(&world)), (3, vec![23]));
    let new = bounded(json!("2 hours"), json!("3 hours"));
    world.migrate((&old, &new), &json!({}), Timers::Keep).expect("it can go on");
    assert_eq!((world.bookmarks.len(), due(&world)), (3, vec![23]));
    let mut world = World::started(old.clone());
    world.migrate((&old, &new), &json!({}), Timers::Anew).expect("it can go on");
    assert_eq!((world.bookmarks.len(), due(&world)), (3, vec![1]));
    let mut world = World::started(old.clone());
    world.migrate((&old, &bounded(Value::Null, Value::Null)), &json!({}), Timers::Anew).expect("it can go on");
    assert_eq!(world.bookmarks.len(), 1);
}

/// The timeouts of an activity, of a container, of a claim and of the run, in the old and the new version.
#[test]
fn an_armed_deadline_keeps_its_span_and_one_that_is_gone_ends() {
    let version = |own: Value, claim: Value, run: Value| {
        let task = json!({"id": "a", "type": "RunTask", "taskName": "ask", "timeout": own, "startTimeout": claim});
        let root = json!({"id": "s", "type": "Sequence", "timeout": own, "activities": [task]});
        json!({"definitionId": "w", "options": {"timeout": run}, "root": root})
    };
    let [none, one, two] = ["", "1 hour", "2 hours"].map(|span| match span {
        "" => Value::Null,
        span => json!(span),
    });
    let all = |span: &Value| version(span.clone(), span.clone(), span.clone());
    let what = [
        "the time to claim",
        "the timeout of activity \"a\"",
        "the timeout of activity \"s\"",
        "the timeout of the run",
    ];
    let told = |problems: &[Problem], how: &str| {
        let mut told: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
        told.sort_unstable();
        assert_eq!(told.len(), 4, "{told:?}");
        for (one, what) in told.iter().zip(what) {
            assert!(one.starts_with(what) && one.contains(how), "{told:?}");
        }
    };
    // Removed: nothing is left that could become due, and the task can be answered.
    let mut world = World::started(all(&one));
    assert_eq!(world.bookmarks.len(), 5);
    let problems = world.migrate((&all(&one), &all(&none)), &json!({}), Timers::Keep).expect("it can go on");
    told(&problems, "ends: version 2 has none");
    assert_eq!(world.bookmarks.len(), 1);
    world.resume("a", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    // Changed: each stays due at its time, and the message names the span that has passed.
    for (at, message) in [
        ("Workflow.Timeout", "took longer than 3600 s"),
        ("Workflow.StartTimeout", "within 3600 s"),
        ("Workflow.RunTimeout", "took longer than 3600 s"),
    ] {
        let mut world = World::started(all(&one));
        let due = |world: &World| world.bookmarks.iter().map(|bookmark| bookmark.due_at).collect::<Vec<_>>();
        let before = due(&world);
        let problems = world.migrate((&all(&one), &all(&two)), &json!({}), Timers::Keep).expect("it can go on");
        told(&problems, "stays as it is; in version 2 it is another one");
        assert_eq!(due(&world), before);
        let fired = world.bookmarks.iter().position(|bookmark| bookmark.name == at).expect("it is armed");
        world.resume_at(fired, None);
        let said = &world.last.incidents[0].fault.message;
        assert!(said.contains(message), "{said}");
    }
    // New: not armed.
    let mut world = World::started(all(&none));
    let problems = world.migrate((&all(&none), &all(&one)), &json!({}), Timers::Keep).expect("it can go on");
    told(&problems, "does not apply: it began without one");
    assert_eq!(world.bookmarks.len(), 1);
    // Unchanged: no message.
    let mut world = World::started(all(&one));
    assert_eq!(world.migrate((&all(&one), &all(&one)), &json!({}), Timers::Keep), Ok(Vec::new()));
    assert_eq!(world.bookmarks.len(), 5);
    // `Anew`: the new spans start; the time to the first claim stays unchanged, or ends.
    let mut world = World::started(all(&one));
    let problems = world.migrate((&all(&one), &all(&two)), &json!({}), Timers::Anew).expect("it can go on");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(world.bookmarks.len(), 5);
    let mut world = World::started(all(&one));
    let problems = world.migrate((&all(&one), &all(&none)), &json!({}), Timers::Anew).expect("it can go on");
    assert_eq!((problems.len(), world.bookmarks.len()), (1, 1), "{problems:?}");
}

#[test]
fn a_mapping_is_an_object_of_texts_and_nulls() {
    use workflow_engine::migration::read_mapping;
    for wrong in [json!([]), json!("a"), json!(null), json!({"a": 1}), json!({"a": {}})] {
        assert_eq!(read_mapping(&wrong).expect_err("it is none").sqlstate, "22023");
    }
    assert_eq!(read_mapping(&json!({"a": "b", "c": null})).expect("it is one").len(), 2);
}
