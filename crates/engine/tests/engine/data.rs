//! Variables, inputs, outputs, names.

use serde_json::{Value, json};
use workflow_engine::execution::Changed;
use workflow_engine::instance::codec::{decode_state, encode_state};
use workflow_engine::instance::{State, SubStatus};
use workflow_engine::journal::EventKind;

use crate::support::{World, event, line, nested, set, with_room};

fn show(variable: &str) -> Value {
    json!({"type": "WriteLine", "text": {"var": variable}})
}

#[test]
fn variables_of_the_workflow_are_set_and_only_then_changed() {
    let mut world = World::started(json!({"variables": {"Counter": 0, "Name": "Initial"}, "root": [
        show("Counter"), show("Name"), event("Wait"),
        {"type": "SetVariable", "variable": "Counter", "value": 10},
        {"type": "SetVariable", "variable": "Name", "value": "Updated"}, show("Counter"), show("Name"),
    ]}));
    assert_eq!(world.last.changed, Changed::default());
    world.resume("Wait", Value::Null);
    assert_eq!(world.lines(), ["0", "Initial", "10", "Updated"]);
    assert_eq!(world.last.changed, Changed { variables: true, ..Changed::default() });
}

#[test]
fn assigning_the_same_value_changes_nothing() {
    let world = World::started(json!({"variables": {"A": 1}, "root":
        {"type": "SetVariable", "variable": "A", "value": 1}}));
    assert!(!world.last.changed.variables);
}

#[test]
fn the_nearest_scope_wins_and_outer_variables_stay() {
    let inner = json!({"type": "Sequence", "variables": {"A": "inner"}, "activities": [
        show("A"), {"type": "SetVariable", "variable": "A", "value": "changed"}, show("A")]});
    let world = World::started(json!({"variables": {"A": "outer"}, "root": [inner, show("A")]}));
    assert_eq!(world.lines(), ["inner", "changed", "outer"]);
    assert!(!world.last.changed.variables);
}

#[test]
fn variables_of_a_scope_survive_a_suspend_and_begin_anew_with_each_execution() {
    let body = json!({"type": "Sequence", "variables": {"N": 0}, "activities": [
        set("N", "N + 1"), event("Wait"), set("N", "N + 1"), show("N")]});
    let mut world = World::started(json!({"type": "For", "start": 1, "end": 2, "body": body}));
    world.run_to_end();
    assert_eq!(world.lines(), ["2", "2"]);
}

#[test]
fn a_value_that_does_not_fit_its_variable_faults_and_names_it() {
    let world = World::started(json!({"variables": [{"name": "N", "type": "Int32", "value": 1}], "root":
        {"type": "SetVariable", "variable": "N", "value": "many"}}));
    assert_eq!(world.status(), SubStatus::Faulted);
    assert!(world.last.incidents[0].fault.message.contains("\"N\""));
    assert_eq!(*world.variable("N"), json!(1));
}

#[test]
fn several_outputs_are_set() {
    let world = World::started(json!([
        {"type": "SetOutput", "outputName": "A", "outputValue": 1},
        {"type": "SetOutput", "outputName": "B", "outputValue": {"literal": {"x": [1]}}},
    ]));
    assert_eq!(Value::Object(world.instance.output), json!({"A": 1, "B": {"x": [1]}}));
    assert!(world.last.changed.output);
}

#[test]
fn the_name_is_kept() {
    let world = World::started(json!([{"type": "SetName", "value": "Order 1"}]));
    assert_eq!(world.instance.name.as_deref(), Some("Order 1"));
    assert!(world.last.changed.name);
}

#[test]
fn correlate_tells_the_host_first_and_a_taken_id_faults() {
    let world = World::started(json!([{"type": "Correlate", "correlationId": "a"}]));
    assert_eq!(world.instance.correlation_id.as_deref(), Some("a"));
    assert_eq!(world.host.correlated.as_deref(), Some("a"));
    assert!(world.last.changed.correlation_id);
    let mut world = World::new(json!([{"type": "Correlate", "correlationId": "a"}]));
    world.host.taken.insert("a".into());
    world.start();
    assert_eq!(world.status(), SubStatus::Faulted);
    assert_eq!(world.instance.correlation_id, None);
    assert!(!world.last.changed.correlation_id);
}

#[test]
fn inputs_are_converted_and_defaults_fill_in() {
    let definition = json!({
        "inputs": [{"name": "Days", "type": "Int32"}, {"name": "Kind", "type": "String", "defaultValue": "holiday"}],
        "root": [{"type": "WriteLine", "text": {"input": "Days"}}],
    });
    let world = {
        let mut world = World::with_input(definition, json!({"Days": "5"}));
        world.start();
        world
    };
    assert_eq!(world.lines(), ["5"]);
    assert_eq!(Value::Object(world.instance.input), json!({"Days": 5}));
}

#[test]
fn members_of_a_resumes_input_come_before_the_starts_for_one_burst() {
    let input = || json!({"type": "WriteLine", "text": {"input": "who"}});
    let mut world =
        World::with_input(json!([input(), event("A"), input(), event("B"), input()]), json!({"who": "start"}));
    world.start();
    world.resume("A", json!({"who": "resume"}));
    world.resume("B", json!("not an object"));
    assert_eq!(world.lines(), ["start", "resume", "start"]);
    assert_eq!(Value::Object(world.instance.input), json!({"who": "start"}));
}

#[test]
fn an_activitys_output_goes_into_its_variable_and_survives_a_suspend() {
    let mut world = World::started(json!({"variables": {"Paid": null}, "root": [
        {"id": "e", "type": "Event", "eventName": "Paid", "result": {"var": "Paid"}}, event("Wait"), line("x")]}));
    world.resume("e", json!({"amount": 1.10}));
    assert_eq!(*world.variable("Paid"), json!({"amount": 1.10}));
    let state = decode_state(&encode_state(&world.instance.state)).expect("a state");
    let node = world.program.find("e").expect("the activity");
    assert_eq!(state.outputs[&node][0].1.0, json!({"amount": 1.10}));
    assert_eq!(results(&state), [json!({"amount": 1.10}), json!({"amount": 1.10})]);
    world.resume("Wait", Value::Null);
    assert_eq!(*world.variable("Paid"), json!({"amount": 1.10}));
}

/// The latest result that each open execution can read.
fn results(state: &State) -> Vec<Value> {
    let results = state.contexts.values().filter_map(|context| context.last_result.as_ref());
    results.map(|result| result.value.0.clone()).collect()
}

#[test]
fn outputs_of_activities_go_with_the_end_of_the_instance() {
    let mut world = World::started(
        json!([{"id": "e", "type": "Event", "eventName": "Paid"}, {"type": "Parallel", "activities": [event("a"), event("b")]}]),
    );
    world.resume("e", json!(1));
    world.resume("a", json!(2));
    assert_eq!(results(&world.instance.state), [json!(1), json!(2), json!(1)], "root, Parallel, b");
    assert_eq!(world.instance.state.outputs.len(), 1);
    world.resume("b", json!(3));
    assert_eq!(world.status(), SubStatus::Finished);
    assert_eq!((results(&world.instance.state).len(), world.instance.state.outputs.len()), (0, 0));
}

#[test]
fn values_of_any_accepted_depth_are_stored_with_the_state_and_deeper_ones_refused() {
    with_room(move || {
        let mut world = World::started(json!([event("Wait"), event("Again")]));
        world.resume("Wait", nested(2_000));
        assert_eq!(world.status(), SubStatus::Suspended);
        world.resume("Again", nested(2_001));
        assert_eq!(world.last.incidents[0].fault.sqlstate, "54001");
    });
}

#[test]
fn sql_runs_in_a_step_and_gives_rows_and_count() {
    let world = World::started(json!({"variables": {"Rows": null, "N": null, "P": 7}, "root":
        {"type": "Sql", "statement": "SELECT", "parameters": [1, {"var": "P"}], "result": {"var": "Rows"}, "rowCount": {"var": "N"}}}));
    assert_eq!(world.status(), SubStatus::Finished, "{:?}", world.last.incidents);
    assert_eq!(world.host.effects, ["SELECT [1,7]"]);
    assert_eq!(*world.variable("N"), json!(1));
    assert_eq!(*world.variable("Rows"), json!([{"statement": "SELECT"}]));
}

#[test]
fn what_is_logged_stands_in_the_journal() {
    let world = World::started(
        json!({"type": "Log", "level": "warning", "message": "{Left} of {0}", "arguments": {"Left": 3, "0": "tea"},
        "attributes": {"sku": 17}}),
    );
    assert_eq!(world.status(), SubStatus::Finished);
    let logged = world.trail.iter().find(|event| event.kind == EventKind::Logged).expect("an entry");
    let data = logged.data.as_ref().map(|data| &data.0);
    let expected = json!({"level": "Warning", "category": "Process", "message": "3 of tea", "attributes": {"sku": 17}});
    assert_eq!(data, Some(&expected));
}

#[test]
fn a_wrong_entry_is_a_fault() {
    for (member, value, message) in [
        (
            "level",
            json!({"js": "'Loud'"}),
            "input \"level\" must be one of Trace, Debug, Information, Warning, Error, Critical",
        ),
        ("attributes", json!([1]), "input \"attributes\" must be an object"),
    ] {
        let mut log = json!({"type": "Log", "message": "m"});
        log[member] = value;
        let world = World::started(log);
        assert_eq!(world.last.incidents[0].fault.message, message);
        assert!(world.journaled(EventKind::Logged).is_empty());
    }
}
