//! Incidents: storing the faults of a burst, and telling its caller of them.

use uuid::Uuid;
use workflow_engine::Program;
use workflow_engine::execution::{Delta, Incident};
use workflow_engine::program::Node;
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
    let (id, program) = (row.instance.id, &compiled.program);
    let hint = |faulted: Option<&Node>| (!row.instance.has_failed()).then(|| repair(program, faulted));
    let warned = PgError::new("01000", format!("workflow instance {id} is faulted"));
    if !may_read(row, compiled) {
        let is_told = instance::allows(Operation::SeeOutcome, row, compiled);
        let cause = delta.incidents.last().filter(|_| is_told).map(|incident| host.original(&incident.fault));
        let detail = cause.map(|cause| format!("{} (SQLSTATE {}).", cause.message, cause.sqlstate));
        warning(PgError { detail, ..warned });
    } else if let Some(incident) = delta.incidents.last() {
        let faulted = program.nodes.iter().find(|node| node.node_id == incident.node_id);
        warn_faulted(id, &incident.activity_id, &host.original(&incident.fault), hint(faulted));
    } else if let Some(incident) = incidents::open(id).last() {
        // The burst went well, but an activity that faulted before is still to be retried, or has ended the run.
        let text = |key: &str| incident[key].as_str().unwrap_or_default().to_owned();
        let (activity, error) = (text("activity_id"), PgError::new(&text("sqlstate"), text("message")));
        let faulted = program.find(&activity).map(|ix| program.node(ix));
        warn_faulted(id, &activity, &error, hint(faulted));
    }
}

/// How to repair an instance with this faulted activity.
fn repair(program: &Program, faulted: Option<&Node>) -> String {
    let Some(fault) = faulted.filter(|node| node.is_fault()) else {
        return "wf_retry runs the faulted activities again.".to_owned();
    };
    match program.reported_call(fault) {
        Some(call) => format!(
            "wf_retry raises it again. wf_schedule_activity repeats the call \"{}\", whose result it reports.",
            call.id
        ),
        None => {
            "wf_retry raises it again, unless wf_migrate has corrected the definition. wf_schedule_activity repeats \
                 an earlier activity, wf_cancel_activity skips this one."
                .to_owned()
        }
    }
}
