//! The inputs that a start accepts, and the effects of outputs.

use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow_engine::definition::{ReadLimits, compile, export};
use workflow_engine::instance::SubStatus;
use workflow_engine::{Fault, Instance};

use crate::support::{World, program};
use workflow_engine::program::GivenInput;

fn try_start(definition: Value, given: impl Into<GivenInput>) -> Result<Map<String, Value>, Fault> {
    Instance::new(Uuid::nil(), &program(definition), 1, None, None, given).map(|instance| instance.input)
}

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).expect("an object")
}

fn order() -> Value {
    json!({"root": [], "inputs": [
        {"name": "Order", "type": "ObjectDictionary", "required": true,
         "schema": {"required": ["lines"], "properties": {"lines": {"type": "array", "minItems": 1}}}},
        {"name": "Amount", "type": "Decimal", "default": "0.10", "schema": {"minimum": 0}},
        {"name": "Tags", "type": "String", "isArray": true}]})
}

#[test]
fn inputs_are_converted_and_checked() {
    let good = json!({"Order": "{\"lines\": [1]}", "Amount": "12.50", "Tags": "[\"a\"]"});
    let accepted = try_start(order(), object(good)).expect("acceptable");
    assert_eq!(Value::from(accepted["Amount"].to_string()), json!("12.50"));
    assert_eq!((&accepted["Order"], &accepted["Tags"]), (&json!({"lines": [1]}), &json!(["a"])));
    for (input, sqlstate, message, detail) in [
        (json!({}), "22023", "missing input \"Order\"", "Workflow definition \"test\" requires it."),
        (json!({"Order": null}), "22023", "missing input \"Order\"", "Workflow definition \"test\" requires it."),
        (
            json!({"Order": {"lines": []}}),
            "22023",
            "input \"Order\" does not match its schema",
            "/Order/lines: the value has less than 1 item",
        ),
        (
            json!({"Order": {"lines": [1]}, "Amount": -1}),
            "22023",
            "input \"Amount\" does not match its schema",
            "/Amount: the value is less than the minimum of 0",
        ),
        (
            json!({"Order": {"lines": [1]}, "Amount": "much"}),
            "22P02",
            "input \"Amount\": invalid value for type Decimal: \"much\"",
            "",
        ),
        (
            json!({"Order": {"lines": [1]}, "amuont": 1}),
            "22023",
            "workflow definition \"test\" has no input \"amuont\"",
            "Its inputs are \"Order\", \"Amount\", \"Tags\".",
        ),
    ] {
        let fault = try_start(order(), object(input.clone())).expect_err("not acceptable");
        assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), (sqlstate, message), "{input}");
        assert_eq!(fault.detail.unwrap_or_default(), detail, "{input}");
    }
    let fault = try_start(order(), object(json!({"Order": {"lines": [1]}, "amuont": 1}))).expect_err("not acceptable");
    assert_eq!(fault.hint.as_deref(), Some("Perhaps you meant \"Amount\"."));
}

#[test]
fn what_declares_nothing_accepts_anything() {
    let any = object(json!({"a": 1, "ParentInstanceId": "x"}));
    assert_eq!(try_start(json!([]), any.clone()), Ok(any));
}

#[test]
fn stimuli_and_the_engine_may_bring_more() {
    let order = |more: Value| {
        let mut input = object(json!({"Order": {"lines": [1]}}));
        input.extend(object(more));
        input
    };
    let timer = order(json!({"ScheduledAt": "2026-11-21T12:00:00Z", "CronExpression": "* * * * *"}));
    assert!(try_start(self::order(), timer).is_ok());
    assert!(try_start(self::order(), GivenInput::by_stimulus(order(json!({"paidBy": "card"})))).is_ok());
    let fault =
        try_start(self::order(), GivenInput::by_stimulus(object(json!({"paidBy": "card"})))).expect_err("missing");
    assert_eq!(fault.message, "missing input \"Order\"");
}

#[test]
fn the_schema_of_the_whole_sees_defaults_and_nothing_of_the_engine() {
    let definition = json!({"root": [], "inputs": [{"name": "From", "default": 1}, {"name": "To"}],
        "inputSchema": {"required": ["From"], "maxProperties": 2, "dependentRequired": {"From": ["To"]}}});
    let start = |input: Value| try_start(definition.clone(), object(input));
    assert!(start(json!({"To": 2, "ScheduledAt": "now"})).is_ok());
    let fault = start(json!({})).expect_err("incomplete");
    assert_eq!(fault.message, "input of workflow definition \"test\" does not match its schema");
    assert_eq!(fault.detail.as_deref(), Some("/: \"To\" is a required property"));
}

fn problems(document: Value) -> Vec<(String, String)> {
    let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
    let mut document = document;
    document["definitionId"] = json!("test");
    let problems = compile(&document, &(), &limits, false).expect_err("problems");
    problems.into_iter().map(|problem| (problem.path, problem.message)).collect()
}

#[test]
fn a_bad_declaration_is_a_problem_with_its_place() {
    let found = problems(json!({"root": [], "inputs": [
        {"name": "A", "schema": {"properties": {"b": {"type": "strin"}}}},
        {"name": "B", "required": "yes"},
        {"name": "C", "schema": {"$ref": "https://example.org/c.json"}},
        {"name": "D", "type": "Int32", "default": 3, "schema": {"minimum": 5}},
        {"name": "E", "requierd": true}],
        "inputSchema": {"$ref": "#"},
        "outputs": [{"name": "F", "schema": 5}]}));
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/inputs/0/schema/properties/b/type",
            "/inputs/1/required",
            "/inputs/2/schema/$ref",
            "/inputs/3/default",
            "/inputs/4/requierd",
            "/outputs/0/schema",
            "/inputSchema",
        ],
        "{found:#?}"
    );
    assert_eq!(found[2].1, "reference \"https://example.org/c.json\" leads out of the schema");
    assert_eq!(found[3].1, "default of \"D\" does not match its schema");
}

#[test]
fn outputs_are_converted_and_checked_and_others_are_set_as_they_are() {
    let definition = |value: Value, name: &str| {
        json!({"outputs": [{"name": "Total", "type": "Int32", "schema": {"maximum": 9}}],
        "root": {"id": "set", "type": "SetOutput", "outputName": name, "outputValue": value}})
    };
    assert_eq!(World::started(definition(json!("7"), "Total")).instance.output["Total"], 7);
    assert_eq!(World::started(definition(json!("7"), "Other")).instance.output["Other"], "7");
    for (value, message) in [
        (json!("many"), "output \"Total\": invalid value for type Integer: \"many\""),
        (json!(10), "output \"Total\" does not match its schema"),
    ] {
        let world = World::started(definition(value, "Total"));
        assert_eq!(world.instance.sub_status, SubStatus::Faulted);
        assert_eq!(world.last.incidents[0].fault.message, message);
    }
}

#[test]
fn an_export_keeps_what_elsa_does_not_know() {
    let mut document = order();
    document["definitionId"] = json!("test");
    document["inputSchema"] = json!({"minProperties": 1});
    let exported = export(&document, "test", 1, true, true, &());
    let again = compile(&exported, &(), &ReadLimits::default(), false).expect("no problems");
    let before = compile(&document, &(), &ReadLimits::default(), false).expect("no problems");
    assert_eq!((again.inputs, again.input_schema), (before.inputs, before.input_schema));
}
