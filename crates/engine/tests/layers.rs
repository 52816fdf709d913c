//! The floors of the crates, as docs/internals/layers.md shows them: a module imports only modules of lower floors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use sources::REPOSITORY;

mod sources;

#[test]
fn extension() {
    assert_layered("src", "src");
}

#[test]
fn client() {
    assert_layered("client", "crates/client/src");
}

#[test]
fn services() {
    assert_layered("services", "crates/services/src");
}

#[test]
fn gateway() {
    assert_layered("gateway", "crates/gateway/src");
}

/// The floor of a module, and its group of modules: only itself, unless ` + ` joins it with others.
type Floors = BTreeMap<String, (usize, usize)>;

fn assert_layered(name: &str, sources: &str) {
    let floors = floors(name);
    let mut wrong = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (file, path) in sources::files(sources).into_iter().filter(|(file, _)| !sources::is_root(file)) {
        let module = file.split('/').next().unwrap_or_default().to_owned();
        let Some(&(floor, ring)) = floors.get(&module) else {
            wrong.insert(format!("{module} is on no floor"));
            continue;
        };
        for used in used_modules(&sources::code(&path)) {
            let Some(&(below, other)) = floors.get(&used) else { continue };
            if used != module && ring != other && below <= floor {
                wrong.insert(format!("{} uses {used}, which does not lie below {module}", path.display()));
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
    let page = fs::read_to_string(Path::new(REPOSITORY).join("docs/internals/layers.md")).expect("the page of layers");
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

/// The top-level modules that a file names with `crate::`.
fn used_modules(code: &[String]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for line in code {
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
