//! Converts errors of the engine to errors of PostgreSQL: the only module that knows the SQLSTATE of each [`Error`].

use uuid::Uuid;
use workflow_engine::definition::{Problem, ProblemKind};
use workflow_engine::{Error, Fault};

use crate::pg::{PgError, interrupt};

/// Problems that DETAIL lists; it counts the remaining ones.
const MAX_PROBLEMS: usize = 20;

/// Names that HINT suggests.
const MAX_NAMES: usize = 3;

/// An error that ends a burst.
pub fn burst(error: Error, instance: Uuid) -> PgError {
    match error {
        Error::TooManySteps { limit, activity_id } => {
            PgError::new("54000", format!("workflow instance {instance} took more than {limit} steps in one burst"))
                .detail(format!("Activity \"{activity_id}\" would have been next."))
                .hint("A loop that never waits does not end. Raise workflow.max_steps if this one does.")
        }
        Error::CorruptState(reason) => {
            // A pending interrupt may have stopped the read. It is raised instead, because it knows the reason.
            interrupt::check();
            unreadable_state(instance, &reason)
        }
        Error::UnknownTrigger(activity) => {
            PgError::new("42704", format!("activity \"{activity}\" is not a trigger of the definition"))
                .hint("A trigger is an activity with canStartWorkflow.")
        }
        Error::NotFaulted(activity) => {
            PgError::new("42704", format!("activity \"{activity}\" of workflow instance {instance} is not faulted"))
        }
        Error::NothingFaulted => PgError::new("55000", format!("workflow instance {instance} is not faulted"))
            .detail("None of its activities is faulted any more."),
        Error::IsEnding { is_cancelled } => {
            let (state, detail) = match is_cancelled {
                true => ("cancelled", "What it had done is being taken back."),
                false => ("compensated", "A fault has ended it, and what it had done is being taken back."),
            };
            PgError::new("55000", format!("workflow instance {instance} is being {state}")).detail(detail)
        }
        Error::HasFailed { is_compensated: true } => {
            PgError::new("55000", format!("workflow instance {instance} was compensated"))
                .detail("A fault has ended it, and what it had done was taken back.")
                .hint("wf_explain tells what happened. Start another instance.")
        }
        Error::HasFailed { is_compensated: false } => PgError::new(
            "55000",
            format!("workflow instance {instance} cannot be retried"),
        )
        .detail("A fault has ended the whole of it: what was open is cancelled, and no activity is left to run again.")
        .hint("wf_explain tells what happened. Start another instance."),
        Error::NotAltered(problems) => match problems.first() {
            Some(problem) => fault(problem),
            None => PgError::new("XX000", format!("workflow instance {instance} was not altered")),
        },
        Error::LostActivity(activity) => {
            PgError::new("XX001", format!("activity \"{activity}\" is not open in workflow instance {instance}"))
        }
    }
}

/// The error for a damaged record of an instance, or one in a later format.
pub fn records(error: Error, instance: Uuid) -> PgError {
    let unreadable = burst(error, instance);
    PgError { message: format!("a record of workflow instance {instance} cannot be read"), ..unreadable }
}

/// The error for a damaged state of an instance, or one in a later format.
pub fn unreadable_state(instance: Uuid, reason: &str) -> PgError {
    PgError::new("XX001", format!("state of workflow instance {instance} cannot be read")).detail(reason)
}

/// The error for a damaged journal of an instance, or one in a later format.
pub fn journal(error: Error, instance: Uuid) -> PgError {
    let unreadable = burst(error, instance);
    PgError { message: format!("journal of workflow instance {instance} cannot be read"), ..unreadable }
}

/// The error for a draft that does not compile (55000).
pub fn unfinished(definition_id: &str, version: i32) -> PgError {
    PgError::new(
        "55000",
        format!("version {version} of workflow definition \"{definition_id}\" is a draft with problems"),
    )
    .hint("wf_save_draft lists the problems when it saves the draft.")
}

/// The error if the numbering of a stored version is damaged, or its document no longer compiles to the same program.
pub fn unreadable_definition(id: Uuid, reason: &str) -> PgError {
    PgError::new("XX001", format!("numbering of definition version {id} does not fit its document")).detail(reason)
}

/// The error for an invalid definition.
pub fn definition(problems: &[Problem]) -> PgError {
    let has = |kind| problems.iter().any(|problem| problem.kind == kind);
    let sqlstate = match () {
        () if has(ProblemKind::TooDeep) => "54001",
        () if has(ProblemKind::TooLarge) => "54000",
        () if has(ProblemKind::Denied) => "42501",
        () if has(ProblemKind::Invalid) => "22023",
        () => "0A000",
    };
    let message = match problems.len() {
        1 => "workflow definition has a problem".to_owned(),
        n => format!("workflow definition has {n} problems"),
    };
    PgError::new(sqlstate, message)
        .detail(lines(problems))
        .hint(format!("{}wf_validate lists the problems of a definition as rows.", meant(problems)))
}

/// A warning about problems that do not prevent storing a definition but are probably unintended.
pub fn doubtful(problems: &[Problem]) -> PgError {
    PgError::new("01000", "workflow definition may contain mistakes")
        .detail(lines(problems))
        .hint("wf_validate(…, 'warning') lists the warnings as rows.")
}

/// A warning about resilience strategies that cannot be parsed.
pub fn strategies(problems: &[Problem]) -> PgError {
    PgError::new("01000", "setting workflow.resilience_strategies is not read as a whole").detail(lines(problems))
}

/// A hint with the names that the author most likely meant.
fn meant(problems: &[Problem]) -> String {
    let mut names: Vec<&str> = problems.iter().filter_map(|problem| problem.near.as_deref()).collect();
    names.dedup();
    names.truncate(MAX_NAMES);
    match names.as_slice() {
        [] => String::new(),
        names => format!("Perhaps you meant \"{}\". ", names.join("\", \"")),
    }
}

fn lines(problems: &[Problem]) -> String {
    let mut lines: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(line).collect();
    if problems.len() > MAX_PROBLEMS {
        lines.push(format!("… and {} more.", problems.len() - MAX_PROBLEMS));
    }
    lines.join("\n")
}

fn line(problem: &Problem) -> String {
    let path = if problem.path.is_empty() { "/" } else { &problem.path };
    format!("{path}: {}", problem.message)
}

/// The fault of an activity, raised as an error. After a query cancel the pending interrupt is raised instead, because
/// it has the reason.
pub fn fault(fault: &Fault) -> PgError {
    if fault.sqlstate == "57014" {
        interrupt::check();
    }
    let code = fault.code.as_ref().map(|code| format!("Its code is \"{code}\"."));
    let details: Vec<String> = fault.detail.iter().cloned().chain(code).collect();
    PgError {
        sqlstate: fault.sqlstate.clone(),
        message: fault.message.clone(),
        detail: (!details.is_empty()).then(|| details.join("\n")),
        hint: fault.hint.clone(),
        context: fault.context.clone(),
        ..PgError::default()
    }
}

/// An error of users' SQL, as the fault of the activity that ran it.
pub fn as_fault(error: &PgError, original: u64) -> Fault {
    Fault {
        sqlstate: error.sqlstate.clone(),
        message: error.message.clone(),
        detail: error.detail.clone(),
        hint: error.hint.clone(),
        context: error.context.clone(),
        code: None,
        original: Some(original),
    }
}
