//! Acts of a call on an instance whose SQL may not run in the caller's session.
//!
//! A resume by id, a retry and an alteration lend no rights. If users' SQL with the rights of the instance's owner
//! could follow, the act is stored in the queue, and a session of that owner carries it out ([`carry_out`]). An act
//! that fails becomes a dead letter of the caller.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author, Changes};
use workflow_engine::stimulus;

use crate::access::instance::{self, Subject};
use crate::access::{Operation, lending};
use crate::compiled::{self, Compiled};
use crate::pg::rows::Wait;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::notices::notice_left_to_owner;
use crate::run::call::running;
use crate::run::events::queued::{DeliveryOutcome, is_wanted_here};
use crate::run::instances::{acquire, resume};
use crate::run::repair::alter;
use crate::store::events::matching::Filter;
use crate::store::events::queue::{self, Item};
use crate::store::instances::bookmarks::{BookmarkKind, Waiting};
use crate::store::instances::{self, InstanceRow};
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::COMMANDS;

/// The member of an item's input with the activities to retry; `null`: all.
const RETRY: &str = "retry";
/// The member with the alterations to make.
const ALTER: &str = "alter";
/// The member with the reason for them.
const REASON: &str = "reason";

/// A stored act.
#[derive(Debug)]
pub enum Act {
    /// A retry of these activities, or of all that have faulted.
    Retry(Option<Vec<String>>),
    /// Alterations, and the sender's reason.
    Alter(Vec<Alteration>, Option<String>),
}

/// Stores a resume of a bookmark.
pub fn store_resume(context: &mut CallContext, waiting: &Waiting, input: Option<&Value>) -> Result<(), PgError> {
    // A stored answer is due already.
    if waiting.kind != BookmarkKind::Answer {
        let bookmark_id = Some(waiting.bookmark.id);
        let filter = Filter { bookmark_id, instance_id: Some(waiting.row.instance.id), ..Filter::default() };
        insert(context, filter, input.map(json::copy))?;
    }
    notice_left_to_owner(waiting.row.instance.id, &waiting.row.owner);
    Ok(())
}

/// Stores a retry.
pub fn store_retry(
    context: &mut CallContext,
    row: &InstanceRow,
    activity_ids: Option<&[String]>,
) -> Result<(), PgError> {
    store(context, row, json!({ RETRY: activity_ids }))
}

/// Stores alterations.
pub fn store_alterations(
    context: &mut CallContext,
    row: &InstanceRow,
    alterations: &[Alteration],
    author: &Author,
) -> Result<(), PgError> {
    let alterations: Vec<Value> = alterations.iter().map(Alteration::to_json).collect();
    store(context, row, json!({ ALTER: alterations, REASON: author.reason }))
}

fn store(context: &mut CallContext, row: &InstanceRow, act: Value) -> Result<(), PgError> {
    let name = Some(stimulus::ACT.to_owned());
    let filter = Filter { instance_id: Some(row.instance.id), name, ..Filter::default() };
    insert(context, filter, Some(act))?;
    notice_left_to_owner(row.instance.id, &row.owner);
    Ok(())
}

fn insert(context: &mut CallContext, filter: Filter, input: Option<Value>) -> Result<(), PgError> {
    let item = Item {
        id: context.new_id(),
        filter,
        stimulus: None,
        input,
        sender: context.sender(),
        sent_by: Some(context.identity()?),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
        is_momentary: false,
    };
    queue::insert(&item, context.timestamp());
    Ok(())
}

/// The instance on which a queue item acts; `None`: the item is a stimulus.
pub fn instance_of(item: &Item) -> Option<Uuid> {
    item.filter.instance_id.filter(|_| item.filter.name.as_deref() == Some(stimulus::ACT))
}

/// Decodes the act of an item. `None`: it is damaged.
pub fn read(item: &Item) -> Option<Act> {
    let act = item.input.as_ref()?.as_object()?;
    if let Some(ids) = act.get(RETRY) {
        let ids = ids.as_array().map(|ids| ids.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        return Some(Act::Retry(ids));
    }
    let Ok(Changes::Alter(alterations)) = Changes::read(act.get(ALTER)?) else { return None };
    Some(Act::Alter(alterations, act.get(REASON).and_then(Value::as_str).map(str::to_owned)))
}

/// Carries out the act of a queue item, if its instance is free and may run in this session.
///
/// # Errors
/// The error of the act; the item stays in the queue.
pub fn carry_out(context: &mut CallContext, item: &Item, instance: Uuid) -> Result<DeliveryOutcome, PgError> {
    let Some((version, owner)) = instances::owner(instance) else {
        queue::take(item.id);
        return Ok(DeliveryOutcome::Stays);
    };
    if !is_wanted_here(context, &item.sender, version, &owner)? || owner.role().is_none() {
        return Ok(DeliveryOutcome::Stays);
    }
    if !lending::runs_here(context.serves, &owner, &*compiled::of_version(version)?) {
        return Ok(DeliveryOutcome::Elsewhere(owner.id));
    }
    if running::contains(instance) {
        return Ok(DeliveryOutcome::Held);
    }
    context.has_waited = true;
    let Some(mut row) = instances::lock_with(instance, Wait::Skip) else { return Ok(DeliveryOutcome::Held) };
    let compiled = compiled::of_instance(&row)?;
    // The instance may have another owner or version since.
    if !lending::runs_here(context.serves, &row.owner, &compiled) || !acquire::try_lock_few_tasks(&row, &compiled) {
        return Ok(DeliveryOutcome::Held);
    }
    let act = read(item).ok_or_else(|| PgError::new("XX001", format!("item {} of the queue has no act", item.id)))?;
    // The end of the pause reports the item again.
    if row.paused_at.is_some() && matches!(act, Act::Retry(_)) {
        return Ok(DeliveryOutcome::Stays);
    }
    if !may_act(&item.sender, &act, &row, &compiled) {
        if queue::lock(item.id) {
            let error = format!("permission denied for workflow instance {instance}");
            queue::make_dead_letter(item.id, "Failed", Some(&error), context.timestamp());
        }
        return Ok(DeliveryOutcome::Stays);
    }
    if !queue::take(item.id) {
        return Ok(DeliveryOutcome::Held);
    }
    match act {
        // A retry that is made again finds nothing to do.
        Act::Retry(_) if !resume::has_faults(&row) => {}
        Act::Retry(ids) => {
            resume::retry_locked(context, &mut row, &compiled, ids.as_deref(), item.sent_by.clone(), OnFault::Store)?
        }
        Act::Alter(alterations, reason) => {
            let author = Author { role: item.sender.title(), reason };
            let (by, problems) = (item.sent_by.clone(), &mut Vec::new());
            alter::apply(context, &mut row, &compiled, &alterations, &author, by, OnFault::Store, problems)?;
            if alter::cancels(&alterations) {
                alter::cancel_below(context, &row);
            }
        }
    }
    Ok(DeliveryOutcome::Resumed(1))
}

/// Whether the sender of an item may do by a call what the item requests. Any role can send a stimulus that looks like
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
