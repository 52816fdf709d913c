//! Replaying dead letters.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::access::instance::{self, Subject};
use crate::access::{self, Operation};
use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc};
use crate::run::Session;
use crate::run::call::notices::tell_how_to_fire;
use crate::run::events::{deliver, queued};
use crate::store::events::dead_letters::{self, Letter};
use crate::store::instances;
use crate::store::instances::bookmarks;

/// Replays a dead letter: a stimulus is delivered, or queued again; a bookmark becomes due immediately. Returns whether
/// it was delivered, and the id of the role that sent it.
pub fn replay(session: &mut Session, id: Uuid) -> Result<(bool, i32), PgError> {
    // The lock of the partition comes before that of the row.
    let letter = find(session, id)?;
    deliver::require_route(letter.item.filter.correlation.id(), &letter.item.filter)?;
    dead_letters::lock(id);
    let letter = find(session, id)?;
    dead_letters::replayed(id, session.timestamp());
    let sender = letter.item.sender.id;
    let is_delivered = match letter.due_at {
        Some(_) => fire_again(session, &letter)?,
        None => send_again(session, letter)?,
    };
    Ok((is_delivered, sender))
}

/// A dead letter that the caller may replay.
fn find(session: &mut Session, id: Uuid) -> Result<Letter, PgError> {
    let item_id = session.new_id();
    let letter = dead_letters::get(id, item_id)
        .ok_or_else(|| PgError::new("42704", format!("dead letter {id} does not exist")))?;
    if !may_replay(session.caller, &letter)? {
        return Err(PgError::new("42501", format!("permission denied for dead letter {id}")));
    }
    if letter.replayed_at.is_some() {
        return Err(PgError::new("55000", format!("dead letter {id} was already replayed")));
    }
    let sent_by = letter.item.sent_by.as_ref().and_then(|by| by.actor.as_deref());
    if sent_by.is_some_and(guc::is_pseudonym) {
        return Err(PgError::new("55000", format!("the actor of dead letter {id} was erased"))
            .detail("It would be delivered as sent by nobody who is known.")
            .hint("Send the stimulus again."));
    }
    Ok(letter)
}

/// Whether a role may replay a dead letter: its own stimulus, which reaches only instances that it may resume; or a
/// bookmark of an instance that it may resume.
fn may_replay(who: Oid, letter: &Letter) -> Result<bool, PgError> {
    let item = &letter.item;
    let owner = match letter.due_at {
        Some(_) => item.filter.bookmark_id.and_then(bookmarks::instance_of).and_then(instances::owner),
        None => None,
    };
    let Some((version, owner)) = owner else { return Ok(access::is_member(who, &item.sender)) };
    let subject = Subject { owner: &owner, is_child: true, compiled: &*compiled::of_version(version)? };
    Ok(instance::permits(who, Operation::Resume, subject))
}

/// Makes the bookmark of a dead letter due immediately. A worker or wf_run_due fires it.
fn fire_again(session: &Session, letter: &Letter) -> Result<bool, PgError> {
    let bookmark = letter.item.filter.bookmark_id.unwrap_or_default();
    if !dead_letters::wake(bookmark, session.timestamp()) {
        return Err(gone(bookmark));
    }
    tell_how_to_fire();
    Ok(false)
}

fn send_again(session: &mut Session, letter: Letter) -> Result<bool, PgError> {
    let mut item = letter.item;
    match item.filter.bookmark_id {
        // A stimulus for one bookmark waits for that bookmark without an expiry, as it did before.
        Some(bookmark) if !bookmarks::exists(bookmark) => return Err(gone(bookmark)),
        Some(_) => {}
        None => item.expires_at = Timestamp(session.timestamp().0.saturating_add(guc::queue_ttl())),
    }
    session.has_waited = true;
    let is_delivered = queued::deliver_taken(session, item)?;
    if !is_delivered {
        tell_how_to_fire();
    }
    Ok(is_delivered)
}

fn gone(bookmark: Uuid) -> PgError {
    PgError::new("55000", format!("bookmark {bookmark} no longer exists"))
        .detail("The instance went on or ended without the dead letter.")
}
