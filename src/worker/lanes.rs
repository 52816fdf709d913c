//! Fires that wait for an executor, grouped into lanes by owner and by the role whose session runs them: due bookmarks
//! first, then stimuli of the queue.

use std::collections::{BTreeMap, VecDeque};

use crate::pg::shared::{Executor, Fire, FireKind, MAX_BATCH};

/// The two queues of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneQueue {
    /// Bookmarks whose due time has come.
    Due,
    /// Stimuli of the queue, which come after due bookmarks.
    Items,
}

impl LaneQueue {
    /// The queue of its lane in which a fire waits.
    pub fn of(fire: &Fire) -> Self {
        if fire.kind == FireKind::Item { Self::Items } else { Self::Due }
    }
}

/// The key of a lane. A batch has one owner, so that a slow batch delays only that owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneKey {
    /// The role whose session runs the fires; 0: the engine's own.
    pub role: u32,
    /// Id in `workflow.owners`: of the instance's owner, or of the sender of a stimulus.
    pub owner: i32,
}

/// The fires of one lane.
#[derive(Debug, Default)]
pub struct Lane {
    due: VecDeque<Fire>,
    items: VecDeque<Fire>,
    /// Whether further due fires were left in their table.
    pub has_more: bool,
}

impl Lane {
    /// The waiting fires of this kind, in the order in which they are assigned.
    pub fn of(&mut self, kind: LaneQueue) -> &mut VecDeque<Fire> {
        match kind {
            LaneQueue::Due => &mut self.due,
            LaneQueue::Items => &mut self.items,
        }
    }

    /// Gives a batch of one kind to an executor. Fires that run users' SQL are assigned singly; others share a
    /// transaction.
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

/// The waiting fires, by lane.
#[derive(Debug, Default)]
pub struct Lanes(BTreeMap<LaneKey, Lane>);

impl Lanes {
    /// The lane of a key; created empty if it does not exist.
    pub fn lane(&mut self, key: LaneKey) -> &mut Lane {
        self.0.entry(key).or_default()
    }

    fn of_fire(&mut self, role: u32, fire: &Fire) -> &mut VecDeque<Fire> {
        self.lane(LaneKey { role, owner: fire.owner }).of(LaneQueue::of(fire))
    }

    /// Adds a fire at the end.
    pub fn push(&mut self, role: u32, fire: Fire) {
        self.of_fire(role, &fire).push_back(fire);
    }

    /// Returns fires from executors to the front of their lanes, in order.
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

    /// The owners with waiting fires.
    pub fn owners(&self) -> impl Iterator<Item = i32> + '_ {
        self.0.keys().map(|key| key.owner)
    }

    /// The lanes with waiting fires of a kind.
    pub fn keys(&mut self, kind: LaneQueue) -> Vec<LaneKey> {
        self.0.retain(|_, lane| lane.has_more || !lane.due.is_empty() || !lane.items.is_empty());
        self.0.iter_mut().filter_map(|(key, lane)| (!lane.of(kind).is_empty()).then_some(*key)).collect()
    }

    /// The due time of the oldest due fire that has not been given to an executor.
    pub fn oldest_due(&self) -> i64 {
        self.0.values().flat_map(|lane| &lane.due).map(|fire| fire.due).min().unwrap_or(i64::MAX)
    }
}
