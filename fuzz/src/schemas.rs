//! The words of JSON Schema.

use std::sync::LazyLock;

use serde_json::json;

use crate::json::Vocabulary;

const WORDS: [&str; 60] = [
    "schema",
    "value",
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "type",
    "object",
    "array",
    "string",
    "number",
    "integer",
    "boolean",
    "null",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "minimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "#",
    "#/$defs/a",
    "a",
];

/// The words of schemas, and some parts of them.
pub static SCHEMAS: LazyLock<Vocabulary> = LazyLock::new(|| {
    let formats = ["date-time", "duration", "email", "hostname", "ipv6", "uri", "uri-template", "regex", "uuid"];
    let drafts = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"];
    let words = WORDS.iter().chain(&formats).chain(&drafts).map(|word| (*word).to_owned()).collect();
    let values = vec![
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a"}),
        json!({"pattern": "^(a+)+$|[^\\d]{2,9}?\\p{Lu}"}),
        json!({"items": {"type": "number", "multipleOf": 0.01}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {}}}),
        json!({"enum": [1, "a", null]}),
    ];
    Vocabulary { words, values }
});
