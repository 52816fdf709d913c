//! Cancelling an instance and those below it, by a call.

use std::collections::{HashSet, VecDeque};

use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::instance::SubStatus;
use workflow_engine::instance::compensation::Ending;
use workflow_engine::journal::{Act, ActKind};

use crate::access::{Operation, instance};
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::run::CallContext;
use crate::run::burst::save::RowState;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::running;
use crate::run::instances::{continuation, resume};
use crate::run::repair::pause;
use crate::store::instances::{self, InstanceRow};

/// Cancels an instance and then those below it. One that has work to compensate is left to its handlers, unless it is
/// cancelled by force. `false`: it had already ended, or is already being cancelled.
///
/// Cancel, delete, a pause and a change of owner wait for more than one instance lock. They take the locks level by
/// level downward, and those of siblings in order of id. Where one call begins below the other, each locks the instance
/// at which the lower one begins before those below it, so two such calls cannot deadlock. The end of a pause waits for
/// several locks, too, in order of id over all levels.
///
/// The right to cancel an instance is asked for at that instance. The engine passes the cancel on to those below it, as
/// it does when their parents end.
pub fn cancel(
    context: &mut CallContext,
    instance_id: Uuid,
    reason: Option<&str>,
    force: bool,
) -> Result<bool, PgError> {
    let operation = if force { Operation::ForceCancel } else { Operation::Cancel };
    cancel_tree(context, instance_id, reason, force, operation)
}

/// The same, if the caller may do this `operation` with the instance that it names.
pub fn cancel_tree(
    context: &mut CallContext,
    instance_id: Uuid,
    reason: Option<&str>,
    force: bool,
    operation: Operation,
) -> Result<bool, PgError> {
    let cancelled = cancel_if_there(context, instance_id, reason, force, Some(operation))?;
    let cancelled = cancelled.ok_or_else(|| resume::unknown(instance_id))?;
    if cancelled == CancelEffect::HadEnded {
        continuation::notice_continued(instance_id);
    }
    let mut below = VecDeque::from(to_cancel_below(instance_id, cancelled));
    let mut seen = HashSet::new();
    while let Some(child) = below.pop_front() {
        if !seen.insert(child) || running::contains(child) {
            continue;
        }
        // Another session may have deleted the child while this one waited for its lock.
        let cancelled = cancel_if_there(context, child, reason, force, None)?;
        if cancelled == Some(CancelEffect::HadEnded) {
            // It has gone on as another one, perhaps while this session waited for its lock.
            below.extend(continuation::latest(child));
        }
        below.extend(to_cancel_below(child, cancelled.unwrap_or(CancelEffect::HadEnded)));
    }
    Ok(cancelled == CancelEffect::Now)
}

/// What a cancel did to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CancelEffect {
    /// It is cancelled, or will be when its handlers have run.
    Now,
    /// It had ended before.
    HadEnded,
    /// It was being cancelled before.
    IsUnderWay,
}

/// The children of an instance that are cancelled with it: not those that its handlers have started.
fn to_cancel_below(instance_id: Uuid, cancelled: CancelEffect) -> Vec<Uuid> {
    match cancelled {
        CancelEffect::Now | CancelEffect::HadEnded => instances::children_not_awaited(instance_id),
        CancelEffect::IsUnderWay => Vec::new(),
    }
}

/// Cancels one instance, if the caller may do this `operation` with it. `operation` is `None` for an instance below the
/// one that the caller named: a caller that may not force the end of it leaves its work to its handlers. The result is
/// `None` if it does not exist.
fn cancel_if_there(
    context: &mut CallContext,
    instance_id: Uuid,
    reason: Option<&str>,
    force: bool,
    operation: Option<Operation>,
) -> Result<Option<CancelEffect>, PgError> {
    running::refuse(instance_id)?;
    context.has_waited = true;
    let Some(mut row) = instances::lock(instance_id) else { return Ok(None) };
    let compiled = compiled::of_instance(&row)?;
    let force = match operation {
        Some(operation) => instance::require(operation, &row, &compiled).map(|()| force)?,
        None => force && instance::allows(Operation::ForceCancel, &row, &compiled),
    };
    if has_ended(&row, force) {
        let is_under_way = row.instance.state.ending() == Ending::Cancelled;
        return Ok(Some(if is_under_way { CancelEffect::IsUnderWay } else { CancelEffect::HadEnded }));
    }
    let act = Some(context.act(ActKind::Cancel)?);
    end(context, &mut row, &compiled, reason, force, act)?;
    pause::notice_if_paused(&row);
    Ok(Some(CancelEffect::Now))
}

/// Whether an instance has ended or is about to be cancelled, so that a cancel without force changes nothing.
pub fn has_ended(row: &InstanceRow, force: bool) -> bool {
    let is_cancelling = !force && row.instance.state.ending() == Ending::Cancelled;
    is_cancelling || matches!(row.instance.sub_status, SubStatus::Finished | SubStatus::Cancelled)
}

/// Cancels one locked instance that has not ended.
pub fn end(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    reason: Option<&str>,
    force: bool,
    act: Option<Act>,
) -> Result<(), PgError> {
    let before = row.instance.sub_status;
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault: OnFault::Store, consumed: None, act };
    let ended = burst::run(context, burst, |program, instance, host, _| {
        execution::cancel(program, instance, reason, force, host)
    });
    ended?;
    record_cancelled(context, row, before);
    Ok(())
}

/// Records that an instance is cancelled, or will be when its handlers have run. It had the given status before.
pub fn record_cancelled(context: &CallContext, row: &InstanceRow, before: SubStatus) {
    if before == SubStatus::Pending {
        crate::store::instances::bookmarks::delete_all(row.instance.id, None);
    }
    if row.instance.sub_status != SubStatus::Cancelled {
        instances::record_cancelling(row.instance.id, context.timestamp());
    }
}
