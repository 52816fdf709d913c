//! What callers are told of a paused instance.

use workflow_engine::instance::SubStatus;

use crate::access::{Operation, instance};
use crate::compiled::Compiled;
use crate::pg::PgError;
use crate::pg::error::notice;
use crate::run::instances::gone;
use crate::store::instances::InstanceRow;
use crate::store::repair::pauses;

/// Refuses a call that would resume an instance while it is paused (55000). Who may not read the instance is not told
/// why.
pub fn refuse(row: &InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    if row.paused_at.is_none() {
        return Ok(());
    }
    let id = row.instance.id;
    let refused = PgError::new("55000", format!("workflow instance {id} is paused"))
        .hint(format!("SELECT * FROM wf_unpause('{id}') lets it go on."));
    let Some(pause) = pauses::of(id).filter(|_| instance::allows(Operation::Read, row, compiled)) else {
        return Err(refused);
    };
    let (by, since) = (pause.by.title(), gone::instant(pause.since.into()));
    let reason = pause.reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Err(refused.detail(format!("Role \"{by}\" paused it at {since}{reason}.")))
}

/// Tells a caller who has cancelled a paused instance that its handlers wait for the end of the pause.
pub fn tell_if_paused(row: &InstanceRow) {
    let id = row.instance.id;
    if row.paused_at.is_some() && row.instance.sub_status != SubStatus::Cancelled {
        let message = format!("workflow instance {id} is paused, and is cancelled when the pause has ended");
        notice(PgError::new("00000", message).hint(format!(
            "SELECT * FROM wf_unpause('{id}') lets its handlers run; wf_cancel with force => true drops them."
        )));
    }
}
