//! What is wrong with a definition, and the list in which it is collected.

use super::json::Path;
use super::mentions::Mentions;
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
    /// The known name that was probably meant. The message has it, too.
    pub near: Option<String>,
}

/// SQL that a new definition holds. How it is parsed is the host's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlText {
    /// JSON pointer to it.
    pub path: String,
    /// The text, `$1…` where parameters stand.
    pub text: String,
    /// Whether it is a statement; else it is a query or an expression, whose value is wanted.
    pub is_statement: bool,
}

/// The sorts of problems, which the shell gives different SQLSTATEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The document is wrong. (22023)
    Invalid,
    /// It asks for something that does not exist here: an activity or expression type. (22023)
    Unsupported,
    /// The role that defines it may not use what it uses. (42501)
    Denied,
    /// It is nested deeper than allowed. (54001)
    TooDeep,
    /// It is larger than allowed. (54000)
    TooLarge,
    /// It may be stored, and is probably not what was meant.
    Warning,
}

impl Problem {
    /// Something that a definition may have all the same.
    pub fn warning(path: String, message: String) -> Self {
        Self { path, message, kind: ProblemKind::Warning, near: None }
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    is_new: bool,
    list: Vec<Problem>,
    left_off: usize,
    warnings: Vec<Problem>,
    sql: Vec<SqlText>,
    /// Names that scripts and expressions use, to be judged when all of the document is known.
    pub mentions: Mentions,
}

impl Problems {
    /// An empty list; says whether the document is new content, see [`super::ReadLimits::is_new`].
    pub fn of(is_new: bool) -> Self {
        Self { is_new, ..Self::default() }
    }

    /// Checks the syntax of a script of new content, and notes what it mentions; with `strict`, that must exist.
    pub fn check_script(&mut self, source: &str, strict: bool, path: &Path<'_>) {
        if !self.is_new {
            return;
        }
        match javascript::check(source) {
            Ok(()) => self.mentions.script(source, strict, path),
            Err(message) => self.invalid(path, message),
        }
    }

    /// Notes SQL of new content.
    pub fn note_sql(&mut self, text: &str, is_statement: bool, path: &Path<'_>) {
        if self.is_new && self.sql.len() < MAX_PROBLEMS {
            self.sql.push(SqlText { path: path.to_string(), text: text.to_owned(), is_statement });
        }
    }

    /// Checks that a schema can be used, if that is wanted: compiling takes a while.
    pub fn check_schema(&mut self, schema: &Schema, path: &Path<'_>) {
        if !self.is_new {
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

    /// Whether the document is new content, which is judged beyond its form.
    pub fn is_new(&self) -> bool {
        self.is_new
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
            self.list.push(Problem { path: path.to_string(), message: message.into(), kind, near: None });
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

    /// Adds a problem with a name that is none, and the one that was probably meant.
    pub fn unknown(&mut self, path: &Path<'_>, message: impl Into<String>, near: Option<&str>) {
        let message = match near {
            Some(near) => format!("{} (did you mean \"{near}\"?)", message.into()),
            None => message.into(),
        };
        if self.is_full() {
            self.left_off += 1;
            return;
        }
        let near = near.map(str::to_owned);
        self.list.push(Problem { path: path.to_string(), message, kind: ProblemKind::Invalid, near });
    }

    /// Adds something that may be meant, or not.
    pub fn warn(&mut self, path: &Path<'_>, message: impl Into<String>) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(Problem::warning(path.to_string(), message.into()));
        }
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
    pub fn into_parts(mut self) -> (Vec<Problem>, Vec<Problem>, Vec<SqlText>) {
        if self.left_off > 0 {
            let message = format!("{} more problems are not listed", self.left_off);
            self.list.push(Problem { path: String::new(), message, kind: ProblemKind::Invalid, near: None });
        }
        (self.list, self.warnings, self.sql)
    }
}
