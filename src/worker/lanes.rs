//! Fires that wait for an executor, by their owner and by the role whose session runs them: due bookmarks, and behind
//! them stimuli of the queue.

use std::collections::{BTreeMap, VecDeque};

use crate::pg::shared::{Executor, Fire, FireKind, MAX_BATCH};

/// The two queues of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneQueue {
    /// Bookmarks whose due time has come.
    Due,
    /// Stimuli of the queue, which come behind what is due.
    Items,
}

impl LaneQueue {
    /// In which of the two lists of its lane a fire waits.
    pub fn of(fire: &Fire) -> Self {
        if fire.kind == FireKind::Item { Self::Items } else { Self::Due }
    }
}

/// The key of a lane. A batch has one owner, so that a slow batch delays that owner alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneKey {
    /// The role whose session runs the fires; 0: the engine's own.
    pub role: u32,
    /// Id in `workflow.owners`: of the instance's owner, or of the sender of a stimulus.
    pub owner: i32,
}

/// The fires that wait under one key.
#[derive(Debug, Default)]
pub struct Lane {
    due: VecDeque<Fire>,
    items: VecDeque<Fire>,
    /// Whether further due fires were left in their table.
    pub has_more: bool,
}

impl Lane {
    /// The fires of this kind that wait here, in the order in which they are given out.
    pub fn of(&mut self, kind: LaneQueue) -> &mut VecDeque<Fire> {
        match kind {
            LaneQueue::Due => &mut self.due,
            LaneQueue::Items => &mut self.items,
        }
    }

    /// Gives a batch of one kind to an executor. Fires that run SQL of users go one by one; others share a transaction.
    pub fn fill_batch(&mut self, kind: LaneQueue, slot: &mut Executor, now: i64) {
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

/// The fires that wait for an executor, by key.
#[derive(Debug, Default)]
pub struct Lanes(BTreeMap<LaneKey, Lane>);

impl Lanes {
    /// The lane of a key, an empty one if nothing waits under it.
    pub fn lane(&mut self, key: LaneKey) -> &mut Lane {
        self.0.entry(key).or_default()
    }

    fn of_fire(&mut self, role: u32, fire: &Fire) -> &mut VecDeque<Fire> {
        self.lane(LaneKey { role, owner: fire.owner }).of(LaneQueue::of(fire))
    }

    /// Adds a fire behind the others.
    pub fn push(&mut self, role: u32, fire: Fire) {
        self.of_fire(role, &fire).push_back(fire);
    }

    /// Returns fires from executors to the front of their lanes, in their order.
    pub fn put_back(&mut self, fires: impl DoubleEndedIterator<Item = (u32, Fire)>) {
        for (role, fire) in fires.rev() {
            self.of_fire(role, &fire).push_front(fire);
        }
    }

    /// How many fires of a kind wait, of the owners for which `counts` is true.
    pub fn count(&self, kind: LaneQueue, counts: impl Fn(i32) -> bool) -> usize {
        let of = |lane: &Lane| if kind == LaneQueue::Due { lane.due.len() } else { lane.items.len() };
        self.0.iter().filter(|(key, _)| counts(key.owner)).map(|(_, lane)| of(lane)).sum()
    }

    /// The owners for which fires wait.
    pub fn owners(&self) -> impl Iterator<Item = i32> + '_ {
        self.0.keys().map(|key| key.owner)
    }

    /// The keys under which fires of a kind wait.
    pub fn keys(&mut self, kind: LaneQueue) -> Vec<LaneKey> {
        self.0.retain(|_, lane| lane.has_more || !lane.due.is_empty() || !lane.items.is_empty());
        self.0.iter_mut().filter_map(|(key, lane)| (!lane.of(kind).is_empty()).then_some(*key)).collect()
    }

    /// The due time of the oldest due fire that no executor has.
    pub fn oldest_due(&self) -> i64 {
        self.0.values().flat_map(|lane| &lane.due).map(|fire| fire.due).min().unwrap_or(i64::MAX)
    }
}
