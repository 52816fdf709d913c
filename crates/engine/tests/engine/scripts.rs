//! JavaScript inside a burst: what it can read of the instance, and how its changes are kept.

use serde_json::{Value, json};
use workflow_engine::instance::SubStatus;

use crate::support::{World, event, nested, with_room};

fn show(script: &str) -> Value {
    json!({"type": "WriteLine", "text": {"js": script}})
}

#[test]
fn a_flowchart_loops_until_a_script_says_stop() {
    let text = |id: &str, text: &str| json!({"id": id, "type": "WriteLine", "text": text});
    let world = World::started(json!({"variables": {"Done": false}, "root": {"type": "Flowchart",
        "activities": [
            {"id": "start", "type": "Start"},
            text("work", "Do something"),
            {"id": "d", "type": "FlowDecision", "condition": {"js": "getVariable('Done')"}},
            text("retry", "Retry"),
            {"id": "set", "type": "SetVariable", "variable": "Done", "value": {"js": "!getDone()"}},
            text("end", "Done"),
        ],
        "connections": [["start", "work"], ["work", "d"], ["d", "False", "retry"],
            ["retry", "set"], ["set", "work"], ["d", "True", "end"]],
    }}));
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(world.lines(), ["Do something", "Retry", "Do something", "Done"]);
}

#[test]
fn scripts_see_variables_inputs_outputs_and_the_last_result() {
    let mut world = World::with_input(
        json!({"variables": {"A": {"b": [1, 2]}}, "root": [
            show("getInput('who') + ' ' + variables.A.b[1]"),
            {"id": "e", "name": "Payment", "type": "Event", "eventName": "Paid"},
            show("getOutputFrom('e').amount + ' ' + getLastResult().amount + ' ' + getInput('amount')"),
            event("Wait"),
            show("getOutputFrom('Payment', 'Result').amount"),
        ]}),
        json!({"who": "Ann"}),
    );
    world.start();
    world.resume("e", json!({"amount": 5}));
    world.resume("Wait", Value::Null);
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(world.lines(), ["Ann 2", "5 5 5", "5"]);
}

#[test]
fn a_script_sets_variables_of_the_nearest_scope() {
    let inner = json!({"type": "Sequence", "variables": {"X": 1}, "activities": [
        show("setVariable('X', 5); setVariable('Y', 6); 'set'"),
        show("getX() + getY()"),
    ]});
    let world = World::started(json!({"variables": {"X": 0, "Y": 0}, "root": [inner, show("getX()")]}));
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(world.lines(), ["set", "11", "0"]);
    assert_eq!(*world.variable("Y"), json!(6));
}

#[test]
fn what_a_script_changed_before_it_threw_is_undone() {
    let mut world = World::started(json!({"variables": {"X": 0}, "root": [
        event("Go"),
        show("setVariable('X', 5); setCorrelationId('c'); setWorkflowInstanceName('n'); throw new Error('no')"),
    ]}));
    world.resume("Go", Value::Null);
    assert_eq!(world.status(), SubStatus::Faulted);
    let fault = &world.last.incidents[0].fault;
    assert!(fault.message.contains("no"), "{fault:?}");
    assert_eq!(*world.variable("X"), json!(0));
    assert_eq!(world.instance.correlation_id, None);
    assert_eq!(world.host.correlated, None);
    assert_eq!(world.instance.name, None);
    assert_eq!(world.last.changed, Default::default());
}

#[test]
fn a_script_changes_correlation_id_and_name() {
    let world =
        World::started(json!([show("setCorrelationId('c'); setWorkflowInstanceName('n'); getCorrelationId()")]));
    assert_eq!(world.lines(), ["c"]);
    assert_eq!(world.instance.name.as_deref(), Some("n"));
    assert_eq!(world.host.correlated.as_deref(), Some("c"));
    assert!(world.last.changed.correlation_id && world.last.changed.name);
}

#[test]
fn computed_items_of_a_loop_are_computed_once_and_survive_a_suspend() {
    let mut world = World::started(json!({"variables": {"N": 0}, "root":
        {"type": "ForEach", "items": {"js": "setVariable('N', getN() + 1); ['a', 'b', 'c']"}, "body": [
            {"type": "WriteLine", "text": {"var": "CurrentValue"}}, event("Wait")]}}));
    world.run_to_end();
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(world.lines(), ["a", "b", "c"]);
    assert_eq!(*world.variable("N"), json!(1));
}

#[test]
fn a_value_that_grows_deeper_in_each_round_faults_in_time() {
    let wrap = json!({
        "type": "SetVariable", "variable": "X", "value": {"object": {"x": {"var": "X"}}},
    });
    let root = json!([
        {"type": "SetVariable", "variable": "X", "value": {"input": "deep"}},
        {"type": "For", "start": 1, "end": 100, "body": wrap},
    ]);
    with_room(move || {
        let input = serde_json::Map::from_iter([("deep".to_owned(), nested(1_980))]);
        let definition = json!({"variables": {"X": 0}, "root": root});
        let mut world = World::with_input(definition, Value::Object(input));
        world.start();
        assert_eq!(world.status(), SubStatus::Faulted);
        assert_eq!(world.last.incidents[0].fault.sqlstate, "54001");
    });
}

/// A flowchart that runs a script and follows the outcomes `A`, `B` and `Done`.
fn deciding(script: Value) -> Value {
    let lines = ["a", "b", "done"].map(|id| json!({"id": id, "type": "WriteLine", "text": id}));
    let mut activities = vec![json!({"id": "run", "type": "RunJavaScript", "script": script})];
    activities.extend(lines);
    json!({"variables": {"Outcome": "free"}, "root": {"type": "Flowchart", "activities": activities,
        "connections": [["run", "A", "a"], ["run", "B", "b"], ["run", "done"]]}})
}

#[test]
fn a_script_says_its_outcomes_and_is_done_otherwise() {
    let cases = [
        ("setOutcome('A')", vec!["a"]),
        ("setOutcomes(['A', 'B'])", vec!["a", "b"]),
        ("setOutcome('A'); setOutcome('B')", vec!["b"]),
        ("setOutcome('Done')", vec!["done"]),
        ("setOutcomes([])", vec![]),
        ("1 + 1", vec!["done"]),
        ("  ", vec!["done"]),
    ];
    for (script, expected) in cases {
        let world = World::started(deciding(json!(script)));
        assert_eq!(world.status(), SubStatus::Finished, "{script}: {:?}", world.last.incidents);
        assert_eq!(world.lines(), expected, "{script}");
    }
    let world = World::started(deciding(json!({"js": "setOutcome('A')"})));
    assert_eq!(world.lines(), ["a"]);
}

#[test]
fn only_run_java_script_has_outcomes_to_set() {
    // In any other script it is the generated function of a variable.
    let world =
        World::started(json!({"variables": {"Outcome": "free"}, "root": show("setOutcome('A'); getOutcome()")}));
    assert_eq!(world.lines(), ["A"]);
    let world = World::started(show("setOutcome('A')"));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.last.incidents[0].fault.message.contains("setOutcome is not defined"));
    let world = World::started(deciding(json!("setOutcome('A'); getOutcome()")));
    assert_eq!(world.variable("Outcome"), "free");
}

#[test]
fn outcomes_are_names() {
    for script in ["setOutcome({})", "setOutcome(null)", "setOutcomes('A', [])", "setOutcomes([null])", "setOutcomes()"]
    {
        let world = World::started(deciding(json!(script)));
        let faulted = world.last.incidents.first().map(|incident| incident.fault.sqlstate.as_ref());
        match script {
            "setOutcomes('A', [])" => assert_eq!(world.lines(), ["a"]),
            _ => assert_eq!(faulted, Some("22023"), "{script}"),
        }
    }
}

#[test]
fn the_value_of_a_script_is_its_result() {
    let world = World::started(json!({"variables": {"Sum": 0}, "root": [
        {"id": "run", "type": "RunJavaScript", "script": "setVariable('Sum', 1); return {total: 3};", "result": {"var": "Sum"}},
        {"id": "none", "type": "RunJavaScript", "script": "null", "result": {"var": "Sum"}},
        show("getLastResult().total + getOutputFrom('run').total"),
    ]}));
    assert_eq!(world.lines(), ["6"]);
    assert_eq!(world.variable("Sum"), &json!({"total": 3}));
}
