//! What is due and not fired yet, and who fires it.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::pg::process::{self, Background};
use crate::pg::shared::{self, Executor, ExecutorState, Fire, FireKind};
use crate::pg::{guc, role};
use crate::store::due::Due;
use crate::worker::batch::{bury, cut, has_items, note_death, reclaim, retire_idle};
use crate::worker::lanes::{Key, Kind, Lanes};
use crate::worker::{SECOND, executor, log_out_of_slots, shares};

/// How long a batch may take before the rest of it is given to another executor.
const PATIENCE: i64 = SECOND / 10;
/// However much is due, stimuli have a turn after this.
const TURN: i64 = SECOND;
/// What is due for an owner who has all executors that one may have is taken in until so many wait.
const ENOUGH: usize = 200;
/// How soon a start that found no worker slot is tried again.
const RETRY: i64 = SECOND;
/// How long an executor may take to attach.
const START_TIMEOUT: i64 = 30 * SECOND;

/// What is due, and stimuli that an instance may wait for.
pub struct Dispatcher {
    database: Oid,
    waiting: Lanes,
    /// All that is waiting or given to an executor, and when it was due.
    known: HashMap<Uuid, i64>,
    /// Of these, what is due again already.
    again: HashSet<Uuid>,
    skipped: bool,
    /// Stimuli that were not delivered because another session held what they need, or that failed; and the owner whose
    /// session is to deliver them, where that is known.
    held: Vec<(Uuid, Option<i32>)>,
    /// Stimuli that are delivered, or that no instance waits for.
    done: Vec<Uuid>,
    /// Stimuli that a session of this owner must deliver.
    handed: Vec<(Uuid, i32)>,
    /// When stimuli were handed out last, or none waited.
    items_at: i64,
    start_again_at: i64,
    dispatched_at: i64,
}

impl Dispatcher {
    /// Nothing is due.
    pub fn new(database: Oid) -> Self {
        Self {
            database,
            waiting: Lanes::default(),
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

    /// Whether nothing is due.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether this is waiting, or given to an executor.
    pub fn knows(&self, id: Uuid) -> bool {
        self.known.contains_key(&id)
    }

    /// How much that is due waits for an executor, apart from what must wait for its owner's own.
    pub fn waiting(&self) -> usize {
        self.count(Kind::Due)
    }

    /// How many stimuli wait for one, apart from those.
    pub fn waiting_items(&self) -> usize {
        self.count(Kind::Items)
    }

    fn count(&self, kind: Kind) -> usize {
        let full = shares::full(self.database);
        self.waiting.count(kind, |owner| !full.contains(&owner))
    }

    /// Since when something is due that no worker fires yet.
    pub fn oldest_due(&self) -> i64 {
        self.waiting.oldest_due()
    }

    /// Whether another session held what a fire needed, since this was asked last.
    pub fn take_skipped(&mut self) -> bool {
        std::mem::take(&mut self.skipped)
    }

    /// The stimuli that are to be looked at again later, since this was asked last, and whose they are.
    pub fn take_held(&mut self) -> Vec<(Uuid, Option<i32>)> {
        std::mem::take(&mut self.held)
    }

    /// The stimuli that are delivered, or that no instance waits for, since this was asked last.
    pub fn take_done(&mut self) -> Vec<Uuid> {
        std::mem::take(&mut self.done)
    }

    /// The stimuli that only a session of this owner can deliver, since this was asked last.
    pub fn take_handed(&mut self) -> Vec<(Uuid, i32)> {
        std::mem::take(&mut self.handed)
    }

    /// Adds what is due, in the transaction that read it.
    pub fn add(&mut self, kind: FireKind, due: Due) {
        match self.known.get(&due.id) {
            None => self.known.insert(due.id, due.due_at.0),
            Some(known) if *known == due.due_at.0 => return,
            // It was fired, or has failed, and is due again before its batch has ended.
            Some(_) => {
                self.again.insert(due.id);
                return;
            }
        };
        let wants = due.runs_as.as_ref().map_or(0, |owner| owner.id);
        let session = match &due.runs_as {
            None => Some(Oid::INVALID),
            Some(owner) => owner.role().map(|oid| if role::can_connect(oid) { oid } else { Oid::INVALID }),
        };
        let Some(session) = session else {
            self.known.remove(&due.id);
            self.skipped |= !bury(kind, &due);
            return;
        };
        let owner = if wants == 0 { due.owner } else { wants };
        if kind != FireKind::Item && self.is_enough(Key { role: session.to_u32(), owner }) {
            self.known.remove(&due.id);
            return;
        }
        let (id, uses_sql) = (*due.id.as_bytes(), due.uses_sql);
        let fire = Fire { id, due: due.due_at.0, kind, uses_sql, is_held: false, wants, owner };
        self.waiting.push(session.to_u32(), fire);
    }

    /// Whether more of this is found again when less of it waits: no owner may fill the queue with what must wait.
    fn is_enough(&mut self, key: Key) -> bool {
        let lane = self.waiting.lane(key);
        let is_enough = lane.of(Kind::Due).len() >= ENOUGH
            && shared::with(|state| shares::is_full(state, self.database, key.owner));
        lane.has_more |= is_enough;
        is_enough
    }

    /// Takes over from a scheduler that ended: what executors are on is known.
    pub fn take_over(&mut self) {
        shared::with(|state| {
            for slot in state.executors.iter().filter(|slot| slot.database == self.database) {
                let fires = &slot.batch[..slot.count as usize];
                self.known.extend(fires.iter().map(|fire| (Uuid::from_bytes(fire.id), fire.due)));
            }
        });
    }

    /// Takes in what executors have done, and what they left behind when they died.
    pub fn collect(&mut self, now: i64) {
        let mut died = Vec::new();
        let mut again = Vec::new();
        let mut done = Vec::new();
        shared::with(|state| {
            for slot in state.executors.iter_mut().filter(|slot| slot.database == self.database) {
                let count = slot.count as usize;
                match slot.state {
                    ExecutorState::Free => {}
                    ExecutorState::Idle if count > 0 => {
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
            // What is not postponed must be found again.
            let is_held = !note_death(&fire, counts) || fire.kind != FireKind::Bookmark;
            self.forget(&fire, is_held);
        }
    }

    /// What an executor has done is not known any more; what it left as it was must be found again.
    fn forget(&mut self, fire: &Fire, is_held: bool) {
        let id = Uuid::from_bytes(fire.id);
        self.known.remove(&id);
        let is_wanted = self.again.remove(&id) || is_held;
        match fire.wants {
            _ if fire.kind != FireKind::Item => self.skipped |= is_wanted,
            _ if !is_wanted => self.done.push(id),
            0 => self.held.push((id, None)),
            owner if !fire.uses_sql => self.handed.push((id, owner)),
            // Not from one owner's session to the next one's without end.
            owner => self.held.push((id, Some(owner))),
        }
    }

    /// Gives what waits to executors that have nothing to do, and starts executors for the rest. What is due comes first,
    /// and one executor is left for what will be.
    pub fn dispatch(&mut self, now: i64) {
        self.dispatched_at = now;
        let most = guc::max_executors();
        if self.waiting_items() == 0 {
            self.items_at = now;
        } else if now - self.items_at > TURN {
            self.dispatch_all(Kind::Items, most, now);
        }
        self.dispatch_all(Kind::Due, most, now);
        if self.waiting() > 0 {
            self.recall_items();
        } else {
            self.dispatch_all(Kind::Items, (most - 1).max(1), now);
        }
    }

    /// Hands out what waits of a kind, while no more executors than this work. Owners take turns, those with the fewest
    /// executors first, so that no role's backlog keeps others waiting.
    fn dispatch_all(&mut self, kind: Kind, most: usize, now: i64) {
        let mut keys = self.waiting.keys(kind);
        keys.sort_by_cached_key(|key| shared::with(|state| shares::held(state, self.database, key.owner)));
        while !keys.is_empty() {
            keys.retain(|key| {
                let is_given = self.assign(*key, kind, most, now);
                if is_given && kind == Kind::Items {
                    self.items_at = now;
                }
                is_given && !self.waiting.lane(*key).of(kind).is_empty()
            });
        }
    }

    /// Takes stimuli back that executors have not begun with: something is due.
    fn recall_items(&mut self) {
        let mut back = Vec::new();
        shared::with(|state| {
            let mine = state.executors.iter_mut().filter(|slot| slot.database == self.database);
            mine.filter(|slot| slot.state == ExecutorState::Busy && has_items(slot))
                .for_each(|slot| cut(slot, &mut back));
        });
        self.waiting.put_back(back.into_iter());
    }

    /// Gives one batch of a lane to an executor. `false`: all are busy or left to other owners, and none can be
    /// started.
    fn assign(&mut self, key: Key, kind: Kind, most: usize, now: i64) -> bool {
        let (lane, role) = (self.waiting.lane(key), Oid::from(key.role));
        let database = self.database;
        let most_of_all = guc::max_executors();
        let mut may_start = now >= self.start_again_at;
        let mut is_full = false;
        let mut back = Vec::new();
        let (given, must_start) = shared::with(|state| {
            let works = |slot: &&Executor| {
                slot.database == database && matches!(slot.state, ExecutorState::Busy | ExecutorState::Starting)
            };
            let of_role = |slot: &Executor| slot.database == database && slot.role == role;
            // One that is starting with stimuli starts with what is due.
            let with_items =
                |slot: &Executor| of_role(slot) && slot.state == ExecutorState::Starting && has_items(slot);
            if shares::is_full(state, database, key.owner) {
                return (false, None);
            }
            if kind == Kind::Due
                && let Some(slot) = state.executors.iter_mut().find(|slot| with_items(slot))
            {
                let items = &slot.batch[..slot.count as usize];
                back.extend(items.iter().map(|fire| (key.role, *fire)));
                lane.fill_batch(kind, slot, now);
                return (true, None);
            }
            // Those that are there may be more than a reload has left.
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
            let mut of_database = 0;
            for slot in state.executors.iter().filter(|slot| slot.database == database) {
                of_database += usize::from(slot.state != ExecutorState::Free);
                // One that is starting takes what waits first.
                may_start &= !(slot.role == role && slot.state == ExecutorState::Starting);
            }
            if !may_start {
                return (false, None);
            }
            if of_database >= most_of_all {
                retire_idle(state, database, role);
                return (false, None);
            }
            let Some(index) = state.executors.iter().position(|slot| slot.state == ExecutorState::Free) else {
                is_full = true;
                return (false, None);
            };
            let slot = &mut state.executors[index];
            (slot.database, slot.role, slot.state) = (database, role, ExecutorState::Starting);
            (slot.fired, slot.failed, slot.careful) = (0, 0, false);
            slot.generation = slot.generation.wrapping_add(1);
            lane.fill_batch(kind, slot, now);
            (true, Some((index, slot.generation)))
        });
        if lane.has_more && lane.of(Kind::Due).len() < ENOUGH {
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

    /// No executor can be started now. Where one of this role is at work it takes longer, no more: no other need leave
    /// for that.
    fn wait_for_slot(&mut self, role: Oid, now: i64) {
        if shares::sessions(self.database, role) == 0 {
            shared::with(|state| state.request_slots(now));
        }
        self.start_again_at = now + RETRY;
    }

    /// When something here needs a look, if no process wakes us.
    pub fn wants_attention_at(&self) -> i64 {
        let mut at = i64::MAX;
        // Asked with a later reading of the clock.
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
