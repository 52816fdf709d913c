//! Acts: the records of who did what, made by bursts and by calls without one.

use serde_json::Value;
use workflow_engine::journal::{Act, ActKind, Identity};
use workflow_plan::Resumed;

use crate::access::person;
use crate::compiled::Compiled;
use crate::pg::{PgError, guc};
use crate::run::CallContext;
use crate::store::history::audit::{self, NewAct};
use crate::store::instances::InstanceRow;
use crate::store::rights::owners;

/// A start. The row of the instance has its actor.
pub fn of_start(by: &Identity) -> Act {
    CallContext::act_of(ActKind::Start, Identity { actor: None, ..by.clone() })
}

/// The start of an instance that was created before. `None`: a timer, its parent or its predecessor started it, and
/// there is no login role to record.
pub fn of_pending_start(row: &InstanceRow, login: Option<u32>) -> Option<Act> {
    let is_call = row.parent.is_none() && row.schedule_id.is_none() && row.continued_from.is_none();
    let role = row.starter.role.unwrap_or(row.owner.id).unsigned_abs();
    (is_call || login.is_some()).then(|| CallContext::act_of(ActKind::Start, Identity { role, login, actor: None }))
}

/// An act of the caller on an instance of this version.
///
/// # Errors
/// 55000 if the actor would outlive the transaction, 42501 if there is none and the definition requires one.
pub fn of_call(context: &CallContext, kind: ActKind, compiled: &Compiled) -> Result<Act, PgError> {
    let act = context.act(kind)?;
    require_actor(&act.by, compiled)?;
    Ok(act)
}

/// Rejects an act without an actor if the definition requires one (42501).
pub fn require_actor(by: &Identity, compiled: &Compiled) -> Result<(), PgError> {
    let has_actor = by.actor.as_deref().is_some_and(|actor| !guc::is_pseudonym(actor));
    if !compiled.program.options.actor_required || has_actor {
        return Ok(());
    }
    Err(PgError::new("42501", format!("workflow definition \"{}\" requires an actor", compiled.row.definition_id))
        .hint("Set workflow.actor with SET LOCAL, or call wf_set_actor in the FROM clause of the statement."))
}

/// Whether an act needs an actor where the definition requires one. A start has been asked for it. An event is sent to
/// all that may receive it, so its sender need not know of that; a stimulus for a task answers it.
pub fn needs_actor(act: &Act, resumed: Option<Resumed<'_>>) -> bool {
    match act.kind {
        ActKind::Start => false,
        ActKind::Send => resumed.is_some_and(|resumed| resumed.kind.is_task()),
        _ => true,
    }
}

/// Records an act that concerns no instance: on this definition, or on something that belongs to the current role.
///
/// # Errors
/// 55000 if the actor would outlive the transaction.
pub fn record(kind: &str, definition_id: Option<&str>, detail: &Value) -> Result<(), PgError> {
    record_of(owners::current_id(), kind, definition_id, detail)
}

/// The same for something that belongs to another role, whose members may see the record.
///
/// # Errors
/// As of [`record`].
pub fn record_of(owner: i32, kind: &str, definition_id: Option<&str>, detail: &Value) -> Result<(), PgError> {
    let act = NewAct {
        kind,
        owner: Some(owner),
        definition_id,
        detail: Some(detail).filter(|detail| !detail.is_null()),
        ..NewAct::default()
    };
    audit::add(&person::current()?, &act);
    Ok(())
}

/// Records that an instance is removed.
///
/// # Errors
/// As of [`record`].
pub fn record_deletion(row: &InstanceRow) -> Result<(), PgError> {
    let act = NewAct {
        kind: "delete",
        owner: row.parent.is_none().then_some(row.owner.id),
        instance: Some(&row.instance.id),
        definition_id: Some(&row.definition_id),
        correlation_id: row.instance.correlation_id.as_deref(),
        detail: None,
    };
    audit::add(&person::current()?, &act);
    Ok(())
}
