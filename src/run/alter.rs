//! Altering an instance by hand.
//!
//! The locks are those of a retry: the row of the instance, before anything else of the call. All alterations are
//! computed before anything of them is written (`execution::alter`).

mod moves;
pub mod plan;
pub mod result;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::EventKind;
use workflow_engine::{Error, execution};

use crate::access;
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::{PgError, json, role};
use crate::run::activation::reclaim_key;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::save::RowState;
use crate::run::{Session, cancel, resume, running};
use crate::store::instances::{self, InstanceRow};
use crate::wake;

/// Who alters what in this call.
pub fn author(reason: Option<String>) -> Author {
    Author { role: role::name(role::current()).unwrap_or_default(), reason }
}

/// Makes one alteration of an instance that the caller named. Returns the instance, and of a variable the former value.
///
/// # Errors
/// 42501 without the right, 55000 if the instance has ended, and what the alteration cannot be made for.
pub fn alter_named(
    session: &mut Session,
    instance_id: Uuid,
    alteration: Alteration,
    reason: Option<String>,
    on_fault: OnFault,
) -> Result<(InstanceRow, Option<Value>), PgError> {
    running::refuse(instance_id)?;
    session.has_waited = true;
    let mut row = instances::lock(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::require_alter(&row, &compiled)?;
    access::require_own_command(&row, &compiled)?;
    let author = author(reason);
    let former = apply(session, &mut row, &compiled, &[alteration], &author, on_fault, &mut Vec::new())?;
    Ok((row, former))
}

/// Alters a locked instance and runs it on. Returns the former value of the first variable that was set. Says in
/// `problems` why alterations cannot be made.
pub fn apply(
    session: &mut Session,
    row: &mut InstanceRow,
    compiled: &Compiled,
    alterations: &[Alteration],
    author: &Author,
    on_fault: OnFault,
    problems: &mut Vec<String>,
) -> Result<Option<Value>, PgError> {
    let (cancels, runs) =
        (alterations.contains(&Alteration::Cancel), alterations.iter().any(Alteration::runs_activities));
    let before = row.instance.sub_status;
    if runs && !cancels {
        reclaim_key(row, compiled)?;
    }
    let mut former = None;
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault, resumed: None };
    burst::run(session, burst, |program, instance, host, limits| {
        let altered = execution::alter(program, instance, alterations, author, host, limits);
        let delta = altered.inspect_err(|failed| problems.extend(self::problems(failed)))?;
        let altered = delta.events.iter().filter(|event| event.kind == EventKind::Altered);
        former = altered.filter_map(|event| event.data.as_ref()?.0.get("from").map(json::copy)).next();
        Ok(delta)
    })?;
    if cancels {
        cancel::note_cancelled(session, row, before);
    } else if runs && before == SubStatus::Faulted {
        // The tasks of a faulted instance could not be claimed.
        wake::note_any_task();
    }
    Ok(former)
}

/// Why alterations cannot be made.
fn problems(failed: &Error) -> Vec<String> {
    let Error::NotAltered(problems) = failed else { return Vec::new() };
    problems.iter().map(|fault| error::fault(fault).told()).collect()
}
