//! A session that sleeps until something that it asks for is there: tasks, or HTTP responses.
//!
//! Between two checks it has no snapshot, no transaction id and no lock of a table. Sessions that commit something wake
//! it through shared memory (`pg/shared/waiters.rs`).

use crate::pg::shared::{self, Class};
use crate::pg::{PgError, cluster, guc, procedure, process, session};
use crate::run::BACKEND;
use crate::run::timers::moved_clock;
use crate::wake;

/// What a check found.
pub enum CheckResult {
    /// What the session waits for.
    Ready,
    /// Nothing, before an instant by the clock of the server, or before one of these transactions, or parts of such,
    /// has ended.
    Nothing { until: i64, blockers: Vec<u32> },
}

/// Sleeps until a check finds something (`true`), or so many microseconds have passed. `purpose` is for messages: wait
/// for what. `mask` has the names of the tasks that wake this session, each hashed to one of 64 bits.
pub fn wait(
    purpose: &str,
    class: Class,
    mask: u64,
    timeout: i64,
    check: impl Fn() -> Result<CheckResult, PgError>,
) -> Result<bool, PgError> {
    moved_clock::refuse(purpose)?;
    let end = process::now().saturating_add(timeout);
    let waiter = Waiter::take(purpose, class, mask)?;
    loop {
        // `sleep` may have read the configuration again, and with it the isolation level of the transactions that
        // follow.
        session::require_read_committed(purpose)?;
        match waiter.check(&check)? {
            CheckResult::Ready => {
                waiter.free_ready();
                return Ok(true);
            }
            CheckResult::Nothing { until, blockers } => {
                let transactions: Vec<u32> = blockers.iter().filter_map(|blocker| cluster::running(*blocker)).collect();
                shared::with_waiters(|waiters| waiters.end_check(waiter.slot, until, &transactions));
                // One that ended before its transaction was named there has woken no one.
                if blockers.iter().any(|blocker| cluster::running(*blocker).is_none()) {
                    continue;
                }
            }
        }
        if !waiter.sleep(end) {
            return Ok(false);
        }
    }
}

/// This session among those that wait, in shared memory. What it takes there is freed when this is dropped, and when
/// the process ends.
struct Waiter {
    slot: usize,
    class: Class,
}

impl Waiter {
    fn take(purpose: &str, class: Class, mask: u64) -> Result<Self, PgError> {
        let limit = guc::max_waiters();
        if !BACKEND.frees_wait_at_exit.replace(true) {
            process::at_exit(|| free(false));
        }
        let Some(slot) = shared::with_waiters(|waiters| waiters.enter(class, mask, limit)) else {
            return Err(PgError::new("53400", format!("too many sessions {purpose}"))
                .detail(format!("The setting workflow.max_waiters allows {limit}."))
                .hint("Let one session of each process wait, and hand on in the process what it finds."));
        };
        BACKEND.waits_in.set(Some(slot));
        Ok(Self { slot, class })
    }

    /// Checks, in a transaction of its own.
    fn check(&self, check: impl Fn() -> Result<CheckResult, PgError>) -> Result<CheckResult, PgError> {
        shared::with_waiters(|waiters| waiters.begin_check(self.slot));
        procedure::in_transaction_of_its_own(|| {
            wake::report_check(self.class);
            check()
        })
    }

    /// Sleeps until it must check again. `false`: the time is over. PostgreSQL reads the configuration between
    /// statements only, and a new configuration may turn firing on.
    fn sleep(&self, end: i64) -> bool {
        loop {
            if process::process_interrupts() {
                return true;
            }
            let now = process::now();
            match shared::with_waiters(|waiters| waiters.state(self.slot, now)) {
                Err(()) => return true,
                Ok(_) if now >= end => return false,
                Ok(until) => procedure::sleep(until.min(end) - now),
            }
        }
    }

    fn free_ready(&self) {
        wake::report_notified(self.class);
        free(true);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        free(false);
    }
}

/// Frees the slot of this session, if it has one.
fn free(is_ready: bool) {
    if let Some(slot) = BACKEND.waits_in.take() {
        shared::with_waiters(|waiters| waiters.free(slot, is_ready, process::now()));
    }
}
