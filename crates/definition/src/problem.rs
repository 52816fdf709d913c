//! Problems of a definition, and the list that collects them.

use super::json::Path;
use super::mentions::Mentions;
use workflow_expression::javascript;
use workflow_schema::{Schema, SchemaRefusalKind};

/// Maximum number of reported problems.
const MAX_PROBLEMS: usize = 1000;

/// One problem of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the document, such as `/root/activities/3/condition`; empty for the document.
    pub path: String,
    /// What is wrong, in the style of a primary message.
    pub message: String,
    /// Its kind, which determines the SQLSTATE.
    pub kind: ProblemKind,
    /// The known name that the author probably meant; also part of the message.
    pub near: Option<String>,
}

/// SQL of a new definition. The host parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlText {
    /// JSON pointer to the text, for a problem that the host finds.
    pub path: String,
    /// The text, with `$1…` for the parameters.
    pub text: String,
    /// Whether it is a statement; otherwise it is a query or an expression that returns a value.
    pub is_statement: bool,
}

/// An assignee or candidate of new content, for the host to look up roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonText {
    /// JSON pointer to the input, for a problem that the host finds.
    pub path: String,
    /// The constant: `role:` with the name of a role, or a label of the application.
    pub text: String,
}

/// The kinds of problems, which the extension maps to SQLSTATEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The document is wrong. (22023)
    Invalid,
    /// The document uses something unavailable: an activity or expression type. (0A000)
    Unsupported,
    /// The role that stores the definition may not use something in it. (42501)
    Denied,
    /// The document is nested deeper than allowed. (54001)
    TooDeep,
    /// The document is larger than allowed. (54000)
    TooLarge,
    /// The document may be stored, but is probably not what the author meant.
    Warning,
}

impl Problem {
    /// A problem that does not prevent the definition from being stored.
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
    people: Vec<PersonText>,
    /// Names in scripts and expressions, to be checked after the whole document was read.
    pub mentions: Mentions,
}

impl Problems {
    /// An empty list; `is_new` as in [`super::ReadLimits::is_new`].
    pub fn of(is_new: bool) -> Self {
        Self { is_new, ..Self::default() }
    }

    /// Checks the syntax of a script of new content, and collects its names; with `strict`, they must exist.
    pub fn check_script(&mut self, source: &str, strict: bool, path: &Path<'_>) {
        if !self.is_new {
            return;
        }
        match javascript::check(source) {
            Ok(()) => {
                if let Some((name, hint)) = javascript::calls_outside(source) {
                    self.warn(path, format!("scripts have no \"{name}\". {hint}"));
                }
                self.mentions.script(source, strict, path);
            }
            Err(message) => self.invalid(path, message),
        }
    }

    /// Adds SQL of new content.
    pub fn note_sql(&mut self, text: &str, is_statement: bool, path: &Path<'_>) {
        if self.is_new && self.sql.len() < MAX_PROBLEMS {
            self.sql.push(SqlText { path: path.to_string(), text: text.to_owned(), is_statement });
        }
    }

    /// Adds an assignee or candidate of new content.
    pub fn note_person(&mut self, text: &str, path: &Path<'_>) {
        if self.is_new && self.people.len() < MAX_PROBLEMS {
            self.people.push(PersonText { path: path.to_string(), text: text.to_owned() });
        }
    }

    /// Checks that a schema of new content is usable. Stored content is not checked, because compiling takes time.
    pub fn check_schema(&mut self, schema: &Schema, path: &Path<'_>) {
        if !self.is_new {
            return;
        }
        if let Err(refusal) = schema.check() {
            let kind = match refusal.kind {
                SchemaRefusalKind::Invalid => ProblemKind::Invalid,
                SchemaRefusalKind::Unsupported => ProblemKind::Unsupported,
                SchemaRefusalKind::TooDeep => ProblemKind::TooDeep,
                SchemaRefusalKind::TooLarge => ProblemKind::TooLarge,
            };
            self.add(kind, &Path::Below(path, &refusal.pointer), refusal.message);
        }
    }

    /// Whether the document is new content, which is checked more strictly.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Adds a problem. Beyond [`MAX_PROBLEMS`] it is only counted.
    pub fn push(&mut self, problem: Problem) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(problem);
        } else {
            self.left_off += 1;
        }
    }

    /// Adds a problem of a kind. The path is converted to text only if the problem is kept.
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

    /// Adds a problem with an unknown name, and the name that the author probably meant.
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

    /// Adds a warning about something that the author may not have meant.
    pub fn warn(&mut self, path: &Path<'_>, message: impl Into<String>) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(Problem::warning(path.to_string(), message.into()));
        }
    }

    /// Makes warnings of the problems behind the first `count`, because what they are about is passed over.
    /// `consequence` says what that means.
    pub fn pass_over(&mut self, count: usize, consequence: &str) {
        for mut problem in self.list.split_off(count.min(self.list.len())) {
            problem.message = format!("{}: {consequence}", problem.message);
            if self.warnings.len() < MAX_PROBLEMS {
                self.warnings.push(Problem::warning(problem.path, problem.message));
            }
        }
        self.left_off = count.saturating_sub(self.list.len());
    }

    /// Whether further problems are only counted, so that their messages need not be built.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    /// How many problems there are so far.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_off
    }

    /// Takes the assignees and candidates.
    pub fn take_people(&mut self) -> Vec<PersonText> {
        std::mem::take(&mut self.people)
    }

    /// Returns the problems, the warnings and the SQL.
    pub fn into_parts(mut self) -> (Vec<Problem>, Vec<Problem>, Vec<SqlText>) {
        if self.left_off > 0 {
            let message = format!("{} more problems are not listed", self.left_off);
            self.list.push(Problem { path: String::new(), message, kind: ProblemKind::Invalid, near: None });
        }
        (self.list, self.warnings, self.sql)
    }
}
