//! Items of the queue, whatever they ask for: which session delivers one, what a sweep says of it, and how failures
//! count.

use uuid::Uuid;

use crate::access;
use crate::access::hearing::{Hearing, Verdict};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, role};
use crate::run::Session;
use crate::run::call::isolated;
use crate::store::events::queue::{self, Item};
use crate::store::rights::owners::{self, Owner};

/// Attempts to fire a bookmark or to deliver a kept stimulus, before it becomes a dead letter.
pub const MAX_ATTEMPTS: i32 = 3;

/// Wait after a failed delivery, in microseconds, for each attempt so far. What passes by itself, such as a lock that
/// another session holds, mostly has passed by then, and no sweep runs a burst at once that has just failed.
const REDELIVER_AFTER: i64 = 10_000_000;

/// The outcome of a sweep for an item of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// It resumed this many instances.
    Resumed(u64),
    /// No instance that may be resumed waits for it, so it stays as it is.
    Stays,
    /// Another session holds the item, or an instance that waits for it, and may roll back. Or the delivery failed, and
    /// the next attempt is due later. A sweep must look at the item again.
    Held,
    /// An instance that waits for it has SQL that only a session of this owner may run.
    Elsewhere(i32),
}

/// Whether this session delivers a queued stimulus to an instance of an owner. A worker always does. Another session
/// does so for its own stimuli, for owners whose rights the current role has, and for instances that a stimulus of the
/// current role would reach.
pub fn is_wanted_here(sender: &Owner, version: Uuid, owner: &Owner) -> Result<bool, PgError> {
    if isolated::is_worker() || sender.is_current() || access::is_member(role::current(), owner) {
        return Ok(true);
    }
    let Some(id) = owners::known_id_of(role::current()) else { return Ok(false) };
    Ok(Hearing::of(&owners::by_id(id), false).resumes(version, owner)? == Verdict::Heard)
}

/// Notes that the first delivery of an item failed.
pub fn note_first_failure(session: &Session, item: Uuid, error: &PgError) {
    queue::failed(item, &error.message, Timestamp(session.timestamp().0.saturating_add(REDELIVER_AFTER)));
}

/// Notes a failed delivery of an item that is in the queue.
pub fn note_failure(session: &Session, item: &Item, error: &PgError) {
    let now = session.timestamp();
    let attempts = item.attempts + 1;
    queue::failed(item.id, &error.message, Timestamp(now.0.saturating_add(REDELIVER_AFTER * i64::from(attempts))));
    if attempts >= MAX_ATTEMPTS {
        queue::make_dead_letter(item.id, "Failed", now);
    }
}
