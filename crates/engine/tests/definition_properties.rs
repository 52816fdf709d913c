//! Properties of definitions: an export is the same program, and no document makes the reader panic.

mod support;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use workflow_engine::definition::{ActivityTypes, CustomType, ReadLimits, compile, export, same_content};
use workflow_engine::program::Numbering;

use support::{described, numbered_otherwise};

struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        (type_name == "Acme.Step").then(CustomType::default)
    }
}

fn constant() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z0-9 ]{0,6}".prop_map(Value::from),
        Just(serde_json::from_str("1.10").expect("valid JSON")),
        Just(serde_json::from_str("1e400").expect("valid JSON")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,3}|js|literal", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A constant that is marked as a literal.
fn literal() -> impl Strategy<Value = Value> {
    constant().prop_map(|value| json!({ "literal": value }))
}

fn expression() -> impl Strategy<Value = Value> {
    let short = prop_oneof![
        literal(),
        "[a-z(){}]{0,8}".prop_map(|source| json!({ "js": source })),
        "[a-z ]{0,8}".prop_map(|source| json!({ "sql": source })),
        "[AB]".prop_map(|name| json!({ "var": name })),
        "[a-z]{1,4}".prop_map(|name| json!({ "input": name })),
    ];
    let object = prop::collection::btree_map("x[a-z]{2}", short.clone(), 0..3)
        .prop_map(|map| json!({"object": Value::Object(map.into_iter().collect())}));
    let wrapped = prop_oneof![
        literal().prop_map(|value| json!({"type": "Object", "value": value["literal"].to_string()})),
        Just(json!({"type": "Literal"})),
        Just(json!({"type": "Literal", "value": "x"})),
        Just(json!({"type": "Variable", "value": {"id": "a", "name": "A"}})),
        Just(json!({"type": "JavaScript", "value": "1"})),
    ]
    .prop_map(|expression| json!({"typeName": "Object", "expression": expression}));
    prop_oneof![short, object, wrapped, Just(Value::Null), "[a-z]{0,5}".prop_map(Value::from)]
}

fn binding() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[AB]".prop_map(|name| json!({ "var": name })),
        Just(json!({"output": "Out"})),
        "(a|b|A|Out|x:output-1)".prop_map(|id| json!({"typeName": "Object", "memoryReference": {"id": id}})),
    ]
}

fn variables() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        literal().prop_map(|value| json!({"A": value, "C": 1})),
        literal().prop_map(|value| json!([{"name": "B", "id": "b", "value": value}])),
        any::<i32>().prop_map(|number| json!([{"name": "A", "type": "Int32", "value": number}])),
        Just(json!([{"id": "z", "name": "A", "typeName": "Object", "isArray": true, "value": "[1]"}])),
    ]
}

fn activity() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        expression().prop_map(|value| json!({"type": "SetVariable", "variable": "A", "value": value})),
        (expression(), binding(), any::<bool>()).prop_map(|(name, result, starts)| json!({
            "type": "Elsa.Event", "version": 1, "eventName": "e", "payload": name, "result": result,
            "customProperties": {"canStartWorkflow": starts}})),
        (any::<bool>(), binding()).prop_map(|(short, result)| json!({
            "type": "RunJavaScript", "script": if short { json!({"js": "1"}) } else { json!("1") }, "result": result})),
        (expression(), binding())
            .prop_map(|(value, result)| json!({"type": "Acme.Step", "value": value, "result": result})),
        prop::collection::vec(expression(), 0..3)
            .prop_map(|list| json!({"type": "Sql", "statement": "SELECT 1", "parameters": list})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(Value::from),
            (list.clone(), variables()).prop_map(|(list, variables)| json!({
                "type": "Sequence", "activities": list, "variables": variables})),
            (inner.clone(), prop::option::of(inner.clone())).prop_map(|(then, other)| json!({
                "type": "If", "condition": {"js": "1"}, "then": then, "else": other})),
            (inner.clone(), inner.clone()).prop_map(|(case, default)| json!({
                "type": "Switch", "default": default, "cases": [
                    {"label": "a", "condition": {"js": "1"}, "activity": case},
                    {"condition": {"type": "Literal", "value": true}, "activity": null}]})),
            (inner.clone(), prop::option::of(inner.clone())).prop_map(|(run, trigger)| json!({
                "type": "StateMachine", "initialState": "A", "states": ["A", {"name": "B", "entry": run}],
                "transitions": [{"from": "A", "to": "B", "trigger": trigger, "condition": {"js": "1"}}]})),
            inner.prop_map(|body| json!({"type": "ForEach", "items": [1], "body": body})),
            (list, mode(), merge_mode()).prop_map(|(list, mode, merge_mode)| flowchart(list, &mode, &merge_mode)),
        ]
    })
}

/// The declaration of a flowchart's mode, in each possible place.
fn mode() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        "(token|COUNTER|Default|TokenBased)".prop_map(|mode| json!({ "mode": mode })),
        "(token|counterbased)".prop_map(|mode| json!({"customProperties": {"Flowchart:ExecutionMode": mode}})),
        Just(json!({"executionMode": "token", "customProperties": {"executionMode": "counter"}})),
    ]
}

fn merge_mode() -> impl Strategy<Value = Value> {
    let word = "(|None|race|MERGE|Converge|cascade|Stream)";
    prop_oneof![
        word.prop_map(|mode| json!({ "mergeMode": mode })),
        word.prop_map(|mode| json!({"customProperties": {"mergeMode": mode}})),
    ]
}

/// A flowchart whose activities follow each other, connected in different notations.
fn flowchart(list: Vec<Value>, mode: &Value, merge_mode: &Value) -> Value {
    let with = |mut activity: Value, more: &Value| {
        if let (Some(members), Some(more)) = (activity.as_object_mut(), more.as_object()) {
            members.extend(more.clone());
        }
        activity
    };
    let mut connections = Vec::new();
    let mut activities = Vec::new();
    for (at, activity) in list.into_iter().enumerate() {
        let id = format!("n{at}");
        let inner = match activity {
            Value::Object(mut members) => {
                members.insert("id".into(), id.clone().into());
                Value::Object(members)
            }
            other => json!({"id": id, "type": "FlowNode", "body": other}),
        };
        activities.push(with(inner, merge_mode));
        if at > 0 {
            let source = format!("n{}", at - 1);
            connections.push(match at % 3 {
                0 => json!([source, "Done", id]),
                1 => json!([source, id]),
                _ => json!({"source": source, "target": id, "vertices": []}),
            });
        }
    }
    with(json!({"type": "Flowchart", "activities": activities, "connections": connections}), mode)
}

fn definition() -> impl Strategy<Value = Value> {
    (activity(), literal()).prop_map(|(root, initial)| {
        json!({"name": "Random", "root": root, "outputs": [{"name": "Out", "type": "Object"}],
               "variables": [{"id": "a", "name": "A", "value": initial}, {"id": "b", "name": "B"}]})
    })
}

/// Any JSON, written with the words that definitions are made of.
fn anything() -> impl Strategy<Value = Value> {
    const WORDS: &str = "definitionId|id|name|version|variables|inputs|outputs|options|root|type|activities|\
        connections|source|target|activity|port|cases|label|states|transitions|entry|trigger|from|to|mode|mergeMode|script|\
        condition|then|body|eventName|result|variable|value|\
        expression|typeName|memoryReference|customProperties|canStartWorkflow|\\$values|js|sql|var|object|literal|\
        Flowchart|StateMachine|RunJavaScript|ParallelForEach|initialState|Elsa.Sequence|Event|If|Switch|SetVariable|Acme.Step|Object|Variable|Literal|A|a|\\PC{0,3}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        WORDS.prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(WORDS, inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The node ids in a document, sorted.
fn written_node_ids(document: &Value) -> Vec<&str> {
    let (mut left, mut found) = (vec![document], Vec::new());
    while let Some(value) = left.pop() {
        match value {
            Value::Array(list) => left.extend(list),
            Value::Object(members) => {
                found.extend(members.get("nodeId").and_then(Value::as_str));
                left.extend(members.values());
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found
}

proptest! {
    #[test]
    fn an_export_is_the_same_program(document in definition()) {
        let limits = ReadLimits::default();
        let before = compile(&document, &Registered, &limits, false);
        let before = before.map_err(|problems| TestCaseError::fail(format!("{problems:#?}")))?;
        let exported = export(&document, "Random", 1, true, true, &Registered);
        let after = compile(&exported, &Registered, &limits, false);
        let after = after.map_err(|problems| TestCaseError::fail(format!("{problems:#?}")))?;
        prop_assert_eq!(described(&before), described(&after));
        let mut node_ids: Vec<&str> = after.nodes.iter().map(|node| node.node_id.as_str()).collect();
        node_ids.sort_unstable();
        prop_assert_eq!(written_node_ids(&exported["root"]), node_ids);
        let again = export(&exported, "Random", 2, false, true, &Registered);
        prop_assert!(same_content(&exported, &again));
    }

    #[test]
    fn any_order_of_numbers_can_be_taken_back(document in definition()) {
        let program = || compile(&document, &Registered, &ReadLimits::default(), false).expect("a definition");
        let numbering = program().numbering();
        let numbered = numbered_otherwise(program()).numbered(&numbering);
        prop_assert_eq!(numbered.map(|program| described(&program)), Ok(described(&program())));
    }

    #[test]
    fn a_damaged_numbering_is_refused(document in definition(), pick: prop::sample::Index, number in 0..9u32, id in "n[0-3]") {
        let program = || compile(&document, &Registered, &ReadLimits::default(), false).expect("a definition");
        let numbering = program().numbering();
        let stored = serde_json::to_value(&numbering).expect("JSON");
        let lists = ["activities", "connections"].iter().flat_map(|list| {
            let entries = stored[list].as_array().expect("a list");
            entries.iter().enumerate().map(move |(at, entry)| (*list, at, entry.as_array().expect("a list").len()))
        });
        let places: Vec<String> =
            lists.flat_map(|(list, at, parts)| (0..parts).map(move |part| format!("/{list}/{at}/{part}"))).collect();
        let mut damaged = stored.clone();
        let part = damaged.pointer_mut(pick.get(places.as_slice()).as_str()).expect("a part");
        *part = if part.is_string() { json!(id) } else { json!(number) };
        let damaged: Numbering = serde_json::from_value(damaged).expect("a numbering");
        prop_assert_eq!(program().numbered(&damaged).is_ok(), damaged == numbering);
    }

    #[test]
    fn anything_is_read_or_refused_with_places(document in anything(), allow_unknown: bool) {
        if let Err(problems) = compile(&document, &Registered, &ReadLimits::default(), allow_unknown) {
            prop_assert!(!problems.is_empty());
        }
        export(&document, "x", 1, true, true, &Registered);
        prop_assert!(same_content(&document, &document));
    }

    #[test]
    fn any_part_of_a_definition_may_be_wrong(document in definition(), pick: prop::sample::Index, part in anything()) {
        let mut pointers = Vec::new();
        let mut work = vec![(String::new(), &document)];
        while let Some((pointer, value)) = work.pop() {
            match value {
                Value::Array(list) => work.extend(list.iter().enumerate().map(|(at, v)| (format!("{pointer}/{at}"), v))),
                Value::Object(map) => work.extend(map.iter().map(|(key, v)| (format!("{pointer}/{key}"), v))),
                _ => {}
            }
            pointers.push(pointer);
        }
        let mut broken = document.clone();
        let pointer: &String = pick.get(&pointers);
        *broken.pointer_mut(pointer).expect("a pointer into the document") = part;
        match compile(&broken, &Registered, &ReadLimits::default(), false) {
            Ok(before) => {
                let exported = export(&broken, &before.definition_id, 1, true, true, &Registered);
                let after = compile(&exported, &Registered, &ReadLimits::default(), false);
                let after = after.map_err(|problems| TestCaseError::fail(format!("{problems:#?}")))?;
                prop_assert_eq!(described(&before), described(&after));
            }
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
