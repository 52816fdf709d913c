//! Which instances exclude each other, and what an instance is told that another one excludes.

use workflow_engine::instance::SubStatus;
use workflow_engine::instance::compensation::Ending;

use crate::access;
use crate::compiled::Compiled;
use crate::pg::subtransaction::subtransaction;
use crate::pg::{PgError, role};
use crate::run::call::running;
use crate::store::instances::{self, InstanceRow};

/// The activation key of an instance with this correlation id.
pub fn activation_key(compiled: &Compiled, correlation_id: Option<&str>) -> Option<String> {
    workflow_plan::activation_key(&compiled.program, compiled.row.owner.id, correlation_id)
}

/// The activation key of a new instance; empty if it has none.
pub fn key_of(row: &InstanceRow, compiled: &Compiled) -> String {
    activation_key(compiled, row.instance.correlation_id.as_deref()).unwrap_or_default()
}

/// The error of a start that an activation strategy refuses (23505). It names the running instance to roles that may
/// read that instance.
pub fn refused(definition_id: &str, key: &str) -> Result<PgError, PgError> {
    let error = PgError::new(
        "23505",
        format!("activation strategy of workflow definition \"{definition_id}\" allows no further instance"),
    );
    Ok(match instances::holder(key) {
        Some(holder) if access::instance::may_see(role::current(), holder)? => {
            error.detail(format!("Running workflow instance: {holder}."))
        }
        Some(_) => error,
        None => error.hint("The running instance has just ended; try again."),
    })
}

/// Gives a faulted instance its activation key back. Another instance may have taken the key meanwhile (23505).
pub fn reclaim_key(row: &mut InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    // What is about to end excludes no other instance any more.
    if row.instance.sub_status != SubStatus::Faulted || row.instance.state.ending() != Ending::None {
        return Ok(());
    }
    let correlation_id = row.instance.correlation_id.clone();
    let Some(key) = activation_key(compiled, correlation_id.as_deref()) else {
        return Ok(());
    };
    let id = row.instance.id;
    let _running = running::RunningGuard::burst(id);
    let taken = subtransaction(|| instances::set_key(id, Some(&key), correlation_id.as_deref()));
    match taken {
        Ok(()) => {
            row.activation_key = Some(key);
            Ok(())
        }
        Err(caught) if caught.sqlstate == "23505" => Err(refused(&row.definition_id, &key)?),
        Err(caught) => Err(caught),
    }
}
