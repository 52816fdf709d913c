//! Retention: what has long been over goes, in small batches.
//!
//! Instances are looked at in the order of their ids. A backend remembers how far it came and begins anew at the end;
//! one that has just begun starts anywhere, so that many short sessions get around as well as one long one.

use std::cell::Cell;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::access;
use crate::guc;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, role};
use crate::run::Session;
use crate::run::fire::Scope;
use crate::store::retention::{Candidate, PAGE};
use crate::store::{owners, retention as store};

/// A backend that had nothing to remove does not look again so soon, in microseconds.
const PAUSE: i64 = 60_000_000;

thread_local! {
    static NOT_BEFORE: Cell<i64> = const { Cell::new(i64::MIN) };
    static LOOKED_AT: Cell<i64> = const { Cell::new(i64::MIN) };
    static INSTANCES: Cell<Option<Uuid>> = const { Cell::new(None) };
    static REFUSALS: Cell<Option<Uuid>> = const { Cell::new(None) };
}

/// What a call removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purged {
    /// Instances and letters that went.
    pub gone: u64,
    /// Whether there is nothing more to remove now. If not, the next call goes on.
    pub is_done: bool,
}

/// Whether anything but runs of commands is removed at all.
pub fn is_on() -> bool {
    guc::retention().is_some() || store::shortest().is_some()
}

/// Removes what is over, unless this backend looked a moment ago and found all of it. `false`: there is more.
pub fn now_and_then(session: &Session, batch: u64, scope: Scope) -> Result<bool, PgError> {
    let now = session.timestamp().0;
    // A clock that was set back must not keep anything for ever.
    if (LOOKED_AT.get()..NOT_BEFORE.get()).contains(&now) {
        return Ok(true);
    }
    let purged = purge(session, batch, scope)?;
    LOOKED_AT.set(now);
    NOT_BEFORE.set(if purged.is_done { now.saturating_add(PAUSE) } else { i64::MIN });
    Ok(purged.is_done)
}

/// Removes what is over: about `batch` rows of each kind at the most.
pub fn purge(session: &Session, batch: u64, scope: Scope) -> Result<Purged, PgError> {
    let limit = i64::try_from(batch).unwrap_or(i64::MAX);
    let mut purged = Purged { gone: 0, is_done: true };
    if let Some(keep) = guc::schedule_run_retention() {
        let until = before(session, keep);
        let over = mine(&store::commands(id_at(until), until, limit), scope);
        purged.count(store::remove(&over), batch);
    }
    let keep = guc::retention();
    if let Some(shortest) = keep.into_iter().chain(store::shortest()).min() {
        let (gone, is_done) = remove_instances(session, keep, shortest, batch, scope);
        purged.gone += gone;
        purged.is_done &= is_done;
    }
    if let Some(keep) = keep {
        let until = before(session, keep);
        let over = mine(&store::letters(until, limit), scope);
        purged.count(store::remove_letters(&over), batch);
        if has_all_rights(scope) {
            purged.is_done &= remove_refusals(until);
            let definitions = store::remove_definitions(until, limit);
            purged.is_done &= definitions < batch;
        }
    }
    Ok(purged)
}

impl Purged {
    fn count(&mut self, gone: u64, batch: u64) {
        self.gone += gone;
        self.is_done &= gone < batch;
    }
}

fn before(session: &Session, keep: i64) -> Timestamp {
    Timestamp(session.timestamp().0.saturating_sub(keep))
}

/// The lowest id that a row of this time can have.
fn id_at(at: Timestamp) -> Uuid {
    let millis = DateTime::<Utc>::from(at).timestamp_millis().max(0).unsigned_abs();
    Uuid::from_u128(u128::from(millis) << 80)
}

fn mine(candidates: &[Candidate], scope: Scope) -> Vec<Uuid> {
    let who = role::current();
    let is_mine = |owner: i32| scope == Scope::All || access::is_member(who, &owners::by_id(owner));
    candidates.iter().filter(|row| row.is_over && is_mine(row.owner)).map(|row| row.id).collect()
}

fn has_all_rights(scope: Scope) -> bool {
    scope == Scope::All || role::has_rights_of(role::current(), role::extension_owner())
}

fn remove_instances(session: &Session, keep: Option<i64>, shortest: i64, batch: u64, scope: Scope) -> (u64, bool) {
    let end = id_at(before(session, shortest));
    let now = session.timestamp();
    let mut gone = 0;
    let is_done = go_round(&INSTANCES, end, |after| {
        let page = store::instances(after, end, now, keep);
        let over = mine(&page, scope);
        let room = usize::try_from(batch.saturating_sub(gone)).unwrap_or(usize::MAX);
        let taken = &over[..over.len().min(room)];
        gone += store::remove(taken);
        if over.len() > room {
            // The rest of the page is for the next time.
            return (taken.last().copied().or(Some(after)), false);
        }
        (page.last().map(|row| row.id), page.len() < PAGE as usize)
    });
    (gone, is_done)
}

fn remove_refusals(until: Timestamp) -> bool {
    let end = id_at(until);
    go_round(&REFUSALS, end, |after| {
        let page = store::refusals(after, end, until);
        let over: Vec<Uuid> = page.iter().filter(|row| row.is_over).map(|row| row.id).collect();
        if !over.is_empty() {
            store::remove_refusals(&over);
        }
        (page.last().map(|row| row.id), page.len() < PAGE as usize)
    })
}

/// Looks at the page behind the last one. A page says which id was its last, and whether nothing comes after it. Returns
/// whether that was the end of a round; a backend that has just begun somewhere looks at the beginning then.
fn go_round(
    place: &'static std::thread::LocalKey<Cell<Option<Uuid>>>,
    end: Uuid,
    mut page: impl FnMut(Uuid) -> (Option<Uuid>, bool),
) -> bool {
    let known = place.get().filter(|id| *id < end);
    let start = known.unwrap_or_else(|| anywhere(end));
    let (mut last, mut is_end) = page(start);
    if is_end && known.is_none() && !start.is_nil() {
        (last, is_end) = page(Uuid::nil());
    }
    place.set(Some(if is_end { Uuid::nil() } else { last.unwrap_or_default() }));
    is_end
}

/// Some id before the end.
fn anywhere(end: Uuid) -> Uuid {
    let oldest = store::oldest().map_or(0, |id| id.as_u128());
    let span = end.as_u128().saturating_sub(oldest);
    match span {
        0 => Uuid::nil(),
        _ => Uuid::from_u128(oldest + Uuid::new_v4().as_u128() % span),
    }
}
