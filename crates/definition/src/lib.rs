//! Definitions: from JSON to a [`Program`] and back.
//!
//! The reader accepts two spellings, mixed at any depth: Elsa 3's JSON as its Studio exports it, including legacy
//! forms, and a short form for authors. It does not stop at the first mistake but collects all [`Problem`]s, each with
//! a JSON Pointer into the original document. It knows the members of an activity only from the activity's descriptor,
//! so a new activity needs no change here.
//!
//! The document is untrusted input. The reader walks activities with a work list instead of recursion, and the
//! remaining recursion (over constants) has a depth limit. The crate runs nothing and stores nothing. Activity types
//! and workflows defined elsewhere come from the caller ([`ActivityTypes`]).
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use workflow_definition::{ReadLimits, compile};
//!
//! let limits = ReadLimits::default();
//! let leave = json!({"definitionId": "leave", "root": {"type": "RunTask", "taskName": "approve"}});
//! let program = compile(&leave, &(), &limits, false).expect("acceptable");
//! assert_eq!(program.nodes[0].type_name, "Elsa.RunTask");
//!
//! let wrong = json!({"definitionId": "leave", "root": [{"type": "RunTak"}]});
//! let problems = compile(&wrong, &(), &limits, false).unwrap_err();
//! assert_eq!(problems[0].path, "/root/0");
//! assert!(problems[0].message.contains("did you mean \"RunTask\"?"));
//! ```
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use workflow_core::NodeIx;
use workflow_core::program::Program;

mod activity;
mod appearance;
mod arguments;
mod common;
mod compensation;
mod connections;
mod constant;
mod content;
mod custom;
mod exclusion;
mod export;
mod expression;
mod flow_mode;
mod forms;
mod identity;
mod journaling;
mod json;
mod json_schema;
mod link;
mod members;
mod mentions;
mod notices;
mod options;
mod outcomes;
mod outline;
mod parts;
mod problem;
mod property;
mod requests;
mod resilience;
mod retry;
mod scope;
mod search_attributes;
mod settings;
mod states;
mod types;
mod unavailable;
mod undeclared;
mod workflow;

pub use appearance::{Appearance, appearances};
pub use content::same_content;
pub use export::export;
pub use identity::{Identity, identity};
pub use json_schema::{DeclaredMember, DeclaredType, json_schema};
pub use link::{references, type_of};
pub use options::{activity_type, updates_consumers};
pub use problem::{PersonText, Problem, ProblemKind, SqlText};
pub use property::PROPERTIES;
pub use resilience::problems_of_strategies;
pub use types::{ActivityTypes, CustomType, ReadLimits, Refusal, WorkflowReference};

use json::{Activities, Path, kind_of, text};
use outline::Outline;
use problem::Problems;
use scope::Scopes;
use settings::Settings;

/// Compiles a definition.
///
/// With `allow_unknown`, an activity of an unknown type becomes an activity that faults when it runs.
///
/// # Errors
///
/// All problems of the document.
pub fn compile(
    document: &Value,
    types: &dyn ActivityTypes,
    limits: &ReadLimits,
    allow_unknown: bool,
) -> Result<Program, Vec<Problem>> {
    validate(document, types, limits, allow_unknown).program
}

/// The result of compiling a document.
#[derive(Debug)]
pub struct Validated {
    /// The program; if it does not compile, every problem that was found.
    pub program: Result<Program, Vec<Problem>>,
    /// Warnings about probable mistakes.
    pub warnings: Vec<Problem>,
    /// The SQL of new content, for the host to parse.
    pub sql: Vec<SqlText>,
    /// The assignees and candidates of new content, for the host to look up.
    pub people: Vec<PersonText>,
    /// Triggers of new content, with the JSON pointers to them.
    pub triggers: Vec<(NodeIx, String)>,
}

/// Compiles a definition, and collects warnings about constructs that compile but may be wrong.
pub fn validate(document: &Value, types: &dyn ActivityTypes, limits: &ReadLimits, allow_unknown: bool) -> Validated {
    let mut problems = Problems::of(limits.is_new);
    let mut triggers = Vec::new();
    let program = read(document, types, limits, allow_unknown, &mut triggers, &mut problems);
    let people = problems.take_people();
    let (errors, warnings, sql) = problems.into_parts();
    let program = match program {
        Some(program) if errors.is_empty() => Ok(program),
        _ => Err(errors),
    };
    Validated { program, warnings, sql, people, triggers }
}

/// Reads as much as possible; the program is valid only if there were no problems.
fn read(
    document: &Value,
    types: &dyn ActivityTypes,
    limits: &ReadLimits,
    allow_unknown: bool,
    triggers: &mut Vec<(NodeIx, String)>,
    problems: &mut Problems,
) -> Option<Program> {
    let Value::Object(members) = document else {
        problems.invalid(&Path::Root, format!("a definition must be an object, not {}", kind_of(document)));
        return None;
    };
    let identity = match identity(document) {
        Ok(identity) => Some(identity),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    let mut settings = Settings::read(members, problems);
    resilience::add_common(Arc::make_mut(&mut settings.options.strategies), types);
    let outline = Outline::read(members, types, limits, allow_unknown, problems);
    let scopes = Scopes::read(&settings, &outline, problems);
    let identity = identity.unwrap_or_default();
    let nodes = activity::read_all(&outline, &scopes, &settings.options, problems);
    compensation::check(&nodes, &settings.options, &outline, problems);
    requests::check(&nodes, &outline, problems);
    let mut by_id = HashMap::with_capacity(nodes.len());
    for (ix, node) in (0u32..).zip(&nodes) {
        by_id.entry(node.id.clone()).or_insert(NodeIx(ix));
    }
    undeclared::check(&settings, &scopes, &outline, problems);
    if limits.is_new {
        let starts = (0u32..).zip(&nodes).filter(|(_, node)| node.can_start_workflow);
        triggers.extend(starts.map(|(ix, _)| (NodeIx(ix), outline.pointer(ix as usize))));
    }
    let uses_sql = nodes.iter().any(|node| node.uses_sql);
    let excludes_people = nodes.iter().any(exclusion::excludes);
    let notifies = nodes.iter().any(notices::notifies);
    let mut program = Program {
        definition_id: identity.definition_id,
        version_id: text(members, "id").map(Into::into),
        name: identity.name,
        options: settings.options,
        variables: settings.variables,
        inputs: settings.inputs,
        outputs: settings.outputs,
        input_schema: settings.input_schema,
        nodes,
        by_id,
        inlined: Vec::new(),
        outcomes: settings.outcomes,
        size: link::size_of(document),
        uses_sql,
        excludes_people,
        notifies,
        compensation: Default::default(),
    };
    if problems.count() == 0 {
        link::insert(&mut program, &outline, limits, problems);
        program.mark_shared_ids();
        exclusion::check(&program, &outline, problems);
        notices::check(&program, &outline, problems);
    }
    Some(program)
}
