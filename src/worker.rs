//! Background workers that call the engine when something is due.
//!
//! The launcher, connected to no database, knows the next due time of each database. A scheduler, one per database,
//! fires due triggers, finds due bookmarks, and gives them to executors, which are sessions of the roles whose SQL
//! runs. Each worker sleeps until the next due time, or until a commit wakes it through shared memory. None polls,
//! except that due work which another session has locked is tried again at intervals (`retry.rs`).
//! Correctness does not depend on workers: `wf_run_due` can do whatever a worker does, and due work stays in its row
//! until the transaction that fires it commits.

mod batch;
mod dispatcher;
pub mod executor;
mod items;
mod lanes;
pub mod launcher;
mod requests;
mod retry;
mod scan;
pub mod scheduler;
mod shares;
mod tidy;
mod turns;

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::log;
use crate::pg::process::{self, Background};
use crate::pg::shared::{self, ExecutorState};
use crate::pg::{PgError, interrupt};
use crate::wake;

/// A second in microseconds.
const SECOND: i64 = 1_000_000;

/// Minimum interval between log messages about missing worker slots.
const LOG_INTERVAL: i64 = 300 * SECOND;

/// How long a request for worker slots is valid.
const SLOTS_WANTED_FOR: i64 = 2 * SECOND;

/// How long DDL waits for workers to exit. After that, a worker inside users' SQL counts as any other session.
const EVICT_TIMEOUT: i64 = SECOND;

const LAUNCHER: Background<'static> = Background {
    kind: c"workflow launcher",
    name: "workflow launcher",
    function: c"workflow_launcher",
    argument: 0,
    restart: Some(1),
};

/// Registers the launcher; called while the postmaster loads the library.
pub fn register() {
    shared::request();
    process::register_at_start(&LAUNCHER);
}

/// Starts the launcher on a server that has not preloaded the library. `false`: it is running already.
pub fn start_launcher() -> Result<bool, PgError> {
    if wake::has_workers() {
        return Ok(false);
    }
    if process::start(&LAUNCHER) {
        return Ok(true);
    }
    Err(PgError::new("53000", "could not start the workflow launcher")
        .detail("All background worker slots are in use.")
        .hint("Raise max_worker_processes."))
}

/// Logs that a worker could not be started. Workers come and go, so shared memory keeps the time of the last message.
fn log_out_of_slots(kind: &str, now: i64) {
    let says_it = shared::with(|state| {
        let says_it = state.logged_out_of_slots_at == 0 || now - state.logged_out_of_slots_at > LOG_INTERVAL;
        if says_it {
            state.logged_out_of_slots_at = now;
        }
        says_it
    });
    if says_it {
        log(&format!(
            "workflow {kind} could not be started: all background worker slots are in use; raise max_worker_processes"
        ));
    }
}

/// Makes the workers of a database exit, keeps them out until this transaction ends, and waits for them. Executors
/// inside users' SQL stay, unless `end_busy` terminates them.
pub fn evict_workers(database: Oid, end_busy: bool) {
    if !shared::ensure() {
        return;
    }
    let me = process::my_pid();
    let is_served = shared::with(|state| match state.database(database) {
        Some(slot) => {
            slot.blocked_by = me;
            state.wake_all_of(database);
            true
        }
        None => false,
    });
    if !is_served {
        return;
    }
    wake::report_blocked(database);
    let deadline = process::now() + EVICT_TIMEOUT;
    let mut ended = false;
    loop {
        let (others, busy) = shared::with(|state| {
            let scheduler = state.database(database).map_or(0, |slot| slot.scheduler.pid);
            let mine = || state.executors.iter().filter(|slot| slot.database == database);
            let busy: Vec<i32> =
                mine().filter(|slot| slot.state == ExecutorState::Busy).map(|slot| slot.process.pid).collect();
            let idle = mine().filter(|slot| matches!(slot.state, ExecutorState::Idle | ExecutorState::Starting));
            let others = usize::from(scheduler != 0 && scheduler != me) + idle.count();
            (others, busy.into_iter().filter(|pid| *pid != me).collect::<Vec<_>>())
        });
        if end_busy && !ended {
            busy.iter().for_each(|pid| process::signal(*pid, pg_sys::SIGTERM));
            ended = true;
        }
        if others == 0 && (busy.is_empty() || !end_busy) || process::now() > deadline {
            return;
        }
        process::nap();
        interrupt::check();
    }
}
