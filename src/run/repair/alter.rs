//! Altering an instance by hand.
//!
//! The locks are those of a retry: the row of the instance, before anything else of the call.

mod moves;
pub mod plan;
pub mod result;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author};
use workflow_engine::journal::ActKind;

use crate::access::{self, Operation, lending};
use crate::compiled;
use crate::pg::{PgError, role};
use crate::run::Session;
use crate::run::burst::OnFault;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::resume;
use crate::run::repair::alteration;
use crate::store::instances::{self, InstanceRow};

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
    change: Alteration,
    reason: Option<String>,
    on_fault: OnFault,
) -> Result<(InstanceRow, Option<Value>), PgError> {
    running::refuse(instance_id)?;
    session.has_waited = true;
    let mut row = instances::lock(instance_id).ok_or_else(|| resume::unknown(instance_id))?;
    let compiled = compiled::of_instance(&row)?;
    access::instance::require(Operation::Alter, &row, &compiled)?;
    access::require_own_command(&row, &compiled)?;
    lending::require_steering(&row, &compiled)?;
    let author = author(reason);
    let by = Some(acts::of_call(session, ActKind::Alter, &compiled)?.by);
    if alteration::must_wait([&change], &row, &compiled) {
        alteration::keep(session, &mut row, &compiled, &[change], &author, &mut Vec::new())?;
        return Ok((row, None));
    }
    let problems = &mut Vec::new();
    let former = alteration::apply(session, &mut row, &compiled, &[change], &author, by, on_fault, problems)?;
    Ok((row, former))
}
