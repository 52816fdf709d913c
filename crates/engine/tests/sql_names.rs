//! Each name of an activity type or a bookmark in the extension's SQL also occurs in the code.
//!
//! They are constants in the SQL, because an index with a predicate serves a statement only if PostgreSQL finds the
//! same constant in both. No compiler compares them with those in Rust.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

mod sources;

#[test]
fn names_in_sql_are_names_in_code() {
    let crates: Vec<_> = sources::engine().iter().map(String::as_str).chain(["src"]).flat_map(code).collect();
    let known: BTreeSet<_> = crates.iter().flat_map(|line| names(line, '"')).collect();
    let scripts = scripts();
    let lines = scripts.iter().flat_map(|script| script.lines()).chain(crates.iter().map(String::as_str));
    let used: BTreeSet<_> = lines.flat_map(|line| names(line, '\'')).collect();
    assert!(scripts.iter().any(|script| script.contains("CREATE TABLE workflow.bookmarks")), "the schema was not read");
    assert_eq!(used.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The scripts that create this version, or update to it. Those of earlier releases, in a separate folder, stay
/// unchanged.
fn scripts() -> Vec<String> {
    let read = |folder: &str| {
        let folder = fs::read_dir(Path::new(sources::REPOSITORY).join(folder)).expect("the scripts of the extension");
        let paths: Vec<_> = folder.map(|entry| entry.expect("an entry").path()).collect();
        paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
    };
    let paths = ["sql", "sql/tables", "sql/functions", "sql/views"].into_iter().flat_map(read);
    paths.map(|path| fs::read_to_string(path).expect("a script")).collect()
}

fn code(crate_sources: &str) -> Vec<String> {
    sources::files(crate_sources).iter().flat_map(|(_, path)| sources::code(path)).collect()
}

/// The quoted names of activity types and bookmarks in a line.
fn names(line: &str, quote: char) -> Vec<String> {
    let is_name = |text: &&str| {
        let name = text.strip_prefix("Elsa.").or_else(|| text.strip_prefix("Workflow."));
        name.is_some_and(|name| !name.is_empty() && name.chars().all(char::is_alphanumeric))
    };
    line.split(quote).filter(is_name).map(str::to_owned).collect()
}
