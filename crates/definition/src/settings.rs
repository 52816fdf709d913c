//! The settings of a definition as a whole: options, variables, inputs and outputs.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::arguments::{self, List};
use super::constant::{EXACT_VALUE, as_text, constant, identifier, type_of};
use super::json::{Path, elements, entry, kind_of};
use super::outline::is_elsa_document;
use super::problem::Problems;
use super::{members, options, search_attributes};
use workflow_core::program::{Argument, Options, Variable};
use workflow_schema::Schema;
use workflow_value::value::{TypeName, parse_type_name};

pub(super) const KNOWN: [&str; 10] = [
    "definitionId",
    "name",
    "description",
    "variables",
    "inputs",
    "inputSchema",
    "outputs",
    "outcomes",
    "options",
    "root",
];

/// Members that do not affect what the workflow does.
pub(super) const OF_ELSA: [&str; 13] = [
    "$schema",
    "id",
    "tenantId",
    "createdAt",
    "version",
    "toolVersion",
    "customProperties",
    "isReadonly",
    "isSystem",
    "isLatest",
    "isPublished",
    "links",
    "usableAsActivity",
];

/// The permitted members of a variable declaration; others are problems of new content.
pub(super) const OF_VARIABLES: [&str; 8] =
    ["name", "type", "typeName", "isArray", "value", "description", "id", EXACT_VALUE];

/// The declarations of a document, apart from its activities.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The members of `options`, with defaults for the rest.
    pub options: Options,
    /// Variables of the workflow scope.
    pub variables: Vec<Variable>,
    /// Declared inputs; without any, every input is accepted.
    pub inputs: Vec<Argument>,
    /// Declared outputs, to whose types values are converted.
    pub outputs: Vec<Argument>,
    /// JSON Schema that the input must match as one object.
    pub input_schema: Option<Schema>,
    /// Outcomes of the activity when another workflow inlines this one.
    pub outcomes: Vec<String>,
}

impl Settings {
    /// Reads them all, and adds what is wrong to `problems`.
    pub fn read(document: &Map<String, Value>, problems: &mut Problems) -> Self {
        let elsa = is_elsa_document(document);
        // A document without a root is another kind of document, which the outline rejects.
        if !elsa && entry(document, "root").is_some() {
            members::check(document, KNOWN.into_iter(), OF_ELSA.into_iter(), "the definition", &Path::Root, problems);
        }
        let mut options = options::read(document, elsa, problems);
        let variables = variables(document, !elsa, &Path::Root, problems);
        options.search_attributes = search_attributes::read(document, &variables, problems);
        Self {
            options,
            variables,
            inputs: arguments::read(document, List::Inputs, !elsa, problems),
            outputs: arguments::read(document, List::Outputs, !elsa, problems),
            input_schema: arguments::schema(document, "inputSchema", &Path::Root, problems),
            outcomes: outcomes(document),
        }
    }
}

/// Reads the outcomes and ignores any that is no text, because no run depends on them.
fn outcomes(document: &Map<String, Value>) -> Vec<String> {
    let list = entry(document, "outcomes").and_then(|(_, value)| elements(value));
    let texts = list.into_iter().flat_map(|(_, list)| list).filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// Reads the variables that a document or a container declares; `short`: the owner is in the short form.
pub(super) fn variables(
    owner: &Map<String, Value>,
    short: bool,
    place: &Path<'_>,
    problems: &mut Problems,
) -> Vec<Variable> {
    let Some((key, value)) = entry(owner, "variables").filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    let place = place.key(key);
    let mut list = Vec::new();
    if let Some((wrap, elements)) = elements(value) {
        for (at, element) in elements.iter().enumerate() {
            let step = format!("{wrap}/{at}");
            list.extend(declared(element, at, short, &Path::Below(&place, &step), problems));
        }
    } else if let Value::Object(pairs) = value {
        for (name, initial) in pairs {
            if name.is_empty() {
                problems.invalid(&place.key(name), "a variable needs a name");
            }
            let type_name = parse_type_name("Object");
            let initial = constant(initial, type_name, &place.key(name), problems);
            list.push(Variable { id: name.clone(), name: name.clone(), type_name, initial });
        }
    } else {
        problems.invalid(&place, format!("\"variables\" must be an array or an object, not {}", kind_of(value)));
    }
    let mut names = HashSet::new();
    for variable in &list {
        if !names.insert(variable.name.as_str()) {
            problems.invalid(&place, format!("variable \"{}\" is declared twice", variable.name));
        }
    }
    list
}

fn declared(element: &Value, at: usize, short: bool, place: &Path<'_>, problems: &mut Problems) -> Option<Variable> {
    let Value::Object(members) = element else {
        problems.invalid(place, format!("a variable must be an object, not {}", kind_of(element)));
        return None;
    };
    let stored = ["storageDriverTypeName", "storageDriverType"].iter().any(|mark| entry(members, mark).is_some());
    let short = short && !stored;
    if short {
        members::check(members, OF_VARIABLES.into_iter(), std::iter::empty(), "a variable", place, problems);
    }
    let id = identifier(members, "id", place, problems);
    // Elsa numbers variables that have no name.
    let name = identifier(members, "name", place, problems)
        .or_else(|| id.clone())
        .unwrap_or_else(|| format!("Variable{}", at + 1));
    let type_name = type_of(members, short, place, problems);
    let initial = initial(members, type_name, place, problems);
    Some(Variable { id: id.unwrap_or_else(|| name.clone()), name, type_name, initial })
}

fn initial(members: &Map<String, Value>, type_name: TypeName, place: &Path<'_>, problems: &mut Problems) -> Value {
    let Some((key, value)) = entry(members, "value") else {
        return Value::Null;
    };
    let exact = members.get(EXACT_VALUE).filter(|exact| value.as_str() == Some(&as_text(exact)));
    constant(exact.unwrap_or(value), type_name, &place.key(key), problems)
}
