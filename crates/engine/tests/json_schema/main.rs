//! The JSON Schema of definitions says what the reader says: of every definition in this repository, and of mistakes
//! that are drawn in them.

mod corpus;
mod mistakes;

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};
use workflow_engine::activities::catalogue::ACTIVITIES;
use workflow_engine::definition::{
    self, ActivityTypes, CustomType, DeclaredMember, DeclaredType, Problem, ReadLimits, json_schema,
};

/// The file that editors read. `wf schema` prints it.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/definition.schema.json");

static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::options().offline().build(&json_schema(&[])).expect("the schema is valid"));

/// Types with a dot in their name are registered, as the schema assumes.
struct Registered;

impl ActivityTypes for Registered {
    fn custom(&self, type_name: &str) -> Option<CustomType> {
        let reserved = ["elsa.", "workflow."].iter().any(|prefix| type_name.to_lowercase().starts_with(prefix));
        (type_name.contains('.') && !reserved).then(|| CustomType { trigger: true, ..CustomType::default() })
    }
}

/// What the reader says of new content.
fn refusals(document: &Value) -> Vec<Problem> {
    let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
    definition::validate(document, &Registered, &limits, false).program.err().unwrap_or_default()
}

/// Where the schema is violated, and how.
fn violations(document: &Value) -> Vec<(String, String)> {
    let errors = SCHEMA.iter_errors(document);
    errors.map(|error| (error.instance_path().to_string(), error.to_string())).collect()
}

#[test]
fn the_schema_is_valid_by_its_own_metaschema() {
    let schema = json_schema(&[]);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(jsonschema::meta::is_valid(&schema));
    let text = schema.to_string();
    for (at, _) in text.match_indices("\"$ref\":\"#") {
        let pointer = text[at + 9..].split('"').next().expect("a reference");
        assert!(schema.pointer(pointer).is_some(), "{pointer} leads nowhere");
    }
}

#[test]
fn the_file_for_editors_is_the_schema_of_the_catalogue() {
    let file = std::fs::read_to_string(FILE).unwrap_or_default();
    let now = serde_json::to_string_pretty(&json_schema(&[])).expect("it is JSON") + "\n";
    if std::env::var_os("WORKFLOW_RENEW").is_some() {
        std::fs::write(FILE, &now).expect("the file can be written");
    } else if file != now {
        panic!("{FILE} is stale: run this test with WORKFLOW_RENEW=1");
    }
}

#[test]
fn every_example_of_the_catalogue_is_valid() {
    for activity in ACTIVITIES {
        let example: Value = serde_json::from_str(activity.descriptor().example).expect("the example is JSON");
        let document = json!({ "definitionId": "example", "root": example });
        assert_eq!(violations(&document), [], "{}", activity.descriptor().type_name);
    }
}

#[test]
fn every_definition_of_the_repository_that_is_accepted_is_valid() {
    let mut accepted = 0;
    let mut wrong = Vec::new();
    for (file, document) in corpus::definitions() {
        if refusals(&document).is_empty() {
            accepted += 1;
            let violations = violations(&document);
            if !violations.is_empty() && !corpus::is_of_older_spelling(&document) {
                wrong.push(format!("{file}: {violations:?}\n{document}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {accepted}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(accepted > 500, "only {accepted} definitions were found");
}

#[test]
fn pages_name_the_schema_in_the_documents_that_they_show() {
    let shown = corpus::documents_of_pages();
    let is_of_elsa = |document: &Value| document.get("toolVersion").is_some();
    let without =
        shown.iter().filter(|(_, document)| !is_of_elsa(document) && document["$schema"] != "definition.schema.json");
    assert_eq!(without.map(|(page, document)| format!("{page}: {document}")).collect::<Vec<_>>(), [""; 0]);
    assert!(shown.len() > 5, "only {} were found", shown.len());
}

#[test]
fn what_is_unknown_or_missing_is_named_and_not_reported_as_no_alternative() {
    let only = |document: Value| {
        let found = violations(&document);
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().expect("a violation")
    };
    for name in ["RunTak", "", "Elsa.RunTak", "workflow.Try"] {
        let (place, message) = only(json!({"definitionId": "d", "root": [{"type": name, "taskName": "t"}]}));
        assert_eq!(place, "/root/0/type", "{name}: {message}");
        assert!(message.starts_with(&format!("\"{name}\" is not one of \"Sequence\", \"Flowchart\"")), "{message}");
    }
    let missing = |name: &str, place: &str| (place.to_owned(), format!("\"{name}\" is a required property"));
    assert_eq!(only(json!({"definitionId": "d", "root": [{"taskName": "t"}]})), missing("type", "/root/0"));
    assert_eq!(only(json!({"root": []})), missing("definitionId", ""));
    assert_eq!(only(json!({"toolVersion": "3.0", "name": "d"})), missing("root", ""));
}

#[test]
fn registered_types_and_used_workflows_are_known_with_their_members() {
    let member = |name: &str, type_name: &str| DeclaredMember {
        name: name.into(),
        type_name: Some(type_name.into()),
        description: Some(format!("The {name}.")),
    };
    let declared = [
        DeclaredType {
            name: "Shout".into(),
            inputs: vec![member("loud", "Boolean")],
            outputs: vec![member("result", "String")],
            ..DeclaredType::default()
        },
        DeclaredType {
            name: "AddNumbers".into(),
            closed: true,
            inputs: vec![member("a", "Int32")],
            outputs: vec![member("sum", "Int32")],
            ..DeclaredType::default()
        },
    ];
    let schema = jsonschema::options().offline().build(&json_schema(&declared)).expect("the schema is valid");
    let paths = |root: Value| -> Vec<String> {
        let document = json!({ "definitionId": "d", "variables": { "S": 0 }, "root": root });
        schema.iter_errors(&document).map(|error| error.instance_path().to_string()).collect()
    };
    assert_eq!(paths(json!({"type": "Shout", "loud": true, "more": 1, "result": {"var": "S"}})), [""; 0]);
    assert_eq!(paths(json!({"type": "Shout", "loud": "perhaps"})), ["/root/loud"]);
    assert_eq!(paths(json!({"type": "Shout", "result": 1})), ["/root/result"]);
    assert_eq!(paths(json!({"type": "Shout", "canStartWorkflow": true})), ["/root/canStartWorkflow"]);
    assert_eq!(paths(json!({"type": "AddNumbers", "a": 1, "sum": {"var": "S"}})), [""; 0]);
    assert_eq!(paths(json!([{"type": "AddNumbers", "b": 1}])), ["/root/0"]);
    assert_eq!(paths(json!({"type": "Acme.Other"})), ["/root/type"]);
    assert_eq!(paths(json!({"type": "Elsa.WriteLine", "text": "x"})), [""; 0]);
    assert_eq!(violations(&json!({"definitionId": "d", "root": {"type": "Acme.Other", "any": 1}})), []);
}
