//! Workers' answers: a task is completed or has failed.
//!
//! A token is valid until another worker claims the task, even after its lease has ended. The row of the task's
//! bookmark is locked before the token is compared, because a claim does not lock the instance.

use std::rc::Rc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::activity::FailedAttempt;
use workflow_engine::approval::Approval;
use workflow_engine::execution;
use workflow_engine::fault::{Fault, TASK_FAILED};
use workflow_engine::journal::{Act, ActKind, EventKind};
use workflow_engine::program::Node;
use workflow_engine::retry::{Cause, LONGEST, RetryPolicy};
use workflow_engine::schema::Schema;
use workflow_engine::stimulus;

use crate::access::{exclusion, people, substitution};
use crate::compiled::{self, Compiled};
use crate::pg::args::Interval;
use crate::pg::{PgError, guc, json, rows};
use crate::run::CallContext;
use crate::run::burst::{OnFault, consume};
use crate::run::call::{isolated, notices};
use crate::run::history::acts;
use crate::run::instances::not_found::{self, Missing};
use crate::run::instances::resume;
use crate::run::repair::{alter, pause};
use crate::run::tasks::{limits, stored_answer};
use crate::store::history::journal;
use crate::store::instances::bookmarks::{self, BookmarkKind, Waiting};
use crate::store::instances::{self, InstanceRow};
use crate::store::repair::pauses;
use crate::store::tasks::leases::{self, Lease};
use crate::store::tasks::{self, Answer, EndedTask};
use crate::wake::{self, CountOf};

/// A worker's report of a failed attempt.
#[derive(Debug)]
pub struct AttemptFailure {
    /// The message: `last_error` of the task, or after the last attempt the message of the fault.
    pub message: String,
    /// Detail of that fault, if any. It is not stored if another attempt follows.
    pub detail: Option<String>,
    /// The code by which a policy or a catch identifies it.
    pub code: Option<String>,
    /// Microseconds until the next attempt, instead of the policy's delay.
    pub retry_in: Option<i64>,
    /// Whether another attempt makes sense.
    pub retry: bool,
}

/// The state of a task after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskAfterFailure {
    /// It will be tried again.
    Open,
    /// Its activity has faulted.
    Failed,
}

impl TaskAfterFailure {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Failed => "Failed",
        }
    }
}

/// Completes a task. Repeating the same answer with the same token changes nothing.
pub fn complete(
    context: &mut CallContext,
    task: Uuid,
    token: Option<Uuid>,
    result: Option<&Value>,
    on_fault: OnFault,
) -> Result<InstanceRow, PgError> {
    let Some((mut waiting, compiled)) = lock_task(context, task, true)? else {
        return completed_before(task, token, result);
    };
    match token {
        None => {
            pause::refuse(&waiting.row, &compiled)?;
            resume::refuse_leased(context, &waiting, resume::GIVE_TOKEN)?;
        }
        Some(token) if !holds(&mut waiting, token) => return Err(not_held(&waiting)),
        Some(_) => {}
    }
    let failed = validate_answer(&compiled.program, &waiting, result)?;
    if let (Some(FailedAttempt { fault, retry_in }), Some(token)) = (failed, &token) {
        let retry_in = retry_in.and_then(|delay| delay.num_microseconds());
        if give_back(context, &compiled.program, &mut waiting, &fault, retry_in) {
            return Ok(waiting.row);
        }
        let (instance, execution) = (&waiting.row.instance, waiting.bookmark.activity_instance_id);
        if execution::faults_at_last(&compiled.program, instance, execution, result) {
            return fail_finally(context, waiting, &compiled, (result, token), fault, on_fault);
        }
    }
    waiting.act = Some(acts::of_call(context, ActKind::Complete, &compiled)?);
    let answer = Answer::Completed(result, token.as_ref());
    if stored_answer::must_wait(context, &waiting, &compiled, token.is_none()) {
        stored_answer::store(context, &mut waiting, answer, None);
        if token.is_none() {
            notices::notice_left_to_owner(waiting.row.instance.id, &waiting.row.owner);
        }
        return Ok(waiting.row);
    }
    consume::use_up(context, &mut waiting, &compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::resume(program, instance, resumed, result, host, limits)
    })?;
    Ok(waiting.row)
}

/// Completes a task in place of the people it is for. The journal records who did it, and why.
pub fn complete_for_people(
    context: &mut CallContext,
    task: Uuid,
    reason: String,
    result: Option<&Value>,
    on_fault: OnFault,
) -> Result<InstanceRow, PgError> {
    let may_override = |waiting: &Waiting, compiled: &Compiled| {
        people::require_override(&waiting.row, compiled, task, waiting.lease.assignment.as_deref())?;
        exclusion::require(&waiting.row, compiled, &waiting.bookmark, None)
    };
    let found = resume::lock_named(context, task, may_override)?;
    let found = found.filter(|(waiting, _)| waiting.kind != BookmarkKind::Answer);
    let Some((mut waiting, compiled)) = found else { return Err(not_found::missing_error(Missing::Task(task))?) };
    pause::refuse(&waiting.row, &compiled)?;
    resume::refuse_leased(
        context,
        &waiting,
        "It can be completed when the lease ends, or when the worker gives it back.",
    )?;
    validate_answer(&compiled.program, &waiting, result)?;
    record_override(context, &mut waiting, &compiled, reason)?;
    waiting.act = Some(Act { is_recorded: true, ..context.act(ActKind::Complete)? });
    let answer = Answer::Completed(result, None);
    if stored_answer::must_wait(context, &waiting, &compiled, true) {
        stored_answer::store(context, &mut waiting, answer, None);
        notices::notice_left_to_owner(waiting.row.instance.id, &waiting.row.owner);
        return Ok(waiting.row);
    }
    consume::use_up(context, &mut waiting, &compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::resume(program, instance, resumed, result, host, limits)
    })?;
    Ok(waiting.row)
}

fn record_override(
    context: &CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    reason: String,
) -> Result<(), PgError> {
    let act = acts::of_call(context, ActKind::Override, compiled)?;
    let data = Value::Object(alter::author(Some(reason)).data("OverrideTask"));
    let instance = &mut waiting.row.instance;
    let event = execution::task_event(EventKind::Altered, instance.id, &waiting.bookmark, data);
    let seq = journal::take_rows(instance, Some(&act), 1);
    instances::save_state(instance);
    rows::write(|writer| journal::append(writer, &instance.id, seq, Some(&act), &[event], context.timestamp()));
    Ok(())
}

/// Ends an attempt with a failure: the task is tried again, or its activity faults.
pub fn fail(
    context: &mut CallContext,
    task: Uuid,
    token: Uuid,
    failure: &AttemptFailure,
    on_fault: OnFault,
) -> Result<(TaskAfterFailure, Option<InstanceRow>), PgError> {
    let Some((mut waiting, compiled)) = lock_task(context, task, false)? else {
        return failed_before(task, token).map(|row| (TaskAfterFailure::Failed, Some(row)));
    };
    if !holds(&mut waiting, token) {
        return Err(not_held(&waiting));
    }
    let fault = Fault {
        detail: failure.detail.clone(),
        code: failure.code.clone(),
        ..Fault::new(TASK_FAILED, failure.message.clone())
    };
    if failure.retry && give_back(context, &compiled.program, &mut waiting, &fault, failure.retry_in) {
        return Ok((TaskAfterFailure::Open, None));
    }
    let row = fail_finally(context, waiting, &compiled, (None, &token), fault, on_fault)?;
    Ok((TaskAfterFailure::Failed, Some(row)))
}

/// Ends the task with the failure of its last attempt, which is a fault of its activity. The caller holds the task.
/// `answer`: what the worker answered, unless it gave the task up, and its token.
fn fail_finally(
    context: &mut CallContext,
    mut waiting: Waiting,
    compiled: &Compiled,
    answer: (Option<&Value>, &Uuid),
    fault: Fault,
    on_fault: OnFault,
) -> Result<InstanceRow, PgError> {
    waiting.act = Some(acts::of_call(context, ActKind::Fail, compiled)?);
    let answer = Answer::Failed(answer.0, answer.1);
    if stored_answer::must_wait(context, &waiting, compiled, false) {
        stored_answer::store(context, &mut waiting, answer, Some(&fault));
        return Ok(waiting.row);
    }
    let attempts = u32::try_from(waiting.lease.attempt).unwrap_or_default();
    consume::use_up(context, &mut waiting, compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::fail(program, instance, resumed, attempts, fault, host, limits)
    })?;
    Ok(waiting.row)
}

/// Locks the instance of a task that the caller named, and requires the rights to work on the task. `None` if the task
/// is not open. `is_answer`: the caller answers it, perhaps in place of an absent person.
fn lock_task(
    context: &mut CallContext,
    task: Uuid,
    is_answer: bool,
) -> Result<Option<(Waiting, Rc<Compiled>)>, PgError> {
    let (now, mut in_place_of) = (context.timestamp(), None);
    let may_work = |waiting: &Waiting, compiled: &Compiled| {
        let (row, assignment) = (&waiting.row, waiting.lease.assignment.as_deref());
        if is_answer {
            in_place_of = substitution::require_answer(row, compiled, &waiting.bookmark, assignment, now)?;
            return Ok(());
        }
        people::require_work(row, compiled, task, assignment)?;
        exclusion::require(row, compiled, &waiting.bookmark, assignment)
    };
    let found = resume::lock_named(context, task, may_work)?;
    let found = found.filter(|(waiting, _)| waiting.kind != BookmarkKind::Answer);
    Ok(found.map(|(waiting, compiled)| (Waiting { in_place_of, ..waiting }, compiled)))
}

/// Releases a task whose attempt failed, so that another worker can claim it, if its retry policy allows another
/// attempt. The journal records the failure.
fn give_back(
    context: &CallContext,
    program: &Program,
    waiting: &mut Waiting,
    fault: &Fault,
    retry_in: Option<i64>,
) -> bool {
    let policy = execution::retry_policy(program, &waiting.row.instance, waiting.bookmark.activity_instance_id);
    let Some(policy) = policy else { return false };
    let Some(at) = claimable_again_at(context, &policy, waiting, fault, retry_in) else { return false };
    let available_at = (at > context.now).then(|| at.into());
    let last_error = Some(fault.message.clone());
    let Waiting { row, bookmark, lease: Lease { attempt, lane, .. }, .. } = waiting;
    let lease = Lease { attempt: *attempt, available_at, last_error, lane: lane.clone(), ..Lease::default() };
    let failed = u32::try_from(*attempt).unwrap_or_default();
    let event = execution::failed_attempt(program, &row.instance, bookmark, failed, &policy, fault, at);
    let events = event.as_slice();
    let seq = journal::take_rows(&mut row.instance, None, events.len());
    // Attempts may fail for a long time without a burst, which would remove old rows.
    if let Some(old) = workflow_plan::trim(program, &row.instance, seq..row.instance.state.next_journal, context.now) {
        journal::trim(&mut row.instance, old);
    }
    rows::write(|writer| {
        leases::set(writer, &bookmark.id, &lease);
        journal::append(writer, &row.instance.id, seq, None, events, context.timestamp());
    });
    if !events.is_empty() {
        instances::save_state(&row.instance);
    }
    pauses::hold_if_paused(&row.instance, row.paused_at, false, context.timestamp());
    limits::wake_waiters(bookmarks::task_name(bookmark), &waiting.lease);
    if let Some(name) = bookmarks::task_name(bookmark) {
        wake::count(CountOf::Failures, name, 1);
        match available_at {
            Some(at) => wake::report_task_at(name, at),
            None => wake::report_task(name),
        }
    }
    true
}

/// When the task can be claimed again. `None` after its last attempt.
fn claimable_again_at(
    context: &CallContext,
    policy: &RetryPolicy,
    waiting: &Waiting,
    fault: &Fault,
    retry_in: Option<i64>,
) -> Option<DateTime<Utc>> {
    let retries = isolated::read_setting(&waiting.row.owner, guc::retries);
    if !retries || !policy.covers(fault) {
        return None;
    }
    let failed = u32::try_from(waiting.lease.attempt).unwrap_or_default();
    let began = execution::first_attempt(&waiting.row.instance, waiting.bookmark.activity_instance_id);
    let since = began.unwrap_or_else(|| waiting.made_at.into());
    let random = Uuid::new_v4().as_u64_pair().1;
    let policy = match retry_in {
        Some(delay) => &RetryPolicy { delay: TimeDelta::microseconds(delay), ..policy.without_backoff() },
        None => policy,
    };
    policy.next_attempt_at(failed, since, context.now, random)
}

/// Locks the row of the task and returns whether a token is the current one.
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

/// The result of completing a task that is no longer open: the same as before if the same worker gave the answer.
fn completed_before(task: Uuid, token: Option<Uuid>, result: Option<&Value>) -> Result<InstanceRow, PgError> {
    let ended = tasks::ended(task, token.as_ref(), result).filter(|ended| ended.by_token);
    // An answer that counted as a failure is stored; a task that was given up has none.
    let ended = ended.filter(|ended| !ended.has_failed || result.is_some() && ended.same_result);
    let Some(ended) = ended else { return Err(not_found::missing_error(Missing::Task(task))?) };
    let row = readable(&ended, task)?;
    if ended.same_result {
        return Ok(row);
    }
    Err(PgError::new("55000", format!("task {task} was already completed with another result")))
}

fn failed_before(task: Uuid, token: Uuid) -> Result<InstanceRow, PgError> {
    match tasks::ended(task, Some(&token), None).filter(|ended| ended.by_token && ended.has_failed) {
        Some(ended) => readable(&ended, task),
        None => Err(not_found::missing_error(Missing::Task(task))?),
    }
}

fn readable(ended: &EndedTask, task: Uuid) -> Result<InstanceRow, PgError> {
    let Some(row) = instances::get(ended.instance) else { return Err(not_found::missing_error(Missing::Task(task))?) };
    people::require_work(&row, &*compiled::of_instance(&row)?, task, ended.assignment.as_deref())?;
    Ok(row)
}

/// A delay before the next attempt, in microseconds. `None` if it is negative, or longer than any policy allows.
pub fn delay(given: &Interval) -> Option<i64> {
    let longest = LONGEST.num_microseconds().map_or(i128::MAX, i128::from);
    i64::try_from(given.as_micros()).ok().filter(|micros| (0..=longest).contains(&i128::from(*micros)))
}

/// Refuses a code that looks like a SQLSTATE or an SQLSTATE class (22023).
pub fn check_code(code: Option<&str>) -> Result<(), PgError> {
    match code.map(|code| (code, Cause::read(code))) {
        Some((code, Cause::SqlState(_) | Cause::Class(_))) => {
            Err(PgError::new("22023", format!("code \"{code}\" looks like a SQLSTATE"))
                .hint("Use lower-case letters, such as \"card_declined\"."))
        }
        Some((code, _)) if code.trim().is_empty() => Err(PgError::new("22023", "argument \"code\" must not be empty")),
        _ => Ok(()),
    }
}

/// The activity that opened a task.
pub fn opener<'a>(program: &'a Program, node_id: &str) -> Option<&'a Node> {
    program.nodes.iter().find(|node| node.node_id == node_id)
}

/// Validates an answer against the task's schema, and lets the activity that opened the task interpret it. Returns the
/// failure if the answer means that the attempt failed.
///
/// # Errors
/// 22023 if it is no valid answer to such a task; 54000 if a vote is too large.
pub fn validate_answer(
    program: &Program,
    waiting: &Waiting,
    answer: Option<&Value>,
) -> Result<Option<FailedAttempt>, PgError> {
    let refused = |fault: Fault| PgError {
        detail: fault.detail,
        hint: fault.hint,
        ..PgError::new(&fault.sqlstate, fault.message)
    };
    if let Some(schema) = waiting.lease.assignment.as_ref().and_then(|given| given.result_schema.as_ref()) {
        let what = format!("result of task {}", waiting.bookmark.id);
        Schema::new(json::copy(schema)).accept(answer.unwrap_or(&Value::Null), &what, "").map_err(refused)?;
    }
    let Some(node) = opener(program, &waiting.bookmark.node_id) else { return Ok(None) };
    if let Some(approval) = Approval::of_task(program, &waiting.row.instance, waiting.bookmark.id) {
        approval.check_answer(answer.unwrap_or(&Value::Null)).map_err(refused)?;
    }
    node.activity.validate_answer(&node.inputs, answer).map_err(refused)
}

/// The bookmark that limits the time until a task is answered: the end of its last lease, or the time for its first
/// claim. The activity may go on after the answer, in a port of `SendHttpRequest` for example, and it must not end that.
pub fn time_limit(waiting: &Waiting, program: &Program) -> Option<Uuid> {
    let (instance, execution) = (&waiting.row.instance, waiting.bookmark.activity_instance_id);
    if waiting.lease.is_last() {
        return leases::time_limit(&instance.id, &execution, stimulus::LEASE);
    }
    let is_unclaimed = waiting.kind.is_task() && waiting.lease.token.is_none();
    let is_limited = is_unclaimed && execution::limits_start(program, instance, execution);
    if is_limited { leases::time_limit(&instance.id, &execution, stimulus::START_TIMEOUT) } else { None }
}

/// Counts the attempts of workers as those of an activity that has timed out.
pub fn count_attempts(waiting: &mut Waiting, compiled: &Compiled) {
    let opens = |node: &Node| node.activity.descriptor().opens_tasks();
    if !opener(&compiled.program, &waiting.bookmark.node_id).is_some_and(opens) {
        return;
    }
    let (instance, execution) = (&mut waiting.row.instance, waiting.bookmark.activity_instance_id);
    if let Some(attempts) = leases::attempts(&instance.id, &execution) {
        execution::count_attempts(instance, execution, attempts.unsigned_abs());
    }
}
