//! What is wrong with a definition, and the list in which it is collected.

use super::json::Path;
use crate::expression::javascript;
use crate::schema::{RefusalKind, Schema};

/// How many problems are reported; a document that is wrong all over needs no more to be understood.
const MAX_PROBLEMS: usize = 1000;

/// One thing that is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the document, such as `/root/activities/3/condition`; empty for the document.
    pub path: String,
    /// What is wrong, in the style of a primary message.
    pub message: String,
    /// What sort of problem it is.
    pub kind: ProblemKind,
}

/// The sorts of problems, which the shell gives different SQLSTATEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The document is wrong. (22023)
    Invalid,
    /// It asks for something that does not exist here: an activity or expression type. (22023)
    Unsupported,
    /// Whoever defines it may not use what it uses. (42501)
    Denied,
    /// It is nested deeper than allowed. (54001)
    TooDeep,
    /// It is larger than allowed. (54000)
    TooLarge,
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    check_scripts: bool,
    list: Vec<Problem>,
    left_off: usize,
}

impl Problems {
    /// An empty list; says whether the syntax of scripts is checked, too.
    pub fn checking_scripts(check_scripts: bool) -> Self {
        Self { check_scripts, ..Self::default() }
    }

    /// Checks the syntax of a script, if that is wanted.
    pub fn check_script(&mut self, source: &str, path: &Path<'_>) {
        if self.check_scripts
            && let Err(message) = javascript::check(source)
        {
            self.invalid(path, message);
        }
    }

    /// Checks that a schema can be used, if that is wanted: compiling takes a while.
    pub fn check_schema(&mut self, schema: &Schema, path: &Path<'_>) {
        if !self.check_scripts {
            return;
        }
        if let Err(refusal) = schema.check() {
            let kind = match refusal.kind {
                RefusalKind::Invalid => ProblemKind::Invalid,
                RefusalKind::Unsupported => ProblemKind::Unsupported,
                RefusalKind::TooDeep => ProblemKind::TooDeep,
                RefusalKind::TooLarge => ProblemKind::TooLarge,
            };
            self.add(kind, &Path::Below(path, &refusal.pointer), refusal.message);
        }
    }

    /// Whether what was read is judged beyond its form, as when a definition comes in.
    pub fn is_checking(&self) -> bool {
        self.check_scripts
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem);
        } else {
            self.left_off += 1;
        }
    }

    /// Adds a problem of a kind. The path becomes text only if it is kept.
    pub fn add(&mut self, kind: ProblemKind, path: &Path<'_>, message: impl Into<String>) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(Problem { path: path.to_string(), message: message.into(), kind });
        } else {
            self.left_off += 1;
        }
    }

    /// Adds a problem of the kind `Invalid`.
    pub fn invalid(&mut self, path: &Path<'_>, message: impl Into<String>) {
        self.add(ProblemKind::Invalid, path, message);
    }

    /// Adds a problem of the kind `Unsupported`.
    pub fn unsupported(&mut self, path: &Path<'_>, message: impl Into<String>) {
        self.add(ProblemKind::Unsupported, path, message);
    }

    /// Whether further problems are only counted; their words need not be found.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    /// How many problems there are so far.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_off
    }

    /// Ends the collection.
    pub fn into_list(mut self) -> Vec<Problem> {
        if self.left_off > 0 {
            let message = format!("{} more problems are not listed", self.left_off);
            self.list.push(Problem { path: String::new(), message, kind: ProblemKind::Invalid });
        }
        self.list
    }
}
