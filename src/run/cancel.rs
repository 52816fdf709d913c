//! Ending an instance by a call: cancel and delete.

use std::collections::VecDeque;

use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::instance::SubStatus;

use crate::access;
use crate::compiled;
use crate::pg::PgError;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::save::RowState;
use crate::run::{Session, resume, running};
use crate::store::instances;

/// Cancels an instance and then its children, in order of id. `false`: it had already ended.
///
/// Cancel, delete and a change of owner wait for more than one instance lock. They take the locks downward and in order
/// of id, so that two such calls cannot deadlock.
pub fn cancel(session: &mut Session, instance_id: Uuid, reason: Option<&str>) -> Result<bool, PgError> {
    let cancelled = cancel_if_there(session, instance_id, reason)?.ok_or_else(|| resume::unknown(instance_id))?;
    let mut below = VecDeque::from(instances::children(instance_id));
    while let Some(child) = below.pop_front() {
        if running::contains(child) {
            continue;
        }
        // Another session may have deleted the child while this one waited for its lock.
        cancel_if_there(session, child, reason)?;
        below.extend(instances::children(child));
    }
    Ok(cancelled)
}

/// Cancels one instance. `Some(false)`: it had already ended. `None`: it does not exist.
fn cancel_if_there(session: &mut Session, instance_id: Uuid, reason: Option<&str>) -> Result<Option<bool>, PgError> {
    running::refuse(instance_id)?;
    session.has_waited = true;
    let Some(mut row) = instances::lock(instance_id) else { return Ok(None) };
    let compiled = compiled::of_instance(&row)?;
    access::require_resume(&row, &compiled)?;
    if matches!(row.instance.sub_status, SubStatus::Finished | SubStatus::Cancelled) {
        return Ok(Some(false));
    }
    let was_pending = row.instance.sub_status == SubStatus::Pending;
    let burst = StoredBurst {
        row: &mut row,
        compiled: &compiled,
        state: RowState::Stored,
        on_fault: OnFault::Store,
        resumed: None,
    };
    burst::run(session, burst, |program, instance, host, _| execution::cancel(program, instance, reason, host))?;
    if was_pending {
        crate::store::bookmarks::delete_all(instance_id);
    }
    Ok(Some(true))
}

/// Cancels an instance and removes it with all that belongs to it. `false`: it does not exist.
pub fn delete(session: &mut Session, instance_id: Uuid) -> Result<bool, PgError> {
    running::refuse(instance_id)?;
    session.has_waited = true;
    let Some(row) = instances::get(instance_id) else {
        return Ok(false);
    };
    access::require_instance_owner(&row, &*compiled::of_version(row.definition_version_id)?)?;
    // Another session may delete the instance while this one waits for its lock.
    if instances::lock(instance_id).is_none() {
        return Ok(false);
    }
    cancel(session, instance_id, None)?;
    instances::delete(instance_id);
    Ok(true)
}
