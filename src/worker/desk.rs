//! What is due and not fired yet, and who fires it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::guc;
use crate::pg::error::log;
use crate::pg::process::{self, Worker};
use crate::pg::shared::{self, Board, Executor, ExecutorState, Fire, FireKind, MAX_BATCH};
use crate::pg::{PgError, role};
use crate::run::{Session, sweep};
use crate::store::due::Due;
use crate::worker::{SECOND, complain_of_slots, executor};

/// How long a batch may take before the rest of it is given to somebody else.
const PATIENCE: i64 = SECOND / 10;
/// How soon a start that found no worker slot is tried again.
const RETRY: i64 = SECOND;
/// How long an executor may take to attach.
const START_TIMEOUT: i64 = 30 * SECOND;

/// What is due, by the role whose session fires it; 0 is the engine's own.
pub struct Desk {
    database: Oid,
    waiting: BTreeMap<u32, VecDeque<Fire>>,
    /// All that is waiting or given to an executor, and when it was due.
    known: HashMap<Uuid, i64>,
    /// Of these, what is due again already.
    again: HashSet<Uuid>,
    skipped: bool,
    /// Stimuli that were not delivered because somebody else held what they need.
    held: Vec<Uuid>,
    start_again_at: i64,
    handed_out_at: i64,
}

impl Desk {
    /// Nothing is due.
    pub fn new(database: Oid) -> Self {
        Self {
            database,
            waiting: BTreeMap::new(),
            known: HashMap::new(),
            again: HashSet::new(),
            skipped: false,
            held: Vec::new(),
            start_again_at: i64::MIN,
            handed_out_at: i64::MIN,
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

    /// How much waits for an executor.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Since when something is due that nobody fires yet.
    pub fn oldest_due(&self) -> i64 {
        let bookmarks = self.waiting.values().flatten().filter(|fire| fire.kind != FireKind::Item);
        bookmarks.map(|fire| fire.due).min().unwrap_or(i64::MAX)
    }

    /// Whether somebody else held what a fire needed, since this was asked last.
    pub fn take_skipped(&mut self) -> bool {
        std::mem::take(&mut self.skipped)
    }

    /// The stimuli that were not delivered because somebody else held what they need, since this was asked last.
    pub fn take_held(&mut self) -> Vec<Uuid> {
        std::mem::take(&mut self.held)
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
        let session = match &due.runs_as {
            None => Some(Oid::INVALID),
            Some(owner) => owner.role().map(|oid| if role::can_connect(oid) { oid } else { Oid::INVALID }),
        };
        let Some(session) = session else {
            self.known.remove(&due.id);
            self.skipped |= !give_up(kind, &due);
            return;
        };
        let fire = Fire { id: *due.id.as_bytes(), due: due.due_at.0, kind, uses_sql: due.uses_sql, is_held: false };
        self.waiting.entry(session.to_u32()).or_default().push_back(fire);
    }

    /// Takes over from a scheduler that ended: what executors are on is known.
    pub fn take_over(&mut self) {
        shared::with(|board| {
            for place in board.executors.iter().filter(|place| place.database == self.database) {
                let fires = &place.batch[..place.count as usize];
                self.known.extend(fires.iter().map(|fire| (Uuid::from_bytes(fire.id), fire.due)));
            }
        });
    }

    /// Takes in what executors have done, and what they left behind when they died.
    pub fn collect(&mut self, now: i64) {
        let mut died = Vec::new();
        let mut again = Vec::new();
        let mut done = Vec::new();
        shared::with(|board| {
            for place in board.executors.iter_mut().filter(|place| place.database == self.database) {
                let count = place.count as usize;
                match place.state {
                    ExecutorState::Free => {}
                    ExecutorState::Idle if count > 0 => {
                        done.extend_from_slice(&place.batch[..count]);
                        place.count = 0;
                    }
                    ExecutorState::Busy if count > place.current as usize + 1 && now - place.since > PATIENCE => {
                        let kept = place.current as usize + 1;
                        again.extend(place.batch[kept..count].iter().map(|fire| (place.role, *fire)));
                        place.count = kept as u32;
                    }
                    ExecutorState::Dead => {
                        if !place.has_begun {
                            self.start_again_at = now + RETRY;
                        }
                        bereave(place, &mut done, &mut died, &mut again);
                    }
                    ExecutorState::Starting if !place.process.is_some() && now - place.since > START_TIMEOUT => {
                        bereave(place, &mut done, &mut died, &mut again);
                    }
                    ExecutorState::Idle | ExecutorState::Busy | ExecutorState::Starting => {}
                }
            }
        });
        for fire in done {
            self.forget(&fire, fire.is_held);
        }
        for (role, fire) in again.into_iter().rev() {
            self.waiting.entry(role.to_u32()).or_default().push_front(fire);
        }
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
        self.skipped |= self.again.remove(&id) || is_held;
        if is_held && fire.kind == FireKind::Item {
            self.held.push(id);
        }
    }

    /// Gives what waits to executors that have nothing to do, and starts executors for the rest.
    pub fn hand_out(&mut self, now: i64) {
        self.handed_out_at = now;
        let mut roles: Vec<u32> =
            self.waiting.iter().filter(|(_, queue)| !queue.is_empty()).map(|(role, _)| *role).collect();
        // Who has the fewest sessions comes first, so that nobody's backlog keeps everybody else waiting.
        roles.sort_by_cached_key(|role| self.executors_of(Oid::from(*role)));
        for role in roles {
            while self.waiting.get(&role).is_some_and(|queue| !queue.is_empty()) {
                if !self.give(Oid::from(role), now) {
                    break;
                }
            }
        }
        self.waiting.retain(|_, queue| !queue.is_empty());
    }

    fn executors_of(&self, role: Oid) -> usize {
        let is_mine = |place: &&Executor| place.database == self.database && place.role == role;
        shared::with(|board| {
            board.executors.iter().filter(is_mine).filter(|place| place.state != ExecutorState::Free).count()
        })
    }

    /// Gives one batch of a role to somebody. `false`: everybody is busy, and nobody can be started.
    fn give(&mut self, role: Oid, now: i64) -> bool {
        let Some(queue) = self.waiting.get_mut(&role.to_u32()) else { return false };
        let database = self.database;
        let most = guc::max_executors();
        let mut may_start = now >= self.start_again_at;
        let mut is_full = false;
        let (given, must_start) = shared::with(|board| {
            let works = |place: &&Executor| {
                place.database == database && matches!(place.state, ExecutorState::Busy | ExecutorState::Starting)
            };
            // Those that are there may be more than a reload has left.
            if board.executors.iter().filter(works).count() >= most {
                return (false, None);
            }
            let is_idle = |place: &Executor| {
                place.database == database
                    && place.role == role
                    && place.state == ExecutorState::Idle
                    && place.count == 0
            };
            if let Some(place) = board.executors.iter_mut().find(|place| is_idle(place)) {
                fill(place, queue, now);
                place.state = ExecutorState::Busy;
                place.process.wake();
                return (true, None);
            }
            let mut of_database = 0;
            for place in board.executors.iter().filter(|place| place.database == database) {
                of_database += usize::from(place.state != ExecutorState::Free);
                // One that is starting takes what waits first.
                may_start &= !(place.role == role && place.state == ExecutorState::Starting);
            }
            if !may_start {
                return (false, None);
            }
            if of_database >= most {
                dismiss(board, database, role);
                return (false, None);
            }
            let Some(index) = board.executors.iter().position(|place| place.state == ExecutorState::Free) else {
                is_full = true;
                return (false, None);
            };
            let place = &mut board.executors[index];
            (place.database, place.role, place.state) = (database, role, ExecutorState::Starting);
            (place.fired, place.failed, place.careful) = (0, 0, false);
            place.generation = place.generation.wrapping_add(1);
            fill(place, queue, now);
            (true, Some((index, place.generation)))
        });
        if is_full {
            self.wait_for_room(role, now);
        }
        match must_start {
            Some((index, generation)) => self.start(index, generation, role, now),
            None => given,
        }
    }

    fn start(&mut self, index: usize, generation: u16, role: Oid, now: i64) -> bool {
        let name = format!("workflow executor for database {}", self.database.to_u32());
        let worker = Worker {
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
        shared::with(|board| {
            let place = &mut board.executors[index];
            back.extend_from_slice(&place.batch[..place.count as usize]);
            (place.count, place.state) = (0, ExecutorState::Free);
        });
        let queue = self.waiting.entry(role.to_u32()).or_default();
        back.into_iter().rev().for_each(|fire| queue.push_front(fire));
        self.wait_for_room(role, now);
        complain_of_slots("executor", now);
        false
    }

    /// Nobody can be started now. Where somebody of this role is at work it takes longer, no more: nobody else need leave
    /// for that.
    fn wait_for_room(&mut self, role: Oid, now: i64) {
        if self.executors_of(role) == 0 {
            shared::with(|board| board.crowd(now));
        }
        self.start_again_at = now + RETRY;
    }

    /// When something here needs a look, if nobody wakes us.
    pub fn wants_attention_at(&self) -> i64 {
        let mut at = i64::MAX;
        // Asked with a later reading of the clock.
        if self.waiting() > 0 && self.start_again_at > self.handed_out_at {
            at = self.start_again_at;
        }
        shared::with(|board| {
            for place in board.executors.iter().filter(|place| place.database == self.database) {
                match place.state {
                    ExecutorState::Busy if place.count > place.current + 1 => at = at.min(place.since + PATIENCE),
                    ExecutorState::Starting if !place.process.is_some() => at = at.min(place.since + START_TIMEOUT),
                    ExecutorState::Idle if place.count > 0 => at = i64::MIN,
                    ExecutorState::Dead => at = i64::MIN,
                    _ => {}
                }
            }
        });
        at
    }
}

/// Fires that run SQL of users go one by one; the rest share a transaction.
fn fill(place: &mut Executor, queue: &mut VecDeque<Fire>, now: i64) {
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

/// An executor of another role that waits for nothing makes room.
fn dismiss(board: &mut Board, database: Oid, role: Oid) {
    let idle = board.executors.iter_mut().find(|place| {
        place.database == database && place.role != role && place.state == ExecutorState::Idle && place.count == 0
    });
    if let Some(place) = idle {
        // Not idle any more, so that nobody gives it something.
        (place.state, place.since) = (ExecutorState::Starting, i64::MIN / 2);
        place.process.wake();
    }
}

/// Takes back what an executor that died was given: the one that it was on is to blame. What came before that may have
/// been rolled back with it. Where it was careful the attempt is counted already.
fn bereave(place: &mut Executor, done: &mut Vec<Fire>, died: &mut Vec<(Fire, bool)>, again: &mut Vec<(Oid, Fire)>) {
    let current = place.current as usize;
    for (i, fire) in place.batch[..place.count as usize].iter().enumerate() {
        match i.cmp(&current) {
            // Whether its role can connect is asked anew when it is found again.
            _ if !place.has_begun => done.push(Fire { is_held: true, ..*fire }),
            Ordering::Less => done.push(Fire { is_held: true, ..*fire }),
            Ordering::Equal => died.push((*fire, !place.careful)),
            Ordering::Greater => again.push((place.role, *fire)),
        }
    }
    (place.count, place.state) = (0, ExecutorState::Free);
}

fn note_death(fire: &Fire, counts: bool) -> bool {
    // The claim of a command tells the next one.
    if fire.kind == FireKind::Command {
        return false;
    }
    // Whoever is ended to make room for a statement is not to blame for it, and neither is what they fired.
    if shared::with(|board| board.database(process::database()).is_some_and(|place| place.blocked_by != 0)) {
        return false;
    }
    let id = Uuid::from_bytes(fire.id);
    let noted = process::transaction(|| {
        // It may have been ended to drop the extension.
        if process::extension().is_none() {
            return Ok(false);
        }
        let mut session = Session::begin();
        let error = PgError::new("57P01", "the worker that fired it ended");
        Ok(match fire.kind {
            FireKind::Item => sweep::note_undelivered(&session, id, &error, counts),
            FireKind::Bookmark | FireKind::Command => sweep::note_failure(&mut session, id, &error, counts),
        })
    });
    noted.unwrap_or_else(|error| {
        log(&format!("workflow could not note that a worker died firing {id}: {}", error.message));
        false
    })
}

/// The role whose rights it needs is gone. `false`: somebody else has it, so it must be found again.
fn give_up(kind: FireKind, due: &Due) -> bool {
    if kind == FireKind::Item {
        return true;
    }
    let name = due.runs_as.as_ref().map(|owner| owner.name.clone()).unwrap_or_default();
    let error = PgError::new("42704", format!("role \"{name}\", the owner of the workflow instance, does not exist"));
    sweep::note_failure(&mut Session::begin(), due.id, &error, true)
}
