//! An executor: a session that fires the batches given by its scheduler.
//!
//! Fires of an owner that run no users' SQL share a transaction, each in its own subtransaction. Any other fire has its
//! own transaction in a session of its owner, which is reset afterwards. If a fire reaches an instance with SQL, that
//! instance is left to such a session as well, unless it is a definer: its SQL runs restricted, as in maintenance
//! commands. Shared memory names the current fire, so that a crash of the executor counts as an attempt of that fire.

use pgrx::pg_sys::Oid;
use uuid::Uuid;

use crate::access::lending::Serves;
use crate::clock;
use crate::pg::error::log;
use crate::pg::process;
use crate::pg::shared::{self, Database, Executor, ExecutorState, Fire, FireKind, Process, SharedState};
use crate::pg::{PgError, guc, session, top_level};
use crate::run::CallContext;
use crate::run::events::queued::{DeliveryOutcome, MAX_ATTEMPTS};
use crate::run::timers::command::{self, CommandClaim};
use crate::run::timers::{due_bookmark, due_work};
use crate::store::events::queue;
use crate::store::rights::owners;
use crate::store::timers::due;
use crate::worker::{SECOND, SLOTS_WANTED_FOR};

/// How long an idle executor stays while slots are wanted: its scheduler may be about to give it another batch.
const PAUSE: i64 = SECOND / 5;

/// The argument of an executor: its slot, and the generation of that slot.
pub fn argument(slot: usize, generation: u16) -> i32 {
    i32::try_from(slot).unwrap_or(i32::MAX) << 16 | i32::from(generation)
}

/// The body of an executor.
pub fn run(argument: i32) {
    let Some((slot, database, role)) = shared::with(|state| take_slot(state, argument)) else { return };
    // Read before `connect` reads the settings, so that no later change is missed.
    let settings = shared::with(|state| state.database(database).map_or(0, |slot| slot.settings));
    process::at_exit(move || at_exit(slot));
    process::connect(database, role);
    process::set_application_name(c"workflow executor");
    session::attach();
    let mut executor = Worker { slot, database, role, settings };
    executor.attach();
    loop {
        let state = shared::with(|state| state.executors[slot].state);
        if state == ExecutorState::Busy {
            executor.fire_batch();
        } else if !executor.wait_for_batch() {
            return;
        }
        process::process_interrupts();
    }
}

/// Takes the slot reserved for this process. It does so before connecting, which may take long, so that no other
/// executor gets the slot meanwhile. `None`: the process came too late, and the slot is no longer its own.
fn take_slot(state: &mut SharedState, argument: i32) -> Option<(usize, Oid, Oid)> {
    let slot = usize::try_from(argument >> 16).ok()?;
    let mine = state.executors.get_mut(slot)?;
    let is_mine = mine.state == ExecutorState::Starting
        && !mine.process.is_some()
        && i32::from(mine.generation) == argument & 0xFFFF;
    is_mine.then(|| {
        mine.process = Process::me();
        (slot, mine.database, mine.role)
    })
}

/// Releases the slot. An executor with an unfinished batch is marked as dead.
fn at_exit(slot: usize) {
    shared::with(|state| {
        let Some(mine) = state.executors.get_mut(slot) else { return };
        mine.process = Process::NONE;
        let (database, has_fires) = (mine.database, mine.count > 0);
        let is_dead = has_fires && state.slot_of(database).is_some();
        let mine = &mut state.executors[slot];
        if is_dead {
            mine.state = ExecutorState::Dead;
        } else {
            (mine.state, mine.count) = (ExecutorState::Free, 0);
        }
        state.wake(database);
    });
}

struct Worker {
    slot: usize,
    database: Oid,
    role: Oid,
    /// The count of changes to the database's settings when this executor started.
    settings: u32,
}

/// The outcome of a fire.
enum FireEnd {
    Fired,
    /// The item is gone, or no instance waits for it.
    Skipped,
    /// The fire cannot run in this session now, for example because another session has locked what it needs, or the
    /// bookmark is gone or no longer due.
    Held,
    /// A session of this owner must deliver the item.
    Elsewhere(i32),
    Failed(Box<PgError>),
}

impl Worker {
    fn attach(&mut self) {
        self.update(|mine, _| {
            mine.state = if mine.count > 0 { ExecutorState::Busy } else { ExecutorState::Idle };
            mine.careful = true;
        });
        // The scheduler may have held back fires of this role while this executor was starting.
        shared::with(|state| state.wake(self.database));
    }

    fn update<R>(&self, body: impl FnOnce(&mut Executor, Option<&mut Database>) -> R) -> R {
        shared::with(|state: &mut SharedState| {
            let index = state.slot_of(self.database);
            body(&mut state.executors[self.slot], index.map(|index| &mut state.databases[index]))
        })
    }

    /// Waits for a batch. `false`: the executor must exit.
    fn wait_for_batch(&mut self) -> bool {
        process::report(None);
        let now = process::now();
        let timeout = guc::worker_idle_timeout();
        let (state, since, slots_wanted_at, must_exit) = shared::with(|state| {
            let mine = &state.executors[self.slot];
            let (mine, since) = (mine.state, mine.since);
            let must_exit = |slot: &mut Database| slot.blocked_by != 0 || slot.settings != self.settings;
            let must_exit = state.database(self.database).is_none_or(must_exit);
            (mine, since, state.slots_wanted_at, must_exit)
        });
        if state == ExecutorState::Busy {
            return true;
        }
        let must_exit = must_exit || !guc::launch_workers();
        let are_slots_wanted = now - slots_wanted_at < SLOTS_WANTED_FOR;
        let timeout = if are_slots_wanted { PAUSE } else { timeout };
        if must_exit || now - since >= timeout {
            // The scheduler may have assigned a batch in the meantime.
            return shared::with(|state| {
                let mine = &mut state.executors[self.slot];
                if mine.state == ExecutorState::Busy {
                    return true;
                }
                mine.state = ExecutorState::Starting;
                false
            });
        }
        process::wait(Some(since + timeout - now));
        true
    }

    fn fire_batch(&mut self) {
        let (fires, careful) = self.update(|mine, _| (mine.batch[..mine.count as usize].to_vec(), mine.careful));
        if careful || fires.len() == 1 {
            self.fire_one_by_one(&fires, careful);
        } else {
            self.fire_together(&fires);
        }
        let now = process::now();
        shared::with(|state| {
            let mine = &mut state.executors[self.slot];
            mine.current = mine.count;
            mine.state = ExecutorState::Idle;
            mine.careful = false;
            (mine.took, mine.since) = (now - mine.since, now);
            state.wake(self.database);
        });
        process::report(None);
    }

    /// Stores the current fire in shared memory. `false`: the scheduler has taken the fire back.
    fn is_on(&self, i: usize) -> bool {
        self.update(|mine, _| {
            let is_mine = i < mine.count as usize;
            if is_mine {
                (mine.current, mine.has_begun) = (i as u32, true);
            }
            is_mine
        })
    }

    fn fire_one_by_one(&mut self, fires: &[Fire], careful: bool) {
        for (i, fire) in fires.iter().enumerate() {
            if !self.is_on(i) {
                break;
            }
            self.fire_alone(fire, careful);
        }
    }

    /// Runs fires without users' SQL in one transaction. If that fails, repeats them one by one.
    fn fire_together(&mut self, fires: &[Fire]) {
        process::report(Some("firing what is due"));
        let mut outcomes = Vec::with_capacity(fires.len());
        let committed = process::work(|| {
            let mut context = CallContext::worker_pass();
            for (i, fire) in fires.iter().enumerate() {
                if !self.is_on(i) {
                    break;
                }
                let began = process::now();
                let outcome = match fire_one(&mut context, fire, true) {
                    Ok(outcome) => outcome,
                    Err(error) if error.aborts_transaction() => return Err(error),
                    Err(error) => FireEnd::Failed(Box::new(error)),
                };
                outcomes.push((began, outcome));
            }
            Ok(())
        });
        session::reset_after_user_sql();
        if committed.is_err() {
            self.fire_one_by_one(fires, false);
            return;
        }
        for (fire, (began, outcome)) in fires.iter().zip(outcomes) {
            self.finish_fire(fire, began, outcome, true);
        }
    }

    /// Runs one fire in its own transaction.
    fn fire_alone(&mut self, fire: &Fire, careful: bool) {
        let id = Uuid::from_bytes(fire.id);
        process::report(Some(&match fire.kind {
            FireKind::Command => return self.run_command(fire),
            FireKind::Bookmark => format!("firing bookmark {id}"),
            FireKind::Item => format!("delivering stimulus {id}"),
        }));
        if careful && !count_ahead(fire) {
            self.finish_fire(fire, process::now(), FireEnd::Held, false);
            return;
        }
        let began = process::now();
        let outcome = process::work(|| {
            let _timeout = session::StatementTimeout::arm();
            fire_one(&mut self.pass(fire), fire, false)
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => FireEnd::Failed(Box::new(error)),
        };
        if self.role == Oid::INVALID {
            session::reset_after_user_sql();
        } else {
            session::reset();
        }
        if careful && matches!(outcome, FireEnd::Skipped | FireEnd::Held | FireEnd::Elsewhere(_)) {
            forget_attempt(fire);
        }
        self.finish_fire(fire, began, outcome, !careful);
    }

    /// Runs a command at top level: claims it, runs it, and resumes its bookmark with the outcome.
    fn run_command(&mut self, fire: &Fire) {
        let id = Uuid::from_bytes(fire.id);
        process::report(Some(&format!("running the command of bookmark {id}")));
        let began = process::now();
        let claim = process::work(|| Ok(command::claim(&CallContext::begin(), id)));
        let result = match claim {
            Ok(CommandClaim::Gone) => return self.finish_fire(fire, began, FireEnd::Held, false),
            Err(error) => return self.finish_fire(fire, began, FireEnd::Failed(Box::new(error)), true),
            Ok(CommandClaim::Interrupted) => Err(command::interrupted()),
            Ok(CommandClaim::Run(_)) if self.role == Oid::INVALID => {
                Err(PgError::new("0A000", "a command at top level needs a session of its owner")
                    .detail("The owner may not log in, or the definition runs with its owner's rights."))
            }
            Ok(CommandClaim::Run(text)) => {
                let _timeout = session::StatementTimeout::arm();
                top_level::run(&text)
            }
        };
        session::reset();
        let finished = process::work(|| {
            let _timeout = session::StatementTimeout::arm();
            command::finish(&mut self.pass(fire), id, &result)
        });
        // The burst after the command may have run users' SQL as well.
        session::reset();
        let outcome = match finished {
            Ok(_) => FireEnd::Fired,
            Err(error) => FireEnd::Failed(Box::new(error)),
        };
        self.finish_fire(fire, began, outcome, true);
    }

    /// The context of a fire that may run users' SQL.
    fn pass(&self, fire: &Fire) -> CallContext {
        let owner = (fire.wants != 0).then(|| owners::by_id(fire.wants));
        let mut context = CallContext::worker_pass();
        context.serves = Serves::of_worker(self.role, owner.as_ref());
        context
    }

    /// Counts a fire, and records a failed one for a retry or as a dead letter.
    fn finish_fire(&mut self, fire: &Fire, began: i64, outcome: FireEnd, counts: bool) {
        let is_noted = match &outcome {
            // The row of a stimulus contains its next delivery time, so the scheduler must read it.
            FireEnd::Failed(error) => record_failure(fire, error, counts) && fire.kind != FireKind::Item,
            FireEnd::Fired | FireEnd::Skipped => true,
            FireEnd::Held | FireEnd::Elsewhere(_) => false,
        };
        self.update(|mine, database| {
            let slot = mine.batch.iter_mut().take(mine.count as usize).find(|slot| slot.id == fire.id);
            if let Some(slot) = slot {
                slot.is_held = !is_noted;
                if let FireEnd::Elsewhere(owner) = outcome {
                    slot.wants = owner;
                }
            }
            match outcome {
                FireEnd::Fired => {
                    mine.fired += 1;
                    if let Some(database) = database {
                        database.fired += 1;
                        if fire.kind != FireKind::Item {
                            database.lateness.count(began - fire.due);
                        }
                    }
                }
                FireEnd::Skipped | FireEnd::Held | FireEnd::Elsewhere(_) => {}
                FireEnd::Failed(_) => {
                    mine.failed += 1;
                    if let Some(database) = database {
                        database.failed += 1;
                    }
                }
            }
        });
    }
}

fn fire_one(context: &mut CallContext, fire: &Fire, apart: bool) -> Result<FireEnd, PgError> {
    let id = Uuid::from_bytes(fire.id);
    let has_fired = match fire.kind {
        FireKind::Bookmark if apart => due_bookmark::fire_isolated(context, id)?,
        FireKind::Bookmark | FireKind::Command => due_bookmark::fire_here(context, id)?,
        FireKind::Item => {
            let Some(item) = queue::get(id, context.timestamp()) else { return Ok(FireEnd::Skipped) };
            return Ok(match due_work::deliver_item(context, &item)? {
                DeliveryOutcome::Resumed(_) => FireEnd::Fired,
                DeliveryOutcome::Stays => FireEnd::Skipped,
                DeliveryOutcome::Held => FireEnd::Held,
                DeliveryOutcome::Elsewhere(owner) => FireEnd::Elsewhere(owner),
            });
        }
    };
    Ok(if has_fired { FireEnd::Fired } else { FireEnd::Held })
}

/// Commits the attempt count before the attempt. `false`: another session has locked the row, or all attempts are used
/// up.
fn count_ahead(fire: &Fire) -> bool {
    let id = Uuid::from_bytes(fire.id);
    let counted = process::work(|| match fire.kind {
        FireKind::Item => Ok(due::count_delivery(id)),
        FireKind::Bookmark | FireKind::Command => Ok(due::count_attempt(id, clock::now().into())),
    });
    match counted {
        Ok(Some(attempts)) if attempts > MAX_ATTEMPTS => {
            let error = PgError::new("57P02", "the server or a worker crashed each time it was fired");
            record_failure(fire, &error, false);
            false
        }
        Ok(attempts) => attempts.is_some(),
        Err(_) => false,
    }
}

/// Takes back an attempt that was counted ahead: a lock blocked the fire, or no instance waited for it. The session that
/// has the lock may keep the row, and each attempt that stays counted is one less before the row is given up. So this
/// waits for the session for some time; the executor holds no lock meanwhile.
fn forget_attempt(fire: &Fire) {
    let id = Uuid::from_bytes(fire.id);
    let forgotten = process::work(|| {
        let waits = session::ShortWaits::of(c"5s");
        match fire.kind {
            FireKind::Item => due::forget_delivery(id),
            FireKind::Bookmark | FireKind::Command => due::forget_attempt(id),
        }
        waits.end();
        Ok(())
    });
    if let Err(error) = forgotten {
        log(&format!("workflow could not take back an attempt to fire {id}: {}", error.message));
    }
}

/// Records a failed fire, for a retry or as a dead letter. `false`: nothing was recorded, so it must be found again.
fn record_failure(fire: &Fire, error: &PgError, counts: bool) -> bool {
    let id = Uuid::from_bytes(fire.id);
    let recorded = process::work(|| {
        let mut context = CallContext::begin();
        Ok(match fire.kind {
            FireKind::Item => due_work::record_undelivered(&context, id, error, counts),
            FireKind::Bookmark | FireKind::Command => due_bookmark::record_failure(&mut context, id, error, counts),
        })
    });
    recorded.unwrap_or_else(|second| {
        log(&format!("workflow could not record a failure of {id}: {}", second.message));
        false
    })
}
