//! Firing a due bookmark, and ending a pause.
//!
//! The end of a pause fires the answers that were stored for the instance. A call that may not do so makes a bookmark
//! of the instance due, and the session that fires it ends the pause. Since each leads to the other, both are in this
//! module.

use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::program::Retry;

use crate::access::lending;
use crate::compiled::{self, Compiled};
use crate::pg::error::warning;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, process, role};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::frame;
use crate::run::call::notices::notice_no_worker;
use crate::run::events::queued;
use crate::run::events::queued::MAX_ATTEMPTS;
use crate::run::instances::acquire::{self, Acquired, Unavailable};
use crate::run::instances::resume;
use crate::store::events::queue::{self, Item};
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks::{self, BookmarkKind};
use crate::store::repair::pauses;
use crate::store::timers::due;
use crate::wake;

/// How far a bookmark is postponed after its first failed attempt, in microseconds; ten times as far after the second.
const BACKOFF: i64 = 1_000_000;

/// Fires one bookmark in a subtransaction, if it is free, and records an error as a failed attempt.
pub fn fire(context: &mut CallContext, bookmark: Uuid) -> Result<bool, PgError> {
    match fire_isolated(context, bookmark) {
        Ok(fired) => Ok(fired),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            record_failure(context, bookmark, &error, true);
            Ok(false)
        }
    }
}

/// The same without recording an error.
pub fn fire_isolated(context: &mut CallContext, bookmark: Uuid) -> Result<bool, PgError> {
    context.isolated(|context| fire_here(context, bookmark))
}

/// Fires a bookmark in the open transaction. `false`, which counts as no attempt: its instance is locked, faulted or
/// paused, or is for another session, a worker holds its task, an answer comes before the deadline, or the bookmark is
/// gone or no longer due.
pub fn fire_here(context: &mut CallContext, bookmark: Uuid) -> Result<bool, PgError> {
    let (mut waiting, compiled) = match acquire::try_acquire(context, bookmark)? {
        Acquired::Ready(waiting, compiled) => (waiting, compiled),
        Acquired::Busy(Unavailable::OwnersSession) => return leave_to_owner(bookmark),
        Acquired::Busy(Unavailable::Paused) => return end_by_fire(context, bookmark),
        Acquired::Busy(Unavailable::NotFree | Unavailable::Faulted | Unavailable::Leased) | Acquired::Gone => {
            return Ok(false);
        }
    };
    // Another session may have postponed the bookmark, given up on it, or migrated its instance with new timers, since
    // this one read it.
    if waiting.bookmark.due_at.is_none_or(|at| Timestamp::from(at) > context.timestamp()) {
        return Ok(false);
    }
    // What was accepted before the deadline counts.
    if waiting.kind == BookmarkKind::Deadline && bookmarks::has_due_answer(&waiting) {
        return Ok(false);
    }
    waiting.by_time = true;
    frame::run(context, |context| resume::resume_at(context, &mut waiting, &compiled, None, OnFault::Store))?;
    Ok(true)
}

/// Leaves a bookmark that this session may not fire to the next scan. The scan or call before checked that it may, so
/// its instance has got another version or owner since, or its owner the right to log in.
///
/// # Errors
/// 42501 in a worker that is no longer in its own role: the next scan would give it the bookmark again.
fn leave_to_owner(bookmark: Uuid) -> Result<bool, PgError> {
    if process::is_engine() || process::connected_as().is_none_or(|own| own == role::current()) {
        return Ok(false);
    }
    Err(PgError::new("42501", format!("this session may not fire bookmark {bookmark}")))
}

/// Records that a bookmark could not be fired. It is postponed; after the third attempt it becomes a dead letter.
/// `false`: another session has locked the bookmark, or has moved its due time since, or it is gone.
pub fn record_failure(context: &mut CallContext, bookmark: Uuid, error: &PgError, counts: bool) -> bool {
    let now = context.timestamp();
    // The fire has given up its locks, so the due time may have moved: it must not be moved back.
    let attempts = if counts { due::count_attempt(bookmark, now) } else { due::attempts(bookmark, now) };
    let Some(attempts) = attempts else { return false };
    // If the instance was about to be admitted, another one is admitted instead.
    wake::report_pending_starts(true);
    let message = format!("bookmark {bookmark} could not be fired: {}", error.message);
    if attempts >= MAX_ATTEMPTS {
        let letter = context.new_id();
        due::make_dead_letter(bookmark, letter, now, &error.message);
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

/// Whether a call has ended the pause of an instance and left the rest to a session of its owner.
pub fn is_ending(instance_id: Uuid) -> bool {
    pauses::of(instance_id).is_some_and(|pause| pause.is_ending)
}

/// Ends the pause of an instance, if a call has left that to this session, which fires the bookmark that the call has
/// made due. `false`: it stays paused.
fn end_by_fire(context: &mut CallContext, bookmark: Uuid) -> Result<bool, PgError> {
    let Some(waiting) = bookmarks::try_lock(bookmark) else { return Ok(false) };
    if !is_ending(waiting.row.instance.id) {
        return Ok(false);
    }
    let compiled = compiled::of_instance(&waiting.row)?;
    if !lending::runs_here(context.serves, &waiting.row.owner, &compiled) {
        return leave_to_owner(bookmark);
    }
    end_pause(context, waiting.row, &compiled)?;
    Ok(true)
}

/// Continues a locked instance, and delivers what was stored for it: first the answers, then the stimuli. Due bookmarks
/// fire afterwards, as usual.
pub fn end_pause(context: &mut CallContext, mut row: InstanceRow, compiled: &Compiled) -> Result<(), PgError> {
    let (id, now) = (row.instance.id, context.timestamp());
    if let Some(since) = row.paused_at {
        execution::move_clocks(&mut row.instance, now.0.saturating_sub(since.0).max(0));
    }
    let timed = compiled.program.nodes.iter().filter(|node| node.retry.as_ref().is_some_and(Retry::is_timed));
    let timed: Vec<String> = timed.map(|node| node.node_id.to_string()).collect();
    if pauses::release(&row.instance, &timed, now) {
        notice_no_worker();
    }
    queue::report_acts_of(id);
    for answer in pauses::answers(id) {
        fire(context, answer)?;
    }
    for item in queue::items_for(id, now) {
        deliver(context, item)?;
    }
    frame::run(context, |context| queued::meet_all(context, id))
}

/// Delivers a stimulus stored for an instance. If nothing matches any more, it stays stored as long as any other
/// stimulus.
fn deliver(context: &mut CallContext, mut item: Item) -> Result<(), PgError> {
    if !queue::take(item.id) {
        return Ok(());
    }
    if item.filter.bookmark_id.is_none() {
        let until = Timestamp(context.timestamp().0.saturating_add(guc::queue_ttl()));
        item.expires_at = item.expires_at.min(until);
        item.is_momentary = false;
    }
    frame::run(context, |context| queued::deliver_taken(context, item).map(drop))
}
