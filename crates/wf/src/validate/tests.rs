//! Messages and their places, for each severity and both formats.

use std::path::Path;

use super::{Severity, examine, shown};

fn messages(file: &str, text: &str) -> Vec<String> {
    let path = Path::new(file);
    examine(path, text, true).1.iter().map(|finding| shown(path, finding, false)).collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn errors_have_the_place_and_the_words_of_wf_define() {
    let text = r#"{
    "definitionId": "leave",
    "root": [
        {"type": "RunTask", "taskNmae": "approve"},
        {"type": "RunTak"},
        {"type": "WriteLine", "text": {"js": "1 +"}}
    ]
}"#;
    assert_eq!(
        messages("leave.json", text)[..3],
        [
            "leave.json:4:9: error: missing input \"taskName\" of activity type \"Elsa.RunTask\" (/root/0/taskName)",
            "leave.json:4:29: error: unknown member \"taskNmae\" of activity type \"Elsa.RunTask\" (did you mean \"taskName\"?) \
             (/root/0/taskNmae)",
            "leave.json:5:9: error: unknown activity type \"RunTak\" (did you mean \"RunTask\"?) (/root/1)",
        ]
    );
    assert!(messages("leave.json", text)[3].starts_with("leave.json:6:40: error: "));
    assert_eq!(
        messages("a.json", "{\"definitionId\": 5, \"root\": []}"),
        ["a.json:1:2: error: \"definitionId\" must be a string, not a number (/definitionId)"]
    );
    assert_eq!(messages("a.json", "[]"), ["a.json:1:1: error: a definition must be an object, not an array"]);
    assert_eq!(messages("a.json", "{\"a\" 1}"), ["a.json:1:6: error: invalid JSON: expected `:`"]);
    assert_eq!(messages("a.yaml", ""), ["a.yaml:1:1: error: the file has no definition"]);
}

#[test]
fn yaml_is_read_as_version_1_2() {
    let text = "definitionId: pay\nroot:\n  - type: Try\n    body: {type: Fault, message: no}\n    catch:\n      - on: [P0001]\n        \
                body: {type: WriteLine, text: 2030-01-31}\n";
    assert_eq!(messages("pay.yaml", text), NOTHING);
    let wrong = text.replace("- on:", "- no:").replace("type: Fault", "type: Fualt");
    assert_eq!(
        messages("-", &wrong),
        [
            "-:4:5: error: unknown activity type \"Fualt\" (did you mean \"Fault\"?) (/root/0/body)",
            "-:6:9: error: unknown member \"no\" of a catch; known are on, variable, body (/root/0/catch/0/no)",
        ]
    );
}

#[test]
fn what_only_a_database_knows_is_a_note() {
    let text = r#"{"definitionId": "d", "variables": {"V": null}, "root": [
        {"type": "Acme.Shout", "text": {"js": "1"}, "result": {"var": "V"}},
        {"type": "AddNumbers", "a": 1},
        {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "add"},
        {"type": "RunTask", "taskName": "t", "candidates": ["role:clerks", "ada"]},
        {"type": "Sql", "statement": "SELECT 1"}]}"#;
    let found = examine(Path::new("d.json"), text, true).1;
    let shown: Vec<(usize, &str, Severity)> =
        found.iter().map(|finding| (finding.at.line, finding.message.as_str(), finding.severity)).collect();
    assert_eq!(
        shown,
        [
            (2, "activity type \"Acme.Shout\" is not built in, and not checked without a database", Severity::Note),
            (3, "activity type \"AddNumbers\" is not built in, and not checked without a database", Severity::Note),
            (4, "whether workflow \"add\" exists is not checked without a database", Severity::Note),
            (5, "whether role \"clerks\" exists is not checked without a database", Severity::Note),
            (6, "SQL is not parsed without a database", Severity::Note),
        ]
    );
    let reserved = messages("d.json", r#"{"definitionId": "d", "root": {"type": "Elsa.Shout"}}"#);
    assert!(reserved[0].contains("error: activity type \"Elsa.Shout\" is not supported"), "{reserved:?}");
}

#[test]
fn warnings_are_those_of_wf_define() {
    let text = r#"{"definitionId": "d", "root": {"type": "WriteLine", "text": "{{ Input.name }}"}}"#;
    let found = examine(Path::new("d.json"), text, true).1;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].severity, found[0].path.as_str()), (Severity::Warning, "/root/text"));
}

#[test]
fn other_files_of_a_folder_are_passed_over() {
    let path = Path::new("package.json");
    assert_eq!(examine(path, "{\"name\": \"x\"}", false), (0, Vec::new()));
    assert_eq!(examine(path, "{\"name\": \"x\"}", true).0, 1);
}

#[test]
fn a_message_for_programs_is_one_json_object() {
    let path = Path::new("a.json");
    let found = examine(path, "{\"definitionId\": \"d\",\n\"root\": 5}", true).1;
    let object: serde_json::Value = serde_json::from_str(&shown(path, &found[0], true)).expect("it is JSON");
    assert_eq!((&object["file"], &object["line"], &object["column"]), (&"a.json".into(), &2.into(), &1.into()));
    assert_eq!((&object["path"], &object["severity"]), (&"/root".into(), &"error".into()));
}
