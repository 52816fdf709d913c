//! The JSON Schema of definitions, for editors and other tools that read schemas.
//!
//! It is generated from the catalogue of activities and from the lists of members with which the reader checks
//! documents, and says of the short form what the reader says, as far as a schema can: members, their types and words,
//! required inputs, and the types of activities. Names that refer to something else in the document (variables,
//! activities, states) and the content of scripts are left to the reader. Of documents in Elsa's form, which Elsa's
//! tools write, the schema describes the outline only.
//!
//! Each rule stands where an editor shows its message: conditions (`if`) select the schema of a type or of a value, so
//! that a mistake is reported for the member itself and not for the alternatives around it. The document uses no
//! `$dynamicRef`, and no description beside a `$ref` with one of its own, which some language services mix up.

use serde_json::{Map, Value, json};

use super::{outline, settings};
use activities::{activity, elsa_activity, types};
use values::described;

mod activities;
mod declarations;
mod options;
mod values;

pub use activities::{DeclaredMember, DeclaredType};

/// The JSON Schema (2020-12) of a definition. `declared` are the activity types that are not built in: without them the
/// schema accepts every type with a dot in its name, with any members.
///
/// ```
/// let schema = workflow_definition::json_schema(&[]);
/// assert_eq!(schema["$defs"]["RunTask"]["properties"]["taskName"]["description"], "Name of the task.");
/// ```
pub fn json_schema(declared: &[DeclaredType]) -> Value {
    let mut defs = Map::new();
    defs.insert("definition".into(), definition());
    defs.insert("elsaDefinition".into(), elsa_definition());
    defs.insert("activity".into(), activity(declared));
    defs.insert("elsaActivity".into(), elsa_activity());
    for named in [declarations::defs(), options::defs(), values::defs(), types(declared)] {
        defs.extend(named);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workflow definition",
        "description": "A definition of workflow, the workflow engine inside PostgreSQL, as wf_define reads it: in the \
                        short form, or in Elsa 3's JSON.",
        "type": "object",
        "if": is_of_elsa(),
        "then": reference("elsaDefinition"),
        "else": reference("definition"),
        "$defs": defs,
    })
}

/// A reference to one of the schemas in `$defs`.
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Names of members that are comments in the short form.
const COMMENTS: &str = "^[$_]";

/// Matches a document that Elsa's tools wrote.
fn is_of_elsa() -> Value {
    let marks = outline::DOCUMENT_MARKS;
    json!({ "anyOf": [
        has_any(&marks),
        { "required": ["$schema"], "properties": { "$schema": { "type": "string", "pattern": "[Ee][Ll][Ss][Aa]" } } },
        { "required": ["root"], "properties": { "root": { "type": "object", "allOf": [has_any(&activities::MARKS)] } } },
    ]})
}

/// Matches an object with at least one of these members, in camelCase or in PascalCase.
fn has_any(names: &[&str]) -> Value {
    let spelled: Vec<String> = names.iter().flat_map(|name| [(*name).to_owned(), pascal_case(name)]).collect();
    json!({ "not": { "propertyNames": { "not": { "enum": spelled } } } })
}

fn pascal_case(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

/// A document in the short form.
fn definition() -> Value {
    let mut properties = json!({
        "$schema": described(json!({ "type": "string" }), "Address of this JSON Schema, for editors. It has no effect."),
        "definitionId": described(text_or_null(), "Identifies the definition across its versions."),
        "name": described(text_or_null(), "Name for people. It is the id of a definition that has none."),
        "description": described(text_or_null(), "What the workflow does."),
        "variables": described(reference("variables"), "Variables of the workflow: a list of declarations, or an object \
                                of initial values."),
        "inputs": described(reference("inputs"), "Declared inputs. With at least one, any other input is rejected."),
        "inputSchema": described(reference("jsonSchema"), "JSON Schema of the whole input."),
        "outputs": described(reference("outputs"), "Declared outputs, to whose types values are converted."),
        "outcomes": described(json!(true), "Names of the outcomes of this workflow when it is used as an activity."),
        "options": described(reference("options"), "Options of the definition."),
        "root": described(reference("activity"), "The activity to run, or a list of activities, which is a sequence."),
        "id": described(text_or_null(), "The id, if there is no \"definitionId\"."),
        "version": described(json!({ "type": ["integer", "null"], "minimum": 1 }),
                             "Number of this version. By default it is the next one."),
        "usableAsActivity": described(flag(), "See the option of this name."),
    });
    if let Some(members) = properties.as_object_mut() {
        for name in settings::KNOWN.iter().chain(&settings::OF_ELSA) {
            members.entry(*name).or_insert(json!(true));
        }
    }
    let identified =
        |name: &str| json!({ "required": [name], "properties": { name: { "type": "string", "pattern": "\\S" } } });
    json!({
        "type": "object",
        "required": ["root"],
        "if": { "anyOf": [identified("name"), identified("id")] },
        "else": identified("definitionId"),
        "properties": properties,
        "patternProperties": { COMMENTS: true },
        "additionalProperties": false,
    })
}

/// The outline of a document in Elsa's form, in which unknown members are allowed.
fn elsa_definition() -> Value {
    let list = json!({ "type": ["array", "object", "null"] });
    json!({
        "type": "object",
        "if": { "required": ["Root"] },
        "else": { "required": ["root"] },
        "properties": {
            "definitionId": described(text_or_null(), "Identifies the definition across its versions."),
            "name": described(text_or_null(), "Name for people."),
            "description": described(text_or_null(), "What the workflow does."),
            "version": described(json!({ "type": ["integer", "null"], "minimum": 1 }), "Number of this version."),
            "variables": list,
            "inputs": list,
            "outputs": list,
            "options": { "type": ["object", "null"] },
            "root": reference("elsaActivity"),
            "Root": reference("elsaActivity"),
        },
    })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn flag() -> Value {
    json!({ "type": ["boolean", "null"] })
}

#[cfg(test)]
mod tests;
