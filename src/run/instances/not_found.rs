//! The error of a call that names a bookmark or a task that does not exist.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::access::{Operation, instance, people};
use crate::compiled;
use crate::pg::PgError;
use crate::store::history::journal::{self, End, How};
use crate::store::instances;
use crate::store::tasks::{self, NeedlessTask};

/// What a call names and does not find, in the words of the call. A task's id is its bookmark's.
#[derive(Clone, Copy, Debug)]
pub enum Missing {
    /// The id of a bookmark, as `wf_resume` takes it.
    Bookmark(Uuid),
    /// The id of a task, as `wf_complete_task` takes it.
    Task(Uuid),
}

impl Missing {
    /// The id that the call gave; the journal has it as that of a bookmark in both cases.
    pub fn id(self) -> Uuid {
        match self {
            Self::Bookmark(id) | Self::Task(id) => id,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Bookmark(_) => "bookmark",
            Self::Task(_) => "task",
        }
    }
}

/// The bookmark was used up or cancelled (55000), or the journal knows no such bookmark (42704).
pub fn missing_error(missing: Missing) -> Result<PgError, PgError> {
    let (noun, id) = (missing.noun(), missing.id());
    if let Some(needless) = tasks::needless(id) {
        return needless_error(missing, &needless);
    }
    let Some(end) = journal::end_of_bookmark(id) else {
        return Ok(PgError::new("42704", format!("{noun} {id} does not exist")));
    };
    // The burst after an answer may still be due, and the journal has the end of the bookmark only then.
    let end = match tasks::ended(id, None, None) {
        Some(ended) if !ended.has_failed => End { how: How::Resumed, at: ended.at.into(), ..end },
        Some(_) if matches!(missing, Missing::Task(_)) => End { how: How::GivenUp, ..end },
        _ => end,
    };
    let what = match (missing, &end.how) {
        (Missing::Bookmark(_), _) => "used",
        (Missing::Task(_), How::GivenUp) => "given up",
        (Missing::Task(_), How::Resumed) => "completed",
        (Missing::Task(_), _) => "cancelled",
    };
    let error = PgError::new("55000", format!("{noun} {id} was already {what}"));
    // A role that may resume the instance is told when the bookmark ended. Only one that may read it is told the cause,
    // too.
    let Some(row) = instances::get(end.instance) else { return Ok(error) };
    let compiled = compiled::of_version(row.definition_version_id)?;
    if instance::allows(Operation::Read, &row, &compiled) {
        return Ok(error.detail(detail(missing, &end)));
    }
    let may_resume = instance::allows(Operation::Resume, &row, &compiled);
    Ok(if may_resume { error.detail(detail(missing, &End { how: end.how.without_cause(), ..end })) } else { error })
}

/// The activity had an outcome before the task was answered. Those who might have answered are told which.
fn needless_error(missing: Missing, task: &NeedlessTask) -> Result<PgError, PgError> {
    let (noun, id) = (missing.noun(), missing.id());
    let error = PgError::new("55000", format!("{noun} {id} was already cancelled"));
    let Some(row) = instances::get(task.instance) else { return Ok(error) };
    let compiled = compiled::of_version(row.definition_version_id)?;
    let may_know = instance::allows(Operation::Read, &row, &compiled)
        || people::require_answer(&row, &compiled, id, task.assignment.as_deref()).is_ok();
    let (activity, outcome, at) = (&task.activity_id, &task.outcome, format_instant(task.at.into()));
    Ok(match may_know {
        true => error.detail(format!("The outcome of \"{activity}\" is {outcome} since {at}.")),
        false => error,
    })
}

fn detail(missing: Missing, end: &End) -> String {
    let at = format_instant(end.at);
    match (&end.how, missing) {
        (How::Resumed, Missing::Bookmark(_)) => format!("It was resumed at {at}."),
        (How::Resumed, Missing::Task(_)) => format!("It was completed at {at}."),
        (How::GivenUp, _) => format!("Its last attempt failed at {at}."),
        (How::Cancelled { by: Some(by) }, _) => format!("It was cancelled at {at}, when activity \"{by}\" went on."),
        (How::Cancelled { by: None }, _) => format!("It was cancelled at {at}."),
        (How::InstanceCancelled { reason: Some(reason) }, _) => {
            format!("Workflow instance {} was cancelled at {at}: {reason}", end.instance)
        }
        (How::InstanceCancelled { reason: None }, _) => {
            format!("Workflow instance {} was cancelled at {at}.", end.instance)
        }
        (How::Removed, _) => format!("It was removed at {at}."),
    }
}

/// An instant as messages show it.
pub fn format_instant(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S%.6f+00").to_string()
}
