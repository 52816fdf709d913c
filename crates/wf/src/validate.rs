//! `wf validate`: what `wf_define` would say of definitions in files, without a database.
//!
//! The reader is that of the extension. What only a database knows (registered types, workflows that are in none of the
//! files, roles, whether SQL parses) is not guessed: a note says that it was not checked.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::document::{Document, Format, Position, SyntaxError};
use crate::failure::Failure;
use library::Library;

mod library;

/// Check definitions in files, as wf_define does, without a database
///
/// The files are JSON, or YAML 1.2. A definition may use those in the other files as activities, in any order. A message
/// has the form FILE:LINE:COLUMN: SEVERITY: TEXT. Errors are what wf_define rejects; then the exit code is 1. Warnings are
/// what it warns about. Notes are about what only a database knows.
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
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    at: Position,
    /// JSON pointer, as `wf_validate` returns it.
    path: String,
    severity: Severity,
    message: String,
}

pub fn validate(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut sources = Vec::new();
    for (path, is_named) in files(&arguments.files)? {
        let text = read(&path)?;
        sources.push(SourceFile::parse(path, &text, is_named));
    }
    let definitions = sources.iter().map(|file| file.definitions.len()).sum();
    let mut out = std::io::stdout().lock();
    let mut errors = 0;
    for (path, finding) in examine(&sources) {
        errors += usize::from(finding.severity == Severity::Error);
        writeln!(out, "{}", shown(path, &finding, arguments.json))?;
    }
    if errors > 0 {
        return Err(format!("{}, {}", counted(errors, "error"), counted(definitions, "definition")).into());
    }
    if !arguments.json {
        writeln!(out, "{}, no errors", counted(definitions, "definition"))?;
    }
    Ok(())
}

/// The definitions in files and folders, in their order.
pub fn read_definitions(given: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    let mut definitions = Vec::new();
    for (path, is_named) in files(given)? {
        let text = read(&path)?;
        let source = SourceFile::parse(path, &text, is_named);
        if let Some(finding) = &source.finding {
            return Err(shown(&source.path, finding, false).into());
        }
        definitions.extend(source.definitions.into_iter().map(|document| document.value));
    }
    Ok(definitions)
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

/// A file with definitions.
#[derive(Debug)]
struct SourceFile {
    path: PathBuf,
    definitions: Vec<Document>,
    /// Why it has no definitions, although it should have.
    finding: Option<Finding>,
}

impl SourceFile {
    /// Reads the definitions of a file. Other files of a folder are passed over.
    fn parse(path: PathBuf, text: &str, is_named: bool) -> Self {
        let error = |at, message| Some(Finding { at, path: String::new(), severity: Severity::Error, message });
        match Document::read_all(text, Format::of(&path, text)) {
            Err(SyntaxError { at, message }) => Self { path, definitions: Vec::new(), finding: error(at, message) },
            Ok(documents) if documents.is_empty() && is_named => {
                let finding = error(Position::START, "the file has no definition".to_owned());
                Self { path, definitions: Vec::new(), finding }
            }
            Ok(mut documents) => {
                documents.retain(|document| is_named || document.value.get("root").is_some());
                Self { path, definitions: documents, finding: None }
            }
        }
    }
}

/// What is found in the files: for each, in the order of its text. A definition may use those of all files.
fn examine(files: &[SourceFile]) -> Vec<(&Path, Finding)> {
    let library = Library::new(files.iter().flat_map(|file| &file.definitions));
    let mut definitions = 0..;
    let mut found = Vec::new();
    for file in files {
        let of_definitions = definitions.by_ref().take(file.definitions.len()).flat_map(|ix| library.findings(ix));
        let findings = file.finding.clone().into_iter().chain(of_definitions);
        found.extend(findings.map(|finding| (file.path.as_path(), finding)));
    }
    found
}

#[cfg(test)]
mod tests;
