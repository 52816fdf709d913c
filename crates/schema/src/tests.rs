use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};

use super::*;

fn detail(schema: Value, value: Value) -> String {
    let fault = Schema::new(schema).accept(&value, "input \"x\"", "/x").unwrap_err();
    assert_eq!((fault.sqlstate.as_str(), fault.message.as_str()), ("22023", "input \"x\" does not match its schema"));
    fault.detail.expect("a detail")
}

fn refused(schema: Value) -> SchemaRefusal {
    let refusal = Schema::new(schema).check().unwrap_err();
    assert!(refusal.message.chars().count() < 300, "{}", refusal.message);
    refusal
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inside, _| json!({ "next": inside }))
}

#[test]
fn violations_say_where_and_what_was_expected() {
    let schema = json!({"type": "object", "required": ["lines"], "properties": {
        "lines": {"type": "array", "minItems": 1, "items": {"properties": {"quantity": {"minimum": 1}}}}}});
    assert_eq!(detail(schema.clone(), json!(3)), "/x: the value is not of type \"object\"");
    assert_eq!(detail(schema.clone(), json!({})), "/x: \"lines\" is a required property");
    assert_eq!(
        detail(schema.clone(), json!({"lines": [{"quantity": 1}, {"quantity": 0}]})),
        "/x/lines/1/quantity: the value is less than the minimum of 1"
    );
    let many: Vec<Value> = (0..9).map(|_| json!({"quantity": -1})).collect();
    let text = detail(schema, json!({ "lines": many }));
    assert_eq!(text.lines().count(), 6);
    assert!(text.ends_with("… and 4 more."), "{text}");
}

#[test]
fn a_message_never_repeats_the_whole_value() {
    let text = detail(json!({"anyOf": [{"type": "number"}, {"maxLength": 3}]}), json!("é".repeat(1_000_000)));
    assert!(text.len() < 500, "{text}");
    let long = json!({"enum": ["a".repeat(1000), "b".repeat(1000)]});
    assert!(detail(long, json!(1)).chars().count() < 300);
}

#[test]
fn drafts_are_told_apart_by_schema() {
    let tuple = json!([{"type": "number"}]);
    let newest = Schema::new(json!({"prefixItems": tuple}));
    let seven = Schema::new(json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": tuple}));
    for schema in [newest, seven] {
        assert!(schema.accept(&json!([1, "anything"]), "x", "").is_ok());
        assert!(schema.accept(&json!(["one"]), "x", "").is_err());
    }
    assert_eq!(refused(json!({"$schema": "https://example.org/my-own"})).kind, SchemaRefusalKind::Invalid);
}

#[test]
fn numbers_keep_their_digits() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let schema = Schema::new(json!({"maximum": number("0.30000000000000000000000001")}));
    assert!(schema.accept(&number("0.30000000000000000000000001"), "x", "").is_ok());
    assert!(schema.accept(&number("0.30000000000000000000000002"), "x", "").is_err());
    let multiple = Schema::new(json!({"multipleOf": number("0.01")}));
    assert!(multiple.accept(&number("19.99"), "x", "").is_ok());
    assert!(multiple.accept(&number("19.999"), "x", "").is_err());
}

#[test]
fn references_stay_inside() {
    for (schema, accepted) in [
        (json!({"$ref": "#/$defs/name", "$defs": {"name": {"type": "string"}}}), "text"),
        (json!({"$ref": "#/%24defs/name", "$defs": {"name": {"type": "string"}}}), "text"),
        (json!({"$ref": "#name", "$defs": {"n": {"$anchor": "name", "type": "string"}}}), "text"),
        (
            json!({"$id": "https://e.org/a", "$ref": "https://e.org/a#/$defs/n", "$defs": {"n": {"type": "string"}}}),
            "text",
        ),
    ] {
        let schema = Schema::new(schema);
        assert_eq!(schema.accept(&json!(accepted), "x", ""), Ok(()));
        assert!(schema.accept(&json!(1), "x", "").is_err());
    }
    let local = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a",
        "definitions": {"a": {"$id": "#here", "type": "object", "properties": {"b": {"$ref": "#here"}}}}});
    assert!(Schema::new(local).accept(&json!({"b": 1}), "x", "").is_err());
    for outside in
        ["https://example.org/order.json", "order.json", "order.json#/$defs/a", "/etc/passwd", "file:///etc/passwd"]
    {
        let refusal = refused(json!({"properties": {"a/b": {"$ref": outside}}}));
        assert_eq!(refusal.pointer, "/properties/a~1b/$ref");
        assert_eq!(refusal.message, format!("reference \"{outside}\" leads out of the schema"));
        assert_eq!(refusal.kind, SchemaRefusalKind::Unsupported);
    }
    refused(json!({"$ref": "#/$defs/nowhere"}));
    refused(json!({"$ref": "#nobody"}));
    refused(json!({"$defs": {"a": {"$id": "https://example.org/embedded"}}}));
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    assert_eq!(refused(json!({"properties": {"a": {"type": "strin"}}})).pointer, "/properties/a/type");
    assert_eq!(refused(json!({"minimum": "1"})).pointer, "/minimum");
    assert_eq!(refused(json!("string")).message, "a schema must be an object or a boolean");
    assert_eq!(refused(json!({"pattern": "("})).kind, SchemaRefusalKind::Invalid);
    assert_eq!(Schema::new(json!(true)).accept(&json!(1), "x", ""), Ok(()));
    assert!(Schema::new(json!(false)).accept(&json!(1), "x", "").is_err());
}

// security.md#what-an-input-can-do: patterns are matched in time that grows with the text only
#[test]
fn patterns_take_linear_time_or_are_refused() {
    let begun = ThreadTime::now();
    let slow = Schema::new(json!({"pattern": "^(a+)+$"}));
    assert!(slow.accept(&json!("a".repeat(100_000) + "b"), "x", "").is_err());
    // Patterns that need backtracking.
    refused(json!({"pattern": "^(?=.*a)b"}));
    refused(json!({"pattern": "(a)\\1"}));
    // Patterns that take too much memory.
    refused(json!({"pattern": "(((a{1000}){1000}){1000}){1000}"}));
    refused(json!({"patternProperties": {"(?:\\w{500}){500}": true}}));
    refused(json!({"pattern": "(".repeat(100_000)}));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_schema_may_refer_to_itself_only_by_going_deeper() {
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
        json!({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "anyOf": [{"$ref": "#x"}]}}}),
        json!({"$dynamicAnchor": "n", "dependentSchemas": {"a": {"$dynamicRef": "#n"}}}),
    ] {
        let refusal = refused(endless.clone());
        assert_eq!(refusal.message, "the schema refers to itself without going deeper into the value", "{endless}");
    }
    let list = Schema::new(json!({"type": ["object", "integer"], "properties": {"next": {"$ref": "#"}}}));
    assert_eq!(list.accept(&nested(50), "x", ""), Ok(()));
    assert!(list.accept(&json!({"next": {"next": "end"}}), "x", "").is_err());
    assert_eq!(list.accept(&nested(1000), "x", "").unwrap_err().sqlstate, "54001");
}

#[test]
fn the_deepest_schema_and_value_fit_the_stack() {
    // The longest chain that is allowed at one place, at each level of the deepest value.
    let defs = |from: &str, length: usize| -> Value {
        let mut defs = serde_json::Map::new();
        for at in 0..length {
            let to = format!("#/$defs/a{}", at + 1);
            defs.insert(format!("a{at}"), json!({from: [{"$ref": to}]}));
        }
        defs.insert(
            format!("a{length}"),
            json!({"properties": {"next": {"$ref": "#/$defs/a0"}}, "type": ["object", "integer"]}),
        );
        Value::Object(defs)
    };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema =
            Schema::new(json!({"$ref": "#/$defs/a0", "$defs": defs(keyword, 7), "unevaluatedProperties": false}));
        assert_eq!(schema.accept(&nested(MAX_DEPTH), "x", ""), Ok(()), "{keyword}");
        let mut wrong = nested(MAX_DEPTH - 1);
        wrong["more"] = json!("no");
        assert_eq!(schema.accept(&wrong, "x", "").unwrap_err().sqlstate, "22023", "{keyword}");
    }
    assert_eq!(refused(json!({"$ref": "#/$defs/a0", "$defs": defs("allOf", 9)})).kind, SchemaRefusalKind::TooLarge);
}

#[test]
fn the_deepest_schema_fits_the_stack() {
    // A schema that is deep itself, and a schema with a long chain of references.
    let deep = |depth: usize| (0..depth).fold(json!(true), |inside, _| json!({"items": inside}));
    assert_eq!(Schema::new(deep(MAX_DEPTH - 1)).check(), Ok(()));
    assert_eq!(refused(deep(1_000)).kind, SchemaRefusalKind::TooDeep);
    let chain: serde_json::Map<_, _> =
        (0..990).map(|at| (format!("a{at}"), json!({"items": {"$ref": format!("#/$defs/a{}", at + 1)}}))).collect();
    let mut chain = json!({"$ref": "#/$defs/a0", "$defs": chain});
    chain["$defs"]["a990"] = json!({"type": "string"});
    assert_eq!(Schema::new(chain).check(), Ok(()));
}

// security.md#what-an-input-can-do: a check has a budget of work
#[test]
fn what_branches_without_end_is_refused_or_cut_short() {
    let begun = ThreadTime::now();
    // Each step doubles the work at the same place.
    let mut defs = serde_json::Map::new();
    for at in 0..15 {
        let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
        defs.insert(format!("a{at}"), json!({"allOf": [next, next]}));
    }
    defs.insert("a15".into(), json!(true));
    assert_eq!(refused(json!({"$ref": "#/$defs/a0", "$defs": defs})).kind, SchemaRefusalKind::TooLarge);
    // Each level of the value doubles the work.
    let twice = json!({"allOf": [{"additionalProperties": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]});
    let twice = Schema::new(twice);
    let outcome = twice.accept(&nested(MAX_DEPTH), "x", "");
    assert!(outcome.is_ok() || outcome.as_ref().unwrap_err().sqlstate == "54000", "{outcome:?}");
    let four = json!({"anyOf": [{"additionalProperties": {"$ref": "#"}, "minProperties": 2}, {"additionalProperties": {"$ref": "#"}}],
        "oneOf": [{"patternProperties": {".": {"$ref": "#"}}}, {"propertyNames": false}], "unevaluatedProperties": false});
    let outcome = Schema::new(four).accept(&nested(MAX_DEPTH), "x", "");
    assert!(
        outcome.is_ok() || ["22023", "54000"].contains(&outcome.as_ref().unwrap_err().sqlstate.as_str()),
        "{outcome:?}"
    );
    // Many patterns and many members.
    let patterns: serde_json::Map<_, _> =
        (0..1500).map(|at| (format!("^{at}[a-z]*$"), json!({"type": "string"}))).collect();
    let wide: serde_json::Map<_, _> = (0..20_000).map(|at| (format!("key{at}"), json!(at))).collect();
    let fault = Schema::new(json!({"patternProperties": patterns})).accept(&Value::Object(wide), "x", "").unwrap_err();
    assert_eq!(
        (fault.sqlstate.as_str(), fault.message.as_str()),
        ("54000", "x takes too long to check against its schema")
    );
    let texts = Schema::new(
        json!({"allOf": (0..1000).map(|at| json!({"pattern": format!("[a-q]{{{}}}z", at % 50)})).collect::<Vec<_>>()}),
    );
    let _ = texts.accept(&json!("abcdefghijklmnopq".repeat(100_000)), "x", "");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn numbers_beyond_all_reason_are_no_trap() {
    let begun = ThreadTime::now();
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for keyword in ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "const", "type"] {
        for bound in ["1e-999999999", "1e999999999", "0.1", "7"] {
            let bound = if keyword == "type" { json!("integer") } else { number(bound) };
            let schema = Schema::new(json!({ keyword: bound }));
            if schema.check().is_err() {
                continue;
            }
            for value in ["1e999999999", "-1e-999999999", "1e400", "123456789.5"] {
                let _ = schema.accept(&number(value), "x", "");
            }
        }
    }
    let many: Vec<Value> = (0..50_000).map(|at| number(&format!("9007199254740993.{at:05}1"))).collect();
    assert_eq!(Schema::new(json!({"uniqueItems": true})).accept(&json!(many), "x", ""), Ok(()));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn equal_items_are_found_however_they_are_written() {
    let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let unique = Schema::new(json!({"uniqueItems": true}));
    assert!(unique.accept(&json!([number("1.0"), 1]), "x", "").is_err());
    assert!(unique.accept(&json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]), "x", "").is_err());
    assert!(unique.accept(&json!([1, "1", true, null, [1]]), "x", "").is_ok());
}
