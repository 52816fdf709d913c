//! The outputs that an execution reads if several executions of one activity are open or have ended.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;

use crate::support::{World, event, line};

fn read(script: &str) -> Value {
    json!({"type": "WriteLine", "text": {"js": script}})
}

fn make(id: &str, script: &str) -> Value {
    json!({"id": id, "type": "RunJavaScript", "script": script})
}

/// A parallel loop over `a`, `b` and `c`.
fn beside(body: Value) -> Value {
    json!({"type": "ParallelForEach", "items": ["a", "b", "c"], "body": body})
}

#[test]
fn bodies_beside_each_other_read_their_own_outputs() {
    let upper = make("q", "return getCurrentValue().toUpperCase()");
    let show = read("`${getCurrentValue()} -> ${getOutputFrom('q')} ${getResultFromQ()} ${getLastResult()}`");
    let shown = ["a -> A A A", "b -> B B B", "c -> C C C"];
    let world = World::started(beside(json!([upper.clone(), show.clone()])));
    assert_eq!(world.lines(), shown);
    let mut world = World::started(beside(json!([upper, {"id": "w", "type": "Delay", "timeSpan": "1:00:00"}, show])));
    for _ in 0..3 {
        let last = world.bookmarks.len() - 1;
        world.resume_at(last, None);
    }
    let mut lines = world.lines();
    lines.sort_unstable();
    assert_eq!(lines, shown);
}

#[test]
fn a_round_does_not_read_what_an_earlier_one_made() {
    let body = json!([{"type": "If", "condition": {"js": "getCurrentValue() === 1"}, "then": make("ask", "return 'yes'")},
        read("getCurrentValue() + ' ' + getOutputFrom('ask')")]);
    let world =
        World::started(json!([{"type": "ForEach", "items": [1, 2], "body": body}, read("getOutputFrom('ask')")]));
    assert_eq!(world.lines(), ["1 yes", "2 null", "yes"]);
}

#[test]
fn the_condition_of_a_loop_reads_the_last_round() {
    let condition = json!({"js": "(getOutputFrom('n') ?? 0) < 3"});
    let body =
        json!([{"type": "SetVariable", "variable": "N", "value": {"js": "getN() + 1"}}, make("n", "return getN()")]);
    let world = World::started(json!({"variables": {"N": 0}, "root": [
        {"type": "While", "condition": condition, "body": body}, read("getOutputFrom('n')")]}));
    assert_eq!(world.lines(), ["3"]);
}

#[test]
fn a_branch_of_a_flowchart_reads_its_own_last_result_and_a_join_the_latest_of_all() {
    let chart = |a: Value, b: Value| {
        json!({"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["A", "B"]},
            make("a1", "return 'a'"), {"id": "a2", "type": "Sequence", "activities": [a, read("'A ' + getLastResult()")]},
            make("b1", "return 'b'"), {"id": "b2", "type": "Sequence", "activities": [b, read("'B ' + getLastResult()")]},
            {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "end", "type": "WriteLine", "text": {"js": "getLastResult()"}}],
            "connections": [["fork", "A", "a1"], ["a1", "a2"], ["fork", "B", "b1"], ["b1", "b2"], ["a2", "join"], ["b2", "join"], ["join", "end"]]})
    };
    assert_eq!(World::started(chart(line("x"), line("y"))).lines(), ["x", "y", "A a", "B b", "b"]);
    let wait = |id: &str| json!({"id": id, "type": "Delay", "timeSpan": "1:00:00"});
    for mode in ["counter", "token"] {
        let mut chart = chart(wait("wa"), wait("wb"));
        chart["mode"] = json!(mode);
        for order in [[0, 0], [1, 0]] {
            let mut world = World::started(chart.clone());
            order.iter().for_each(|at| world.resume_at(*at, None));
            let mut lines = world.lines();
            assert_eq!(lines.pop(), Some("b"), "the latest of both, whichever branch arrives last");
            lines.sort_unstable();
            assert_eq!(lines, ["A a", "B b"]);
        }
    }
}

#[test]
fn what_follows_parallel_branches_sees_the_latest_result_of_all() {
    let branch = json!([event("slow"), line("noted")]);
    let ask = make("ask", "return 'approved'");
    let mut world = World::started(
        json!([{"type": "Parallel", "activities": [{"id": "d", "type": "Delay", "timeSpan": "1:00:00"}, ask, branch]},
        read("getOutputFrom('ask') + ' ' + getLastResult()")]),
    );
    world.resume("slow", json!("late"));
    world.resume_at(0, None);
    assert_eq!(world.lines(), ["noted", "approved late"]);
}

#[test]
fn a_handler_reads_the_outputs_of_its_own_body() {
    let body =
        json!([make("q", "return getCurrentValue() + '!'"), {"id": "w", "type": "Delay", "timeSpan": "1:00:00"}]);
    let step = json!([make("outer", "return getCurrentValue() + '?'"), {"id": "step", "type": "Compensable", "body": body,
        "compensation": read("`${getCurrentValue()} ${getOutputFrom('q')} ${getOutputFrom('outer')} ${getLastResult()}`")}]);
    let mut world = World::started(json!([beside(step), {"type": "Compensate"}]));
    for _ in 0..3 {
        world.resume_at(0, None);
    }
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["c c! c? c!", "b b! b? b!", "a a! a? a!"]);
}

#[test]
fn another_attempt_begins_without_the_outputs_of_the_one_before() {
    let body = json!([read("getOutputFrom('q') + ' ' + getN()"), make("q", "setVariable('N', getN() + 1); return 'made'"),
        {"type": "If", "condition": {"js": "getN() < 2"}, "then": {"type": "Fault", "message": "again"}}]);
    let mut world = World::started(json!({"variables": {"N": 0}, "root": [
        {"type": "Sequence", "retry": {"maxAttempts": 2}, "activities": body}, read("getOutputFrom('q')")]}));
    world.resume_at(0, None);
    assert_eq!(world.lines(), ["null 0", "null 1", "made"]);
}

#[test]
fn a_catch_reads_what_its_body_made() {
    let body = json!([make("q", "return 7"), {"type": "Fault", "message": "no"}]);
    let caught = read("getOutputFrom('q') + ' ' + getLastResult()");
    let world = World::started(json!([{"type": "Try", "body": body, "catch": [{"body": caught}]}]));
    assert_eq!(world.lines(), ["7 7"]);
}

#[test]
fn a_used_workflow_reads_its_own_activities_only() {
    let used = json!({"definitionId": "Used", "options": {"usableAsActivity": true}, "inputs": [{"name": "who"}], "outputs": [{"name": "Result"}],
        "root": [make("q", "return getWho() + '!'"), {"id": "w", "type": "Delay", "timeSpan": "1:00:00"},
            {"type": "SetOutput", "outputName": "Result", "outputValue": {"js": "getOutputFrom('q')"}}]});
    let main = json!({"definitionId": "test", "root": beside(json!([{"id": "u", "type": "Used", "who": {"var": "CurrentValue"}},
        read("getCurrentValue() + ' ' + getOutputFrom('u') + ' ' + getLastResult()")]))});
    let program = crate::support::Library::of([used]).compile(&main).expect("a definition");
    let mut world = World::of(program, json!({}));
    world.start();
    for _ in 0..3 {
        let last = world.bookmarks.len() - 1;
        world.resume_at(last, None);
    }
    assert_eq!(world.lines(), ["c c! c!", "b b! b!", "a a! a!"]);
}

#[test]
fn a_loop_does_not_grow() {
    let body = json!([make("q", "return 'x'.repeat(50)"), {"id": "w", "type": "Delay", "timeSpan": "1:00:00"}]);
    let mut world = World::started(json!({"type": "While", "condition": true, "body": body}));
    world.resume_at(0, None);
    let size = world.state_size();
    for _ in 0..100 {
        world.resume_at(0, None);
    }
    assert!(world.state_size() <= size + 16, "{} after {size}", world.state_size());
}
