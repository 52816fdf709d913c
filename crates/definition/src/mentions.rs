//! Names in scripts and expressions, collected while a document is read.

use std::collections::{BTreeMap, HashSet};

use super::json::Path;
use workflow_expression::javascript;

/// Maximum number of names that are kept; further names are not checked.
const MAX_NAMES: usize = 10_000;

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// The name must be that of a variable.
    Variable,
    /// The name must be that of an input.
    Input,
    /// The rest of the name of a function `get…` without arguments.
    Getter,
}

/// The names that a document uses.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// Names that must exist, each with the place of its first occurrence.
    pub wanted: BTreeMap<(Use, String), String>,
    /// Variables that scripts set.
    pub sets: HashSet<String>,
    /// Whether a script sets a variable with a computed name.
    pub sets_any: bool,
}

impl Mentions {
    /// Collects the names in a script; with `strict`, those that it reads must exist.
    pub fn script(&mut self, source: &str, strict: bool, path: &Path<'_>) {
        let found = javascript::mentioned(source);
        self.sets.extend(found.sets);
        self.sets_any |= found.sets_any;
        if !strict {
            return;
        }
        let uses = [(Use::Variable, found.variables), (Use::Input, found.inputs), (Use::Getter, found.getters)];
        for (used, names) in uses {
            for name in names {
                self.want(used, name, path);
            }
        }
    }

    /// Adds a name that must exist.
    pub fn want(&mut self, used: Use, name: String, path: &Path<'_>) {
        if self.wanted.len() < MAX_NAMES {
            self.wanted.entry((used, name)).or_insert_with(|| path.to_string());
        }
    }
}
