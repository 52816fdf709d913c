//! Mistakes drawn in good definitions: what the reader refuses for its structure, the schema refuses at the same place,
//! and what the reader accepts, the schema accepts.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use workflow_engine::definition::Problem;

use super::{corpus, refusals, violations};

/// What the reader refuses and a schema cannot: parts of its messages, each with the reason.
const BEYOND_A_SCHEMA: [(&str, &str); 36] = [
    ("is not declared", "a name refers to another place of the document"),
    ("does not exist", "a name refers to another place of the document"),
    ("declared twice", "names are compared with each other"),
    ("duplicate activity id", "ids are compared with each other"),
    ("has no activity with id", "a connection refers to an activity"),
    ("has no outcome", "a connection depends on the type of its source"),
    ("unknown outcome", "a connection depends on the type of its source"),
    ("has no state", "a transition refers to a state"),
    ("there is no Compensable", "a target refers to an activity"),
    ("opens a task", "an exclusion refers to an activity"),
    ("an entry of \"by\"", "voters are described by the reader alone"),
    ("an entry of \"escalateTo\"", "voters are described by the reader alone"),
    ("voter", "voters are described by the reader alone"),
    ("\" requires \"", "an input depends on another one"),
    ("the deadline require", "an input depends on another one"),
    ("no reminder can come", "times are compared with each other"),
    ("must be an integer", "an integer may be written as a text"),
    ("is out of range for an integer", "an integer may be written as a text"),
    ("\" twice", "names are compared with each other"),
    ("is no valid JSON", "a text is parsed as JSON"),
    ("invalid JSON Schema", "a schema is compiled"),
    ("resultSchema\" cannot be used", "a schema is compiled"),
    ("leads out of the schema", "a schema is compiled"),
    ("invalid value for type", "a text is converted to a type"),
    ("is no JSON", "a text is parsed as JSON"),
    ("form\" must be an object", "a text is parsed as JSON"),
    ("must be a text or a list of texts", "the headers of a response may be computed"),
    ("is not an HTTP status", "a status is a number or a name"),
    ("has an unknown constraint", "a path is parsed"),
    ("cron expression", "a cron expression is parsed"),
    ("must be at least 1", "false is zero"),
    ("is an offset, not a name", "a time zone is looked up"),
    ("SQL client", "the names of PostgreSQL are not listed"),
    ("cannot run in the database", "code of C# or Python is parsed"),
    ("an expression of type", "an expression in Elsa's form is only described in outline"),
    ("expression type", "an expression in Elsa's form is only described in outline"),
];

/// Members for which the schema asks for a text. The reader makes a text of other constants.
const TEXTS: [&str; 12] = [
    "$schema",
    "statement",
    "query",
    "command",
    "script",
    "path",
    "deadline",
    "assignee",
    "candidates",
    "escalateTo",
    "method",
    "supportedMethods",
];

/// The good definitions in which mistakes are drawn: in the short form, and not large.
static GOOD: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut good: Vec<Value> = corpus::definitions()
        .into_iter()
        .map(|(_, document)| document)
        .filter(|document| document.to_string().len() < 4_000 && !is_marked(document))
        .filter(|document| !corpus::is_of_older_spelling(document) && refusals(document).is_empty())
        .collect();
    good.sort_by_key(Value::to_string);
    good.dedup();
    good
});

/// Whether any part of a definition is in Elsa's form.
fn is_marked(value: &Value) -> bool {
    const MARKS: [&str; 12] = [
        "toolVersion",
        "createdAt",
        "isLatest",
        "isPublished",
        "customProperties",
        "nodeId",
        "metadata",
        "version",
        "typeName",
        "expression",
        "memoryReference",
        "storageDriverTypeName",
    ];
    match value {
        Value::Object(members) => members.iter().any(|(key, inner)| MARKS.contains(&key.as_str()) || is_marked(inner)),
        Value::Array(list) => list.iter().any(is_marked),
        _ => false,
    }
}

/// A mistake at a place of a document.
#[derive(Clone, Debug)]
enum Mistake {
    /// Another value.
    Replaced(Value),
    /// A member is missing.
    Removed,
    /// A member has another name.
    Misspelt,
    /// There is one member more.
    Added(Value),
}

fn mistake() -> impl Strategy<Value = Mistake> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i32..2_000_000).prop_map(Value::from),
        Just(json!(0.5)),
        Just(json!("")),
        Just(json!("soon")),
        Just(json!("WriteLine")),
        Just(json!([])),
        Just(json!(["x"])),
        Just(json!([1])),
        Just(json!({})),
        Just(json!({"js": "1"})),
        Just(json!({"js": 1})),
        Just(json!({"var": "Nowhere", "more": 1})),
        Just(json!({"literal": [1]})),
        Just(json!({"deep": {"js": "1"}})),
        Just(json!({"type": "WriteLine", "text": "x"})),
        Just(json!({"type": "WriteLien"})),
    ];
    prop_oneof![
        4 => value.clone().prop_map(Mistake::Replaced),
        2 => Just(Mistake::Removed),
        2 => Just(Mistake::Misspelt),
        1 => value.prop_map(Mistake::Added),
    ]
}

/// The pointers to everything in a document.
fn places(value: &Value) -> Vec<String> {
    fn below(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(members) => members.iter().for_each(|(key, inner)| {
                below(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(index, inner)| below(inner, &format!("{at}/{index}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    below(value, "", &mut found);
    found
}

/// The document with a mistake; `None` if it cannot be made there.
fn with(document: &Value, place: &str, mistake: &Mistake) -> Option<Value> {
    let mut wrong = document.clone();
    let (above, key) = place.rsplit_once('/').map(|(above, key)| (above, key.replace("~1", "/").replace("~0", "~")))?;
    match mistake {
        Mistake::Replaced(value) => *wrong.pointer_mut(place)? = value.clone(),
        Mistake::Removed => {
            wrong.pointer_mut(above)?.as_object_mut()?.remove(&key)?;
        }
        Mistake::Misspelt => {
            let members = wrong.pointer_mut(above)?.as_object_mut()?;
            let value = members.remove(&key)?;
            members.insert(format!("{key}x"), value);
        }
        Mistake::Added(value) => {
            wrong.pointer_mut(place)?.as_object_mut()?.insert("another".into(), value.clone());
        }
    }
    (wrong != *document).then_some(wrong)
}

fn is_beyond(problem: &Problem) -> bool {
    BEYOND_A_SCHEMA.iter().any(|(part, _)| problem.message.contains(part))
}

/// Whether an editor shows a violation where the reader reports the problem: there, in a value below it, or, for a
/// member that is missing or unknown, at the object that has it.
fn is_at(document: &Value, violation: &str, problem: &Problem) -> bool {
    let above = problem.path.rsplit_once('/').map_or("", |(above, _)| above);
    let is_inside = |outer: &str| problem.path.starts_with(&format!("{outer}/"));
    // Nothing is said of the members of an activity whose type is unknown, or of the parts of a value of a wrong type.
    let is_of_type =
        violation.strip_suffix("/type").is_some_and(|activity| is_inside(activity) || problem.path == activity);
    let is_value = document.pointer(violation).is_some_and(|value| value.is_object() && value.get("type").is_none());
    violation == problem.path
        || violation == above
        || violation.starts_with(&format!("{}/", problem.path))
        || is_of_type
        || is_value && is_inside(violation) && problem.message.contains("inside a plain value")
}

/// Whether the problem is about the value in `{"literal": …}`, in which the schema accepts everything.
fn is_literal(document: &Value, problem: &Problem) -> bool {
    document.pointer(&problem.path).is_some_and(|value| value.get("literal").is_some())
}

#[test]
fn drawn_mistakes_are_found_where_the_reader_finds_them() {
    let strategy = (any::<prop::sample::Index>(), mistake());
    let each = cases().div_ceil(GOOD.len() as u32);
    for good in GOOD.iter() {
        // The same mistakes in every run, and in this definition whatever others there are: a new one is found by asking
        // for more of them.
        let config = Config { failure_persistence: None, ..Config::with_cases(each) };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed(good)));
        let places = places(good);
        let result = runner.run(&strategy, |(place, mistake)| {
            let place = place.get(&places);
            with(good, place, &mistake).map_or(Ok(()), |wrong| check_mistake(&wrong, place, &mistake))
        });
        if let Err(error) = result {
            panic!("{error}");
        }
    }
}

/// A number for the mistakes drawn in a definition.
fn seed(definition: &Value) -> [u8; 32] {
    let mut seed = [0; 32];
    for (at, byte) in definition.to_string().bytes().enumerate() {
        let part: &mut u8 = &mut seed[at % 32];
        *part = part.rotate_left(3) ^ byte;
    }
    seed
}

/// What the reader refuses, the schema must refuse there, and the other way round.
fn check_mistake(wrong: &Value, place: &str, mistake: &Mistake) -> Result<(), TestCaseError> {
    let (problems, violations) = (refusals(wrong), violations(wrong));
    for problem in problems.iter().filter(|problem| !is_beyond(problem) && !is_literal(wrong, problem)) {
        prop_assert!(
            violations.iter().any(|(path, _)| is_at(wrong, path, problem)),
            "{place} {mistake:?}\nthe reader: {} {}\nthe schema: {violations:?}\n{wrong}",
            problem.path,
            problem.message
        );
    }
    if problems.is_empty() && !is_marked(wrong) {
        let unexpected = violations.iter().find(|(path, _)| !path.split('/').any(|key| TEXTS.contains(&key)));
        prop_assert!(unexpected.is_none(), "{place} {mistake:?}\nonly the schema: {unexpected:?}\n{wrong}");
    }
    Ok(())
}

/// How many mistakes are drawn, at least one in each definition.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}
