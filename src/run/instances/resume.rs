//! Resuming an instance at a bookmark, and retrying it after a fault.
//!
//! "A resume, a migration and a due timer" in docs/internals/locking.md lists what happens when several sessions want
//! one instance.

use std::rc::Rc;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::{ActKind, Identity};
use workflow_engine::{Bookmark, execution, stimulus};

use crate::access::{self, Operation, exclusion, lending, substitution};
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::burst::consume;
use crate::run::burst::save::RowState;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::{notices, running};
use crate::run::history::acts;
use crate::run::instances::activation::reclaim_key;
use crate::run::instances::not_found::{self, Missing};
use crate::run::repair::{pause, stored_act};
use crate::run::tasks::{answer, stored_answer};
use crate::store::instances::bookmarks::{self, BookmarkKind, Waiting};
use crate::store::instances::{self, InstanceRow};
use crate::store::tasks::Answer;
use crate::wake;

/// Resumes a bookmark that the caller named. `None`: it does not exist, and `missing_ok` accepts that.
pub fn resume_by_id(
    context: &mut CallContext,
    bookmark: Uuid,
    input: Option<&Value>,
    missing_ok: bool,
    on_fault: OnFault,
) -> Result<Option<InstanceRow>, PgError> {
    let (now, mut in_place_of) = (context.timestamp(), None);
    let may_resume = |waiting: &Waiting, compiled: &Compiled| {
        if waiting.kind.is_task() {
            let assignment = waiting.lease.assignment.as_deref();
            in_place_of = substitution::require_resume(&waiting.row, compiled, &waiting.bookmark, assignment, now)?;
            return Ok(());
        }
        access::instance::require(Operation::Resume, &waiting.row, compiled)?;
        refuse_deadline(waiting)?;
        exclusion::require(&waiting.row, compiled, &waiting.bookmark, None)
    };
    let Some((mut waiting, compiled)) = lock_named(context, bookmark, may_resume)? else {
        return if missing_ok { Ok(None) } else { Err(not_found::missing_error(Missing::Bookmark(bookmark))?) };
    };
    waiting.in_place_of = in_place_of;
    pause::refuse(&waiting.row, &compiled)?;
    refuse_leased(context, &waiting, GIVE_TOKEN)?;
    let is_task = waiting.kind.is_task();
    let kind = if is_task { ActKind::Complete } else { ActKind::Resume };
    waiting.act = Some(acts::of_call(context, kind, &compiled)?);
    if is_task {
        answer::validate_answer(&compiled.program, &waiting, input)?;
        if stored_answer::must_wait(context, &waiting, &compiled, true) {
            stored_answer::store(context, &mut waiting, Answer::Completed(input, None), None);
            notices::notice_left_to_owner(waiting.row.instance.id, &waiting.row.owner);
            return Ok(Some(waiting.row));
        }
    } else if !lending::act_runs_here(context.serves, &waiting.row, &compiled) {
        stored_act::store_resume(context, &waiting, input)?;
        return Ok(Some(waiting.row));
    }
    resume_at(context, &mut waiting, &compiled, input, on_fault)?;
    Ok(Some(waiting.row))
}

/// Refuses the bookmark of a deadline: what it decides is for its time, or for an operator (55000).
fn refuse_deadline(waiting: &Waiting) -> Result<(), PgError> {
    if waiting.kind != BookmarkKind::Deadline {
        return Ok(());
    }
    let Bookmark { id, activity_id, name, .. } = &waiting.bookmark;
    let what = if name == stimulus::REMINDER { "a reminder" } else { "the deadline" };
    Err(PgError::new("55000", format!("bookmark {id} is {what} of activity \"{activity_id}\""))
        .detail("Only its time resumes it.")
        .hint("wf_override_task answers a task in place of the people it is for."))
}

/// Waits for and locks the instance of a bookmark that the caller named, and then asks `require` for the rights. `None`:
/// the bookmark does not exist any more.
pub fn lock_named(
    context: &mut CallContext,
    bookmark: Uuid,
    require: impl FnOnce(&Waiting, &Compiled) -> Result<(), PgError>,
) -> Result<Option<(Waiting, Rc<Compiled>)>, PgError> {
    context.has_waited = true;
    let Some(waiting) = bookmarks::lock(bookmark) else { return Ok(None) };
    running::refuse(waiting.row.instance.id)?;
    let compiled = compiled::of_instance(&waiting.row)?;
    require(&waiting, &compiled)?;
    access::require_own_command(&waiting.row, &compiled)?;
    Ok(Some((waiting, compiled)))
}

/// The hint for who would answer a task that a worker holds.
pub const GIVE_TOKEN: &str = "Give the token of the claim to wf_complete_task, or wait until the lease ends.";

/// Refuses a call without a token while a worker holds the task (55000).
pub fn refuse_leased(context: &CallContext, waiting: &Waiting, hint: &str) -> Result<(), PgError> {
    let lease = &waiting.lease;
    let Some(until) = lease.until.filter(|_| lease.runs(waiting.row.clock(context.timestamp()))) else {
        return Ok(());
    };
    let who = lease.worker.as_ref().map_or_else(|| "A worker".to_owned(), |worker| format!("Worker \"{worker}\""));
    Err(PgError::new("55000", format!("task {} is claimed", waiting.bookmark.id))
        .detail(format!("{who} holds it until {}.", not_found::format_instant(until.into())))
        .hint(hint))
}

/// Uses the bookmark up and runs the instance on. The caller holds the lock of the instance.
pub fn resume_at(
    context: &mut CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    input: Option<&Value>,
    on_fault: OnFault,
) -> Result<(), PgError> {
    if waiting.kind == BookmarkKind::Answer {
        return stored_answer::resume(context, waiting, compiled, on_fault);
    }
    consume::resume_many(context, waiting, compiled, &[input], on_fault)
}

/// Runs the faulted activities of an instance again.
pub fn retry(
    context: &mut CallContext,
    instance_id: Uuid,
    activity_ids: Option<&[String]>,
    on_fault: OnFault,
) -> Result<InstanceRow, PgError> {
    running::refuse(instance_id)?;
    context.has_waited = true;
    let mut row = instances::lock(instance_id).ok_or_else(|| unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Resume, &row, &compiled)?;
    access::require_own_command(&row, &compiled)?;
    pause::refuse(&row, &compiled)?;
    refuse_retry(&row, &compiled)?;
    let by = Some(acts::of_call(context, ActKind::Retry, &compiled)?.by);
    if !lending::act_runs_here(context.serves, &row, &compiled) {
        stored_act::store_retry(context, &row, activity_ids)?;
        return Ok(row);
    }
    retry_locked(context, &mut row, &compiled, activity_ids, by, on_fault)?;
    Ok(row)
}

/// Refuses a retry of an instance that has nothing to retry (55000).
fn refuse_retry(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    let (instance, id) = (&row.instance, row.instance.id);
    if !has_faults(row) {
        return Err(PgError::new("55000", format!("workflow instance {id} is not faulted"))
            .detail(format!("It is {}.", instance.sub_status.name())));
    }
    match instance.has_failed() {
        true => Err(error::burst(execution::cannot_retry(&compiled.program), id)),
        false => Ok(()),
    }
}

/// Whether an instance that has not ended has faulted activities.
pub fn has_faults(row: &InstanceRow) -> bool {
    match row.instance.sub_status {
        SubStatus::Faulted => true,
        SubStatus::Finished | SubStatus::Cancelled => false,
        _ => row.instance.incident_count > 0,
    }
}

/// Runs the faulted activities of a locked instance again, on behalf of `by`.
///
/// # Errors
/// 55000 if it has none.
pub fn retry_locked(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    activity_ids: Option<&[String]>,
    by: Option<Identity>,
    on_fault: OnFault,
) -> Result<(), PgError> {
    refuse_retry(row, compiled)?;
    reclaim_key(row, compiled)?;
    let act = by.map(|by| CallContext::act_of(ActKind::Retry, by));
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault, consumed: None, act };
    burst::run(context, burst, |program, instance, host, limits| {
        execution::retry(program, instance, activity_ids, host, limits)
    })?;
    // The tasks of a faulted instance could not be claimed.
    wake::report_any_task();
    Ok(())
}

/// There is no such instance (42704).
pub fn unknown(instance_id: Uuid) -> PgError {
    PgError::new("42704", format!("workflow instance {instance_id} does not exist"))
}
