//! Child workflows for which nothing waits any more: a timeout, another attempt or a catch has ended the wait. The
//! burst that gives them up finds them here, and the call cancels them afterwards ([`cancel()`]).
//!
//! A session that ends the wait holds the lock of the parent. It takes the lock of a child only if that is free;
//! otherwise an item of the queue asks for the cancel. So it never waits for a session that holds the child and wants
//! to report to the parent. What the child reports meanwhile finds no bookmark, and is dropped.

use uuid::Uuid;
use workflow_engine::execution::Delta;
use workflow_engine::stimulus;
use workflow_plan::Resumed;

use crate::access::Operation;
use crate::access::instance::{self, Subject};
use crate::compiled;
use crate::pg::PgError;
use crate::pg::rows::Wait;
use crate::pg::spi::Timestamp;
use crate::run::CallContext;
use crate::run::call::context::FollowUp;
use crate::run::call::notices::notice_no_worker;
use crate::run::call::running;
use crate::run::events::queued::{self, DeliveryOutcome};
use crate::run::instances::{acquire, cancel, continuation};
use crate::store::events::matching::{self, Filter};
use crate::store::events::queue::{self, Item};
use crate::store::instances::{self, bookmarks};
use crate::store::rights::owners::Owner;

/// The children that a burst has given up. Its bookmarks are still stored.
pub fn children(context: &mut CallContext, parent: Uuid, delta: &Delta, resumed: Option<Resumed<'_>>) -> Vec<Uuid> {
    let mut waits = matching::of_activities(parent, &delta.abandoned);
    // The bookmark that is used up may be gone already.
    let own = resumed.map(|resumed| resumed.bookmark);
    waits.extend(own.filter(|own| delta.abandoned.contains(&own.activity_instance_id)).map(|own| own.id));
    let children = instances::reporting_to(parent, &waits);
    // Children that an earlier burst of this call asked for may not have begun.
    context.abandoned.extend(waits);
    children
}

/// Whether a child is not to begin, because the activity that asked for it has been given up in this call.
pub fn is_given_up(context: &CallContext, bookmark: Option<Uuid>) -> bool {
    // A burst that gave it up may have been rolled back.
    bookmark.is_some_and(|id| context.abandoned.contains(&id) && !bookmarks::exists(id))
}

/// Why such an instance is cancelled.
const REASON: &str = "its parent does not wait for it any more";

/// Cancels a child with the rights of its parent's owner, or leaves that to the queue.
pub fn cancel(context: &mut CallContext, child: Uuid, owner: &Owner) -> Result<(), PgError> {
    let error = match context.isolated(|context| cancel_if_free(context, child, owner, || true)) {
        Ok(CancelAttempt::Busy) => None,
        Ok(CancelAttempt::Done | CancelAttempt::Over | CancelAttempt::Denied) => return Ok(()),
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => Some(error),
    };
    let item = Item {
        sent_by: None,
        id: context.new_id(),
        filter: Filter { instance_id: Some(child), name: Some(stimulus::CANCEL.to_owned()), ..Filter::default() },
        stimulus: None,
        input: None,
        sender: owner.clone(),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
        is_momentary: false,
    };
    queue::insert(&item, context.timestamp());
    if let Some(error) = error {
        queued::record_first_failure(context, item.id, &error);
    }
    notice_no_worker();
    Ok(())
}

/// Whether an item of the queue asks to cancel an instance. Its sender cancels with it what it may cancel by a call.
pub fn is_request(item: &Item) -> bool {
    item.filter.instance_id.is_some() && item.filter.name.as_deref() == Some(stimulus::CANCEL)
}

/// Does what an item of the queue asks for, if the instance is free now.
pub fn cancel_queued(context: &mut CallContext, item: &Item) -> Result<DeliveryOutcome, PgError> {
    let child = item.filter.instance_id.unwrap_or_default();
    let Some((version, owner)) = instances::owner(child) else {
        queue::take(item.id);
        return Ok(DeliveryOutcome::Stays);
    };
    if !queued::is_wanted_here(context, &item.sender, version, &owner)? {
        return Ok(DeliveryOutcome::Stays);
    }
    let outcome = cancel_if_free(context, child, &item.sender, || queue::take(item.id))?;
    Ok(match outcome {
        CancelAttempt::Done => DeliveryOutcome::Resumed(1),
        CancelAttempt::Busy => DeliveryOutcome::Held,
        CancelAttempt::Over | CancelAttempt::Denied => {
            queue::take(item.id);
            DeliveryOutcome::Stays
        }
    })
}

/// The outcome of a cancel.
enum CancelAttempt {
    Done,
    /// Another session holds the instance, or one of its tasks; or its burst runs further up in this session.
    Busy,
    /// It has ended, or is gone.
    Over,
    /// The sender may not cancel it.
    Denied,
}

/// Cancels an instance whose lock is free. `take` takes what asked for it, under that lock; `false`: another session
/// has.
fn cancel_if_free(
    context: &mut CallContext,
    id: Uuid,
    sender: &Owner,
    take: impl FnOnce() -> bool,
) -> Result<CancelAttempt, PgError> {
    if running::contains(id) {
        return Ok(CancelAttempt::Busy);
    }
    context.has_waited = true;
    let Some(mut row) = instances::lock_with(id, Wait::Skip) else {
        return Ok(if instances::owner(id).is_some() { CancelAttempt::Busy } else { CancelAttempt::Over });
    };
    let compiled = compiled::of_instance(&row)?;
    let may_resume = |who| instance::permits(who, Operation::Resume, Subject::of(&row, &compiled));
    // A child that notifies people belongs to the owner of its parent's definition. The engine passes the cancel on.
    let owner_above = || row.parent.and_then(|parent| Some(instances::owner(parent.instance)?.1));
    let is_below = || owner_above().is_some_and(|owner| owner.id == sender.id);
    if row.owner.id != sender.id && !is_below() && !sender.role().is_some_and(may_resume) {
        return Ok(CancelAttempt::Denied);
    }
    if cancel::has_ended(&row, false) {
        return match continuation::latest(id) {
            Some(next) => cancel_if_free(context, next, sender, take),
            None => Ok(CancelAttempt::Over),
        };
    }
    if !acquire::try_lock_few_tasks(&row, &compiled) || !take() {
        return Ok(CancelAttempt::Busy);
    }
    // No activity waits for its report.
    row.parent = row.parent.map(|parent| instances::Parent { bookmark: None, ..parent });
    cancel::end(context, &mut row, &compiled, Some(REASON), false, None)?;
    let below = instances::children(id).into_iter();
    context.follow_ups.extend(below.map(|child| FollowUp::Cancel(child, row.owner.clone())));
    Ok(CancelAttempt::Done)
}
