//! The schema has the members that the reader knows, and no others.

use std::collections::BTreeSet;

use serde_json::Value;
use workflow_value::value::is_known_type;

use super::declarations::{OTHER_TYPES, TYPES};
use super::json_schema;
use crate::{arguments, options, retry, settings};

fn properties(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let members = schema.pointer(pointer).and_then(Value::as_object);
    members.unwrap_or_else(|| panic!("{pointer} is no object")).keys().cloned().collect()
}

fn names(lists: &[&[&str]]) -> BTreeSet<String> {
    lists.iter().flat_map(|list| list.iter().map(|name| (*name).to_owned())).collect()
}

#[test]
fn members_are_those_of_the_reader() {
    let schema = json_schema(&[]);
    for (pointer, known) in [
        ("/$defs/definition/properties", names(&[&settings::KNOWN, &settings::OF_ELSA])),
        ("/$defs/options/properties", names(&[&options::KNOWN, &options::OF_ELSA])),
        ("/$defs/retry/properties", names(&[&retry::KNOWN])),
        ("/$defs/variables/then/items/else/properties", names(&[&settings::OF_VARIABLES])),
        ("/$defs/inputs/items/else/properties", names(&[&arguments::KNOWN, &arguments::OF_INPUTS])),
        ("/$defs/outputs/items/else/properties", names(&[&arguments::KNOWN])),
    ] {
        assert_eq!(properties(&schema, pointer), known, "{pointer}");
    }
}

#[test]
fn types_are_known_to_the_reader() {
    for name in TYPES.iter().chain(&OTHER_TYPES) {
        assert!(is_known_type(name), "{name}");
    }
}

#[test]
fn every_member_is_described() {
    let schema = json_schema(&[]);
    for (name, definition) in schema["$defs"].as_object().expect("the definitions") {
        let is_type = definition.get("examples").is_some() && name.starts_with(char::is_uppercase);
        for (member, property) in definition["properties"].as_object().into_iter().flatten().filter(|_| is_type) {
            let is_described = property.get("description").is_some() || property.get("$ref").is_some();
            assert!(is_described || property.get("items").is_some() || member == "timeout", "{name}.{member}");
        }
    }
}
