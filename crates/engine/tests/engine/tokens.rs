//! Flowcharts in token mode.

use serde_json::{Value, json};
use workflow_engine::instance::{Memory, SubStatus};
use workflow_engine::journal::EventKind;

use crate::flowchart::{decision, finished, join};
use crate::support::{World, broken, event, set};

/// A flowchart in token mode of named lines, some with their merge mode (`d:Merge`), and other nodes.
fn chart(lines: &str, others: Value, connections: Value) -> Value {
    let line = |word: &str| {
        let (id, mode) = word.split_once(':').unwrap_or((word, "Stream"));
        json!({"id": id, "type": "WriteLine", "text": id, "customProperties": {"mergeMode": mode}})
    };
    let mut activities: Vec<Value> = lines.split_whitespace().map(line).collect();
    activities.extend(others.as_array().cloned().unwrap_or_default());
    json!({"id": "chart", "type": "Flowchart", "mode": "token", "activities": activities, "connections": connections})
}

/// An event that consumes tokens in this merge mode.
fn merging(id: &str, mode: &str) -> Value {
    json!({"id": id, "type": "Event", "eventName": id, "mergeMode": mode})
}

#[test]
fn tokens_travel_along_the_connections_of_the_outcome() {
    assert_eq!(finished(chart("a b c", json!([]), json!([["a", "b"], ["b", "c"]]))), "a b c");
    assert_eq!(finished(chart("", json!([]), json!([]))), "");
    assert_eq!(finished(chart("a b", json!([]), json!([]))), "a");
    let connections = json!([["d", "True", "yes"], ["d", "False", "no"], ["yes", "end"], ["no", "end"]]);
    for (value, expected) in [(true, "yes end"), (false, "no end")] {
        assert_eq!(finished(chart("yes no end", json!([decision("d", value)]), connections.clone())), expected);
    }
}

#[test]
fn a_diamond_runs_its_end_once_in_every_mode_that_waits() {
    let connections = json!([["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]);
    for mode in ["None", "stream", "MERGE", "Converge"] {
        assert_eq!(finished(chart(&format!("a b c d:{mode}"), json!([]), connections.clone())), "a b c d", "{mode}");
    }
    assert_eq!(finished(chart("a b c d:Cascade", json!([]), connections.clone())), "a b c d d");
    assert_eq!(finished(chart("a b c d:Race", json!([]), connections)), "a b c d");
}

#[test]
fn stream_waits_for_those_right_before_it_only() {
    // The path over "c" and "e" is longer than that over "b": no activity before "d" runs when "b" has completed.
    let connections = json!([["a", "b"], ["a", "c"], ["c", "e"], ["b", "d"], ["e", "d"]]);
    assert_eq!(finished(chart("a b c e d", json!([]), connections.clone())), "a b c d e d");
    assert_eq!(finished(chart("a b c e d:Merge", json!([]), connections)), "a b c e d");
}

#[test]
fn stream_is_not_held_up_by_a_path_that_was_not_taken() {
    let connections =
        json!([["d", "True", "yes"], ["d", "False", "no"], ["no", "more"], ["more", "end"], ["yes", "end"]]);
    assert_eq!(finished(chart("yes no more end", json!([decision("d", true)]), connections)), "yes end");
    // "d" delays the end until its outcome leads to another activity.
    let nodes = json!([decision("d", false)]);
    let connections = json!([["a", "b"], ["a", "d"], ["b", "end"], ["d", "True", "end"], ["d", "False", "other"]]);
    assert_eq!(finished(chart("a b other end", nodes, connections)), "a b other end");
}

#[test]
fn merge_waits_for_every_forward_connection_and_for_ever_where_one_is_not_taken() {
    let connections = json!([["a", "e1"], ["a", "e2"], ["e1", "end"], ["e2", "end"]]);
    let mut world = World::started(chart("a end:Merge", json!([event("e1"), event("e2")]), connections));
    world.resume("e2", Value::Null);
    assert_eq!(world.lines(), ["a"]);
    world.resume("e1", Value::Null);
    assert_eq!((world.lines(), world.status()), (vec!["a", "end"], SubStatus::Finished));
    let connections = json!([["d", "True", "b"], ["d", "False", "c"], ["b", "end"], ["c", "end"]]);
    assert_eq!(finished(chart("b c end:Merge", json!([decision("d", true)]), connections)), "b");
}

#[test]
fn a_token_that_comes_while_its_target_runs_is_for_the_next_run() {
    let connections = json!([["tick", "tick"], ["tick", "work"], ["other", "work"], ["a", "tick"], ["a", "other"]]);
    let nodes = json!([event("tick"), event("other"), merging("work", "Merge")]);
    let mut world = World::started(chart("a", nodes, connections));
    world.resume("tick", Value::Null);
    world.resume("other", Value::Null);
    assert_eq!(world.waiting(), ["tick", "work"]);
    // Elsa would run "work" a second time here, for the token of "other" by which it already runs.
    world.resume("tick", Value::Null);
    assert_eq!(world.waiting(), ["work", "tick"]);
    world.resume("work", Value::Null);
    assert_eq!(world.waiting(), ["tick"]);
}

#[test]
fn converge_wants_the_connections_that_lead_back_as_well() {
    let connections = json!([["a", "b"], ["b", "c"], ["c", "b"]]);
    assert_eq!(finished(chart("a b:Converge c", json!([]), connections)), "a");
}

#[test]
fn cascade_runs_for_each_token_and_each_run_goes_its_own_way() {
    let nodes = json!([{"id": "f", "type": "FlowFork", "branches": ["A", "B"]}, merging("e", "Cascade")]);
    let connections = json!([["f", "A", "e"], ["f", "B", "e"], ["e", "end"]]);
    let mut world = World::started(chart("end:Cascade", nodes, connections));
    assert_eq!(world.waiting(), ["e", "e"]);
    world.resume("e", Value::Null);
    assert_eq!((world.lines(), world.status()), (vec!["end"], SubStatus::Suspended));
    world.resume("e", Value::Null);
    assert_eq!((world.lines(), world.status()), (vec!["end", "end"], SubStatus::Finished));
}

#[test]
fn a_race_cancels_who_waits_whether_it_began_before_or_after_it_was_won() {
    for order in [["e", "b"], ["b", "e"]] {
        let connections = json!([["a", order[0]], ["a", order[1]], ["e", "end"], ["b", "end"]]);
        for racer in [
            json!([event("e"), {"id": "end", "type": "WriteLine", "text": "end", "mergeMode": "Race"}]),
            json!([event("e"), join("end", "WaitAny")]),
        ] {
            let world = World::started(chart("a b", racer, connections.clone()));
            assert_eq!(world.status(), SubStatus::Finished);
            assert!(world.bookmarks.is_empty());
        }
    }
}

#[test]
fn who_was_scheduled_before_a_race_was_won_runs_but_leads_nowhere() {
    // "b" wins before "x" has started; "y", after "x", would wait for ever.
    let connections = json!([["a", "b"], ["a", "x"], ["x", "y"], ["x", "aside"], ["y", "end"], ["b", "end"]]);
    let nodes = json!([event("y"), join("end", "WaitAny")]);
    assert_eq!(finished(chart("a b x aside", nodes, connections)), "a b x aside");
}

#[test]
fn who_comes_too_late_for_a_race_is_ignored_until_the_next_round() {
    // "a" leads to the end directly and over "b": that is a branch of the winner itself, which is not cancelled.
    let connections = json!([["a", "end"], ["a", "b"], ["b", "end"]]);
    assert_eq!(finished(chart("a b end:Race", json!([]), connections)), "a end b");
    let count = json!({"id": "n", "type": "SetVariable", "variable": "N", "value": {"sql": "N + 1"}});
    let nodes = json!([{"id": "s", "type": "Start"}, count, {"id": "more", "type": "FlowDecision", "condition": {"sql": "N < 3"}}]);
    let connections =
        json!([["s", "n"], ["n", "end"], ["n", "b"], ["b", "end"], ["end", "more"], ["more", "True", "n"]]);
    assert_eq!(
        finished(json!({"variables": {"N": 0}, "root": chart("b end:Race", nodes, connections)})),
        "end b end b end b"
    );
}

#[test]
fn a_join_is_a_race_or_a_merge() {
    let connections = json!([["a", "b"], ["a", "c"], ["b", "j"], ["c", "j"], ["j", "end"]]);
    for (mode, expected) in [("WaitAny", "a b c end"), ("WaitAll", "a b c end"), ("WaitAllActive", "a b c end")] {
        assert_eq!(finished(chart("a b c end", json!([join("j", mode)]), connections.clone())), expected, "{mode}");
    }
}

#[test]
fn a_loop_goes_round_and_leaves_nothing_behind() {
    let nodes = json!([{"id": "n", "type": "SetVariable", "variable": "N", "value": {"sql": "N + 1"}, "mergeMode": "Merge"},
        {"id": "more", "type": "FlowDecision", "condition": {"sql": "N < 1000"}}, event("wait"), event("aside")]);
    let connections = json!([
        ["a", "n"],
        ["a", "aside"],
        ["n", "more"],
        ["n", "b"],
        ["more", "True", "n"],
        ["more", "False", "wait"]
    ]);
    let mut world = World::started(json!({"variables": {"N": 0}, "root": chart("a b", nodes, connections)}));
    assert_eq!(world.variable("N"), 1000);
    assert_eq!(world.waiting(), ["aside", "wait"]);
    let bytes = workflow_engine::instance::codec::encode_state(&world.instance.state).len();
    assert!(bytes < 120, "{bytes} bytes after a thousand rounds");
    world.run_to_end();
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn a_waiting_loop_survives_save_and_load() {
    let connections = json!([["a", "e"], ["e", "b"], ["b", "e"]]);
    let mut world = World::started(chart("a b", json!([event("e")]), connections));
    for _ in 0..3 {
        world.resume("e", Value::Null);
    }
    assert_eq!(world.lines(), ["a", "b", "b", "b"]);
    let flow = world.instance.state.contexts.values().find(|context| matches!(context.memory, Memory::Tokens(_)));
    assert!(flow.is_some());
}

#[test]
fn a_terminal_child_completes_the_flowchart() {
    let end = json!([{"id": "end", "type": "End"}, event("e")]);
    let world = World::started(chart("a b", end, json!([["a", "e"], ["a", "b"], ["b", "end"]])));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.journaled(EventKind::Canceled), ["e"]);
}

#[test]
fn a_faulted_child_keeps_the_flowchart_open_and_holds_a_stream_up() {
    let connections = json!([["a", "b"], ["a", "x"], ["b", "end"], ["x", "end"]]);
    let world = World::started(chart("a b end", json!([broken("x")]), connections));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.lines(), ["a", "b"]);
}

#[test]
fn a_retry_of_a_child_sends_its_token() {
    let connections = json!([["a", "s"], ["a", "b"], ["s", "end"], ["b", "end"]]);
    let mut world =
        World::new(chart("a b end", json!([{"id": "s", "type": "Sql", "statement": "RAISE"}]), connections));
    world.start();
    assert_eq!(world.lines(), ["a", "b"]);
    assert_eq!(world.status(), SubStatus::Faulted);
    world.retry(None).expect("a retry");
    assert_eq!(world.status(), SubStatus::Faulted, "it fails again, and counts once");
}

#[test]
fn the_mode_is_the_flowcharts_own_or_the_definitions() {
    // A braid: its end runs once in counter mode, twice in token mode.
    let chart = |properties: Value| {
        let mut chart =
            chart("a b c e d", json!([]), json!([["a", "b"], ["a", "c"], ["c", "e"], ["b", "d"], ["e", "d"]]));
        let members = chart.as_object_mut().expect("an object");
        members.remove("mode");
        members.extend(properties.as_object().cloned().unwrap_or_default());
        chart
    };
    let (counter, token) = ("a b c e d", "a b c d e d");
    let own = [
        (json!({}), counter),
        (json!({"mode": "Token"}), token),
        (json!({"executionMode": "tokenbased"}), token),
        (json!({"customProperties": {"Flowchart:ExecutionMode": "TokenBased"}}), token),
        (json!({"customProperties": {"executionMode": "CounterBased"}}), counter),
    ];
    for (properties, expected) in own {
        assert_eq!(finished(chart(properties.clone())), expected, "{properties}");
    }
    let definition = [
        (json!({"options": {"flowchartMode": "token"}}), json!({}), token),
        (json!({"options": {"flowchartMode": "token"}}), json!({"mode": "counter"}), counter),
        (json!({"options": {"flowchartMode": "token"}}), json!({"mode": "Default"}), token),
        (json!({"customProperties": {"Flowchart:ExecutionMode": "TokenBased"}}), json!({}), token),
        (
            json!({"customProperties": {"executionMode": "TOKENBASED"}, "options": {"flowchartMode": "counter"}}),
            json!({}),
            counter,
        ),
    ];
    for (mut document, properties, expected) in definition {
        document["root"] = chart(properties);
        assert_eq!(finished(document.clone()), expected, "{document}");
    }
}

#[test]
fn flowcharts_of_both_modes_nest() {
    let mut inner = chart("x y", json!([]), json!([["x", "y"]]));
    inner["mode"] = json!("counter");
    inner["id"] = json!("inner");
    let mut count = set("N", "N + 1");
    count["id"] = json!("count");
    let outer = chart(
        "a end",
        json!([inner, count]),
        json!([["a", "inner"], ["a", "count"], ["inner", "end"], ["count", "end"]]),
    );
    assert_eq!(finished(json!({"variables": {"N": 0}, "root": outer})), "a x y end");
}
