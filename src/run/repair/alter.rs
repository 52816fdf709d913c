//! Altering an instance manually.
//!
//! The locks are those of a retry: the row of the instance first.
//!
//! All alterations are computed before any of them is written (`execution::alter`).

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author};
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::{ActKind, EventKind, Identity};
use workflow_engine::{Error, execution};

use crate::access::{self, Operation, lending};
use crate::compiled::{self, Compiled};
use crate::pg::{PgError, json, role};
use crate::run::CallContext;
use crate::run::burst::host::SpiHost;
use crate::run::burst::save::RowState;
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::context::FollowUp;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::activation::reclaim_key;
use crate::run::instances::{cancel, resume};
use crate::run::repair::stored_act;
use crate::store::instances::{self, InstanceRow};
use crate::{error, wake};

mod moves;
pub mod plan;
pub mod result;

/// The author of the alterations in this call.
pub fn author(reason: Option<String>) -> Author {
    Author { role: role::name(role::current()).unwrap_or_default(), reason }
}

/// Applies one alteration to an instance that the caller named. Returns the instance, and the former value of a
/// variable.
///
/// # Errors
/// 42501 without the right, 55000 if the instance has ended, and the errors of the alteration.
pub fn alter_named(
    context: &mut CallContext,
    instance_id: Uuid,
    change: Alteration,
    reason: Option<String>,
    on_fault: OnFault,
) -> Result<(InstanceRow, Option<Value>), PgError> {
    running::refuse(instance_id)?;
    context.has_waited = true;
    let mut row = instances::lock(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Alter, &row, &compiled)?;
    access::require_own_command(&row, &compiled)?;
    lending::require_steering(&row, &compiled)?;
    let author = author(reason);
    let by = Some(acts::of_call(context, ActKind::Alter, &compiled)?.by);
    if must_wait(context, [&change], &row, &compiled) {
        store(context, &mut row, &compiled, &[change], &author, &mut Vec::new())?;
        return Ok((row, None));
    }
    let problems = &mut Vec::new();
    let former = apply(context, &mut row, &compiled, &[change], &author, by, on_fault, problems)?;
    Ok((row, former))
}

/// Whether alterations must wait for a session of the instance's owner, because activities would run.
pub fn must_wait<'a>(
    context: &CallContext,
    alterations: impl IntoIterator<Item = &'a Alteration>,
    row: &InstanceRow,
    compiled: &Compiled,
) -> bool {
    // A cancel leaves due compensation handlers.
    let runs = alterations.into_iter().any(|one| one.runs_activities() && *one != Alteration::Cancel);
    runs && !lending::act_runs_here(context.serves, row, compiled)
}

/// Stores alterations for a session of the instance's owner. Adds to `problems` why they could not be applied now.
pub fn store(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    alterations: &[Alteration],
    author: &Author,
    problems: &mut Vec<String>,
) -> Result<(), PgError> {
    try_out(context, row, compiled, alterations, problems)?;
    stored_act::store_alterations(context, row, alterations, author)
}

/// Checks whether alterations can be applied, without applying any.
pub fn try_out(
    context: &CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    alterations: &[Alteration],
    problems: &mut Vec<String>,
) -> Result<(), PgError> {
    let id = row.instance.id;
    let mut host = SpiHost::new(context, id, &row.owner, compiled);
    let instance = &mut row.instance;
    let tried = execution::try_alterations(&compiled.program, instance, alterations, &mut host, &context.limits);
    tried.map_err(|failed| {
        problems.extend(why(&failed));
        error::burst(failed, id)
    })
}

/// Whether the instance is cancelled.
pub fn cancels(alterations: &[Alteration]) -> bool {
    alterations.contains(&Alteration::Cancel)
}

/// Cancels the children of an instance that was cancelled.
pub fn cancel_below(context: &mut CallContext, row: &InstanceRow) {
    let below = instances::children_not_awaited(row.instance.id).into_iter();
    context.follow_ups.extend(below.map(|child| FollowUp::Cancel(child, row.owner.clone())));
}

/// Alters a locked instance and continues it. Returns the former value of the first variable that was set. Adds to
/// `problems` why alterations cannot be made.
pub fn apply(
    context: &mut CallContext,
    row: &mut InstanceRow,
    compiled: &Compiled,
    alterations: &[Alteration],
    author: &Author,
    by: Option<Identity>,
    on_fault: OnFault,
    problems: &mut Vec<String>,
) -> Result<Option<Value>, PgError> {
    let (cancels, runs) = (cancels(alterations), alterations.iter().any(Alteration::runs_activities));
    let before = row.instance.sub_status;
    if runs && !cancels {
        reclaim_key(row, compiled)?;
    }
    let mut former = None;
    let act = by.map(|by| CallContext::act_of(ActKind::Alter, by));
    let burst = StoredBurst { row, compiled, state: RowState::Stored, on_fault, consumed: None, act };
    burst::run(context, burst, |program, instance, host, limits| {
        let altered = execution::alter(program, instance, alterations, author, host, limits);
        let delta = altered.inspect_err(|failed| problems.extend(why(failed)))?;
        let altered = delta.events.iter().filter(|event| event.kind == EventKind::Altered);
        former = altered.filter_map(|event| event.data.as_ref()?.0.get("from").map(json::copy)).next();
        Ok(delta)
    })?;
    if cancels {
        cancel::record_cancelled(context, row, before);
    } else if runs && before == SubStatus::Faulted {
        // The tasks of a faulted instance could not be claimed.
        wake::report_any_task();
    }
    Ok(former)
}

/// Why alterations cannot be made.
fn why(failed: &Error) -> Vec<String> {
    let Error::NotAltered(problems) = failed else { return Vec::new() };
    problems.iter().map(|fault| error::fault(fault).message_and_detail()).collect()
}
