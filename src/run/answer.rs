//! The answers of workers: a task is done, or it failed.
//!
//! A token counts as long as no other worker has claimed the task, also after its lease has ended. The row of the task's
//! bookmark is locked before the token is compared, because a claim does not lock the instance.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::fault::{Fault, TASK_FAILED};
use workflow_engine::retry::{Cause, RetryPolicy};

use crate::access;
use crate::compiled;
use crate::pg::PgError;
use crate::pg::rows;
use crate::run::burst::OnFault;
use crate::run::gone::{self, Named};
use crate::run::lease::opener;
use crate::run::{Session, resume};
use crate::store::bookmarks::{self, Waiting};
use crate::store::instances::{self, InstanceRow};
use crate::store::leases::{self, Lease};
use crate::store::tasks::{self, Answer};

/// What a worker says of an attempt that failed.
#[derive(Debug)]
pub struct Failure {
    /// Message.
    pub message: String,
    /// Detail.
    pub detail: Option<String>,
    /// What a policy or a catch names it by.
    pub code: Option<String>,
    /// Microseconds until the next attempt, instead of the policy's delay.
    pub retry_in: Option<i64>,
    /// Whether another attempt makes sense.
    pub retry: bool,
}

/// What became of a task whose attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It will be tried again.
    Open,
    /// Its activity has faulted.
    Failed,
}

impl Failed {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Failed => "Failed",
        }
    }
}

/// Completes a task. The same answer with the same token a second time changes nothing.
pub fn complete(
    session: &mut Session,
    task: Uuid,
    token: Option<Uuid>,
    result: Option<&Value>,
    on_fault: OnFault,
) -> Result<InstanceRow, PgError> {
    let Some((mut waiting, compiled)) = resume::lock_named(session, task)? else {
        return completed_before(task, token, result);
    };
    match token {
        None => resume::refuse_leased(session, &waiting)?,
        Some(token) if !holds(&mut waiting, token) => return Err(not_held(&waiting)),
        Some(_) => {}
    }
    let answer = Answer::Completed(result, token.as_ref());
    resume::use_up(session, &mut waiting, &compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::resume(program, instance, resumed, result, host, limits)
    })?;
    Ok(waiting.row)
}

/// Ends an attempt with a failure: the task is tried again, or its activity faults.
pub fn fail(
    session: &mut Session,
    task: Uuid,
    token: Uuid,
    failure: &Failure,
    on_fault: OnFault,
) -> Result<(Failed, Option<InstanceRow>), PgError> {
    let Some((mut waiting, compiled)) = resume::lock_named(session, task)? else {
        return failed_before(task, token).map(|row| (Failed::Failed, Some(row)));
    };
    if !holds(&mut waiting, token) {
        return Err(not_held(&waiting));
    }
    let fault = Fault {
        detail: failure.detail.clone(),
        code: failure.code.clone(),
        ..Fault::new(TASK_FAILED, failure.message.clone())
    };
    let policy = opener(&compiled.program, &waiting.bookmark.node_id).and_then(|node| node.retry.as_deref());
    let next = policy.and_then(|policy| next_attempt(session, policy, &waiting, &fault, failure));
    if let Some(at) = next {
        let available_at = (at > session.now).then(|| at.into());
        let last_error = Some(failure.message.clone());
        let lease = Lease { attempt: waiting.lease.attempt, available_at, last_error, ..Lease::default() };
        rows::write(|writer| leases::set(writer, &task, &lease));
        return Ok((Failed::Open, None));
    }
    let answer = Answer::Failed(&token);
    let attempts = u32::try_from(waiting.lease.attempt).unwrap_or_default();
    resume::use_up(session, &mut waiting, &compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::fail(program, instance, resumed, attempts, fault, host, limits)
    })?;
    Ok((Failed::Failed, Some(waiting.row)))
}

/// When the task can be claimed again. `None`: this was its last attempt.
fn next_attempt(
    session: &Session,
    policy: &RetryPolicy,
    waiting: &Waiting,
    fault: &Fault,
    failure: &Failure,
) -> Option<DateTime<Utc>> {
    if !failure.retry || !session.limits.retries || !policy.covers(fault) {
        return None;
    }
    let failed = u32::try_from(waiting.lease.attempt).unwrap_or_default();
    let since = waiting.made_at.into();
    let random = Uuid::new_v4().as_u64_pair().1;
    let policy = match failure.retry_in {
        Some(delay) => &RetryPolicy { delay: TimeDelta::microseconds(delay), ..policy.without_backoff() },
        None => policy,
    };
    policy.next_attempt(failed, since, session.now, random)
}

/// Locks the row of the task and asks whether a token is the present one.
fn holds(waiting: &mut Waiting, token: Uuid) -> bool {
    bookmarks::lock_lease(waiting) && waiting.lease.token == Some(token)
}

fn not_held(waiting: &Waiting) -> PgError {
    let error = PgError::new("55000", format!("task {} is not held with this token", waiting.bookmark.id));
    match waiting.lease.token {
        Some(_) => error.detail("Another worker has claimed it since, or the token is that of another task."),
        None => error.detail("The task was given back, or an attempt failed, or the token is that of another task."),
    }
}

/// The answer to a completion whose task is not open any more: the same again, if the same worker gave it.
fn completed_before(task: Uuid, token: Option<Uuid>, result: Option<&Value>) -> Result<InstanceRow, PgError> {
    let ended = tasks::ended(task, token.as_ref(), result).filter(|ended| ended.by_token && !ended.has_failed);
    let Some(ended) = ended else { return Err(gone::error(Named::Task(task))?) };
    let row = readable(ended.instance, task)?;
    if ended.same_result {
        return Ok(row);
    }
    Err(PgError::new("55000", format!("task {task} was already completed with another result")))
}

fn failed_before(task: Uuid, token: Uuid) -> Result<InstanceRow, PgError> {
    match tasks::ended(task, Some(&token), None).filter(|ended| ended.by_token && ended.has_failed) {
        Some(ended) => readable(ended.instance, task),
        None => Err(gone::error(Named::Task(task))?),
    }
}

fn readable(instance: Uuid, task: Uuid) -> Result<InstanceRow, PgError> {
    let Some(row) = instances::get(instance) else { return Err(gone::error(Named::Task(task))?) };
    access::require_resume(&row, &*compiled::of_instance(&row)?)?;
    Ok(row)
}

/// Refuses a code that would be read as a SQLSTATE or as a class of these (22023).
pub fn check_code(code: Option<&str>) -> Result<(), PgError> {
    match code.map(|code| (code, Cause::read(code))) {
        Some((code, Cause::SqlState(_) | Cause::Class(_))) => {
            Err(PgError::new("22023", format!("code \"{code}\" looks like a SQLSTATE"))
                .hint("Use lower-case letters, such as \"card_declined\"."))
        }
        Some(("", _)) => Err(PgError::new("22023", "argument \"code\" must not be empty")),
        _ => Ok(()),
    }
}
