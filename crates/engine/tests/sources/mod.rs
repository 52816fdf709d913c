//! The sources of the crates, for tests of their structure.

#![allow(dead_code)] // Each test uses what it needs.

use std::fs;
use std::path::{Path, PathBuf};

pub const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The sources of the crates that need no server, below [`REPOSITORY`].
pub fn engine() -> Vec<String> {
    let crates = fs::read_dir(Path::new(REPOSITORY).join("crates")).expect("the folder of the crates");
    let names = crates.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name != "client" && name != "gateway").map(|name| format!("crates/{name}/src")).collect()
}

/// The files of a crate except tests, each with its path below `sources` without the extension.
pub fn files(sources: &str) -> Vec<(String, PathBuf)> {
    let root = Path::new(REPOSITORY).join(sources);
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the crate") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if is_source(&path) {
                let inside = path.strip_prefix(&root).expect("a path below the root").with_extension("");
                found.push((inside.to_string_lossy().into_owned(), path));
            }
        }
    }
    found
}

fn is_source(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.extension().is_some_and(|extension| extension == "rs") && !stem.contains("tests")
}

/// Whether a file of [`files`] is the root of its crate, which only declares modules.
pub fn is_root(file: &str) -> bool {
    matches!(file, "lib" | "main")
}

/// The code of a file, line by line, without its tests and comments.
pub fn code(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a file of the crate");
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
    code.lines().map(|line| line.split("//").next().unwrap_or(line).to_owned()).collect()
}
