//! Flowcharts in counter-based mode.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;

use crate::support::{World, line, set};

/// A flowchart of named lines; other nodes are used unchanged.
fn chart(lines: &str, others: Value, connections: Value) -> Value {
    let mut activities: Vec<Value> =
        lines.split_whitespace().map(|id| json!({"id": id, "type": "WriteLine", "text": id})).collect();
    activities.extend(others.as_array().cloned().unwrap_or_default());
    json!({"id": "chart", "type": "Flowchart", "activities": activities, "connections": connections})
}

/// The lines that a definition writes until it finishes.
#[track_caller]
pub fn finished(definition: Value) -> String {
    let world = World::started(definition);
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    world.lines().join(" ")
}

/// A `FlowDecision`.
pub fn decision(id: &str, value: bool) -> Value {
    json!({"id": id, "type": "FlowDecision", "condition": value})
}

/// A `FlowJoin`.
pub fn join(id: &str, mode: &str) -> Value {
    json!({"id": id, "type": "FlowJoin", "mode": mode})
}

fn event(id: &str) -> Value {
    json!({"id": id, "type": "Event", "eventName": id})
}

#[test]
fn connections_lead_from_one_to_the_next() {
    assert_eq!(finished(chart("a b c", json!([]), json!([["a", "b"], ["b", "c"]]))), "a b c");
}

#[test]
fn an_empty_flowchart_completes() {
    assert_eq!(finished(chart("", json!([]), json!([]))), "");
}

#[test]
fn without_connections_only_the_first_runs() {
    assert_eq!(finished(chart("a b", json!([]), json!([]))), "a");
}

#[test]
fn it_starts_at_start_else_at_what_has_no_inbound_connection() {
    let start = json!([{"id": "start", "type": "Start"}]);
    assert_eq!(finished(chart("a b", start, json!([["start", "b"]]))), "b");
    assert_eq!(finished(chart("a b", json!([]), json!([["b", "a"]]))), "b a");
    assert_eq!(
        finished(chart("a b", json!([decision("d", false)]), json!([["a", "b"], ["b", "d"], ["d", "True", "a"]]))),
        "a b"
    );
}

#[test]
fn only_the_connection_of_the_outcome_is_followed() {
    let connections = json!([["d", "True", "yes"], ["d", "False", "no"], ["yes", "end"], ["no", "end"]]);
    for (value, expected) in [(true, "yes end"), (false, "no end")] {
        let chart = chart("yes no end", json!([decision("d", value)]), connections.clone());
        assert_eq!(finished(chart), expected);
    }
}

#[test]
fn an_outcome_without_connection_ends_the_flowchart() {
    assert_eq!(finished(chart("yes", json!([decision("d", false)]), json!([["d", "True", "yes"]]))), "");
}

#[test]
fn a_switch_follows_the_labels_that_match() {
    let switch = |mode: &str, matching: bool| {
        json!([{"id": "s", "type": "FlowSwitch", "mode": mode, "cases": [
            {"label": "A", "condition": matching}, {"label": "B", "condition": matching}]}])
    };
    let connections = json!([["s", "A", "a"], ["s", "B", "b"], ["s", "Default", "d"]]);
    for (mode, matching, expected) in [("MatchFirst", true, "a"), ("MatchAny", true, "a b"), ("MatchAny", false, "d")] {
        assert_eq!(finished(chart("a b d", switch(mode, matching), connections.clone())), expected);
    }
}

#[test]
fn a_fork_follows_its_branches() {
    let fork = json!([{"id": "f", "type": "FlowFork", "branches": ["A", "B"]}]);
    assert_eq!(finished(chart("a b c", fork, json!([["f", "A", "a"], ["f", "B", "b"], ["f", "C", "c"]]))), "a b");
    let plain = json!([{"id": "f", "type": "FlowFork"}]);
    assert_eq!(finished(chart("a", plain, json!([["f", "Done", "a"]]))), "a");
}

#[test]
fn a_diamond_runs_its_end_once() {
    assert_eq!(
        finished(chart("a b c d", json!([]), json!([["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]))),
        "a b c d"
    );
}

#[test]
fn dead_paths_reach_the_joins_behind_them() {
    // The branch over "no" and "more" is skipped, however long it is, so "end" does not wait for it.
    let connections =
        json!([["d", "True", "yes"], ["d", "False", "no"], ["no", "more"], ["more", "end"], ["yes", "end"]]);
    assert_eq!(finished(chart("yes no more end", json!([decision("d", true)]), connections)), "yes end");
}

#[test]
fn a_very_long_dead_path_is_walked_without_recursion() {
    let n = 20_000;
    let lines: Vec<String> = (0..n).map(|i| format!("n{i}")).collect();
    let mut connections: Vec<Value> = (1..n).map(|i| json!([format!("n{}", i - 1), format!("n{i}")])).collect();
    connections.push(json!(["d", "True", "n0"]));
    connections.push(json!([format!("n{}", n - 1), "end"]));
    connections.push(json!(["d", "False", "end"]));
    let lines = format!("{} end", lines.join(" "));
    assert_eq!(finished(chart(&lines, json!([decision("d", false)]), Value::Array(connections))), "end");
}

#[test]
fn wait_all_needs_every_connection_and_is_skipped_else() {
    let connections = json!([["a", "b"], ["a", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    assert_eq!(finished(chart("a b c end", json!([join("j", "WaitAll")]), connections)), "a b c end");
    let connections = json!([["d", "True", "b"], ["d", "False", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    let nodes = json!([decision("d", true), join("j", "WaitAll")]);
    assert_eq!(finished(chart("b c end", nodes, connections.clone())), "b");
    let nodes = json!([decision("d", true), join("j", "WaitAllActive")]);
    assert_eq!(finished(chart("b c end", nodes, connections)), "b end");
}

#[test]
fn wait_all_waits_for_a_branch_that_waits() {
    let connections = json!([["a", "e1"], ["a", "e2"], ["e1", "j"], ["e2", "j"], ["j", "end"]]);
    let mut world =
        World::started(chart("a end", json!([event("e1"), event("e2"), join("j", "WaitAll")]), connections));
    world.resume("e2", Value::Null);
    assert_eq!(world.lines(), ["a"]);
    world.resume("e1", Value::Null);
    assert_eq!(world.lines(), ["a", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_braid_with_delays_an_event_and_a_parallel_loop_completes() {
    let each = json!({"id": "each", "type": "ParallelForEach", "items": [1, 2], "body": {"type": "Delay", "timeSpan": "00:00:01"}});
    let others = json!([{"id": "d1", "type": "Delay", "timeSpan": "00:00:01"}, {"id": "d2", "type": "Delay", "timeSpan": "00:00:02"},
        event("e"), each, {"id": "nowhere", "type": "FlowDecision", "condition": false}]);
    let connections = json!([
        ["a", "d1"],
        ["a", "d2"],
        ["d1", "b"],
        ["d1", "e"],
        ["d2", "b"],
        ["d2", "each"],
        ["e", "c"],
        ["each", "c"],
        ["b", "c"],
        ["a", "nowhere"],
        ["nowhere", "True", "c"]
    ]);
    let mut world = World::started(chart("a b c", others, connections));
    world.run_to_end();
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["a", "b", "c"]);
}

#[test]
fn wait_any_goes_on_once_and_cancels_the_branch_that_waits() {
    let connections = json!([["a", "e"], ["a", "b"], ["e", "j"], ["b", "j"], ["j", "end"]]);
    let world = World::started(chart("a b end", json!([event("e"), join("j", "WaitAny")]), connections));
    assert_eq!(world.lines(), ["a", "b", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.bookmarks.is_empty());
    assert_eq!(world.journaled(EventKind::Canceled), ["e"]);
}

#[test]
fn wait_any_cancels_a_branch_that_began_to_wait_after_it_was_decided() {
    // "b" reaches the join before the event has started; then the join itself cancels the event.
    let connections = json!([["a", "b"], ["a", "e"], ["e", "j"], ["b", "j"], ["j", "end"]]);
    let world = World::started(chart("a b end", json!([event("e"), join("j", "WaitAny")]), connections));
    assert_eq!(world.lines(), ["a", "b", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn wait_any_ignores_those_who_come_later() {
    let connections = json!([["a", "b"], ["a", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    assert_eq!(finished(chart("a b c end", json!([join("j", "WaitAny")]), connections)), "a b c end");
}

#[test]
fn wait_any_without_any_followed_connection_is_skipped() {
    let connections = json!([["d", "True", "b"], ["b", "j"], ["j", "end"], ["d", "False", "other"]]);
    let nodes = json!([decision("d", false), join("j", "WaitAny")]);
    assert_eq!(finished(chart("b end other", nodes, connections)), "other");
}

#[test]
fn joins_of_joins_work_as_in_the_studio() {
    let connections = json!([["s", "j1"], ["s", "j2"], ["j1", "j3"], ["j2", "j3"], ["j3", "end"]]);
    let joins = json!([join("j1", "WaitAny"), join("j2", "WaitAny"), join("j3", "WaitAny")]);
    assert_eq!(finished(chart("s end", joins, connections)), "s end");
}

#[test]
fn a_join_of_the_waiting_modes_leaves_a_looping_branch_alone() {
    // "tick" loops in parallel with the join; the join must not cancel it.
    let connections =
        json!([["a", "tick"], ["tick", "tick"], ["a", "b"], ["a", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    let world = World::started(chart("a b c end", json!([event("tick"), join("j", "WaitAllActive")]), connections));
    assert_eq!(world.lines(), ["a", "b", "c", "end"]);
    assert_eq!(world.waiting(), ["tick"]);
}

fn looping() -> Value {
    let decision = json!({"id": "d", "type": "FlowDecision", "condition": {"sql": "N < 3"}});
    let mut count = set("N", "N + 1");
    count["id"] = json!("count");
    let chart = chart(
        "first again done",
        json!([count, decision]),
        json!([["first", "count"], ["count", "d"], ["d", "True", "again"], ["again", "count"], ["d", "False", "done"]]),
    );
    json!({"variables": {"N": 0}, "root": chart})
}

#[test]
fn a_backward_connection_loops() {
    assert_eq!(finished(looping()), "first again again done");
}

#[test]
fn a_loop_over_a_waiting_activity_survives_save_and_load() {
    let connections = json!([["a", "e"], ["e", "d"], ["d", "True", "e"], ["d", "False", "end"]]);
    let decision = json!({"id": "d", "type": "FlowDecision", "condition": {"sql": "more"}});
    let mut world = World::started(chart("a end", json!([event("e"), decision]), connections));
    for _ in 0..3 {
        world.resume("e", json!({"more": true}));
        assert_eq!(world.waiting(), ["e"]);
    }
    world.resume("e", json!({"more": false}));
    assert_eq!(world.lines(), ["a", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_diamond_inside_a_loop_joins_in_each_round() {
    let mut count = set("N", "N + 1");
    count["id"] = json!("count");
    let decision = json!({"id": "d", "type": "FlowDecision", "condition": {"sql": "N < 2"}});
    let connections =
        json!([["count", "b"], ["count", "c"], ["b", "join"], ["c", "join"], ["join", "d"], ["d", "True", "count"]]);
    let definition = chart("b c join", json!([{"id": "s", "type": "Start"}, count, decision]), json!(null));
    let mut definition = definition;
    let mut all = connections.as_array().cloned().unwrap_or_default();
    all.push(json!(["s", "count"]));
    definition["connections"] = Value::Array(all);
    assert_eq!(finished(json!({"variables": {"N": 0}, "root": definition})), "b c join b c join");
}

#[test]
fn an_invalid_backward_connection_faults() {
    let connections = json!([["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["d", "b"]]);
    let world = World::started(chart("a b c d", json!([]), connections));
    assert_eq!(world.status(), SubStatus::Faulted);
    let incident = &world.last.incidents[0];
    assert_eq!(incident.activity_id, "chart");
    assert!(incident.fault.message.starts_with("invalid backward connection: every path from the source (\"d\")"));
}

#[test]
fn what_the_start_does_not_reach_does_not_run_and_blocks_nothing() {
    let start = json!([{"id": "start", "type": "Start"}]);
    assert_eq!(finished(chart("a b lost", start, json!([["start", "a"], ["a", "b"], ["lost", "b"]]))), "a b");
}

#[test]
fn end_and_break_complete_the_flowchart_at_once() {
    let connections = json!([["a", "e"], ["a", "x"], ["x", "b"], ["b", "no"]]);
    let world = World::started(chart("a b no", json!([event("e"), {"id": "x", "type": "End"}]), connections));
    assert_eq!(world.lines(), ["a"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn flowcharts_nest_and_nodes_wrap_activities() {
    let inner = chart("i1 i2", json!([]), json!([["i1", "i2"]]));
    let nodes = json!([{"id": "n", "type": "FlowNode", "body": inner}, {"id": "empty", "type": "FlowNode"}]);
    assert_eq!(finished(chart("a b", nodes, json!([["a", "n"], ["n", "empty"], ["empty", "b"]]))), "a i1 i2 b");
}

#[test]
fn a_faulted_child_keeps_the_flowchart_open_and_its_retry_goes_on() {
    let sql = json!([{"id": "s", "type": "Sql", "statement": "X"}]);
    let mut world = World::new(chart("a b c", sql, json!([["a", "s"], ["a", "c"], ["s", "b"]])));
    world.host.broken = true;
    world.start();
    assert_eq!(world.lines(), ["a", "c"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    world.host.broken = false;
    world.retry(None).expect("a retry");
    assert_eq!(world.lines(), ["a", "c", "b"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn the_mode_of_a_join_may_be_an_expression_that_runs_sql() {
    let join = json!({"id": "j", "type": "FlowJoin", "mode": {"sql": "Mode"}});
    let connections = json!([["a", "b"], ["a", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    let root = chart("a b c end", json!([join]), connections);
    let world = World::started(json!({"variables": {"Mode": "WaitAll"}, "root": root}));
    assert_eq!(world.lines(), ["a", "b", "c", "end"]);
    let root = chart(
        "a b",
        json!([{"id": "j", "type": "FlowJoin", "mode": {"js": "'Never'"}}]),
        json!([["a", "j"], ["j", "b"]]),
    );
    let world = World::started(root);
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22023");
}

/// Two branches: `a` may return to itself, then both reach a join.
fn retried_join(mode: &str) -> Value {
    json!({"type": "Flowchart", "activities": [{"id": "fork", "type": "FlowFork", "branches": ["A", "B"]}, event("a"), event("b"),
        {"id": "more", "type": "FlowDecision", "condition": {"js": "getLastResult() === true"}},
        {"id": "join", "type": "FlowJoin", "mode": mode}, {"id": "end", "type": "WriteLine", "text": "end"}],
        "connections": [["fork", "A", "a"], ["fork", "B", "b"], ["a", "more"], ["more", "False", "a"], ["more", "True", "join"],
            ["b", "join"], ["join", "end"]]})
}

#[test]
fn a_join_of_all_counts_what_was_followed_behind_a_way_back() {
    for b in 0..=3 {
        let mut world = World::started(retried_join("WaitAll"));
        for (at, answer) in [false, false, true].into_iter().enumerate() {
            if at == b {
                world.resume("b", Value::Null);
            }
            world.resume("a", json!(answer));
        }
        if b == 3 {
            world.resume("b", Value::Null);
        }
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["end"]), "b after {b} answers");
        assert!(world.journaled(EventKind::LeftWaiting).is_empty());
    }
}

#[test]
fn each_round_of_a_join_needs_all_connections_once_more() {
    // The whole fork runs twice; in the second round, "b" is not reached again before the end.
    let chart = json!({"type": "Flowchart", "activities": [line("begin"), event("a"), event("b"),
        {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, {"id": "again", "type": "FlowDecision", "condition": {"js": "getRounds() < 2"}},
        {"id": "count", "type": "SetVariable", "variable": "Rounds", "value": {"js": "getRounds() + 1"}}, line("end")],
        "connections": [["WriteLine1", "a"], ["WriteLine1", "b"], ["a", "join"], ["b", "join"], ["join", "count"], ["count", "again"],
            ["again", "True", "WriteLine1"], ["again", "False", "WriteLine2"]]});
    let mut world = World::started(json!({"variables": {"Rounds": 0}, "root": chart}));
    world.resume("a", Value::Null);
    world.resume("b", Value::Null);
    assert_eq!(world.lines(), ["begin", "begin"]);
    world.resume("b", Value::Null);
    assert_eq!(world.lines(), ["begin", "begin"], "the join waits for both again");
    world.resume("a", Value::Null);
    assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["begin", "begin", "end"]));
}

#[test]
fn a_join_that_can_never_run_is_told_at_the_end() {
    for mode in ["counter", "token"] {
        let chart = json!({"type": "Flowchart", "mode": mode, "activities": [{"id": "fork", "type": "FlowFork", "branches": ["A", "B"]}, line("b"),
            {"id": "choose", "type": "FlowDecision", "condition": false}, {"id": "join", "type": "FlowJoin", "mode": "WaitAll"}, line("end")],
            "connections": [["fork", "A", "choose"], ["fork", "B", "WriteLine1"], ["choose", "True", "join"], ["WriteLine1", "join"], ["join", "WriteLine2"]]});
        let world = World::started(chart);
        assert_eq!((world.status(), world.lines()), (SubStatus::Finished, vec!["b"]));
        let told = world.trail.iter().find(|event| event.kind == EventKind::LeftWaiting).expect("it is told");
        let data = &told.data.as_ref().expect("data").0;
        assert_eq!(*data, json!({"activity_id": "join", "followed": 1, "connections": 2}), "{mode}");
    }
}
