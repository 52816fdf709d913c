//! `wf validate`: what `wf_define` would say of definitions in files, without a database.
//!
//! The reader is that of the extension. What only a database knows (registered types, other workflows, roles, whether
//! SQL parses) is not guessed: a note says that it was not checked.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use workflow_engine::activities::catalogue;
use workflow_engine::activity::short_name;
use workflow_engine::definition::{
    self, ActivityTypes, CustomType, Problem, ProblemKind, ReadLimits, Refusal, WorkflowReference,
};
use workflow_engine::program::Program;
use workflow_engine::spelling::nearest;

use crate::document::{Document, Format, Position, SyntaxError};
use crate::failure::Failure;

/// Check definitions in files, as wf_define does, without a database
///
/// The files are JSON, or YAML 1.2. A message has the form FILE:LINE:COLUMN: SEVERITY: TEXT. Errors are what wf_define
/// rejects; then the exit code is 1. Warnings are what it warns about. Notes are about what only a database knows.
#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Files and folders; - is standard input. Of folders, the files that end in .json, .yaml or .yml and have a "root"
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print one JSON object for each message, with file, line, column, path, severity and message
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A message about a place of a file.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    at: Position,
    /// JSON pointer, as `wf_validate` returns it.
    path: String,
    severity: Severity,
    message: String,
}

pub fn validate(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut errors = 0;
    let mut definitions = 0;
    for (path, is_named) in files(&arguments.files)? {
        let text = read(&path)?;
        let (count, found) = examine(&path, &text, is_named);
        definitions += count;
        for finding in found {
            errors += usize::from(finding.severity == Severity::Error);
            writeln!(out, "{}", shown(&path, &finding, arguments.json))?;
        }
    }
    if errors > 0 {
        return Err(format!("{}, {}", counted(errors, "error"), counted(definitions, "definition")).into());
    }
    if !arguments.json {
        writeln!(out, "{}, no errors", counted(definitions, "definition"))?;
    }
    Ok(())
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shown(path: &Path, Finding { at, path: pointer, severity, message }: &Finding, as_json: bool) -> String {
    let (file, severity) = (path.display().to_string(), severity.name());
    if as_json {
        return json!({ "file": file, "line": at.line, "column": at.column, "path": pointer, "severity": severity,
                       "message": message })
        .to_string();
    }
    let mut text = format!("{file}:{}:{}: {severity}: {message}", at.line, at.column);
    if !pointer.is_empty() {
        let _ = write!(text, " ({pointer})");
    }
    // A name in a document could change what the terminal shows.
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The files to examine, and whether each was named itself.
fn files(given: &[PathBuf]) -> Result<Vec<(PathBuf, bool)>, Failure> {
    let mut found = Vec::new();
    for path in given {
        if path.is_dir() {
            let mut inside = Vec::new();
            collect(path, &mut inside)?;
            inside.sort();
            found.extend(inside.into_iter().map(|path| (path, false)));
        } else {
            found.push((path.clone(), true));
        }
    }
    Ok(found)
}

/// The definitions in a folder and the folders in it. Links are not followed.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let is_definition =
            path.extension().is_some_and(|ending| ["json", "yaml", "yml"].iter().any(|known| ending == *known));
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&path, found)?;
        } else if is_definition {
            found.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| format!("{}: {error}", path.display());
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    Ok(fs::read_to_string(path).map_err(failed)?)
}

/// The number of definitions in a file, and what is found in them. Other files of a folder are passed over.
fn examine(path: &Path, text: &str, is_named: bool) -> (usize, Vec<Finding>) {
    let documents = match Document::read_all(text, Format::of(path, text)) {
        Ok(documents) => documents,
        Err(SyntaxError { at, message }) => {
            return (0, vec![Finding { at, path: String::new(), severity: Severity::Error, message }]);
        }
    };
    let wanted = |document: &&Document| is_named || document.value.get("root").is_some();
    let wanted: Vec<&Document> = documents.iter().filter(wanted).collect();
    let mut found: Vec<Finding> = wanted.iter().flat_map(|document| findings(document)).collect();
    if documents.is_empty() && is_named {
        let message = "the file has no definition".to_owned();
        found.push(Finding { at: Position::START, path: String::new(), severity: Severity::Error, message });
    }
    (wanted.len(), found)
}

/// What is wrong with a definition, in the order of its text.
fn findings(document: &Document) -> Vec<Finding> {
    let limits = ReadLimits { is_new: true, ..ReadLimits::default() };
    let types = Undecided::default();
    let validated = definition::validate(&document.value, &types, &limits, false);
    let problems = validated.program.err().unwrap_or_default();
    let mut found: Vec<Finding> =
        problems.into_iter().chain(validated.warnings).map(|problem| finding(document, problem)).collect();
    // A note of an activity is a refusal of the reader, which then does not name it as a warning.
    for finding in &mut found {
        if types.messages.borrow().contains(&finding.message) {
            finding.severity = Severity::Note;
        }
    }
    let note = |path: String, message: String| Finding {
        at: document.position(&path),
        path,
        severity: Severity::Note,
        message,
    };
    for person in validated.people {
        if let Some(role) = person.text.strip_prefix("role:") {
            found.push(note(person.path, format!("whether role \"{role}\" exists is not checked without a database")));
        }
    }
    if let Some(first) = validated.sql.first() {
        let message = "SQL is not parsed without a database".to_owned();
        found.push(note(first.path.clone(), message));
    }
    found.sort_by_key(|finding| finding.at);
    found
}

fn finding(document: &Document, Problem { path, message, kind, .. }: Problem) -> Finding {
    let severity = if kind == ProblemKind::Warning { Severity::Warning } else { Severity::Error };
    Finding { at: document.position(&path), path, severity, message }
}

/// The activity types of any database: one that is not built in may be registered there, or be a workflow.
#[derive(Default)]
struct Undecided {
    /// The refusals that only say so.
    messages: RefCell<BTreeSet<String>>,
}

impl ActivityTypes for Undecided {
    fn custom(&self, _type_name: &str) -> Option<CustomType> {
        None
    }

    fn workflow(&self, reference: &WorkflowReference) -> Result<Option<Arc<Program>>, Refusal> {
        let named = [&reference.definition_id, &reference.version_id].into_iter().find_map(Option::as_deref);
        let type_name = reference.type_name.as_str();
        let message = match named {
            Some(id) => format!("whether workflow \"{id}\" exists is not checked without a database"),
            None if type_name.is_empty() || is_misspelt(type_name) => return Ok(None),
            None => format!("activity type \"{type_name}\" is not built in, and not checked without a database"),
        };
        self.messages.borrow_mut().insert(message.clone());
        Err(Refusal { kind: ProblemKind::Warning, message })
    }
}

/// Whether a name that is no built-in type cannot be the name of another type, or was hardly meant as one.
fn is_misspelt(type_name: &str) -> bool {
    let built_in = || catalogue::ACTIVITIES.iter().map(|activity| short_name(activity.descriptor().type_name));
    catalogue::has_reserved_prefix(type_name) || nearest(type_name, built_in()).is_some()
}

#[cfg(test)]
mod tests;
