//! Delivering what was kept: when its bookmark appears, and in the sweep.

use workflow_engine::instance::SubStatus;

use crate::access;
use crate::pg::PgError;
use crate::pg::error::unwind;
use crate::pg::spi::Timestamp;
use crate::pg::subtransaction::subtransaction;
use crate::program;
use crate::run::deliver::{self, Delivery, RETRY_AFTER, Stimulus};
use crate::run::{Session, children, running};
use crate::store::matching::{self, Stored};
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
        let found = matching::find(&stimulus.filter);
        let mut delivery = Delivery::default();
        match deliver::reach(session, &stimulus, found, false, &mut delivery) {
            Ok(()) => delivery,
            Err(error) => unwind(error),
        }
    });
    match attempt {
        Ok(mut delivery) => {
            let is_delivered = delivery.has_reached();
            if is_delivered || delivery.queued.is_some() || item.is_deferred {
                deliver::leave_for_busy(session, &stimulus, &mut delivery);
            } else {
                queue::insert(&item, session.timestamp());
            }
            Ok(is_delivered)
        }
        Err(error) if error.ends_everything() || item.is_deferred => Err(error),
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
        payload: item.stimulus.clone(),
        input: item.input.clone(),
        sender: item.sender.clone(),
    }
}

/// Delivers an item that is still in the queue, if something matches it and its sender may. Returns how many
/// instances it resumed.
pub fn deliver_queued(session: &mut Session, item: &Item) -> Result<u64, PgError> {
    let stimulus = stimulus_of(item);
    let found = matching::find(&stimulus.filter);
    if is_stale(item) {
        queue::take(item.id);
        return Ok(0);
    }
    // What nobody can resume here and now stays as it is.
    let mut can_any = false;
    for stored in &found {
        can_any |= can_run(stored)?;
    }
    if !can_any {
        return Ok(0);
    }
    if let [stored] = found.as_slice()
        && item.filter.bookmark_id.is_some()
        && !stored.bookmark.auto_burn
    {
        return children::deliver_all(session, item, stored);
    }
    if !queue::take(item.id) {
        return Ok(0);
    }
    let mut delivery = Delivery::default();
    deliver::reach(session, &stimulus, found, false, &mut delivery)?;
    if delivery.has_reached() || delivery.queued.is_some() {
        deliver::leave_for_busy(session, &stimulus, &mut delivery);
    } else {
        queue::insert(item, session.timestamp());
    }
    deliver::work_off(session)?;
    Ok(delivery.resumed.len() as u64)
}

/// Whether this session can resume a bookmark right now; if so, it holds the instance's lock.
fn can_run(stored: &Stored) -> Result<bool, PgError> {
    let Some((version, owner)) = instances::owner(stored.instance_id) else { return Ok(true) };
    if running::contains(stored.instance_id) || !access::runs_here(&owner, &*program::of_version(version)?) {
        return Ok(false);
    }
    let waiting = bookmarks::try_lock(stored.bookmark.id);
    Ok(waiting.is_some_and(|waiting| waiting.row.instance.sub_status != SubStatus::Faulted))
}

/// Whether an item was left for a bookmark that is gone: whoever held its instance has used it up.
fn is_stale(item: &Item) -> bool {
    let was_left = item.filter.instance_id.is_some() && item.expires_at == Timestamp::INFINITY;
    was_left && item.filter.bookmark_id.is_some_and(|bookmark| !bookmarks::exists(bookmark))
}
