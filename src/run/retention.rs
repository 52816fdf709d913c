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

/// Whether anything but runs of commands is removed at all.
pub fn is_on() -> bool {
    guc::retention().is_some() || store::shortest().is_some()
}

/// Removes what is over, unless this backend looked a moment ago and found nothing.
pub fn now_and_then(session: &Session, batch: u64, scope: Scope) -> Result<u64, PgError> {
    let now = session.timestamp().0;
    // A clock that was set back must not keep anything for ever.
    if (LOOKED_AT.get()..NOT_BEFORE.get()).contains(&now) {
        return Ok(0);
    }
    let gone = purge(session, batch, scope)?;
    LOOKED_AT.set(now);
    NOT_BEFORE.set(if gone < batch { now.saturating_add(PAUSE) } else { i64::MIN });
    Ok(gone)
}

/// Removes what is over: about `batch` rows of each kind at the most. Returns how many instances and letters went.
pub fn purge(session: &Session, batch: u64, scope: Scope) -> Result<u64, PgError> {
    let limit = i64::try_from(batch).unwrap_or(i64::MAX);
    let mut gone = 0;
    if let Some(keep) = guc::schedule_run_retention() {
        let until = before(session, keep);
        gone += store::remove(&mine(&store::commands(id_at(until), until, limit), scope));
    }
    let keep = guc::retention();
    if let Some(shortest) = keep.into_iter().chain(store::shortest()).min() {
        gone += remove_instances(session, keep, shortest, batch, scope);
    }
    if let Some(keep) = keep {
        let until = before(session, keep);
        gone += store::remove_letters(&mine(&store::letters(until, limit), scope));
        if has_all_rights(scope) {
            remove_refusals(until);
            store::remove_definitions(until, limit);
        }
    }
    Ok(gone)
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

fn remove_instances(session: &Session, keep: Option<i64>, shortest: i64, batch: u64, scope: Scope) -> u64 {
    let end = id_at(before(session, shortest));
    let now = session.timestamp();
    let mut gone = 0;
    go_round(&INSTANCES, end, |after| {
        let page = store::instances(after, end, now, keep);
        let over = mine(&page, scope);
        let room = usize::try_from(batch.saturating_sub(gone)).unwrap_or(usize::MAX);
        let taken = &over[..over.len().min(room)];
        gone += store::remove(taken);
        match over.get(room) {
            // The rest of the page is for the next time.
            Some(_) => (taken.last().copied(), false),
            None => (page.last().map(|row| row.id), page.len() < PAGE as usize),
        }
    });
    gone
}

fn remove_refusals(until: Timestamp) {
    let end = id_at(until);
    go_round(&REFUSALS, end, |after| {
        let page = store::refusals(after, end, until);
        let over: Vec<Uuid> = page.iter().filter(|row| row.is_over).map(|row| row.id).collect();
        if !over.is_empty() {
            store::remove_refusals(&over);
        }
        (page.last().map(|row| row.id), page.len() < PAGE as usize)
    });
}

/// Looks at a page behind the last one, and at the beginning if that was the end. A page says which id was its last,
/// and whether nothing comes after it.
fn go_round(
    place: &'static std::thread::LocalKey<Cell<Option<Uuid>>>,
    end: Uuid,
    mut page: impl FnMut(Uuid) -> (Option<Uuid>, bool),
) {
    let start = place.get().filter(|id| *id < end).unwrap_or_else(|| anywhere(end));
    let (mut last, mut is_end) = page(start);
    if is_end && !start.is_nil() {
        (last, is_end) = page(Uuid::nil());
    }
    place.set(Some(if is_end { Uuid::nil() } else { last.unwrap_or_default() }));
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
