//! Declared inputs and outputs: name, type, and further requirements of their values.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::constant::{constant, type_of};
use super::json::{Path, elements, entry, kind_of, text};
use super::members;
use super::problem::Problems;
use workflow_core::program::Argument;
use workflow_schema::Schema;

/// Members of an argument; an input may also have those of `OF_INPUTS`.
pub(super) const KNOWN: [&str; 8] =
    ["name", "type", "typeName", "isArray", "schema", "displayName", "description", "category"];
pub(super) const OF_INPUTS: [&str; 3] = ["required", "default", "defaultValue"];

/// Members that only Elsa's own tools write.
pub(super) const ELSA_MARKS: [&str; 2] = ["uiHint", "storageDriverType"];

/// The kind of a list of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Inputs,
    Outputs,
}

impl List {
    fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
        }
    }
}

/// Reads the declared inputs or outputs; `short`: the document is in the short form.
pub(super) fn read(document: &Map<String, Value>, list: List, short: bool, problems: &mut Problems) -> Vec<Argument> {
    let name = list.name();
    let Some((key, value)) = entry(document, name).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    let place = Path::Root.key(key);
    let Some((wrap, elements)) = elements(value) else {
        problems.invalid(&place, format!("\"{name}\" must be an array, not {}", kind_of(value)));
        return Vec::new();
    };
    let mut names = HashSet::new();
    let mut arguments: Vec<Argument> = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let step = format!("{wrap}/{at}");
        let place = Path::Below(&place, &step);
        let Some(argument) = argument(element, list, short, &place, problems) else {
            continue;
        };
        if !names.insert(argument.name.clone()) {
            problems.invalid(&place, format!("\"{}\" is declared twice in \"{name}\"", argument.name));
        }
        arguments.push(argument);
    }
    arguments
}

fn argument(element: &Value, list: List, short: bool, place: &Path<'_>, problems: &mut Problems) -> Option<Argument> {
    let owner = list.name();
    let Value::Object(members) = element else {
        problems.invalid(place, format!("an element of \"{owner}\" must be an object, not {}", kind_of(element)));
        return None;
    };
    let Some(name) = text(members, "name").filter(|name| !name.is_empty()) else {
        problems.invalid(place, format!("an element of \"{owner}\" needs a \"name\""));
        return None;
    };
    let short = short && !ELSA_MARKS.iter().any(|mark| entry(members, mark).is_some());
    if short {
        let more = if list == List::Inputs { &OF_INPUTS[..] } else { &[] };
        let known = more.iter().chain(&KNOWN).copied();
        members::check(members, known, std::iter::empty(), &format!("an element of \"{owner}\""), place, problems);
    }
    let type_name = type_of(members, short, place, problems);
    let schema = schema(members, "schema", place, problems);
    let mut argument = Argument { name: name.into(), type_name, default: None, required: false, schema };
    if list == List::Inputs {
        argument.required = required(members, place, problems);
        default(&mut argument, members, place, problems);
    }
    Some(argument)
}

fn required(members: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) -> bool {
    match entry(members, "required") {
        Some((_, Value::Bool(required))) => *required,
        None | Some((_, Value::Null)) => false,
        Some((key, value)) => {
            problems.invalid(&place.key(key), format!("\"{key}\" must be a boolean, not {}", kind_of(value)));
            false
        }
    }
}

/// Reads the default value, which must itself be valid.
fn default(argument: &mut Argument, members: &Map<String, Value>, place: &Path<'_>, problems: &mut Problems) {
    let written = ["default", "defaultValue"].iter().find_map(|key| entry(members, key).filter(|(_, v)| !v.is_null()));
    let Some((key, value)) = written else { return };
    let place = place.key(key);
    let before = problems.count();
    let value = constant(value, argument.type_name, &place, problems);
    if problems.is_new()
        && problems.count() == before
        && let Some(schema) = argument.schema.as_ref().filter(|schema| schema.check().is_ok())
        && !value.is_null()
        && let Err(fault) = schema.accept(&value, &format!("default of \"{}\"", argument.name), "")
    {
        problems.invalid(&place, fault.message);
    }
    argument.default = Some(value);
}

/// Reads a schema, which is compiled when the definition is new content.
pub(super) fn schema(
    members: &Map<String, Value>,
    name: &str,
    place: &Path<'_>,
    problems: &mut Problems,
) -> Option<Schema> {
    let (key, value) = entry(members, name).filter(|(_, value)| !value.is_null())?;
    let schema = Schema::new(value.clone());
    problems.check_schema(&schema, &place.key(key));
    Some(schema)
}
