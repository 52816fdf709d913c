//! The position of the first task of each name, as a role finds it.
//!
//! A task that was claimed leaves a dead entry at the start of the inbox until a vacuum removes it, and none can while
//! an old snapshot might see it. A search that has read past many of them remembers the position of the first task of
//! each name, and the searches of this session start there for a second. During that second they may skip an older task
//! of the same priority that is released or whose transaction commits late, as long as there are others. Dead entries of
//! a higher priority are read each time. The ends of leases leave dead entries as well; if these are many, they are
//! checked once a second.

use std::collections::HashMap;
use std::time::Instant;

use pgrx::pg_sys::Oid;

use super::{Rights, VALID, cache};
use crate::pg::process;
use crate::run::tasks::limits::Search;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Front, Held};

/// Pages that a search may read for each task that it wants of a name, those of its instance and of the indexes
/// included.
const PAGES_PER_TASK: i64 = 10;
/// Pages that it may read beyond that.
const SPARE_PAGES: i64 = 100;

/// The first page of a search for tasks of some names.
pub struct First {
    /// The tasks that the role may claim, in the order of the inbox.
    pub found: Vec<ClaimableTask>,
    /// Whether there may be more behind them.
    pub is_full: bool,
    /// Whether there is none before them.
    pub starts_with_first: bool,
    /// Whether there is none among them that is not for the role.
    pub all_claimable: bool,
}

/// A first page, from the fronts of the names on, by a statement that asks for no rights: nearly always the role may
/// claim what is first. `None`: it does not say which tasks are first for this role.
pub fn first(search: &Search, max: usize) -> Option<First> {
    let names = search.unlimited()?;
    let (found, starts_with_first) = read(names, max, search.claimant());
    if found.iter().any(|(claimable, _)| claimable.is_assigned) {
        return None;
    }
    let (count, is_full) = (found.len(), found.len() == max);
    let mut rights = Rights::of(search.claimant());
    let mut given = Vec::with_capacity(found.len());
    for (claimable, owner) in found {
        if rights.may_work(&claimable, owner)? {
            given.push(claimable);
        }
    }
    Some(First { all_claimable: given.len() == count, found: given, is_full, starts_with_first })
}

/// The first tasks of these names from their fronts on, at most `max`, as [`leases::first`] gives them. If the search
/// reads too many pages the fronts are remembered. A front that follows on another counts no longer than that: the
/// tasks before it are looked at again each second. Says as well whether the search began with the first task of each
/// name.
fn read(names: &[String], max: usize, claimant: &Claimant) -> (Vec<(ClaimableTask, i32)>, bool) {
    let before = process::pages_read();
    let fronts = known(names, claimant.role);
    let starts_with_first = fronts.iter().all(|front| *front == Front::ALL);
    let owners = claimant.stored_under();
    let found = leases::first(names, &fronts, max, owners);
    let is_long = is_long(before, names.len().saturating_mul(max).saturating_mul(owners.len().max(1)));
    if cache().has_searched.replace(true) && is_long {
        remember_fronts(claimant.role, found.iter().map(|(claimable, _)| claimable));
    }
    (found, starts_with_first)
}

/// The first tasks of a name, locked, as [`leases::lock_first`] gives them. If the search reads too many pages the
/// front is remembered. `None`: several owners have tasks of this name, among which those in front are not known.
pub fn lock_first(name: &str, max: usize, claimant: &Claimant) -> Option<Vec<(ClaimableTask, i32, Held)>> {
    let owner = match claimant.stored_under() {
        [owner] => *owner,
        owners => match leases::owners_of(name, owners)[..] {
            [owner] => owner,
            _ => return None,
        },
    };
    let before = process::pages_read();
    let found = leases::lock_first(name, max, owner);
    // Those that other claims hold are read as well.
    let is_long = is_long(before, max.saturating_mul(4));
    if cache().has_locked.replace(true) && is_long {
        remember_fronts(claimant.role, found.iter().map(|(claimable, _, _)| claimable));
    }
    Some(found)
}

/// Remembers where the tasks of each name begin.
fn remember_fronts<'a>(role: Oid, found: impl Iterator<Item = &'a ClaimableTask>) {
    let mut fronts = cache().fronts.borrow_mut();
    for (name, front) in firsts(found) {
        let of = (role, name.to_owned());
        let until = fronts.get(&of).map_or_else(|| Instant::now() + VALID, |(_, until)| *until);
        fronts.insert(of, (front, until));
    }
}

/// Whether more pages were read since there were `before` than so many tasks need.
fn is_long(before: i64, tasks: usize) -> bool {
    let few = i64::try_from(tasks).unwrap_or(i64::MAX).saturating_mul(PAGES_PER_TASK).saturating_add(SPARE_PAGES);
    process::pages_read() - before > few
}

/// The fronts of these names for a role.
pub fn known(names: &[String], role: Oid) -> Vec<Front> {
    let mut fronts = cache().fronts.borrow_mut();
    let now = Instant::now();
    fronts.retain(|_, (_, until)| *until > now);
    let front = |name: &String| fronts.get(&(role, name.clone())).map_or(Front::ALL, |(front, _)| *front);
    names.iter().map(front).collect()
}

pub fn position(claimable: &ClaimableTask) -> Front {
    Front { priority: claimable.priority, since: claimable.opened_at }
}

/// The position of the first task of each name.
pub fn firsts<'a>(found: impl Iterator<Item = &'a ClaimableTask>) -> HashMap<&'a str, Front> {
    let mut firsts = HashMap::new();
    for claimable in found {
        firsts.entry(claimable.name.as_str()).or_insert(position(claimable));
    }
    firsts
}

/// Runs `release`, which ends the leases of tasks of these names that have ended and says whether there were any,
/// unless it has just read past many dead entries in vain. Says whether it has run.
pub fn release_due(names: &[String], release: impl FnOnce() -> bool) -> bool {
    if cache().ends.get().is_some_and(|until| until > Instant::now()) {
        return false;
    }
    let before = process::pages_read();
    let is_vain = !release() && is_long(before, names.len()) && cache().has_searched.get();
    cache().ends.set(is_vain.then(|| Instant::now() + VALID));
    true
}
