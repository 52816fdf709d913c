//! The first task of each name, for claims of tasks of any name.
//!
//! Such a claim would read the first tasks of every name. Therefore it remembers the position of the first task of each,
//! and for a second the claims of this session read only the names whose first tasks come first. A task that precedes the
//! remembered one of its name waits for the end of that second, as long as there are others.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Instant;

use pgrx::pg_sys::Oid;

use super::fronts::{firsts, position};
use super::{VALID, cache};
use crate::pg::spi::Timestamp;
use crate::store::tasks::leases::{self, ClaimableTask, Claimant, Front};

/// Names of which the first task is remembered, at most.
const MAX_REMEMBERED: usize = 10_000;

/// The position of a task in the order of the inbox, and its name.
type Head = (Reverse<i32>, Timestamp, String);

/// The first tasks of all names as a claim of a role has found them.
pub struct Heads {
    role: Oid,
    heads: BTreeSet<Head>,
    until: Instant,
}

/// The names of the first tasks of any name for a role, at most so many, in no order. `None`: they are not known.
pub fn names(max: usize, role: Oid) -> Option<Vec<String>> {
    let mut known = cache().heads.borrow_mut();
    if known.as_ref().is_some_and(|known| known.until <= Instant::now()) {
        *known = None;
    }
    let known = known.as_ref().filter(|known| known.role == role)?;
    let mut names: Vec<String> = known.heads.iter().take(max).map(|(_, _, name)| name.clone()).collect();
    names.sort_unstable();
    Some(names)
}

/// Remembers the first task of each of all names, if they are many and not known. So many that they would take much
/// memory are not kept.
pub fn remember_names(all: &[String], claimant: &Claimant) {
    const MANY: std::ops::RangeInclusive<usize> = 17..=MAX_REMEMBERED;
    if names(0, claimant.role).is_some() {
        return;
    }
    let heads = MANY.contains(&all.len()).then(|| {
        let firsts = leases::heads(all, claimant.stored_under()).into_iter();
        let heads = firsts.map(|(name, front)| (Reverse(front.priority), front.since, name)).collect();
        Heads { role: claimant.role, heads, until: Instant::now() + VALID }
    });
    cache().heads.replace(heads);
}

/// Remembers which tasks of these names, which are those of [`names`], are first now. `found` are their first ones, in
/// their order, `is_there` says of each whether it is still there, and `is_full` whether there may be more.
pub fn move_heads(names: &[String], found: &[ClaimableTask], is_full: bool, is_there: impl Fn(&ClaimableTask) -> bool) {
    let firsts = firsts(found.iter().filter(|claimable| is_there(claimable)));
    // A name of which nothing was found has its tasks, if any, behind the last one that was, or before its front.
    let last = found.last().filter(|_| is_full).map(position);
    let end = Front { priority: i32::MIN, since: Timestamp::INFINITY };
    let mut known = cache().heads.borrow_mut();
    let Some(Heads { role, heads, .. }) = &mut *known else { return };
    let asked: Vec<Head> =
        heads.iter().filter(|(_, _, name)| names.contains(name)).take(names.len()).cloned().collect();
    for head in asked {
        heads.remove(&head);
        let has_front = || cache().fronts.borrow().contains_key(&(*role, head.2.clone()));
        let position = firsts.get(head.2.as_str()).copied().or(last).or_else(|| has_front().then_some(end));
        if let Some(position) = position {
            heads.insert((Reverse(position.priority), position.since, head.2));
        }
    }
}
