//! Where the open tasks of a name begin, as this session has found it.
//!
//! A task that was claimed leaves a dead entry at the front of the inbox until a vacuum removes it, and none can while an
//! old snapshot might see it. A search that has read past many of them notes where it found the first task of each name.
//! The searches of this session begin there for a second. Within it they may pass over an older task of the same priority
//! that comes back or whose transaction commits late, as long as there are others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::store::leases::{Candidate, Front};

/// For how long a front counts.
const VALID: Duration = Duration::from_secs(1);
/// Pages that a search may read for each task that it finds, those of its instance and of the indexes included.
const PAGES_PER_TASK: i64 = 10;
/// Pages that it may read beyond that.
const SPARE_PAGES: i64 = 100;

thread_local! {
    static FRONTS: RefCell<HashMap<String, (Front, Instant)>> = RefCell::default();
}

/// The fronts of these names.
pub fn of(names: &[String]) -> Vec<Front> {
    FRONTS.with_borrow_mut(|fronts| {
        let now = Instant::now();
        fronts.retain(|_, (_, until)| *until > now);
        names.iter().map(|name| fronts.get(name).map_or(Front::ALL, |(front, _)| *front)).collect()
    })
}

/// Notes the fronts of these tasks, which a search from the known ones on has found in their order, if it read too many
/// pages. A front that follows on another counts no longer than that: the tasks before it are looked at again each second.
pub fn note<'a>(found: impl ExactSizeIterator<Item = &'a Candidate>, pages: i64) {
    let few = i64::try_from(found.len()).unwrap_or(i64::MAX).saturating_mul(PAGES_PER_TASK);
    if pages <= few.saturating_add(SPARE_PAGES) {
        return;
    }
    FRONTS.with_borrow_mut(|fronts| {
        let mut seen = Vec::new();
        for candidate in found.filter(|candidate| candidate.lane.is_none()) {
            if seen.contains(&candidate.name.as_str()) {
                continue;
            }
            seen.push(&candidate.name);
            let until = fronts.get(&candidate.name).map_or_else(|| Instant::now() + VALID, |(_, until)| *until);
            let front = Front { priority: candidate.priority, since: candidate.opened_at };
            fronts.insert(candidate.name.clone(), (front, until));
        }
    });
}
