//! Schemas of what a definition declares: variables, inputs and outputs.

use serde_json::{Map, Value, json};

use super::values::{any_case, constant, described};
use super::{COMMENTS, flag, has_any, reference, text_or_null};
use crate::arguments::{self, ELSA_MARKS};
use crate::settings;
use workflow_value::value::{TypeName, parse_type_name};

/// Types by the names of the documentation, for completion.
pub(super) const TYPES: [&str; 16] = [
    "String",
    "Boolean",
    "Int32",
    "Int64",
    "Double",
    "Single",
    "Decimal",
    "DateTime",
    "DateTimeOffset",
    "TimeSpan",
    "Guid",
    "Object",
    "ObjectDictionary",
    "List",
    "JsonElement",
    "ByteArray",
];

/// Further names without a dot that are known as types.
pub(super) const OTHER_TYPES: [&str; 58] = [
    "bool",
    "byte",
    "sbyte",
    "int16",
    "uint16",
    "uint32",
    "uint64",
    "short",
    "int",
    "long",
    "integer",
    "ushort",
    "uint",
    "ulong",
    "float",
    "numeric",
    "char",
    "uuid",
    "instant",
    "json",
    "expandoobject",
    "jsonnode",
    "jsonobject",
    "jobject",
    "stringdictionary",
    "stringmap",
    "objectmap",
    "dictionary",
    "idictionary",
    "ireadonlydictionary",
    "sorteddictionary",
    "hashtable",
    "jsonarray",
    "jarray",
    "array",
    "arraylist",
    "icollection",
    "ienumerable",
    "ilist",
    "collection",
    "hashset",
    "iset",
    "ireadonlycollection",
    "ireadonlylist",
    "iasyncenumerable",
    "sortedset",
    "queue",
    "stack",
    "linkedlist",
    "observablecollection",
    "byte[]",
    "stream",
    "single",
    "double",
    "decimal",
    "string",
    "guid",
    "timespan",
];

pub(super) fn defs() -> Map<String, Value> {
    let mut defs = Map::new();
    defs.insert("typeName".into(), type_name());
    defs.insert("variable".into(), variable_name());
    defs.insert("variables".into(), variables());
    defs.insert("inputs".into(), arguments(true));
    defs.insert("outputs".into(), arguments(false));
    defs
}

/// The name of a type. A class of a program has its namespace before it.
fn type_name() -> Value {
    let words: Vec<String> = TYPES.iter().chain(&OTHER_TYPES).map(|name| any_case(name)).collect();
    let words = words.join("|").replace("[]", "\\[\\]");
    json!({
        "type": ["string", "null"],
        "pattern": format!("^\\s*(?:[^,]*\\.[\\s\\S]*|(?:{words})?(?:[?,<(`\\[][\\s\\S]*)?|.*\\[,*\\])\\s*$"),
        "examples": TYPES,
        "errorMessage": "a type such as String, Int32, Decimal, Boolean, DateTime, Object or List",
    })
}

/// The name of a variable as an activity writes it.
fn variable_name() -> Value {
    json!({
        "if": { "type": "object", "required": ["var"] },
        "then": { "properties": { "var": { "type": "string" } }, "additionalProperties": false },
        "else": { "if": { "type": "object" }, "then": { "allOf": [has_any(&["id", "name"])] }, "else": { "type": ["string", "null"] } },
        "examples": ["Name"],
    })
}

/// Declared variables: a list, or an object of initial values.
fn variables() -> Value {
    let properties = json!({
        "name": described(text_or_null(), "Name of the variable."),
        "type": described(reference("typeName"), "Type to which values are converted. By default Object, which is any."),
        "typeName": described(reference("typeName"), "The same as \"type\", as Elsa calls it."),
        "isArray": described(json!(true), "Whether the variable is a list of such values."),
        "value": described(reference("initial"), "Initial value, a constant. By default null."),
        "description": described(json!(true), "What the variable is for."),
    });
    let declared =
        declaration(properties, &settings::OF_VARIABLES, "value", &["storageDriverTypeName", "storageDriverType"]);
    json!({
        "if": { "type": "array" },
        "then": { "items": declared },
        "else": {
            "type": ["object", "null"],
            "additionalProperties": reference("initial"),
            "propertyNames": { "minLength": 1 },
        },
        "examples": [{ "Total": 0 }, [{ "name": "Total", "type": "Decimal", "value": 0 }]],
    })
}

/// Declared inputs or outputs.
fn arguments(inputs: bool) -> Value {
    let mut properties = json!({
        "name": described(json!({ "type": "string", "minLength": 1 }), "Name, as in expressions."),
        "type": described(reference("typeName"), "Type to which the value is converted. By default Object, which is any."),
        "typeName": described(reference("typeName"), "The same as \"type\", as Elsa calls it."),
        "isArray": described(json!(true), "Whether it is a list of such values."),
        "schema": described(reference("jsonSchema"), "JSON Schema that the converted value must match."),
        "description": described(json!(true), "What it is for."),
    });
    let mut known = arguments::KNOWN.to_vec();
    if inputs {
        known.extend(arguments::OF_INPUTS);
        properties["required"] = described(flag(), "Whether a start without it fails, unless there is a default.");
        properties["default"] = described(reference("initial"), "The value if a start passes none.");
        properties["defaultValue"] = described(reference("initial"), "The same as \"default\", as Elsa calls it.");
    }
    let mut declared = declaration(properties, &known, "default", &ELSA_MARKS);
    declared["required"] = json!(["name"]);
    json!({ "type": ["array", "null"], "items": declared })
}

/// A declaration with known members. One that Elsa has written may have others.
fn declaration(mut properties: Value, known: &[&str], value: &str, marks: &[&str]) -> Value {
    if let Some(members) = properties.as_object_mut() {
        for name in known {
            members.entry(*name).or_insert(json!(true));
        }
    }
    let strict = json!({ "properties": properties, "patternProperties": { COMMENTS: true }, "additionalProperties": false,
                         "allOf": typed_constants(value) });
    json!({ "type": "object", "if": has_any(marks), "else": strict })
}

/// The initial value of a declaration with one of the usual types must have that type.
fn typed_constants(value: &str) -> Vec<Value> {
    let kinds = [
        TypeName::Boolean,
        TypeName::Integer,
        TypeName::Decimal,
        TypeName::Float,
        TypeName::DateTime,
        TypeName::TimeSpan,
    ];
    let of = |kind: TypeName| -> Vec<&str> { TYPES.into_iter().filter(|name| parse_type_name(name) == kind).collect() };
    let conditional = |names: Vec<&str>| {
        let first = names.first().copied().unwrap_or_default();
        json!({
            "if": {
                "required": ["type"],
                "properties": {
                    "type": { "enum": names },
                    "isArray": { "not": { "const": true } },
                    value: { "not": reference("isExpression") },
                },
            },
            "then": { "properties": { value: constant(first) } },
        })
    };
    kinds.into_iter().map(of).filter(|names| !names.is_empty()).map(conditional).collect()
}
