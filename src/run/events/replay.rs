//! Replaying dead letters.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::access::instance::{self, Subject};
use crate::access::{self, Operation};
use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc};
use crate::run::CallContext;
use crate::run::call::notices::notice_no_worker;
use crate::run::events::{deliver, queued};
use crate::store::events::dead_letters::{self, Letter};
use crate::store::instances;
use crate::store::instances::bookmarks;

/// Replays a dead letter: a stimulus is delivered, or queued again; a bookmark becomes due immediately. Returns whether
/// it was delivered, and the id of the role that sent it.
pub fn replay(context: &mut CallContext, id: Uuid) -> Result<(bool, i32), PgError> {
    // The lock of the partition comes before that of the row.
    let letter = find(context, id)?;
    deliver::require_on_this_node(letter.item.filter.correlation.id(), &letter.item.filter)?;
    dead_letters::lock(id);
    let letter = find(context, id)?;
    dead_letters::replayed(id, context.timestamp());
    let sender = letter.item.sender.id;
    let is_delivered = match letter.due_at {
        Some(_) => fire_again(context, &letter)?,
        None => send_again(context, letter)?,
    };
    Ok((is_delivered, sender))
}

/// A dead letter that the caller may replay.
fn find(context: &mut CallContext, id: Uuid) -> Result<Letter, PgError> {
    let item_id = context.new_id();
    let letter = dead_letters::get(id, item_id)
        .ok_or_else(|| PgError::new("42704", format!("dead letter {id} does not exist")))?;
    if !may_replay(context.caller, &letter)? {
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
fn fire_again(context: &CallContext, letter: &Letter) -> Result<bool, PgError> {
    let bookmark = letter.item.filter.bookmark_id.unwrap_or_default();
    if !dead_letters::wake(bookmark, context.timestamp()) {
        return Err(gone(bookmark));
    }
    notice_no_worker();
    Ok(false)
}

fn send_again(context: &mut CallContext, letter: Letter) -> Result<bool, PgError> {
    let mut item = letter.item;
    match item.filter.bookmark_id {
        // A stimulus for one bookmark waits for that bookmark without an expiry, as it did before.
        Some(bookmark) if !bookmarks::exists(bookmark) => return Err(gone(bookmark)),
        Some(_) => {}
        None => item.expires_at = Timestamp(context.timestamp().0.saturating_add(guc::queue_ttl())),
    }
    context.has_waited = true;
    let is_delivered = queued::deliver_taken(context, item)?;
    if !is_delivered {
        notice_no_worker();
    }
    Ok(is_delivered)
}

fn gone(bookmark: Uuid) -> PgError {
    PgError::new("55000", format!("bookmark {bookmark} no longer exists"))
        .detail("The instance went on or ended without the dead letter.")
}
