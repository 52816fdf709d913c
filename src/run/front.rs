//! Where the open tasks of a name begin, as this session has found it.
//!
//! A task that was claimed leaves a dead entry at the front of the inbox until a vacuum removes it, and none can while an
//! old snapshot might see it. A search that has read past many of them notes where it found the first task of each name.
//! The searches of this session begin there for a second. Within it they may pass over an older task of the same priority
//! that comes back or whose transaction commits late, as long as there are others.
//!
//! A claim of tasks of any name would read the first tasks of each. So it notes which task is the first of each name, and
//! those of this session in the next second read only the names whose first tasks come first. A task that comes before the
//! one that was noted for its name waits for the end of that second, as long as there are others.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use crate::pg::spi::Timestamp;
use crate::store::leases::{self, Candidate, Front};

/// For how long a front counts.
const VALID: Duration = Duration::from_secs(1);
/// Pages that a search may read for each task that it finds, those of its instance and of the indexes included.
const PAGES_PER_TASK: i64 = 10;
/// Pages that it may read beyond that.
const SPARE_PAGES: i64 = 100;

/// The place of a task in the order of the inbox, and its name.
type Head = (Reverse<i32>, Timestamp, String);

thread_local! {
    static FRONTS: RefCell<HashMap<String, (Front, Instant)>> = RefCell::default();
    static HEADS: RefCell<Option<(BTreeSet<Head>, Instant)>> = const { RefCell::new(None) };
}

/// The fronts of these names.
pub fn of(names: &[String]) -> Vec<Front> {
    FRONTS.with_borrow_mut(|fronts| {
        let now = Instant::now();
        fronts.retain(|_, (_, until)| *until > now);
        names.iter().map(|name| fronts.get(name).map_or(Front::ALL, |(front, _)| *front)).collect()
    })
}

/// Notes what a search for tasks of these names from the known fronts on has found: tasks in their order, and whether there
/// may be more. If it read too many pages their fronts are noted. A front that follows on another counts no longer than
/// that: the tasks before it are looked at again each second.
pub fn note<'a>(names: &[String], found: impl ExactSizeIterator<Item = &'a Candidate>, is_full: bool, pages: i64) {
    let few = i64::try_from(found.len()).unwrap_or(i64::MAX).saturating_mul(PAGES_PER_TASK);
    let is_long = pages > few.saturating_add(SPARE_PAGES);
    let mut firsts: HashMap<&str, Front> = HashMap::new();
    let mut last = None;
    for candidate in found {
        let place = Front { priority: candidate.priority, since: candidate.opened_at };
        firsts.entry(&candidate.name).or_insert(place);
        last = Some(place);
    }
    if is_long {
        FRONTS.with_borrow_mut(|fronts| {
            for (name, front) in &firsts {
                let until = fronts.get(*name).map_or_else(|| Instant::now() + VALID, |(_, until)| *until);
                fronts.insert((*name).to_owned(), (*front, until));
            }
        });
    }
    HEADS.with_borrow_mut(|heads| {
        let Some((heads, _)) = heads else { return };
        // Mostly they are the first ones.
        let asked = heads.iter().filter(|(_, _, name)| names.contains(name)).take(names.len());
        let asked: Vec<Head> = asked.cloned().collect();
        for head in asked {
            // A name of which nothing was found has its tasks, if any, behind the last one that was.
            let place = firsts.get(head.2.as_str()).copied().or(last.filter(|_| is_full));
            heads.remove(&head);
            if let Some(place) = place {
                heads.insert((Reverse(place.priority), place.since, head.2));
            }
        }
    });
}

/// The names of the first tasks of any name, at most so many. `None`: they are not known.
pub fn names(max: usize) -> Option<Vec<String>> {
    HEADS.with_borrow_mut(|heads| {
        if heads.as_ref().is_some_and(|(_, until)| *until <= Instant::now()) {
            *heads = None;
        }
        let (heads, _) = heads.as_ref()?;
        Some(heads.iter().take(max).map(|(_, _, name)| name.clone()).collect())
    })
}

/// Notes the first task of each of all names, if they are many and not known. So many that they would take much memory are
/// not kept.
pub fn note_names(all: &[String]) {
    const MANY: std::ops::RangeInclusive<usize> = 17..=10_000;
    if names(0).is_some() {
        return;
    }
    let heads = MANY.contains(&all.len()).then(|| {
        let firsts = leases::heads(all).into_iter();
        (firsts.map(|(name, front)| (Reverse(front.priority), front.since, name)).collect(), Instant::now() + VALID)
    });
    HEADS.set(heads);
}
