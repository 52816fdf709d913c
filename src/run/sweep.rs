//! The sweep: fires what is due and joins queue and bookmarks that two transactions wrote without seeing each
//! other. Idempotent; every fire has a subtransaction of its own, so that one failure stops nothing else.

use uuid::Uuid;

use crate::access;
use crate::compiled;
use crate::pg::error::warning;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, role};
use crate::run::burst::OnFault;
use crate::run::claim::{Claim, Reason};
use crate::run::queued::{MAX_ATTEMPTS, Swept};
use crate::run::{Session, claim, fire, queued, resume, retention, running, work};
use crate::store::bookmarks::DueBookmark;
use crate::store::identity::{self, Identity};
use crate::store::{bookmarks, due, queue};

/// How far a bookmark's due time is moved after its first failed attempt, in microseconds; ten times as far after
/// the second.
const BACKOFF: i64 = 1_000_000;

/// Expired items that one sweep moves.
const MAX_EXPIRED: i64 = 1000;

/// Fires what is due for the current role, at most `max` fires. Returns how many there were.
pub fn run_due(session: &mut Session, max: u64) -> Result<u64, PgError> {
    if !guc::enabled() || guc::restoring() {
        return Ok(0);
    }
    if identity::read() == Identity::Foreign {
        warn_foreign();
        return Ok(0);
    }
    fire::due_triggers(session, max)?;
    let mut fired = fire_due(session, max)?;
    fired += sweep_queue(session, max.saturating_sub(fired))?;
    for id in queue::expired(session.timestamp(), MAX_EXPIRED) {
        queue::bury(id, "Expired", session.timestamp());
    }
    retention::now_and_then(session, MAX_EXPIRED.unsigned_abs());
    Ok(fired)
}

/// Says that time stands still here.
pub fn warn_foreign() {
    warning(
        PgError::new("01000", "the workflows of this database are those of another one, of which it is a copy")
            .detail("Nothing that is due is fired here, so that it is not fired twice.")
            .hint("If this is the one that is to fire from now on, run wf_adopt_database()."),
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
            // Before the lock: what is not this role's to fire must not be held by it either.
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
fn fire(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    match fire_isolated(session, bookmark) {
        Ok(fired) => Ok(fired),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            note_failure(session, bookmark, &error, true);
            Ok(false)
        }
    }
}

/// Fires a bookmark in a subtransaction. `false`: another session has it, or it is gone.
pub fn fire_isolated(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    session.isolated(|session| fire_here(session, bookmark))
}

/// Fires a bookmark in the transaction that is open. `false`: another session has it, or it is gone.
pub fn fire_here(session: &mut Session, bookmark: Uuid) -> Result<bool, PgError> {
    let (mut waiting, compiled) = match claim::try_claim(bookmark)? {
        Claim::Ready(waiting, compiled) => (waiting, compiled),
        Claim::Busy(Reason::OwnersSession) => {
            return Err(PgError::new("42501", format!("this session may not fire bookmark {bookmark}")));
        }
        Claim::Busy(Reason::Locked | Reason::Faulted) | Claim::Gone => return Ok(false),
    };
    // Buried or postponed since it was read.
    if waiting.bookmark.due_at.is_none_or(|at| Timestamp::from(at) > session.timestamp()) {
        return Ok(false);
    }
    waiting.by_time = true;
    work::call(session, |session| resume::resume_at(session, &mut waiting, &compiled, None, OnFault::Store))?;
    Ok(true)
}

/// Notes that a bookmark could not be fired: it is tried again later, and given up after the third attempt. `false`:
/// another session has it, or it is gone.
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

/// Notes that a stimulus in the queue could not be delivered: it is tried again later, and given up after the third
/// attempt. `false`: another session has it, or it is gone.
pub fn note_undelivered(session: &Session, item: Uuid, error: &PgError, counts: bool) -> bool {
    if !counts {
        due::forget_delivery(item);
    }
    let Some(item) = queue::get(item, session.timestamp()).filter(|item| queue::lock(item.id)) else { return false };
    queued::note_failure(session, &item, error);
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

/// Delivers a kept stimulus to what matches it and can be resumed here.
pub fn sweep_item(session: &mut Session, item: &queue::Item) -> Result<Swept, PgError> {
    let attempt = session.isolated(|session| work::call(session, |session| queued::deliver_queued(session, item)));
    match attempt {
        Ok(swept) => Ok(swept),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            if !queue::lock(item.id) {
                return Ok(Swept::Held);
            }
            queued::note_failure(session, item, &error);
            Ok(Swept::Held)
        }
    }
}
