//! Control flow without flowcharts.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;

use crate::support::{World, event, line, set};

fn finished(definition: Value) -> Vec<String> {
    let mut world = World::started(definition);
    assert_eq!(world.status(), SubStatus::Finished);
    world.take_lines()
}

#[test]
fn an_empty_sequence_finishes() {
    assert!(finished(json!([])).is_empty());
}

#[test]
fn a_sequence_runs_in_order() {
    for count in [1, 5, 10] {
        let activities: Vec<Value> = (1..=count).map(|i| line(&format!("Line {i}"))).collect();
        let expected: Vec<String> = (1..=count).map(|i| format!("Line {i}")).collect();
        assert_eq!(finished(Value::Array(activities)), expected);
    }
}

#[test]
fn break_ends_a_sequence() {
    let lines = finished(json!([line("Before Break"), {"type": "Break"}, line("After Break")]));
    assert_eq!(lines, ["Before Break"]);
}

#[test]
fn break_propagates_to_the_outer_sequence() {
    let inner = json!({"type": "Sequence", "activities": [line("Inner: Activity 1"), {"type": "Break"}, line("no")]});
    assert_eq!(finished(json!([line("Outer: Start"), inner, line("no")])), ["Outer: Start", "Inner: Activity 1"]);
}

#[test]
fn break_under_a_condition_ends_the_loop() {
    let lines = finished(json!({
        "type": "ForEach", "items": [1, 2, 3], "body": [
            {"type": "WriteLine", "text": {"var": "CurrentValue"}},
            {"type": "If", "condition": {"sql": "CurrentValue = 2"}, "then": {"type": "Break"}},
            line("after"),
        ],
    }));
    assert_eq!(lines, ["1", "after", "2"]);
}

#[test]
fn break_leaves_only_the_nearest_loop() {
    let inner = json!({"type": "For", "start": 1, "end": 3, "body": [line("inner"), {"type": "Break"}]});
    let lines = finished(json!({"type": "ForEach", "items": ["a", "b"], "body": [inner, line("outer")]}));
    assert_eq!(lines, ["inner", "outer", "inner", "outer"]);
}

#[test]
fn break_leaves_every_kind_of_loop() {
    for head in [
        json!({"type": "For", "start": 1, "end": 9}),
        json!({"type": "ForEach", "items": [1, 2, 3]}),
        json!({"type": "While", "condition": true}),
    ] {
        let mut definition = head;
        definition["body"] = json!([line("once"), {"type": "Break"}, line("never")]);
        assert_eq!(finished(json!([definition, line("behind")])), ["once", "behind"]);
    }
}

#[test]
fn break_inside_a_fork_inside_a_while_ends_the_loop_and_leaves_no_bookmarks() {
    let fork = json!({"type": "Fork", "branches": [event("Never"), {"type": "Sequence", "activities": [event("Go"), {"type": "Break"}]}]});
    let mut world = World::started(json!([{"type": "While", "condition": true, "body": fork}, line("End")]));
    assert_eq!(world.waiting(), ["Never", "Go"]);
    world.resume("Go", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.lines(), ["End"]);
}

#[test]
fn complete_ends_the_workflow_at_once() {
    let inner = json!({"type": "Sequence", "activities": [line("Before Complete"), {"type": "Complete"}, line("no")]});
    assert_eq!(finished(json!([inner, line("no")])), ["Before Complete"]);
    let looping = json!({"type": "While", "condition": true, "body": [line("once"), {"type": "Complete", "outcomes": ["A", "B"]}]});
    assert_eq!(finished(json!([looping, line("no")])), ["once"]);
}

#[test]
fn end_ends_the_sequence_and_the_workflow_goes_on() {
    let inner = json!({"type": "Sequence", "activities": [line("in"), {"type": "End"}, line("no")]});
    assert_eq!(finished(json!([inner, line("out")])), ["in", "out"]);
}

#[test]
fn if_runs_the_right_branch_and_completes_after_it() {
    for (condition, expected) in [(true, ["then", "end"]), (false, ["else", "end"])] {
        let branch = json!({"type": "If", "condition": condition, "then": line("then"), "else": line("else")});
        assert_eq!(finished(json!([branch, line("end")])), expected);
    }
    assert_eq!(finished(json!([{"type": "If", "condition": true, "else": line("no")}, line("end")])), ["end"]);
    let mut world = World::started(json!([
        {"type": "If", "condition": true, "then": [event("Wait"), line("then")]}, line("end"),
    ]));
    assert!(world.lines().is_empty());
    world.resume("Wait", Value::Null);
    assert_eq!(world.lines(), ["then", "end"]);
}

fn cases() -> Value {
    json!([
        {"label": "no", "condition": false, "activity": line("no")},
        {"label": "one", "condition": true, "activity": line("one")},
        {"label": "none", "condition": true},
        {"label": "two", "condition": true, "activity": line("two")},
    ])
}

#[test]
fn switch_runs_the_first_match_or_all_or_the_default() {
    let first = json!({"type": "Switch", "cases": cases(), "default": line("default")});
    assert_eq!(finished(json!([first, line("end")])), ["one", "end"]);
    let any = json!({"type": "Switch", "mode": "MatchAny", "cases": cases()});
    assert_eq!(finished(json!([any, line("end")])), ["one", "two", "end"]);
    let none = json!([{"label": "x", "condition": false, "activity": line("x")}]);
    let default = json!({"type": "Switch", "cases": none, "default": line("default")});
    assert_eq!(finished(json!([default, line("end")])), ["default", "end"]);
    let nothing = json!({"type": "Switch", "cases": none});
    assert_eq!(finished(json!([nothing, line("end")])), ["end"]);
}

#[test]
fn switches_nest_and_complete_after_all_that_they_scheduled() {
    let case = |label: &str, activity: Value| json!({"label": label, "condition": true, "activity": activity});
    let inner = json!({"type": "Switch", "cases": [case("inner", line("inner"))]});
    let waiting = json!([event("Wait"), line("waited")]);
    let outer = json!({"type": "Switch", "mode": "MatchAny", "cases": [case("wait", waiting), case("nested", inner)]});
    let mut world = World::started(json!([outer, line("end")]));
    assert_eq!(world.lines(), ["inner"]);
    world.resume("Wait", Value::Null);
    assert_eq!(world.lines(), ["inner", "waited", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn for_counts_up_and_down_with_and_without_its_bound() {
    let numbers = |head: Value| {
        let mut definition = head;
        definition["type"] = json!("For");
        definition["body"] = json!({"type": "WriteLine", "text": {"var": "CurrentValue"}});
        finished(definition).join(" ")
    };
    assert_eq!(numbers(json!({"start": 1, "end": 3})), "1 2 3");
    assert_eq!(numbers(json!({"start": 1, "end": 3, "outerBoundInclusive": false})), "1 2");
    assert_eq!(numbers(json!({"start": 3, "end": 1, "step": -1})), "3 2 1");
    assert_eq!(numbers(json!({"start": 0, "end": 10, "step": 4})), "0 4 8");
    assert_eq!(numbers(json!({"start": 3, "end": 1})), "");
    let end = i64::MAX;
    assert_eq!(numbers(json!({"start": end - 1, "end": end})), format!("{} {end}", end - 1));
    assert_eq!(numbers(json!({"start": end - 1, "end": end, "step": 5})), format!("{}", end - 1));
}

#[test]
fn for_without_a_body_completes_and_with_step_zero_faults() {
    assert_eq!(finished(json!([{"type": "For", "end": 3}, line("end")])), ["end"]);
    let world = World::started(json!({"type": "For", "end": 3, "step": 0, "body": line("x")}));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22023");
}

#[test]
fn for_each_visits_each_item_with_its_index() {
    let lines = finished(json!({"type": "ForEach", "items": ["a", 1, null, true], "body": [
        {"type": "WriteLine", "text": {"var": "CurrentValue"}},
        {"type": "WriteLine", "text": {"var": "CurrentIndex"}},
    ]}));
    assert_eq!(lines, ["a", "0", "1", "1", "", "2", "True", "3"]);
    assert_eq!(finished(json!([{"type": "ForEach", "items": [], "body": line("x")}, line("end")])), ["end"]);
    assert_eq!(finished(json!([{"type": "ForEach", "items": [1]}, line("end")])), ["end"]);
}

#[test]
fn for_each_over_a_single_item_has_one_round() {
    let body = json!({"type": "WriteLine", "text": {"var": "CurrentValue"}});
    assert_eq!(finished(json!([{"type": "ForEach", "items": ["only"], "body": body}, line("end")])), ["only", "end"]);
}

#[test]
fn for_each_over_null_faults() {
    let world = World::started(json!({"variables": {"Items": null}, "root":
        {"type": "ForEach", "items": {"var": "Items"}, "body": line("x")}}));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.last.incidents[0].fault.sqlstate, "22004");
}

#[test]
fn for_each_honours_a_list_that_changes_meanwhile() {
    let lines = |items: Value| {
        let change = json!({"type": "If", "condition": {"sql": "CurrentIndex = 1"},
            "then": {"type": "SetVariable", "variable": "Items", "value": items}});
        finished(json!({"variables": {"Items": ["a", "b", "c"]}, "root":
            {"type": "ForEach", "items": {"var": "Items"}, "body":
                [{"type": "WriteLine", "text": {"var": "CurrentValue"}}, change]}}))
        .join(" ")
    };
    assert_eq!(lines(json!(["a", "b", "c", "e"])), "a b c e");
    assert_eq!(lines(json!(["a", "b"])), "a b");
    assert_eq!(lines(json!(["a", "b", "d"])), "a b d");
}

#[test]
fn while_repeats_as_long_as_its_condition_holds() {
    let lines = finished(json!({"variables": {"Count": 0}, "root":
        {"type": "While", "condition": {"sql": "Count < 3"}, "body": [set("Count", "Count + 1"), {"type": "WriteLine", "text": {"var": "Count"}}]}}));
    assert_eq!(lines, ["1", "2", "3"]);
    assert_eq!(finished(json!([{"type": "While", "condition": true}, line("end")])), ["end"]);
}

fn forked(mode: &str) -> Value {
    let branch = |i: u32| json!({"type": "Sequence", "activities": [line(&format!("Branch {i}")), event(&format!("E{i}")), line(&format!("Branch {i} - Resumed"))]});
    json!([line("Start"), {"type": "Fork", "joinMode": mode, "branches": [branch(1), branch(2)]}, line("End")])
}

#[test]
fn fork_wait_all_needs_every_branch() {
    let mut world = World::started(forked("WaitAll"));
    world.resume("E1", Value::Null);
    assert_eq!(world.status(), SubStatus::Suspended);
    world.resume("E2", Value::Null);
    assert_eq!(world.lines(), ["Start", "Branch 1", "Branch 2", "Branch 1 - Resumed", "Branch 2 - Resumed", "End"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn fork_wait_any_goes_on_with_the_first_branch_and_drops_the_others_bookmark() {
    let mut world = World::started(forked("WaitAny"));
    world.resume("E1", Value::Null);
    assert_eq!(world.lines(), ["Start", "Branch 1", "Branch 2", "Branch 1 - Resumed", "End"]);
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!(world.last.cleared.len(), 1);
    assert!(!world.last.clear_all);
}

#[test]
fn fork_and_parallel_without_children_complete() {
    assert_eq!(finished(json!([{"type": "Fork", "branches": []}, line("end")])), ["end"]);
    assert_eq!(finished(json!([{"type": "Parallel", "activities": []}, line("end")])), ["end"]);
}

#[test]
fn parallel_interleaves_and_waits_for_all() {
    let parallel = json!({"type": "Parallel", "activities": [
        {"type": "Sequence", "activities": [line("a1"), line("a2")]},
        {"type": "Sequence", "activities": [line("b1"), line("b2")]},
    ]});
    assert_eq!(finished(json!([parallel, line("end")])), ["a1", "b1", "a2", "b2", "end"]);
}

#[test]
fn parallels_nest_and_the_outer_one_waits_for_the_inner_one() {
    let inner = json!({"type": "Parallel", "activities": [event("Go"), line("inner")]});
    let mut world = World::started(json!([{"type": "Parallel", "activities": [inner, line("outer")]}, line("end")]));
    assert_eq!(world.lines(), ["outer", "inner"]);
    world.resume("Go", Value::Null);
    assert_eq!(world.lines(), ["outer", "inner", "end"]);
    assert_eq!(world.status(), SubStatus::Finished);
}

#[test]
fn finish_ends_from_any_branch_and_clears_what_waits() {
    let parallel = json!({"type": "Parallel", "activities": [
        event("Never"),
        {"type": "Sequence", "activities": [event("Go"), {"type": "Finish"}, line("no")]},
    ]});
    let mut world = World::started(json!([parallel, line("no")]));
    world.resume("Go", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished);
    assert!(world.lines().is_empty());
    assert!(world.last.clear_all);
    // In one burst, with the other branch scheduled or waiting only since this burst.
    for (first, second) in [(event("Never"), json!({"type": "Finish"})), (json!({"type": "Finish"}), event("Never"))] {
        let world = World::started(json!({"type": "Parallel", "activities": [first, second]}));
        assert_eq!(world.status(), SubStatus::Finished);
        assert!(world.last.created.is_empty() && !world.last.clear_all);
    }
}

#[test]
fn nesting_of_any_allowed_depth_completes_without_recursion() {
    let mut definition = line("deep");
    for _ in 0..480 {
        definition = json!({"type": "Sequence", "activities": [definition]});
    }
    assert_eq!(finished(definition), ["deep"]);
}

#[test]
fn a_loop_that_never_waits_is_an_error_that_names_the_activity() {
    let mut world = World::new(json!({"type": "While", "condition": true, "body": {"id": "body", "type": "Start"}}));
    world.limits.max_steps = 1_000;
    let error = world.try_start(None, None).expect_err("endless");
    let workflow_engine::Error::TooManySteps { limit, .. } = error else { panic!("{error:?}") };
    assert_eq!(limit, 1_000);
    assert!(world.host.interrupts >= 1_000);
}

#[test]
fn the_state_does_not_grow_with_completed_activities() {
    let size = |n: u32| {
        let world = World::started(json!([{"type": "For", "start": 1, "end": n, "body": line("x")}, event("Wait")]));
        workflow_engine::instance::codec::encode_state(&world.instance.state).len()
    };
    assert!(size(2_000) <= size(10) + 8);
}

#[test]
fn an_end_in_a_branch_ends_the_sequence_or_flowchart_around() {
    let end = json!({"type": "End"});
    let branch = json!({"type": "If", "condition": true, "then": end});
    let switch =
        json!({"type": "Switch", "cases": [{"label": "a", "condition": {"literal": true}, "activity": branch}]});
    let tried = json!({"type": "Try", "body": branch, "finally": line("finally")});
    let ended = |inner: &Value| World::started(json!([[inner, line("never")], line("outside")])).lines().join(" ");
    assert_eq!(ended(&branch), "outside");
    assert_eq!(ended(&switch), "outside");
    assert_eq!(ended(&tried), "finally outside");
    assert_eq!(
        ended(&json!({"type": "If", "condition": true, "then": [end, line("never")]})),
        "never outside",
        "a sequence of its own"
    );
    let chart = json!({"type": "Flowchart", "activities": [{"id": "if", "type": "If", "condition": true, "then": end}, line("never")],
        "connections": [["if", "WriteLine1"]]});
    assert_eq!(World::started(json!([chart, line("outside")])).lines(), ["outside"]);
    // It ends no loop, no branch of others, and not the consumer of a used workflow.
    for inner in [
        json!({"type": "ForEach", "items": [1, 2], "body": branch}),
        json!({"type": "Parallel", "activities": [branch, line("other")]}),
        json!({"type": "Composite", "root": branch}),
    ] {
        let world = World::started(json!([[inner, line("next")], line("outside")]));
        assert!(world.lines().ends_with(&["next", "outside"]), "{inner}");
    }
}
