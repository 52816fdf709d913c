//! The launcher: starts a scheduler for each database that has work, or will soon have some.

use pgrx::pg_sys::Oid;

use crate::pg::error::log;
use crate::pg::guc;
use crate::pg::process::{self, Background};
use crate::pg::shared::{self, Database, HasExtension, Process, SharedState};
use crate::worker::{LOG_INTERVAL, SECOND, log_out_of_slots};

/// How long before a due time the launcher starts a scheduler, which has to connect first.
const LEAD: i64 = SECOND / 2;
/// How long a scheduler may take to attach before the launcher starts another one.
const START_TIMEOUT: i64 = 10 * SECOND;
/// Delay before a start that found no worker slot is retried.
const RETRY: i64 = SECOND;

/// The body of the launcher.
pub fn run(_argument: i32) {
    process::connect_to_none();
    process::set_application_name(c"workflow launcher");
    let is_first = shared::with(|state| {
        let is_first = !process::is_alive(state.launcher.pid);
        if is_first {
            state.launcher = Process::me();
            state.rescan = true;
        }
        is_first
    });
    if !is_first {
        return;
    }
    process::at_exit(|| shared::with(|state| state.launcher = Process::NONE));
    process::report(None);
    let mut launcher = Launcher { asked: Vec::new(), logged_at: 0, last: i64::MIN };
    let mut reloads = process::reloads();
    loop {
        if process::reloads() != std::mem::replace(&mut reloads, process::reloads()) {
            // A database without a scheduler has no process that notices the reload.
            let is_asleep = |slot: &&mut Database| slot.is_served() && !slot.scheduler.is_some();
            shared::with(|state| state.databases.iter_mut().filter(is_asleep).for_each(Database::ask));
        }
        let sleep = launcher.pass();
        process::wait(sleep);
    }
}

struct Launcher {
    /// Databases that the launcher is to check.
    asked: Vec<Oid>,
    /// When it last logged that there are too few slots.
    logged_at: i64,
    /// When the last pass was.
    last: i64,
}

impl Launcher {
    /// Does the work that is due now, and returns how long the launcher may sleep.
    fn pass(&mut self) -> Option<i64> {
        let (rescan, probes) = shared::with(|state| (std::mem::take(&mut state.rescan), state.take_probes()));
        if rescan || !probes.is_empty() {
            self.check_databases(rescan, &probes);
        }
        let (now, is_set_back) = process::now_after(self.last);
        self.last = now;
        if is_set_back {
            shared::with(|state| state.set_back(now));
            self.logged_at = now.min(self.logged_at);
        }
        self.assign_slots(now);
        let (decision, is_asked) = shared::with(|state| (decide(state, now, capacity()), state.has_probes()));
        let mut sleep = if is_asked { Some(0) } else { decision.sleep };
        for database in decision.start {
            let has_started = self.start(database, now);
            // A scheduler that never attaches sets no latch, so the launcher checks again.
            let until = if has_started { START_TIMEOUT } else { RETRY };
            sleep = Some(sleep.unwrap_or(until).min(until));
            if !has_started {
                break;
            }
        }
        sleep
    }

    /// Updates the shared state from the databases that exist. A database that finds no free slot stays in `asked`
    /// until another one turns out not to have the extension.
    fn check_databases(&mut self, all: bool, probes: &[Oid]) {
        let there = process::databases();
        if all {
            self.asked = there.clone();
        }
        self.asked.extend_from_slice(probes);
        self.asked.sort_unstable_by_key(|oid| oid.to_u32());
        self.asked.dedup();
        self.asked.retain(|oid| there.contains(oid));
        shared::with(|state| {
            let gone = state.databases.iter().map(|slot| slot.oid).filter(|oid| !there.contains(oid));
            gone.collect::<Vec<_>>().into_iter().for_each(|oid| state.forget(oid));
        });
    }

    /// Gives slots to the databases in `asked`.
    fn assign_slots(&mut self, now: i64) {
        if self.asked.is_empty() {
            return;
        }
        let asked = std::mem::take(&mut self.asked);
        self.asked = shared::with(|state| {
            // A slot that only records that a database lacks the extension is kept while there is room.
            if state.databases.iter().filter(|slot| slot.oid == Oid::INVALID).count() < asked.len() {
                let is_needless = |slot: &Database| slot.has_extension == HasExtension::No && !slot.scheduler.is_some();
                let needless = state.databases.iter().filter(|slot| is_needless(slot)).map(|slot| slot.oid);
                needless.collect::<Vec<_>>().into_iter().for_each(|oid| state.forget(oid));
            }
            let mut without_slot = Vec::new();
            for oid in asked {
                match state.database_or_new(oid, now) {
                    Some(slot) if slot.has_extension != HasExtension::Yes || !slot.scheduler.is_some() => {
                        slot.has_extension = HasExtension::Unknown;
                    }
                    Some(_) => {}
                    None => without_slot.push(oid),
                }
            }
            without_slot
        });
        if !self.asked.is_empty() && now - self.logged_at > LOG_INTERVAL {
            self.logged_at = now;
            log("workflow has more databases to serve than it has slots for");
        }
    }

    fn start(&mut self, database: Oid, now: i64) -> bool {
        let name = format!("workflow scheduler for database {}", database.to_u32());
        let worker = Background {
            kind: c"workflow scheduler",
            name: &name,
            function: c"workflow_scheduler",
            argument: database.to_u32().cast_signed(),
            restart: None,
        };
        // Stored before the scheduler can attach, which resets `starting_since`.
        shared::with(|state| {
            if let Some(slot) = state.database(database) {
                (slot.starting_since, slot.served_at) = (now, now);
            }
        });
        if process::start(&worker) {
            return true;
        }
        shared::with(|state| {
            if let Some(slot) = state.database(database) {
                slot.starting_since = 0;
            }
            state.request_slots(now);
        });
        log_out_of_slots("scheduler", now);
        false
    }
}

/// How many schedulers may run at once. They leave half of the slots to executors and to other background workers.
fn capacity() -> usize {
    usize::try_from((process::max_worker_processes() - 2) / 2).unwrap_or(0).max(1)
}

/// What a pass of the launcher decides.
struct LaunchDecision {
    /// Databases whose schedulers are started now, the most urgent one first.
    start: Vec<Oid>,
    /// How long the launcher may then sleep, in microseconds; `None`: until it is woken.
    sleep: Option<i64>,
}

fn decide(state: &mut SharedState, now: i64, capacity: usize) -> LaunchDecision {
    let mut running = 0;
    let mut wanted = Vec::new();
    let mut sleep: Option<i64> = None;
    let mut until = |at: i64| {
        let remaining = at.saturating_sub(now).max(0);
        sleep = Some(sleep.map_or(remaining, |known| known.min(remaining)));
    };
    // A session may have left a request when there was no scheduler, or one that was already exiting.
    let with_requests = state.databases.iter().map(|slot| slot.oid).filter(|oid| state.has_requests(*oid));
    let with_requests: Vec<Oid> = with_requests.collect();
    for slot in state.databases.iter_mut().filter(|slot| slot.oid != Oid::INVALID) {
        let is_starting = slot.starting_since != 0 && now - slot.starting_since < START_TIMEOUT;
        if slot.scheduler.is_some() || is_starting {
            running += 1;
            if is_starting {
                until(slot.starting_since + START_TIMEOUT);
            }
            continue;
        }
        if slot.blocked_by != 0 {
            if process::is_alive(slot.blocked_by) {
                continue;
            }
            slot.blocked_by = 0;
        }
        let due = match slot.has_extension {
            HasExtension::No => continue,
            _ if !guc::launch_workers() || !guc::enabled() => continue,
            HasExtension::Unknown => i64::MIN,
            HasExtension::Yes if with_requests.contains(&slot.oid) => i64::MIN,
            HasExtension::Yes => slot.next_due.min(slot.tidy_at),
        };
        let due = due.max(slot.not_before);
        if due.saturating_sub(LEAD) <= now {
            wanted.push((due.max(now), slot.served_at, slot.oid));
        } else if due < i64::MAX {
            until(due - LEAD);
        }
    }
    // Among databases that are late, those served longest ago come first.
    wanted.sort_unstable_by_key(|(due, served_at, oid)| (*due, *served_at, oid.to_u32()));
    let free = capacity.saturating_sub(running);
    if wanted.len() > free {
        // Idle workers give up their slots; a scheduler that exits wakes the launcher.
        state.request_slots(now);
        until(now + RETRY);
    }
    LaunchDecision { start: wanted.into_iter().take(free).map(|(_, _, oid)| oid).collect(), sleep }
}
