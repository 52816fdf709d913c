//! Unit tests of the extension. A program that links the extension's crate needs a server, so those of its files that
//! use nothing of PostgreSQL are compiled here as well.

use std::fs;

#[path = "../../../src/store/definitions/links/json.rs"]
mod links_json;
#[path = "../../../src/pg/user_sql/inferred/guess/message.rs"]
mod parameter_message;
mod sources;

#[test]
fn no_unit_test_is_left_out() {
    let here = include_str!("extension.rs");
    let left_out = sources::files("src")
        .into_iter()
        .filter(|(file, path)| {
            let has_tests = fs::read_to_string(path).is_ok_and(|code| code.contains("#[cfg(test)]"));
            has_tests && !here.contains(&format!("\"../../../src/{file}.rs\""))
        })
        .map(|(file, _)| file)
        .collect::<Vec<_>>();
    assert!(left_out.is_empty(), "nothing runs the tests in {left_out:?}");
}
