//! Incidents: storing the faults of a burst, and telling its caller of them.

use uuid::Uuid;
use workflow_engine::execution::{Delta, Incident};
use workflow_plan::Resolved;

use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::PgError;
use crate::pg::error::warning;
use crate::run::CallContext;
use crate::run::burst::host::SpiHost;
use crate::run::call::notices::warn_faulted;
use crate::store::instances::InstanceRow;
use crate::store::repair::incidents;

/// Stores the incidents of a burst, and resolves those of executions that ran again.
pub fn save(context: &mut CallContext, instance: Uuid, new: &[Incident], resolved: &Resolved) {
    let now = context.timestamp();
    match resolved {
        Resolved::Nothing => {}
        Resolved::AllBut(still) => incidents::resolve(instance, still, now),
        Resolved::Of(gone) => incidents::resolve_of(instance, gone, now),
    }
    for incident in new {
        let id = context.new_id();
        incidents::insert(id, instance, incident, now);
    }
}

/// The error that raises the fault of a burst to its caller. `original`: the error as PostgreSQL raised it.
pub fn raised(row: &InstanceRow, compiled: &Compiled, original: PgError) -> PgError {
    if may_read(row, compiled) {
        original
    } else if instance::allows(Operation::SeeOutcome, row, compiled) {
        let PgError { sqlstate, message, .. } = original;
        PgError::new(&sqlstate, message)
    } else {
        faulted_somewhere(row.instance.id)
    }
}

fn may_read(row: &InstanceRow, compiled: &Compiled) -> bool {
    instance::allows(Operation::Read, row, compiled)
}

/// The error for a role that may not read the instance. It says that the instance faulted, not why: the original error,
/// its SQLSTATE included, can quote whatever the owner may read.
fn faulted_somewhere(id: Uuid) -> PgError {
    PgError::new("38000", format!("workflow instance {id} faulted"))
        .detail("Only roles that may read the instance are told the reason.")
}

/// Warns that the burst left the instance faulted.
pub fn warn(row: &InstanceRow, compiled: &Compiled, host: &SpiHost<'_>, delta: &Delta) {
    let (id, for_good) = (row.instance.id, row.instance.has_failed());
    let warned = PgError::new("01000", format!("workflow instance {id} is faulted"));
    if !may_read(row, compiled) {
        let is_told = instance::allows(Operation::SeeOutcome, row, compiled);
        let cause = delta.incidents.last().filter(|_| is_told).map(|incident| host.original(&incident.fault));
        let detail = cause.map(|cause| format!("{} (SQLSTATE {}).", cause.message, cause.sqlstate));
        warning(PgError { detail, ..warned });
    } else if let Some(incident) = delta.incidents.last() {
        warn_faulted(id, &incident.activity_id, &host.original(&incident.fault), for_good);
    } else if let Some(incident) = incidents::open(id).last() {
        // The burst went well, but an activity that faulted before is still to be retried, or has ended the run.
        let text = |key: &str| incident[key].as_str().unwrap_or_default().to_owned();
        let error = PgError::new(&text("sqlstate"), text("message"));
        warn_faulted(id, &text("activity_id"), &error, for_good);
    }
}
