//! Retention: removing old instances, schedule runs, answers and dead letters in small batches.
//!
//! A round reads the instances in the order of their ids. Each backend remembers the progress of its round. A round of
//! wf_run_due starts at a random id and wraps around at the end, so that many short sessions cover as much as one long
//! session.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::access;
use crate::pg::spi::Timestamp;
use crate::pg::{catalog, guc, process, role, shared};
use crate::retention_progress::{Keep, PAUSE, Rounds};
use crate::run::{BACKEND, CallContext};
use crate::store::history::audit;
use crate::store::http::requests;
use crate::store::instances::messages;
use crate::store::maintenance::retention as store;
use crate::store::maintenance::retention::{PAGE, RetentionRow};
use crate::store::rights::owners;

/// Whose instances are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerFilter {
    /// Those of roles whose rights the caller has.
    Mine,
    /// Those of all owners, for the scheduler of a database.
    All,
}

/// Interval of checks for rows that no end of an instance reports: dead letters, versions, runs of commands.
const HOUR: i64 = 3_600_000_000;

fn read_keep() -> Keep {
    let setting = guc::retention();
    Keep { setting, shortest: setting.into_iter().chain(store::shortest()).min() }
}

/// Removes what has expired for the current role, unless this backend finished a round under the same settings
/// recently.
pub fn now_and_then(context: &CallContext, batch: u64) {
    let mut rounds = *BACKEND.retention.borrow();
    let (now, keep) = (context.timestamp().0, read_keep());
    if rounds.are_resting(now, keep) {
        return;
    }
    if rounds.are_over() {
        rounds.begin_at(keep.shortest.map_or(Uuid::nil(), |shortest| anywhere(end_of(context, shortest))), keep);
    }
    rounds.has_more = true;
    purge(context, batch, OwnerFilter::Mine, keep, &mut rounds);
    rounds.end_purge(now);
    BACKEND.retention.replace(rounds);
}

/// The next step of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// There is more to remove.
    More,
    /// There is nothing to do before this time.
    At(i64),
}

/// Removes expired rows on behalf of the scheduler: reads a page of rows, and removes at most about `batch` rows of
/// each kind. Sessions report when they end an instance, so nothing is read while nothing can have expired.
pub fn step(context: &CallContext, batch: u64, rounds: &mut Rounds) -> NextStep {
    let (now, keep) = (context.timestamp().0, read_keep());
    // Before reading anything: a session whose end of an instance is not visible yet reports it afterwards.
    let expected = keep.shortest.map(|shortest| (millis(before(context, shortest)), shortest.max(PAUSE)));
    if let Some(millis) = shared::expect_ends(process::database(), expected, process::now()) {
        let from = Uuid::from_u128(u128::from(millis) << 80);
        rounds.schedule_reread(now, now.saturating_add(keep.shortest.unwrap_or_default()), from);
    }
    if !rounds.are_resting(now, keep) {
        if rounds.are_over() {
            rounds.begin(now, keep);
        }
        purge(context, batch, OwnerFilter::All, keep, rounds);
        rounds.end_purge(now);
    }
    // If a setting changed during a round, the next round reads the rows again that this one had passed by then.
    if !rounds.are_over() || !rounds.were_made_for(keep) {
        return NextStep::More;
    }
    let Some(shortest) = keep.shortest else { return NextStep::At(i64::MAX) };
    // Instances that no round has read were too young, and may have ended already.
    let is_young = store::has_any(rounds.instances.known(), id_at(Timestamp(now.saturating_add(PAUSE))));
    let wait = if is_young { shortest.clamp(PAUSE, HOUR) } else { HOUR };
    NextStep::At(rounds.next_at().min(now.saturating_add(wait)))
}

fn purge(context: &CallContext, batch: u64, whose: OwnerFilter, keep: Keep, rounds: &mut Rounds) {
    match keep.shortest {
        Some(shortest) => remove_instances(context, keep.setting, shortest, batch, whose, rounds),
        None => rounds.instances.end(),
    }
    match keep.setting {
        Some(keep) if has_all_rights(whose) => remove_refusals(context, before(context, keep), rounds),
        _ => rounds.refusals.end(),
    }
    // Last, because a deleted version can be removed only when no instance refers to it any more.
    if rounds.has_more {
        rounds.has_more = remove_rest(context, batch, whose, keep.setting);
    }
}

/// Removes rows of the kinds that have an index for this. Returns whether there may be more.
fn remove_rest(context: &CallContext, batch: u64, whose: OwnerFilter, keep: Option<i64>) -> bool {
    let limit = i64::try_from(batch).unwrap_or(i64::MAX);
    let (mut most, mut has_found) = (0, false);
    if let Some(keep) = guc::schedule_run_retention() {
        let until = before(context, keep);
        let over = mine(&store::commands(id_at(until), until, limit), whose);
        most = store::remove(&over).max(most);
    }
    if let Some(keep) = guc::message_retention()
        && has_all_rights(whose)
    {
        most = messages::remove(before(context, keep), limit).max(most);
        most = requests::remove(before(context, keep), limit).max(most);
    }
    if let Some(keep) = guc::audit_retention()
        && has_all_rights(whose)
    {
        most = audit::remove(before(context, keep), limit).max(most);
    }
    if let Some(keep) = keep {
        let until = before(context, keep);
        let over = mine(&store::letters(until, limit), whose);
        most = store::remove_letters(&over).max(most);
        if has_all_rights(whose) {
            let definitions = store::remove_definitions(until, limit);
            most = definitions.removed.max(most);
            has_found = definitions.has_found;
        }
    }
    has_found || most >= batch
}

fn before(context: &CallContext, keep: i64) -> Timestamp {
    Timestamp(context.timestamp().0.saturating_sub(keep))
}

/// The lowest id that a row of this time can have.
fn id_at(at: Timestamp) -> Uuid {
    Uuid::from_u128(u128::from(millis(at)) << 80)
}

/// The timestamp in milliseconds with which an id of that time begins.
fn millis(at: Timestamp) -> u64 {
    DateTime::<Utc>::from(at).timestamp_millis().max(0).unsigned_abs()
}

fn mine(rows: &[RetentionRow], whose: OwnerFilter) -> Vec<Uuid> {
    let who = role::current();
    let is_mine = |owner: i32| whose == OwnerFilter::All || access::is_member(who, &owners::by_id(owner));
    rows.iter().filter(|row| row.is_over && is_mine(row.owner)).map(|row| row.id).collect()
}

fn has_all_rights(whose: OwnerFilter) -> bool {
    whose == OwnerFilter::All || role::has_rights_of(role::current(), catalog::extension_owner())
}

fn remove_instances(
    context: &CallContext,
    keep: Option<i64>,
    shortest: i64,
    batch: u64,
    whose: OwnerFilter,
    rounds: &mut Rounds,
) {
    let now = context.timestamp();
    let (mut again, mut time, mut has_removed) = (Vec::new(), 0, false);
    rounds.instances.step(end_of(context, shortest), ahead(context), |after, before| {
        let began = process::now();
        let page = store::instances(after, before, now, keep);
        let took = process::now() - began;
        let over = mine(&page, whose);
        let room = usize::try_from(batch).unwrap_or(usize::MAX);
        let taken = &over[..over.len().min(room)];
        let removed = store::remove(taken);
        has_removed |= removed > 0;
        if removed < taken.len() as u64 {
            // Other sessions have locked the rest.
            again.extend(taken.first().map(|row| (now.0, *row)));
        }
        let later = page.iter().filter(|row| !row.is_over);
        again.extend(later.filter_map(|row| Some((row.over_at?.0, row.id))));
        if over.len() > room {
            // The next step removes the rest of the page.
            return (taken.last().copied().or(Some(after)), false);
        }
        time += took;
        (page.last().map(|row| row.id), page.len() < PAGE as usize)
    });
    rounds.has_more |= has_removed;
    for (at, row) in again {
        rounds.schedule_reread(now.0, at, row);
    }
    rounds.add_read_time(time);
}

fn remove_refusals(context: &CallContext, until: Timestamp, rounds: &mut Rounds) {
    rounds.refusals.step(id_at(until), ahead(context), |after, before| {
        let page = store::refusals(after, before, until);
        let over: Vec<Uuid> = page.iter().filter(|row| row.is_over).map(|row| row.id).collect();
        if !over.is_empty() {
            store::remove_refusals(&over);
        }
        (page.last().map(|row| row.id), page.len() < PAGE as usize)
    });
}

/// The lowest id of an instance that is not old enough to be removed.
fn end_of(context: &CallContext, shortest: i64) -> Uuid {
    id_at(before(context, shortest))
}

/// The lowest id in the future: a caller chose such an id, or the clock was set back.
fn ahead(context: &CallContext) -> Uuid {
    id_at(Timestamp(context.timestamp().0.saturating_add(PAUSE)))
}

/// A random id between the oldest one and the end.
fn anywhere(end: Uuid) -> Uuid {
    let oldest = store::oldest().map_or(0, |id| id.as_u128());
    let span = end.as_u128().saturating_sub(oldest);
    match span {
        0 => Uuid::nil(),
        _ => Uuid::from_u128(oldest + Uuid::new_v4().as_u128() % span),
    }
}
