//! What waits for an executor, by the role whose session fires it: what is due, and behind it stimuli of the queue.

use std::collections::{BTreeMap, VecDeque};

use crate::pg::shared::{Executor, Fire, FireKind, MAX_BATCH};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bookmarks that are due.
    Due,
    /// Stimuli.
    Items,
}

impl Kind {
    /// What a fire is.
    pub fn of(fire: &Fire) -> Self {
        if fire.kind == FireKind::Item { Self::Items } else { Self::Due }
    }
}

/// What one role waits for.
#[derive(Debug, Default)]
pub struct Lane {
    due: VecDeque<Fire>,
    items: VecDeque<Fire>,
}

impl Lane {
    /// The fires of a kind.
    pub fn of(&mut self, kind: Kind) -> &mut VecDeque<Fire> {
        match kind {
            Kind::Due => &mut self.due,
            Kind::Items => &mut self.items,
        }
    }

    /// Gives a batch of one kind to an executor. Fires that run SQL of users go one by one; the rest share a transaction.
    pub fn fill(&mut self, kind: Kind, place: &mut Executor, now: i64) {
        let queue = self.of(kind);
        let mut count = 0;
        while count < MAX_BATCH {
            let Some(fire) = queue.pop_front_if(|fire| count == 0 || !fire.uses_sql) else { break };
            place.batch[count] = fire;
            count += 1;
            if fire.uses_sql {
                break;
            }
        }
        (place.count, place.current, place.has_begun, place.since) = (count as u32, 0, false, now);
    }
}

/// What all roles wait for; 0 is the engine's own session.
#[derive(Debug, Default)]
pub struct Lanes(BTreeMap<u32, Lane>);

impl Lanes {
    /// The lane of a role.
    pub fn lane(&mut self, role: u32) -> &mut Lane {
        self.0.entry(role).or_default()
    }

    /// Adds a fire behind the others.
    pub fn push(&mut self, role: u32, fire: Fire) {
        self.lane(role).of(Kind::of(&fire)).push_back(fire);
    }

    /// Puts fires that were given out back before the others, in their order.
    pub fn put_back(&mut self, fires: impl DoubleEndedIterator<Item = (u32, Fire)>) {
        for (role, fire) in fires.rev() {
            self.lane(role).of(Kind::of(&fire)).push_front(fire);
        }
    }

    /// How many fires of a kind wait.
    pub fn count(&self, kind: Kind) -> usize {
        let of = |lane: &Lane| if kind == Kind::Due { lane.due.len() } else { lane.items.len() };
        self.0.values().map(of).sum()
    }

    /// The roles for which fires of a kind wait.
    pub fn roles(&mut self, kind: Kind) -> Vec<u32> {
        self.0.retain(|_, lane| !lane.due.is_empty() || !lane.items.is_empty());
        self.0.iter_mut().filter_map(|(role, lane)| (!lane.of(kind).is_empty()).then_some(*role)).collect()
    }

    /// Since when something is due that nobody fires yet.
    pub fn oldest_due(&self) -> i64 {
        self.0.values().flat_map(|lane| &lane.due).map(|fire| fire.due).min().unwrap_or(i64::MAX)
    }
}
