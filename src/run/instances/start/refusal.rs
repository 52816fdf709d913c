//! Starts that are refused, and their journal.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::journal::{Event, EventKind};

use crate::access::{self, Operation, Privilege};
use crate::compiled::{self, Compiled};
use crate::pg::error::warning;
use crate::pg::{PgError, role, rows};
use crate::run::CallContext;
use crate::run::instances::activation::key_of;
use crate::store::definitions::DefinitionRow;
use crate::store::definitions::triggers::TriggerRow;
use crate::store::history::journal;
use crate::store::instances::{self, InstanceRow};

/// The instance that a second start with a known id returns. If it runs another definition, the start fails (23505).
pub(super) fn same_definition(existing: InstanceRow, definition: &DefinitionRow) -> Result<InstanceRow, PgError> {
    let taken = PgError::new("23505", format!("workflow instance {} already exists", existing.instance.id));
    let runs = compiled::of_version(existing.definition_version_id)?;
    if !access::instance::allows(Operation::SeeOutcome, &existing, &runs) {
        return Err(taken);
    }
    if existing.definition_id == definition.definition_id {
        return Ok(existing);
    }
    Err(taken.detail(format!("It runs definition \"{}\".", existing.definition_id)))
}

/// Journals that an activation strategy refused the start by a trigger.
pub(super) fn record_refusal(context: &CallContext, row: &InstanceRow, compiled: &Compiled, trigger: &TriggerRow) {
    let holder = instances::holder(&key_of(row, compiled));
    let data = json!({ "definition_id": row.definition_id, "running_instance_id": holder });
    journal_refusal(context, row.instance.id, trigger, data);
}

/// Journals that the input of a stimulus does not fit the definition. It is a WARNING only, because the sender did not
/// ask for this start.
pub(super) fn record_misfit(
    context: &CallContext,
    id: Uuid,
    compiled: &Compiled,
    trigger: &TriggerRow,
    error: &PgError,
) {
    let data = json!({
        "definition_id": compiled.row.definition_id,
        "sqlstate": error.sqlstate,
        "message": error.message,
        "detail": error.detail,
    });
    journal_refusal(context, id, trigger, data);
    // Only roles that may read the definition are told which trigger the stimulus matched.
    warning(match access::may(role::current(), Privilege::Read, &compiled.row) {
        true => PgError {
            message: format!("trigger \"{}\" could not start: {}", trigger.activity_id, error.message),
            ..error.clone()
        },
        false => PgError::new("01000", "a workflow was not started, because its input does not fit"),
    });
}

/// Writes a refused start into the journal, under an instance id that was never used.
pub fn journal_refusal(context: &CallContext, id: Uuid, trigger: &TriggerRow, data: Value) {
    let (activity, kind) = (trigger.activity_id.clone(), trigger.name.clone());
    let event = Event::of_activity(EventKind::StartRefused, activity, kind, Some(data));
    rows::write(|writer| journal::append(writer, &id, 0, None, &[event], context.timestamp()));
}
