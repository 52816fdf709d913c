//! The floors of the crates, as ARCHITECTURE.md shows them: a module imports only modules of lower floors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn engine() {
    assert_layered("engine", "engine/src");
}

#[test]
fn extension() {
    assert_layered("src", "src");
}

#[test]
fn gateway() {
    assert_layered("gateway", "gateway/src");
}

/// A floor of a module, and the ring of modules that it belongs to: one of its own, unless ` + ` joins it with others.
type Floors = BTreeMap<String, (usize, usize)>;

fn assert_layered(name: &str, sources: &str) {
    let floors = floors(name);
    let mut wrong = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (module, file) in modules(&Path::new(REPOSITORY).join(sources)) {
        let Some(&(floor, ring)) = floors.get(&module) else {
            wrong.insert(format!("{module} is on no floor"));
            continue;
        };
        let text = fs::read_to_string(&file).expect("a file of the crate");
        for used in used_modules(&text) {
            let Some(&(below, other)) = floors.get(&used) else { continue };
            if used != module && ring != other && below <= floor {
                wrong.insert(format!("{} uses {used}, which does not lie below {module}", file.display()));
            }
        }
        found.insert(module);
    }
    wrong
        .extend(floors.keys().filter(|known| !found.contains(*known)).map(|gone| format!("there is no module {gone}")));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The floors in the fenced block `layers NAME`; the first line is the highest floor.
fn floors(name: &str) -> Floors {
    let page = fs::read_to_string(Path::new(REPOSITORY).join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let fence = format!("```layers {name}\n");
    let block = page.split_once(&fence).and_then(|(_, rest)| rest.split_once("```")).expect("a block of layers").0;
    let mut floors = Floors::new();
    let mut ring = 0;
    for (floor, line) in block.lines().enumerate() {
        for joined in line.replace(" + ", "+").split_whitespace() {
            ring += 1;
            floors.extend(joined.split('+').map(|module| (module.to_owned(), (floor, ring))));
        }
    }
    floors
}

/// The files of a crate but its root, each with the name of its topmost module.
fn modules(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the crate") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if is_source(&path) {
                let inside = path.strip_prefix(root).expect("a path below the root").with_extension("");
                found.push((inside.iter().next().expect("a name").to_string_lossy().into_owned(), path));
            }
        }
    }
    found
}

/// Whether the file holds code other than tests, and is not the root of its crate.
fn is_source(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_root = matches!(&*stem, "lib" | "main");
    path.extension().is_some_and(|extension| extension == "rs") && !is_root && !stem.contains("tests")
}

/// The topmost modules that a file names by `crate::` outside of its tests.
fn used_modules(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or(line));
    let mut used = BTreeSet::new();
    for line in lines {
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            // `use crate::{a, b}` names several modules.
            let names = rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or(list));
            for name in names.split(',') {
                let name = name.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                used.insert(name.to_owned());
                if names.len() == rest.len() {
                    break;
                }
            }
        }
    }
    used
}
