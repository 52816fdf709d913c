//! What a named schedule starts: a workflow with input, or a command.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::{self, Privilege};
use crate::compiled;
use crate::error;
use crate::pg::parse::{self, CommandStatement};
use crate::pg::session::literal;
use crate::pg::{PgError, json, user_sql};
use crate::run::CallContext;
use crate::run::definitions::built_in;
use crate::run::instances::version;
use crate::store::definitions;
use crate::store::timers::schedules::{COMMANDS, Timed};

/// Members of the input for the definition that runs commands.
const STATEMENT: &str = "statement";
const TOP_LEVEL: &str = "topLevel";
const RETRY: &str = "retry";

/// The job in a call. A missing member stays unchanged.
#[derive(Debug)]
pub enum JobRequest {
    /// SQL, which instances of the definition [`COMMANDS`] run.
    Command {
        /// One statement, or several that run in one transaction.
        command: Option<String>,
        /// Whether it runs outside a transaction block; by default determined by its text.
        top_level: Option<bool>,
        /// Whether it is run again after a crash.
        retry: Option<bool>,
    },
    /// Instances of the version of a definition that is published when it fires.
    Workflow {
        /// Logical id of its definition.
        definition: Option<String>,
        /// The input of every instance, in addition to the scheduled instant.
        input: Option<Map<String, Value>>,
        /// Correlation id that every instance gets.
        correlation_id: Option<String>,
    },
    /// The schedule's existing job.
    Same,
}

/// The job of a schedule, as its row in `workflow.triggers` stores it.
#[derive(Debug)]
pub struct Job {
    /// The definition whose published version each fire starts; for a command [`COMMANDS`].
    pub definition_id: String,
    /// The currently published version.
    pub version_id: Uuid,
    /// Number of the version with the id `version_id`.
    pub version: i32,
    /// The input of every instance, in addition to the scheduled instant; for a command the statements and how they
    /// run.
    pub input: Map<String, Value>,
    /// Correlation id that every instance gets; a command has none.
    pub correlation_id: Option<String>,
}

impl JobRequest {
    /// The job to store, based on the existing schedule if there is one.
    pub fn resolve(&self, context: &mut CallContext, known: Option<&Timed>) -> Result<Job, PgError> {
        match (self, known.map(|known| known.definition_id == COMMANDS)) {
            (Self::Command { .. }, Some(false)) => {
                return Err(PgError::new("22023", "schedule starts a workflow and has no command"));
            }
            (Self::Workflow { definition: None, .. }, Some(true)) => {
                return Err(PgError::new("22023", "schedule runs a command and has no input"));
            }
            _ => {}
        }
        match self {
            Self::Command { command, top_level, retry } => {
                let before = known.and_then(|known| known.input.as_ref());
                let input = command_input(before, command.as_deref(), *top_level, *retry)?;
                let row = built_in::definition(context, &built_in::COMMAND)?;
                let definition_id = COMMANDS.to_owned();
                Ok(Job { definition_id, version_id: row.id, version: row.version, input, correlation_id: None })
            }
            Self::Workflow { definition, input, correlation_id } => {
                let before = known.and_then(|known| known.input.as_ref());
                let input = input.as_ref().or(before).map(json::copy_members).unwrap_or_default();
                let correlation_id =
                    correlation_id.clone().or_else(|| known.and_then(|known| known.correlation_id.clone()));
                let kept = known.filter(|_| definition.is_none());
                if let Some(row) = kept.and_then(|known| definitions::published(&known.definition_id)) {
                    check_input(row.id, &input)?;
                }
                match (definition, known) {
                    (Some(definition), _) => workflow(definition, input, correlation_id),
                    (None, Some(known)) => Ok(Job { input, correlation_id, ..same(known) }),
                    (None, None) => Err(PgError::new("22004", "argument \"definition\" must not be NULL")),
                }
            }
            Self::Same => known.map(same).ok_or_else(|| PgError::new("22004", "argument \"command\" must not be NULL")),
        }
    }
}

fn same(known: &Timed) -> Job {
    Job {
        definition_id: known.definition_id.clone(),
        version_id: known.trigger.definition_version_id,
        // The number goes with the version and is looked up at each fire.
        version: known.version,
        input: known.input.as_ref().map(json::copy_members).unwrap_or_default(),
        correlation_id: known.correlation_id.clone(),
    }
}

fn workflow(definition: &str, input: Map<String, Value>, correlation_id: Option<String>) -> Result<Job, PgError> {
    let Some(row) = version::undeleted(|| Ok(definitions::published(definition)))? else {
        return Err(match definitions::latest(definition) {
            Some(_) => PgError::new("55000", format!("workflow definition \"{definition}\" is not published"))
                .hint(format!("Run wf_publish({}).", literal(definition))),
            None => PgError::new("42704", format!("workflow definition \"{definition}\" does not exist"))
                .hint("The third argument is the definition's id, not its name."),
        });
    };
    access::require(Privilege::Start, &row)?;
    check_input(row.id, &input)?;
    Ok(Job { definition_id: definition.to_owned(), version_id: row.id, version: row.version, input, correlation_id })
}

/// Rejects invalid input now, when the caller sees the error, and not when a background worker fires.
fn check_input(version: Uuid, input: &Map<String, Value>) -> Result<(), PgError> {
    let compiled = compiled::of_version(version)?;
    compiled.program.accept_input(json::copy_members(input).into()).map_err(|fault| error::fault(&fault))?;
    Ok(())
}

fn command_input(
    before: Option<&Map<String, Value>>,
    command: Option<&str>,
    top_level: Option<bool>,
    retry: Option<bool>,
) -> Result<Map<String, Value>, PgError> {
    let mut input = before.map(json::copy_members).unwrap_or_default();
    if let Some(command) = command {
        let statements = statements(command)?;
        let by_text = statements.iter().any(|statement| statement.needs_top_level);
        let text = match statements.as_slice() {
            [one] => Value::from(one.text.as_str()),
            several => several.iter().map(|statement| statement.text.as_str()).collect(),
        };
        input.insert(STATEMENT.into(), text);
        input.insert(TOP_LEVEL.into(), Value::Bool(by_text));
    }
    if let Some(top_level) = top_level {
        input.insert(TOP_LEVEL.into(), Value::Bool(top_level));
    }
    if let Some(retry) = retry {
        input.insert(RETRY.into(), Value::Bool(retry));
    }
    let runs_apart = input.get(TOP_LEVEL) == Some(&Value::Bool(true));
    if runs_apart && input.get(STATEMENT).is_some_and(Value::is_array) {
        return Err(PgError::new("0A000", "a command that runs outside a transaction block must be one statement")
            .detail("Several statements of a command run in one transaction.")
            .hint("Make a schedule for each of them. Settings that a statement needs can be made with ALTER ROLE … SET for the owner of the schedule."));
    }
    Ok(input)
}

fn statements(command: &str) -> Result<Vec<CommandStatement>, PgError> {
    let statements = parse::statements(command)?;
    if statements.is_empty() {
        return Err(PgError::new("22023", "argument \"command\" must not be empty"));
    }
    if statements.iter().any(|statement| statement.controls_transaction) {
        return Err(PgError::new("0A000", "a command cannot begin or end its transaction")
            .detail("Its statements run in one transaction.")
            .hint("Leave BEGIN and COMMIT out."));
    }
    if statements.iter().any(|statement| statement.copies_with_client) {
        return Err(PgError::new("0A000", "a command cannot copy from or to a client")
            .detail("It runs without one.")
            .hint("Use a file or a program of the server, or INSERT."));
    }
    if statements.iter().any(|statement| user_sql::analyze(&statement.text).is_ok_and(|parameters| parameters > 0)) {
        return Err(PgError::new("22023", "a command has no parameters")
            .hint("Write the value into the command, or schedule a workflow with an input."));
    }
    Ok(statements)
}
