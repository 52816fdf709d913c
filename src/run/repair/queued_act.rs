//! Carrying out acts that were kept for a session of the instance's owner.

use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author};

use crate::access::instance::{self, Subject};
use crate::access::{Operation, lending};
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::pg::rows::Wait;
use crate::run::Session;
use crate::run::burst::OnFault;
use crate::run::call::running;
use crate::run::events::queue_item::{Swept, is_wanted_here};
use crate::run::instances::{claim, resume};
use crate::run::repair::alteration;
use crate::run::repair::kept_act::{self, Act};
use crate::store::events::queue::{self, Item};
use crate::store::instances::{self, InstanceRow};
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::COMMANDS;

/// Does what an item of the queue asks for, if its instance is free and may run in this session.
///
/// # Errors
/// What the act failed with; the item stays in the queue.
pub fn carry_out(session: &mut Session, item: &Item, instance: Uuid) -> Result<Swept, PgError> {
    let Some((version, owner)) = instances::owner(instance) else {
        queue::take(item.id);
        return Ok(Swept::Stays);
    };
    if !is_wanted_here(&item.sender, version, &owner)? || owner.role().is_none() {
        return Ok(Swept::Stays);
    }
    if !lending::runs_here(&owner, &*compiled::of_version(version)?) {
        return Ok(Swept::Elsewhere(owner.id));
    }
    if running::contains(instance) {
        return Ok(Swept::Held);
    }
    session.has_waited = true;
    let Some(mut row) = instances::lock_with(instance, Wait::Skip) else { return Ok(Swept::Held) };
    let compiled = compiled::of_instance(&row)?;
    // The instance may have been given away or migrated since.
    if !lending::runs_here(&row.owner, &compiled) || !claim::try_lock_few_tasks(&row, &compiled) {
        return Ok(Swept::Held);
    }
    let act = kept_act::read(item)
        .ok_or_else(|| PgError::new("XX001", format!("item {} of the queue has no act", item.id)))?;
    // The end of the pause names the item again.
    if row.paused_at.is_some() && matches!(act, Act::Retry(_)) {
        return Ok(Swept::Stays);
    }
    if !queue::take(item.id) {
        return Ok(Swept::Held);
    }
    if !may_act(&item.sender, &act, &row, &compiled) {
        return Ok(Swept::Stays);
    }
    match act {
        // A retry that was made twice finds nothing to do.
        Act::Retry(_) if !resume::has_faults(&row) => {}
        Act::Retry(ids) => {
            resume::retry_locked(session, &mut row, &compiled, ids.as_deref(), item.sent_by.clone(), OnFault::Store)?
        }
        Act::Alter(alterations, reason) => {
            let author = Author { role: item.sender.title(), reason };
            let (by, problems) = (item.sent_by.clone(), &mut Vec::new());
            alteration::apply(session, &mut row, &compiled, &alterations, &author, by, OnFault::Store, problems)?;
            if alteration::cancels(&alterations) {
                alteration::cancel_below(session, &row);
            }
        }
    }
    Ok(Swept::Resumed(1))
}

/// Whether the sender of an item may do by a call what the item asks for. Any role can send a stimulus that looks like
/// an act, and rights may have changed since the call.
fn may_act(sender: &Owner, act: &Act, row: &InstanceRow, compiled: &Compiled) -> bool {
    let Some(who) = sender.role() else { return false };
    if compiled.row.definition_id == COMMANDS {
        return row.owner.role() == Some(who);
    }
    let permits = |operation| instance::permits(who, operation, Subject::of(row, compiled));
    match act {
        Act::Retry(_) => permits(Operation::Resume),
        Act::Alter(alterations, _) => {
            permits(Operation::Alter)
                && (matches!(alterations.as_slice(), [Alteration::Cancel]) || lending::may_steer(who, row, compiled))
        }
    }
}
