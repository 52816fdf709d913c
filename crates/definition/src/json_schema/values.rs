//! Schemas of values: expressions, constants by their type, intervals.

use serde_json::{Map, Value, json};

use super::{has_any, reference};
use crate::forms::ShortKey;
use workflow_value::value::{TypeName, parse_type_name};

/// The schema with a description.
pub(super) fn described(mut schema: Value, description: &str) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".into(), description.into());
        return schema;
    }
    json!({ "description": description })
}

/// The input of an activity whose value has this type: an expression, or a constant.
pub(super) fn input(type_name: &str) -> Value {
    reference(name_of(type_name))
}

/// The constants of a type.
pub(super) fn constant(type_name: &str) -> Value {
    reference(&format!("{}Constant", name_of(type_name)))
}

/// The name in `$defs` for values of a type.
fn name_of(type_name: &str) -> &'static str {
    match parse_type_name(type_name) {
        TypeName::Any | TypeName::String | TypeName::Guid | TypeName::Foreign => "value",
        TypeName::Boolean => "boolean",
        TypeName::Integer => "integer",
        TypeName::Float | TypeName::Decimal => "number",
        TypeName::DateTime => "dateTime",
        TypeName::TimeSpan => "timeSpan",
        TypeName::List => "list",
        TypeName::Object => "object",
    }
}

/// An expression, or otherwise a value that matches the schema.
pub(super) fn expression_or(constant: Value) -> Value {
    json!({ "if": reference("isExpression"), "then": reference("expression"), "else": constant })
}

/// The schemas of values in `$defs`.
pub(super) fn defs() -> Map<String, Value> {
    let mut defs = Map::new();
    let mut add = |name: &str, schema: Value| defs.insert(name.to_owned(), schema);
    add("isExpression", is_expression());
    add("expression", expression());
    add("expressionText", expression_text());
    add("objectTemplate", object_template());
    add("plain", plain());
    add("plainPart", plain_part());
    add("form", form());
    add("formFields", json!({ "allOf": [reference("plainPart")], "additionalProperties": reference("formField") }));
    add("formField", form_field());
    add("binding", binding());
    add("jsonSchema", json!({ "type": ["object", "boolean", "null"] }));
    add("interval", interval());
    add(
        "positiveInterval",
        json!({ "type": ["string", "null"], "pattern": interval_pattern(), "errorMessage": AN_INTERVAL }),
    );
    add("condition", condition());
    add("deadline", deadline());
    for (name, constant, examples) in typed() {
        let mut schema = expression_or(reference(&format!("{name}Constant")));
        if let Some(members) = schema.as_object_mut() {
            members.insert("examples".into(), examples);
        }
        add(name, schema);
        add(&format!("{name}Constant"), constant);
    }
    defs
}

/// Each kind of value with its constants and examples.
fn typed() -> [(&'static str, Value, Value); 8] {
    let expressions = json!([{ "js": "getInput('name')" }, { "var": "Name" }, { "input": "name" }]);
    let scalar = |pattern: &str| json!({ "type": ["boolean", "number", "string", "null"], "pattern": pattern });
    let truth = format!("{}|{}", any_case("true"), any_case("false"));
    let number = "[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?";
    let nested = |open: &str, close: &str| format!("^\\s*(?:\\{open}[\\s\\S]*\\{close})?\\s*$");
    let whole_or_words = format!("^\\s*(?:{number}|{truth})?\\s*$");
    [
        ("value", reference("plain"), expressions.clone()),
        ("boolean", scalar(&format!("^\\s*(?:{truth})?\\s*$")), json!([true, false, { "js": "getTotal() > 100" }])),
        ("integer", scalar(&whole_or_words), json!([1, { "js": "getCount() + 1" }, { "var": "Count" }])),
        ("number", scalar(&format!("^\\s*(?:{number})?\\s*$")), json!([1.5, { "sql": "SELECT 1.5" }])),
        (
            "dateTime",
            json!({ "type": ["string", "null"], "pattern": format!("^\\s*(?:{DATE})?\\s*$"),
                    "errorMessage": "a date and time, such as 2030-01-31 09:00 or 2030-01-31T09:00:00Z" }),
            json!(["2030-01-31 09:00", { "var": "Date" }]),
        ),
        (
            "timeSpan",
            json!({ "type": ["string", "null"], "pattern": format!("^\\s*(?:-?[0-9]{{1,8}}|{})?\\s*$", intervals()),
                    "errorMessage": AN_INTERVAL }),
            json!(["00:15:00", "1 day 12 hours", "PT15M"]),
        ),
        (
            "list",
            json!({ "type": ["array", "string", "null"], "items": reference("plainPart"), "pattern": nested("[", "]") }),
            expressions.clone(),
        ),
        (
            "object",
            json!({ "allOf": [reference("plain")], "pattern": "^\\s*(?:[\\[{\"0-9tfn-][\\s\\S]*)?$" }),
            expressions,
        ),
    ]
}

/// The keys of expressions and what they mean, in the order of the documentation.
const KEYS: [(ShortKey, &str); 7] = [
    (
        ShortKey::JavaScript,
        "JavaScript: an expression, statements whose last one gives the value, or a body with return.",
    ),
    (ShortKey::Liquid, "A Liquid template."),
    (ShortKey::Sql, "A SQL expression, or a query that begins with SELECT, WITH or VALUES."),
    (ShortKey::Variable, "Name of a variable."),
    (ShortKey::Input, "Name of an input of the workflow."),
    (ShortKey::Object, "An object or array with expressions inside."),
    (ShortKey::Literal, "The value itself, even if it looks like an expression."),
];

fn key_names() -> Vec<&'static str> {
    KEYS.iter().map(|(key, _)| key.name()).collect()
}

/// Matches an object whose only key makes it an expression.
fn is_expression() -> Value {
    json!({ "type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": { "enum": key_names() } })
}

fn expression() -> Value {
    let properties = KEYS.iter().map(|(key, meaning)| {
        let schema = match key {
            ShortKey::Object => reference("objectTemplate"),
            ShortKey::Literal => json!({}),
            _ => json!({ "type": "string" }),
        };
        (key.name().to_owned(), described(schema, meaning))
    });
    json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() })
}

/// Matches what would be an expression in another place, with a text.
fn expression_text() -> Value {
    json!({ "type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": { "enum": key_names() },
            "additionalProperties": { "type": "string" } })
}

/// A value with expressions at any depth.
fn object_template() -> Value {
    json!({
        "if": reference("isExpression"),
        "then": reference("expression"),
        "else": { "items": reference("objectTemplate"), "additionalProperties": reference("objectTemplate") },
    })
}

/// A constant: nothing inside it is evaluated.
fn plain() -> Value {
    json!({ "items": reference("plainPart"), "additionalProperties": reference("plainPart") })
}

/// A JSON Schema of which a page makes a form. Only what is not JSON Schema's is described.
fn form() -> Value {
    json!({
        "properties": {
            "properties": reference("formFields"),
            "propertyOrder": { "not": {}, "errorMessage": "This orders properties: it stands in the schema of each." },
        },
        "additionalProperties": reference("plainPart"),
    })
}

/// The schema of a property.
fn form_field() -> Value {
    json!({
        "allOf": [reference("plainPart")],
        "properties": {
            "properties": reference("formFields"),
            "propertyOrder": {
                "type": "number",
                "description": "The place of the field: those with lower numbers come first, those without one last.",
            },
        },
    })
}

/// What is inside a constant: nothing there may look like an expression.
fn plain_part() -> Value {
    json!({
        "not": reference("expressionText"),
        "errorMessage": "Nothing inside a plain value is evaluated: write {\"object\": …} around the whole value, or \
                         {\"literal\": …} to pass it on as it is.",
        "items": reference("plainPart"),
        "additionalProperties": reference("plainPart"),
    })
}

/// The target of an output.
fn binding() -> Value {
    json!({
        "type": ["object", "null"],
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {
            "var": described(json!({ "type": "string" }), "The variable that gets the value."),
            "output": described(json!({ "type": "string" }), "The output of the workflow that gets the value."),
        },
        "additionalProperties": false,
        "examples": [{ "var": "Name" }, { "output": "Name" }],
    })
}

/// The schema of a member that is both an output and an input: the binding of the one is an expression for the other.
pub(super) fn binding_or(output: &Value, input: &Value) -> Value {
    let mut schema = json!({ "if": output_only(), "else": input });
    schema["description"] = match (output["description"].as_str(), input["description"].as_str()) {
        (Some(output), Some(input)) => format!("As an input: {input} As an output: {output}").into(),
        _ => input["description"].clone(),
    };
    schema
}

/// Matches a binding that is no expression.
fn output_only() -> Value {
    json!({ "type": "object", "required": ["output"], "properties": { "output": { "type": "string" } }, "maxProperties": 1 })
}

/// The condition of a case or a transition, which Elsa writes as a bare expression.
fn condition() -> Value {
    json!({
        "if": { "type": "object", "allOf": [has_any(&["type", "expression", "typeName"])] },
        "then": true,
        "else": reference("boolean"),
    })
}

const AN_INTERVAL: &str = "an interval, such as 00:05:00, 1 day 2 hours or P1DT2H";

fn interval() -> Value {
    json!({ "type": "string", "pattern": interval_pattern(), "errorMessage": AN_INTERVAL })
}

fn interval_pattern() -> String {
    format!("^\\s*(?:{})\\s*$", intervals())
}

const DATE: &str = "[0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T:.+ zZ-]*";

/// A time, or an interval from the beginning.
fn deadline() -> Value {
    json!({
        "type": ["string", "null"],
        "pattern": format!("^\\s*(?:{DATE}|-?[0-9]+|{})\\s*$", intervals()),
        "errorMessage": "a time, such as 2030-01-31 09:00, or an interval, such as 3 days",
    })
}

/// A pattern for the notations of .NET, ISO 8601 and PostgreSQL.
fn intervals() -> String {
    const UNITS: [&str; 31] = [
        "microsecond",
        "usec",
        "us",
        "millisecond",
        "msec",
        "ms",
        "second",
        "sec",
        "s",
        "minute",
        "min",
        "m",
        "hour",
        "hr",
        "h",
        "day",
        "d",
        "week",
        "w",
        "month",
        "mon",
        "year",
        "yr",
        "y",
        "decade",
        "dec",
        "century",
        "centurie",
        "cent",
        "c",
        "millennia",
    ];
    let units: Vec<String> = UNITS.iter().chain(&["millennium", "mil"]).map(|unit| any_case(unit)).collect();
    let (number, units) = ("[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)", units.join("|"));
    let span = "(?:[0-9]+\\.)?[0-9]+:[0-9:.]+";
    format!(
        "-?[Pp][0-9.,+TtYyMmWwDdHhSs-]+|-?{span}|(?:(?:{number}\\s*(?:{units})[Ss]?|[+-]?{span})\\s*)+(?:{})?",
        any_case("ago")
    )
}

/// A pattern for a word in any letter case.
pub(super) fn any_case(word: &str) -> String {
    let either = |letter: char| match letter.is_ascii_alphabetic() {
        true => format!("[{}{}]", letter.to_ascii_uppercase(), letter.to_ascii_lowercase()),
        false => letter.to_string(),
    };
    word.chars().map(either).collect()
}
