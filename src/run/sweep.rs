//! The sweep: fires what is due, and delivers queue items to bookmarks that a concurrent transaction wrote, if neither
//! transaction saw the other's row. It is idempotent. Every fire has a subtransaction of its own, so that a failure
//! does not stop the other fires.

use uuid::Uuid;

use crate::access;
use crate::compiled;
use crate::pg::error::warning;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, role};
use crate::run::burst::OnFault;
use crate::run::claim::{Claim, Reason};
use crate::run::queue_item::{self, MAX_ATTEMPTS, Swept};
use crate::run::{Session, admission, claim, fire, pause, queued, resume, retention, running, work};
use crate::store::bookmarks::DueBookmark;
use crate::store::identity::{self, Identity};
use crate::store::{bookmarks, due, queue};

/// How far a bookmark's due time is moved after its first failed attempt, in microseconds; ten times as far after
/// the second.
const BACKOFF: i64 = 1_000_000;

/// Expired items that one sweep moves to the dead letters.
const MAX_EXPIRED: i64 = 1000;

/// Fires what is due for the current role, at most `max` fires. Returns the number of fires.
pub fn run_due(session: &mut Session, max: u64) -> Result<u64, PgError> {
    if !guc::enabled() || guc::restoring() {
        return Ok(0);
    }
    if identity::read() == Identity::Foreign {
        warn_foreign();
        return Ok(0);
    }
    fire::due_triggers(session, max)?;
    let mut fired = 0;
    // What begins may end at once and make room for the next one.
    while fired < max && (admission::call_next(session.timestamp())? > 0 || fired == 0) {
        let before = fired;
        fired += fire_due(session, max - fired)?;
        if fired == before {
            break;
        }
    }
    fired += sweep_queue(session, max.saturating_sub(fired))?;
    for id in queue::expired(session.timestamp(), MAX_EXPIRED) {
        queue::bury(id, "Expired", session.timestamp());
    }
    retention::now_and_then(session, MAX_EXPIRED.unsigned_abs());
    Ok(fired)
}

/// Warns that nothing is fired in this database, because it is a copy.
pub fn warn_foreign() {
    warning(
        PgError::new("01000", "this database is a copy, and its timers belong to the original")
            .detail("Workers and wf_run_due fire nothing in a copy, so that no timer fires twice.")
            .hint("If this database is to fire them from now on, run wf_adopt_database()."),
    );
}

fn fire_due(session: &mut Session, max: u64) -> Result<u64, PgError> {
    let mut fired = 0;
    let mut after = (Timestamp(i64::MIN), Uuid::nil());
    while fired < max {
        let page = bookmarks::due(session.timestamp(), after);
        let Some(last) = page.last() else { break };
        after = (last.due_at, last.bookmark);
        for due in page {
            if fired == max {
                break;
            }
            // Check before locking: a role must not lock an instance that it may not fire.
            if is_mine(&due)? {
                fired += u64::from(fire(session, due.bookmark)?);
            }
        }
    }
    Ok(fired)
}

fn is_mine(due: &DueBookmark) -> Result<bool, PgError> {
    if running::contains(due.instance) || !access::is_member(role::current(), &due.owner) {
        return Ok(false);
    }
    Ok(access::runs_here(&due.owner, &*compiled::of_version(due.definition_version)?))
}

/// Fires one bookmark, if it is free.
pub fn fire(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    match fire_isolated(session, bookmark) {
        Ok(fired) => Ok(fired),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            note_failure(session, bookmark, &error, true);
            Ok(false)
        }
    }
}

/// Fires a bookmark in a subtransaction. `false`: its instance is locked or faulted, or it is gone or not due any more.
pub fn fire_isolated(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    session.isolated(|session| fire_here(session, bookmark))
}

/// Fires a bookmark in the open transaction. `false`: its instance is locked or faulted, or it is gone or not due any
/// more.
pub fn fire_here(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    let (mut waiting, compiled) = match claim::try_claim(bookmark)? {
        Claim::Ready(waiting, compiled) => (waiting, compiled),
        Claim::Busy(Reason::OwnersSession) => {
            return Err(PgError::new("42501", format!("this session may not fire bookmark {bookmark}")));
        }
        Claim::Busy(Reason::Paused) => return pause::end_by_fire(session, bookmark),
        Claim::Busy(Reason::Locked | Reason::Faulted | Reason::Leased) | Claim::Gone => return Ok(false),
    };
    // Another session may have buried or postponed the bookmark since this one read it.
    if waiting.bookmark.due_at.is_none_or(|at| Timestamp::from(at) > session.timestamp()) {
        return Ok(false);
    }
    waiting.by_time = true;
    work::call(session, |session| resume::resume_at(session, &mut waiting, &compiled, None, OnFault::Store))?;
    Ok(true)
}

/// Notes that a bookmark could not be fired. It stays due at a later time; after the third attempt it becomes a dead
/// letter. `false`: another session holds the bookmark, or it is gone.
pub fn note_failure(session: &mut Session, bookmark: Uuid, error: &PgError, counts: bool) -> bool {
    let attempts = if counts { due::count_attempt(bookmark) } else { due::attempts(bookmark) };
    let Some(attempts) = attempts else { return false };
    let now = session.timestamp();
    let message = format!("bookmark {bookmark} could not be fired: {}", error.message);
    if attempts >= MAX_ATTEMPTS {
        let letter = session.new_id();
        due::bury(bookmark, letter, now, &error.message);
        warning(
            PgError { message, ..error.clone() }
                .hint(format!("It was given up after {attempts} attempts. wf_replay('{letter}') tries it again.")),
        );
    } else {
        let wait = BACKOFF * 10_i64.pow(attempts.clamp(1, MAX_ATTEMPTS).unsigned_abs() - 1);
        due::postpone(bookmark, Timestamp(now.0.saturating_add(wait)));
        warning(PgError { message, ..error.clone() });
    }
    true
}

/// Notes that a stimulus in the queue could not be delivered. A later sweep tries it again; after the third attempt it
/// becomes a dead letter. `false`: another session holds the item, or it is gone.
pub fn note_undelivered(session: &Session, item: Uuid, error: &PgError, counts: bool) -> bool {
    if !counts {
        due::forget_delivery(item);
    }
    let Some(item) = queue::get(item, session.timestamp()).filter(|item| queue::lock(item.id)) else { return false };
    queue_item::note_failure(session, &item, error);
    true
}

fn sweep_queue(session: &mut Session, max: u64) -> Result<u64, PgError> {
    let mut fired = 0;
    let mut after = Uuid::nil();
    while fired < max {
        let page = queue::page(after, session.timestamp());
        let Some(last) = page.last() else { break };
        after = last.id;
        for item in page {
            if fired >= max {
                break;
            }
            if let Swept::Resumed(resumed) = sweep_item(session, &item)? {
                fired += resumed;
            }
        }
    }
    Ok(fired)
}

/// Delivers a kept stimulus to the matching bookmarks that this session can resume.
pub fn sweep_item(session: &mut Session, item: &queue::Item) -> Result<Swept, PgError> {
    let attempt = session.isolated(|session| work::call(session, |session| queued::deliver_queued(session, item)));
    match attempt {
        Ok(swept) => Ok(swept),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            if !queue::lock(item.id) {
                return Ok(Swept::Held);
            }
            queue_item::note_failure(session, item, &error);
            Ok(Swept::Held)
        }
    }
}
