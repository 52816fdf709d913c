//! Due fires, and their assignment to executors.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::process::{self, Background};
use crate::pg::shared::{self, Executor, ExecutorState, Fire, FireKind};
use crate::pg::{guc, role};
use crate::store::timers::due::Due;
use crate::worker::batch::{cut, has_items, reclaim, record_death, record_missing_role, retire_idle};
use crate::worker::lanes::{LaneKey, LaneQueue, Lanes};
use crate::worker::shares::LongOwners;
use crate::worker::{SECOND, executor, log_out_of_slots, shares};

/// How long a batch may take before its remaining fires are given to another executor.
const PATIENCE: i64 = SECOND / 10;
/// How long due bookmarks may keep stimuli waiting.
const TURN: i64 = SECOND;
/// How many due fires of an owner the dispatcher holds while that owner has its maximum number of executors.
const ENOUGH: usize = 200;
/// Delay before a start that found no worker slot is retried.
const RETRY: i64 = SECOND;
/// How long an executor may take to attach.
const START_TIMEOUT: i64 = 30 * SECOND;

/// Due bookmarks, and stimuli that an instance may wait for.
pub struct Dispatcher {
    database: Oid,
    waiting: Lanes,
    /// The owners whose fires take long.
    long: LongOwners,
    /// Every fire that waits or is in an executor, with its due time.
    known: HashMap<Uuid, i64>,
    /// Those of `known` that are already due again.
    again: HashSet<Uuid>,
    skipped: bool,
    /// Stimuli whose delivery failed or was blocked by a lock, each with the owner whose session is to deliver it, if
    /// known.
    held: Vec<(Uuid, Option<i32>)>,
    /// Stimuli that are delivered, that no instance waits for, or whose instance belongs to a missing role.
    done: Vec<Uuid>,
    /// Stimuli that a session of this owner must deliver.
    handed: Vec<(Uuid, i32)>,
    /// When stimuli were last given to an executor, or when a dispatch last found none waiting.
    items_at: i64,
    start_again_at: i64,
    dispatched_at: i64,
}

impl Dispatcher {
    /// A dispatcher without fires.
    pub fn new(database: Oid) -> Self {
        Self {
            database,
            waiting: Lanes::default(),
            long: LongOwners::default(),
            known: HashMap::new(),
            again: HashSet::new(),
            skipped: false,
            held: Vec::new(),
            done: Vec::new(),
            handed: Vec::new(),
            items_at: i64::MIN,
            start_again_at: i64::MIN,
            dispatched_at: i64::MIN,
        }
    }

    /// Whether no fire waits or is in an executor.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether this fire waits or is in an executor.
    pub fn knows(&self, id: Uuid) -> bool {
        self.known.contains_key(&id)
    }

    /// How many due fires wait for an executor, except those of owners with their maximum number of executors.
    pub fn waiting(&self) -> usize {
        self.count(LaneQueue::Due)
    }

    /// How many stimuli wait for an executor, with the same exception.
    pub fn waiting_items(&self) -> usize {
        self.count(LaneQueue::Items)
    }

    fn count(&self, kind: LaneQueue) -> usize {
        let full = self.long.full(self.database, self.waiting.owners());
        self.waiting.count(kind, |owner| !full.contains(&owner))
    }

    /// The due time of the oldest due fire that has not been given to an executor.
    pub fn oldest_due(&self) -> i64 {
        self.waiting.oldest_due()
    }

    /// Whether due rows must be read again since the last call, for example because a fire was blocked by a lock.
    pub fn take_skipped(&mut self) -> bool {
        std::mem::take(&mut self.skipped)
    }

    /// The stimuli to retry later, since the last call, with the owner that is to deliver them.
    pub fn take_held(&mut self) -> Vec<(Uuid, Option<i32>)> {
        std::mem::take(&mut self.held)
    }

    /// The stimuli that were delivered, or that no instance waits for, since the last call.
    pub fn take_done(&mut self) -> Vec<Uuid> {
        std::mem::take(&mut self.done)
    }

    /// The stimuli that only a session of this owner can deliver, since the last call.
    pub fn take_handed(&mut self) -> Vec<(Uuid, i32)> {
        std::mem::take(&mut self.handed)
    }

    /// Adds a due fire; called in the transaction that read it.
    pub fn add(&mut self, kind: FireKind, due: Due) {
        match self.known.get(&due.id) {
            None => self.known.insert(due.id, due.due_at.0),
            Some(known) if *known == due.due_at.0 => return,
            // An executor fired it, or tried to, and it is due again before the batch has ended.
            Some(_) => {
                self.again.insert(due.id);
                return;
            }
        };
        let wants = due.runs_as.as_ref().map_or(0, |owner| owner.id);
        let context = match &due.runs_as {
            None => Some(Oid::INVALID),
            Some(owner) => owner.role().map(|oid| if role::can_connect(oid) { oid } else { Oid::INVALID }),
        };
        let Some(context) = context else {
            self.known.remove(&due.id);
            match kind {
                FireKind::Item => self.done.push(due.id),
                FireKind::Bookmark | FireKind::Command => self.skipped |= !record_missing_role(&due),
            }
            return;
        };
        let owner = if wants == 0 { due.owner } else { wants };
        if kind != FireKind::Item && self.is_enough(LaneKey { role: context.to_u32(), owner }) {
            self.known.remove(&due.id);
            return;
        }
        let (id, uses_sql) = (*due.id.as_bytes(), due.uses_sql);
        let fire = Fire { id, due: due.due_at.0, kind, uses_sql, is_held: false, wants, owner };
        self.waiting.push(context.to_u32(), fire);
    }

    /// Whether to leave the fire in its table until fewer wait: no owner may fill the queue with fires that cannot
    /// start.
    fn is_enough(&mut self, key: LaneKey) -> bool {
        let lane = self.waiting.lane(key);
        let is_enough = lane.of(LaneQueue::Due).len() >= ENOUGH
            && shared::with(|state| self.long.is_full(state, self.database, key.owner));
        lane.has_more |= is_enough;
        is_enough
    }

    /// Takes over from a scheduler that exited: learns which fires the executors have.
    pub fn take_over(&mut self) {
        shared::with(|state| {
            for slot in state.executors.iter().filter(|slot| slot.database == self.database) {
                let fires = &slot.batch[..slot.count as usize];
                self.known.extend(fires.iter().map(|fire| (Uuid::from_bytes(fire.id), fire.due)));
            }
        });
    }

    /// Collects the batches that executors have finished, and those that crashed executors left.
    pub fn collect(&mut self, now: i64) {
        let mut died = Vec::new();
        let mut again = Vec::new();
        let mut done = Vec::new();
        let long = &mut self.long;
        shared::with(|state| {
            for slot in state.executors.iter_mut().filter(|slot| slot.database == self.database) {
                let count = slot.count as usize;
                match slot.state {
                    ExecutorState::Free => {}
                    ExecutorState::Idle if count > 0 => {
                        long.record_end(slot.batch[0].owner, slot.took, now);
                        done.extend_from_slice(&slot.batch[..count]);
                        slot.count = 0;
                    }
                    ExecutorState::Busy if count > slot.current as usize + 1 && now - slot.since > PATIENCE => {
                        cut(slot, &mut again);
                    }
                    ExecutorState::Dead => {
                        if !slot.has_begun {
                            self.start_again_at = now + RETRY;
                        }
                        reclaim(slot, &mut done, &mut died, &mut again);
                    }
                    ExecutorState::Starting if !slot.process.is_some() && now - slot.since > START_TIMEOUT => {
                        reclaim(slot, &mut done, &mut died, &mut again);
                    }
                    ExecutorState::Idle | ExecutorState::Busy | ExecutorState::Starting => {}
                }
            }
        });
        for fire in done {
            self.forget(&fire, fire.is_held);
        }
        self.waiting.put_back(again.into_iter());
        for (fire, counts) in died {
            // A stimulus, a command, or a fire whose failure was not recorded must be found again.
            let is_held = !record_death(&fire, counts) || fire.kind != FireKind::Bookmark;
            self.forget(&fire, is_held);
        }
    }

    /// Forgets a fire that an executor is done with. If it was not executed (`is_held`), it must be found again.
    fn forget(&mut self, fire: &Fire, is_held: bool) {
        let id = Uuid::from_bytes(fire.id);
        self.known.remove(&id);
        let is_wanted = self.again.remove(&id) || is_held;
        match fire.wants {
            _ if fire.kind != FireKind::Item => self.skipped |= is_wanted,
            _ if !is_wanted => self.done.push(id),
            0 => self.held.push((id, None)),
            owner if !fire.uses_sql => self.handed.push((id, owner)),
            // Retried later, so that sessions of several owners do not pass it on endlessly.
            owner => self.held.push((id, Some(owner))),
        }
    }

    /// Gives waiting fires to idle executors, and starts executors for the rest. Due fires come first. Stimuli leave
    /// one executor free for new due fires.
    pub fn dispatch(&mut self, now: i64) {
        self.dispatched_at = now;
        shared::with(|state| self.long.update(state, self.database, now));
        let most = guc::max_executors();
        if self.waiting_items() == 0 {
            self.items_at = now;
        } else if now - self.items_at > TURN {
            self.dispatch_all(LaneQueue::Items, most, now);
        }
        self.dispatch_all(LaneQueue::Due, most, now);
        if self.waiting() > 0 {
            self.recall_items();
        } else {
            self.dispatch_all(LaneQueue::Items, (most - 1).max(1), now);
        }
    }

    /// Gives waiting fires of a kind to executors, while fewer than `most` executors are busy. Owners take turns, those
    /// with the fewest executors first, so that no owner's backlog delays others.
    fn dispatch_all(&mut self, kind: LaneQueue, most: usize, now: i64) {
        let mut keys = self.waiting.keys(kind);
        keys.sort_by_cached_key(|key| shared::with(|state| shares::held(state, self.database, key.owner)));
        while !keys.is_empty() {
            keys.retain(|key| {
                let is_given = self.assign(*key, kind, most, now);
                if is_given && kind == LaneQueue::Items {
                    self.items_at = now;
                }
                is_given && !self.waiting.lane(*key).of(kind).is_empty()
            });
        }
    }

    /// Takes back stimuli that executors have not started, because timers are due.
    fn recall_items(&mut self) {
        let mut back = Vec::new();
        shared::with(|state| {
            let mine = state.executors.iter_mut().filter(|slot| slot.database == self.database);
            mine.filter(|slot| slot.state == ExecutorState::Busy && has_items(slot))
                .for_each(|slot| cut(slot, &mut back));
        });
        self.waiting.put_back(back.into_iter());
    }

    /// Gives one batch of a lane to an executor. `false`: all executors are busy or reserved for other owners, and none
    /// can be started.
    fn assign(&mut self, key: LaneKey, kind: LaneQueue, most: usize, now: i64) -> bool {
        let (lane, role, long) = (self.waiting.lane(key), Oid::from(key.role), &self.long);
        let database = self.database;
        let may_start = now >= self.start_again_at;
        let mut is_full = false;
        let mut back = Vec::new();
        let (given, must_start) = shared::with(|state| {
            let works = |slot: &&Executor| {
                slot.database == database && matches!(slot.state, ExecutorState::Busy | ExecutorState::Starting)
            };
            let of_role = |slot: &Executor| slot.database == database && slot.role == role;
            let is_starting = |slot: &Executor| of_role(slot) && slot.state == ExecutorState::Starting;
            if long.is_full(state, database, key.owner) {
                return (false, None);
            }
            // An executor that is starting with stimuli is given due fires instead.
            if kind == LaneQueue::Due
                && let Some(slot) = state.executors.iter_mut().find(|slot| is_starting(slot) && has_items(slot))
            {
                let items = &slot.batch[..slot.count as usize];
                back.extend(items.iter().map(|fire| (key.role, *fire)));
                lane.fill_batch(kind, slot, now);
                return (true, None);
            }
            // A reload may have lowered the limit below the number of busy executors.
            if state.executors.iter().filter(works).count() >= most {
                return (false, None);
            }
            let is_idle = |slot: &Executor| of_role(slot) && slot.state == ExecutorState::Idle && slot.count == 0;
            if let Some(slot) = state.executors.iter_mut().find(|slot| is_idle(slot)) {
                lane.fill_batch(kind, slot, now);
                slot.state = ExecutorState::Busy;
                slot.process.wake();
                return (true, None);
            }
            // An executor of this role that is starting will take the waiting fires first.
            if !may_start || state.executors.iter().any(is_starting) {
                return (false, None);
            }
            let is_there = |slot: &&Executor| slot.database == database && slot.state != ExecutorState::Free;
            if state.executors.iter().filter(is_there).count() >= guc::max_executors() {
                retire_idle(state, database, role);
                return (false, None);
            }
            let Some(index) = state.executors.iter().position(|slot| slot.state == ExecutorState::Free) else {
                is_full = true;
                return (false, None);
            };
            let slot = &mut state.executors[index];
            slot.reserve(database, role);
            lane.fill_batch(kind, slot, now);
            (true, Some((index, slot.generation)))
        });
        if lane.has_more && lane.of(LaneQueue::Due).len() < ENOUGH {
            (lane.has_more, self.skipped) = (false, true);
        }
        self.waiting.put_back(back.into_iter());
        if is_full {
            self.wait_for_slot(role, now);
        }
        match must_start {
            Some((index, generation)) => self.start(index, generation, role, now),
            None => given,
        }
    }

    fn start(&mut self, index: usize, generation: u16, role: Oid, now: i64) -> bool {
        let name = format!("workflow executor for database {}", self.database.to_u32());
        let worker = Background {
            kind: c"workflow executor",
            name: &name,
            function: c"workflow_executor",
            argument: executor::argument(index, generation),
            restart: None,
        };
        if process::start(&worker) {
            return true;
        }
        let mut back = Vec::new();
        shared::with(|state| {
            let slot = &mut state.executors[index];
            back.extend_from_slice(&slot.batch[..slot.count as usize]);
            (slot.count, slot.state) = (0, ExecutorState::Free);
        });
        self.waiting.put_back(back.into_iter().map(|fire| (role.to_u32(), fire)));
        self.wait_for_slot(role, now);
        log_out_of_slots("executor", now);
        false
    }

    /// Retries a start for which there was no worker slot. If the role has an executor, its fires only take longer, so
    /// no idle worker is asked to exit.
    fn wait_for_slot(&mut self, role: Oid, now: i64) {
        if shares::sessions(self.database, role) == 0 {
            shared::with(|state| state.request_slots(now));
        }
        self.start_again_at = now + RETRY;
    }

    /// When the dispatcher needs attention next, if no process wakes the scheduler.
    pub fn wants_attention_at(&self) -> i64 {
        let mut at = i64::MAX;
        // Compared with the last dispatch, not with the present: a retry that became due since has not been made.
        if self.waiting() + self.waiting_items() > 0 && self.start_again_at > self.dispatched_at {
            at = self.start_again_at;
        }
        shared::with(|state| {
            for slot in state.executors.iter().filter(|slot| slot.database == self.database) {
                match slot.state {
                    ExecutorState::Busy if slot.count > slot.current + 1 => at = at.min(slot.since + PATIENCE),
                    ExecutorState::Starting if !slot.process.is_some() => at = at.min(slot.since + START_TIMEOUT),
                    ExecutorState::Idle if slot.count > 0 => at = i64::MIN,
                    ExecutorState::Dead => at = i64::MIN,
                    _ => {}
                }
            }
        });
        at
    }
}
