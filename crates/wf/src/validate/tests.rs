//! Messages and their places, for each severity and both formats.

use super::{Finding, Severity, SourceFile, examine, shown};

fn messages(file: &str, text: &str) -> Vec<String> {
    messages_of(&[(file, text)])
}

/// The messages about files that are validated together.
fn messages_of(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<SourceFile> = files.iter().map(|(file, text)| SourceFile::parse(file.into(), text, true)).collect();
    examine(&files).iter().map(|(path, finding)| shown(path, finding, false)).collect()
}

fn findings(text: &str) -> Vec<Finding> {
    let file = SourceFile::parse("d.json".into(), text, true);
    examine(&[file]).into_iter().map(|(_, finding)| finding).collect()
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
    let found = findings(text);
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
    let found = findings(text);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].severity, found[0].path.as_str()), (Severity::Warning, "/root/text"));
}

const ADD: &str = r#"{"definitionId": "add", "name": "Add numbers", "options": {"usableAsActivity": true},
    "inputs": [{"name": "a", "type": "Int32"}], "outputs": [{"name": "sum"}], "root": []}"#;

#[test]
fn a_definition_may_use_those_of_the_other_files() {
    let consumer = r#"{"definitionId": "consumer", "variables": {"Sum": 0}, "root": [
        {"type": "AddNumbers", "a": 1, "sum": {"var": "Sum"}},
        {"type": "WorkflowDefinitionActivity", "workflowDefinitionId": "add", "a": 1}]}"#;
    // In any order, and in one file.
    assert_eq!(messages_of(&[("a.json", consumer), ("b.json", ADD)]), NOTHING);
    assert_eq!(messages_of(&[("b.json", ADD), ("a.json", consumer)]), NOTHING);
    assert_eq!(messages("all.yaml", &format!("{consumer}\n---\n{ADD}\n")), NOTHING);
    let wrong = consumer.replace("\"a\": 1,", "\"b\": 1,");
    assert_eq!(
        messages_of(&[("a.json", &wrong), ("b.json", ADD)]),
        ["a.json:2:32: error: workflow \"add\" declares no input or output \"b\" (/root/0/b)"]
    );
}

#[test]
fn a_definition_that_cannot_be_used_is_an_error_of_its_user() {
    let with_root = |id: &str, root: &str| {
        format!(r#"{{"definitionId": "{id}", "name": "{id}", "usableAsActivity": true, "root": [{root}]}}"#)
    };
    let (a, b) = (with_root("a", r#"{"workflowDefinitionId": "b"}"#), with_root("b", r#"{"type": "A"}"#));
    assert_eq!(
        messages_of(&[("a.json", &a), ("b.json", &b)]),
        [
            "a.json:1:71: note: the use of workflow \"b\", which has messages of its own, is not checked (/root/0)",
            "b.json:1:71: error: a workflow cannot contain itself: \"a\" contains \"b\" contains \"a\" (/root/0)",
        ]
    );
    let user = r#"{"definitionId": "user", "root": {"type": "AddNumbers"}}"#;
    assert_eq!(
        messages_of(&[("a.json", ADD), ("b.json", &ADD.replace("\"add\"", "\"sum\"")), ("user.json", user)]),
        [
            "user.json:1:26: error: activity type \"AddNumbers\" stands for several workflows: \"add\", \"sum\"; name one \
          with \"workflowDefinitionId\" (/root)"
        ]
    );
    assert_eq!(
        messages("a.json", &ADD.replace("Add numbers", "runtask")),
        [
            "a.json:1:25: error: activity type name \"Runtask\" is reserved: the built-in type is \"Elsa.RunTask\" (/name)"
        ]
    );
    // Many definitions, each inside of the one before.
    let chain: Vec<String> = (0..300)
        .map(|n| with_root(&format!("c{n}"), &format!(r#"{{"workflowDefinitionId": "c{}"}}"#, n + 1)))
        .collect();
    let files: Vec<(&str, &str)> = chain.iter().map(|text| ("c.json", text.as_str())).collect();
    let messages = messages_of(&files);
    let deep = "error: workflows are used inside each other more than 50 levels deep";
    assert!(messages[49].contains(" note: ") && messages[50].contains(deep), "{messages:#?}");
}

#[test]
fn other_files_of_a_folder_are_passed_over() {
    let definitions =
        |is_named| SourceFile::parse("package.json".into(), "{\"name\": \"x\"}", is_named).definitions.len();
    assert_eq!((definitions(false), definitions(true)), (0, 1));
}

#[test]
fn a_message_for_programs_is_one_json_object() {
    let found = findings("{\"definitionId\": \"d\",\n\"root\": 5}");
    let object: serde_json::Value =
        serde_json::from_str(&shown("a.json".as_ref(), &found[0], true)).expect("it is JSON");
    assert_eq!((&object["file"], &object["line"], &object["column"]), (&"a.json".into(), &2.into(), &1.into()));
    assert_eq!((&object["path"], &object["severity"]), (&"/root".into(), &"error".into()));
}
