//! Names that scripts and expressions use, noted while a document is read.

use std::collections::{BTreeMap, HashSet};

use super::json::Path;
use crate::expression::javascript;

/// Different names that are kept; a document that mentions more is not judged further.
const MAX_NAMES: usize = 10_000;

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// A variable.
    Variable,
    /// An input.
    Input,
    /// What follows `get` in the name of a function without arguments.
    Getter,
}

/// The names that a document uses.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// Where each that must exist was found first.
    pub wanted: BTreeMap<(Use, String), String>,
    /// Variables that scripts set.
    pub sets: HashSet<String>,
    /// Whether a script sets some that it computes the name of.
    pub sets_any: bool,
}

impl Mentions {
    /// Notes what a script names; with `strict`, what it reads must exist.
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

    /// Notes a name that must exist.
    pub fn want(&mut self, used: Use, name: String, path: &Path<'_>) {
        if self.wanted.len() < MAX_NAMES {
            self.wanted.entry((used, name)).or_insert_with(|| path.to_string());
        }
    }
}
