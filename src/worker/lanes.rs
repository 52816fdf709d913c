//! What waits for an executor, by whose it is and by the role whose session fires it: what is due, and behind it stimuli
//! of the queue.

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

/// What shares a lane: a batch has one owner, who alone waits where it takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The role whose session fires it; 0 is the engine's own.
    pub role: u32,
    /// Whose it is.
    pub owner: i32,
}

/// What waits under one key.
#[derive(Debug, Default)]
pub struct Lane {
    due: VecDeque<Fire>,
    items: VecDeque<Fire>,
    /// Whether more is due that was left in its table.
    pub has_more: bool,
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
    pub fn fill_batch(&mut self, kind: Kind, slot: &mut Executor, now: i64) {
        let queue = self.of(kind);
        let mut count = 0;
        while count < MAX_BATCH {
            let Some(fire) = queue.pop_front_if(|fire| count == 0 || !fire.uses_sql) else { break };
            slot.batch[count] = fire;
            count += 1;
            if fire.uses_sql {
                break;
            }
        }
        (slot.count, slot.current, slot.has_begun, slot.since) = (count as u32, 0, false, now);
    }
}

/// All that waits.
#[derive(Debug, Default)]
pub struct Lanes(BTreeMap<Key, Lane>);

impl Lanes {
    /// The lane of a key.
    pub fn lane(&mut self, key: Key) -> &mut Lane {
        self.0.entry(key).or_default()
    }

    fn of_fire(&mut self, role: u32, fire: &Fire) -> &mut VecDeque<Fire> {
        self.lane(Key { role, owner: fire.owner }).of(Kind::of(fire))
    }

    /// Adds a fire behind the others.
    pub fn push(&mut self, role: u32, fire: Fire) {
        self.of_fire(role, &fire).push_back(fire);
    }

    /// Puts fires that were given out back before the others, in their order.
    pub fn put_back(&mut self, fires: impl DoubleEndedIterator<Item = (u32, Fire)>) {
        for (role, fire) in fires.rev() {
            self.of_fire(role, &fire).push_front(fire);
        }
    }

    /// How many fires of a kind wait for the owners that `counts` takes.
    pub fn count(&self, kind: Kind, counts: impl Fn(i32) -> bool) -> usize {
        let of = |lane: &Lane| if kind == Kind::Due { lane.due.len() } else { lane.items.len() };
        self.0.iter().filter(|(key, _)| counts(key.owner)).map(|(_, lane)| of(lane)).sum()
    }

    /// The keys under which fires of a kind wait.
    pub fn keys(&mut self, kind: Kind) -> Vec<Key> {
        self.0.retain(|_, lane| lane.has_more || !lane.due.is_empty() || !lane.items.is_empty());
        self.0.iter_mut().filter_map(|(key, lane)| (!lane.of(kind).is_empty()).then_some(*key)).collect()
    }

    /// Since when something is due that no worker fires yet.
    pub fn oldest_due(&self) -> i64 {
        self.0.values().flat_map(|lane| &lane.due).map(|fire| fire.due).min().unwrap_or(i64::MAX)
    }
}
