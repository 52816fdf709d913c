//! Delivering what was kept: when its bookmark appears, and in the sweep.

use uuid::Uuid;
use workflow_engine::instance::SubStatus;

use crate::access;
use crate::access::hearing::{Hearing, Verdict};
use crate::pg::error::unwind;
use crate::pg::spi::Timestamp;
use crate::pg::subtransaction::subtransaction;
use crate::pg::{PgError, memory, role};
use crate::program;
use crate::run::deliver::{self, Delivery, RETRY_AFTER, Stimulus};
use crate::run::{Session, apart, children, running};
use crate::store::matching::{self, Filter, Stored};
use crate::store::owners::{self, Owner};
use crate::store::queue::{self, Item};
use crate::store::{bookmarks, instances};

/// Deliveries that may fail before an item is a dead letter.
const MAX_ATTEMPTS: i32 = 3;

/// Delivers an item that is out of the queue. One that matches nothing any more goes back; one that raises
/// goes back with an attempt more, or to the dead letters. Returns whether it reached anything.
pub fn deliver_taken(session: &mut Session, item: Item) -> Result<bool, PgError> {
    let pending = session.work.len();
    let stimulus = stimulus_of(&item);
    let attempt = subtransaction(|| {
        let instance_id = item.deferred_for.or(stimulus.filter.instance_id);
        let found = matching::find(&Filter { instance_id, ..stimulus.filter.clone() });
        let mut delivery = Delivery::default();
        match deliver::reach(session, &stimulus, found, false, &mut delivery) {
            Ok(()) => delivery,
            Err(error) => unwind(error),
        }
    });
    match attempt {
        Ok(mut delivery) => {
            let is_delivered = delivery.has_reached();
            if is_delivered || delivery.queued.is_some() || item.deferred_for.is_some() {
                deliver::leave_for_busy(session, &stimulus, &mut delivery);
            } else {
                queue::insert(&item, session.timestamp());
            }
            Ok(is_delivered)
        }
        Err(error) if error.ends_everything() || item.deferred_for.is_some() => Err(error),
        Err(error) => {
            session.work.truncate(pending);
            queue::insert(&item, session.timestamp());
            note_failure(session, &item, &error);
            Ok(false)
        }
    }
}

/// Notes a failed delivery of an item that is in the queue.
pub fn note_failure(session: &Session, item: &Item, error: &PgError) {
    let now = session.timestamp();
    let attempts = item.attempts + 1;
    queue::failed(item.id, &error.message, Timestamp(now.0.saturating_add(RETRY_AFTER * i64::from(attempts))));
    if attempts >= MAX_ATTEMPTS {
        queue::bury(item.id, "Failed", now);
    }
}

/// A kept item as a stimulus.
pub fn stimulus_of(item: &Item) -> Stimulus {
    Stimulus {
        filter: item.filter.clone(),
        payload: item.stimulus.as_ref().map(memory::copy),
        input: item.input.as_ref().map(memory::copy),
        sender: item.sender.clone(),
    }
}

/// What became of an item of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// It resumed so many instances.
    Resumed(u64),
    /// No instance waits for it that may be resumed: it stays as it is.
    Stays,
    /// Another session holds it, or an instance that waits for it: they may leave it. Or the delivery failed, and the
    /// next one waits. It is to be looked at again.
    Held,
    /// An instance waits for it whose SQL this session may not run: only one of this owner.
    Elsewhere(i32),
}

/// Delivers an item that is still in the queue, if something matches it and its sender may.
pub fn deliver_queued(session: &mut Session, item: &Item) -> Result<Swept, PgError> {
    let stimulus = stimulus_of(item);
    let found = matching::find(&stimulus.filter);
    if is_stale(item) {
        queue::take(item.id);
        return Ok(Swept::Stays);
    }
    // What cannot be resumed here and now stays as it is.
    let (mut can_any, mut is_held, mut elsewhere) = (false, false, None);
    for stored in &found {
        match can_run(stored, item)? {
            Can::Run => can_any = true,
            Can::Wait => is_held = true,
            Can::Elsewhere(owner) => elsewhere = elsewhere.or(Some(owner)),
            Can::Not => {}
        }
    }
    if !can_any {
        return Ok(match elsewhere {
            Some(owner) => Swept::Elsewhere(owner),
            None if is_held => Swept::Held,
            None => Swept::Stays,
        });
    }
    if let [stored] = found.as_slice()
        && item.filter.bookmark_id.is_some()
        && !stored.bookmark.auto_burn
    {
        return children::deliver_all(session, item, stored);
    }
    if !queue::take(item.id) {
        return Ok(Swept::Held);
    }
    let mut delivery = Delivery::default();
    deliver::reach(session, &stimulus, found, false, &mut delivery)?;
    if delivery.has_reached() || delivery.queued.is_some() {
        deliver::leave_for_busy(session, &stimulus, &mut delivery);
    } else {
        queue::insert(item, session.timestamp());
    }
    deliver::work_off(session)?;
    Ok(match delivery.resumed.len() {
        0 => Swept::Stays,
        resumed => Swept::Resumed(resumed as u64),
    })
}

/// Whether this session can resume a bookmark.
enum Can {
    /// Right now: it holds the instance's lock.
    Run,
    /// Another session holds that.
    Wait,
    /// Only a session of this owner.
    Elsewhere(i32),
    /// Not as things are.
    Not,
}

/// Whether this session runs bursts of an owner that a stimulus in the queue sets off: those of roles whose rights the
/// current role has, and what a stimulus of its own would reach here. Workers run them all.
fn is_wanted_here(sender: &Owner, version: Uuid, owner: &Owner) -> Result<bool, PgError> {
    if apart::is_worker() || sender.is_current() || access::is_member(role::current(), owner) {
        return Ok(true);
    }
    let Some(id) = owners::known_id_of(role::current()) else { return Ok(false) };
    Ok(Hearing::of(&owners::by_id(id), false).resumes(version, owner)? == Verdict::Heard)
}

fn can_run(stored: &Stored, item: &Item) -> Result<Can, PgError> {
    let Some((version, owner)) = instances::owner(stored.instance_id) else { return Ok(Can::Run) };
    // Before the lock, as in a delivery.
    let verdict = Hearing::of(&item.sender, item.filter.names_target()).resumes(version, &owner)?;
    if verdict != Verdict::Heard || !is_wanted_here(&item.sender, version, &owner)? {
        return Ok(Can::Not);
    }
    let runs_here = access::runs_here(&owner, &*program::of_version(version)?);
    if running::contains(stored.instance_id) {
        return Ok(Can::Not);
    }
    if !runs_here {
        // What is not this session's to resume must not be held by it either.
        let is_possible = owner.role().is_some() && !instances::is_faulted(stored.instance_id);
        return Ok(if is_possible { Can::Elsewhere(owner.id) } else { Can::Not });
    }
    Ok(match bookmarks::try_lock(stored.bookmark.id) {
        None => Can::Wait,
        Some(waiting) if waiting.row.instance.sub_status == SubStatus::Faulted => Can::Not,
        Some(_) => Can::Run,
    })
}

/// Whether an item was left for a bookmark that is gone: the session that held its instance has used it up.
fn is_stale(item: &Item) -> bool {
    let was_left = item.filter.instance_id.is_some() && item.expires_at == Timestamp::INFINITY;
    was_left && item.filter.bookmark_id.is_some_and(|bookmark| !bookmarks::exists(bookmark))
}
