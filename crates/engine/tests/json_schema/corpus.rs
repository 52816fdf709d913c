//! The definitions in the files of this repository: documentation, examples and tests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const FOLDERS: [&str; 6] = ["README.md", "docs", "examples", "tests", "crates", "fuzz"];
const ENDINGS: [&str; 7] = ["md", "sql", "spec", "sh", "rs", "json", "py"];

/// Each definition with its file.
pub fn definitions() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut open: Vec<_> = FOLDERS.iter().map(|name| Path::new(REPOSITORY).join(name)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path());
            open.extend(entries.filter(|path| !path.ends_with("target") && !path.ends_with("node_modules")));
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
            && let Ok(text) = fs::read_to_string(&path)
        {
            let name = path.strip_prefix(REPOSITORY).unwrap_or(&path).display().to_string();
            found.extend(in_file(&text, &path).into_iter().map(|document| (name.clone(), document)));
        }
    }
    found
}

fn in_file(text: &str, path: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    // A quote inside a string of SQL is doubled.
    let plain = text.replace("''", "'");
    for text in [text, plain.as_str()] {
        for value in json_values(text) {
            collect(&value, &mut found);
        }
    }
    if path.extension().is_some_and(|ending| ending == "md") {
        found.extend(examples(text));
    }
    let mut seen = Vec::new();
    found.retain(|document| {
        !seen.contains(document) && {
            seen.push(document.clone());
            true
        }
    });
    found
}

/// The JSON objects in a text, outermost first.
fn json_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let mut reader = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match reader.next() {
            Some(Ok(value)) => {
                from = at + reader.byte_offset().max(1);
                values.push(value);
            }
            _ => from = at + 1,
        }
    }
    values
}

/// The definitions in a value.
fn collect(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(members) if members.contains_key("root") || members.contains_key("Root") => {
            found.push(value.clone())
        }
        Value::Object(members) => members.values().for_each(|inner| collect(inner, found)),
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, found)),
        _ => {}
    }
}

/// The activities that a page shows as examples, each as the root of a definition.
fn examples(page: &str) -> Vec<Value> {
    let roots = blocks(page).into_iter().filter(|value| value.get("root").is_none());
    roots.map(|root| json!({ "definitionId": "example", "root": root })).collect()
}

/// The definitions that pages show as documents of their own, each with its page.
pub fn documents_of_pages() -> Vec<(String, Value)> {
    let pages = fs::read_dir(Path::new(REPOSITORY).join("docs")).expect("the folder of pages");
    let mut found = Vec::new();
    for path in pages.map(|entry| entry.expect("an entry").path()) {
        if path.extension().is_some_and(|ending| ending == "md") {
            let page = fs::read_to_string(&path).expect("a page");
            let documents = blocks(&page).into_iter().filter(|value| value.get("root").is_some());
            found.extend(documents.map(|document| (path.display().to_string(), document)));
        }
    }
    found
}

/// The blocks of a page that are JSON.
fn blocks(page: &str) -> Vec<Value> {
    let blocks = page.split("```json").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split("\n```").next());
    blocks.filter_map(|block| serde_json::from_str(block).ok()).collect()
}

/// Members that old exports spell in PascalCase.
const PASCAL: [&str; 6] = ["Root", "Type", "Activities", "Connections", "Body", "Source"];

/// Whether a definition has a spelling that the reader accepts for old exports, and editors should not suggest:
/// PascalCase members, or lists in `$values`.
pub fn is_of_older_spelling(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(key, inner)| key == "$values" || PASCAL.contains(&key.as_str()) || is_of_older_spelling(inner)),
        Value::Array(list) => list.iter().any(is_of_older_spelling),
        _ => false,
    }
}
