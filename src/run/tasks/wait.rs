//! Waiting for tasks: a session sleeps until a claim of its names would give it work.
//!
//! It asks the same question as the claim, but takes no lock: a check reads the tasks that can be claimed, and who is
//! in the way of locking them. Between two checks it has no snapshot, no transaction id and no lock of a table.

use crate::access::task_consent;
use crate::pg::rows::Holder;
use crate::pg::shared::{self, Class, NEVER};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, cluster, guc, procedure, process, role, session};
use crate::run::BACKEND;
use crate::run::tasks::lease;
use crate::run::tasks::lease::attempt::{attempt_of_claim, is_excluded};
use crate::run::tasks::limits::Search;
use crate::run::timers::moved_clock;
use crate::store::instances;
use crate::store::tasks::leases::{self, ClaimableTask};
use crate::{clock, wake};

/// Tasks that the first page of a check reads.
const PAGE: usize = 8;
/// The lease that a claim asks for by default, in microseconds.
const USUAL_LEASE: i64 = 300_000_000;

/// What a check found.
enum CheckResult {
    /// A claim would give work.
    Ready,
    /// It would not, before an instant by the clock of the server, or before one of these transactions, or parts of
    /// such, has ended.
    Nothing { until: i64, blockers: Vec<u32> },
}

/// Sleeps until a claim of tasks of these names would give work (`true`), or so many microseconds have passed.
pub fn wait(names: Option<&[String]>, timeout: i64) -> Result<bool, PgError> {
    moved_clock::refuse("wait for tasks")?;
    let end = process::now().saturating_add(timeout);
    let waiter = Waiter::take(names)?;
    loop {
        // `sleep` may have read the configuration anew, and with it the isolation level of the transactions that
        // follow.
        session::require_read_committed("wait for tasks")?;
        match waiter.check(names)? {
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
    fn take(names: Option<&[String]>) -> Result<Self, PgError> {
        let (hash, mask) = wake::key_of(names);
        let class = Class { database: process::database(), role: role::current(), names: hash };
        let limit = guc::max_waiters();
        if !BACKEND.frees_wait_at_exit.replace(true) {
            process::at_exit(|| free(false));
        }
        let Some(slot) = shared::with_waiters(|waiters| waiters.enter(class, mask, limit)) else {
            return Err(PgError::new("53400", "too many sessions wait for tasks")
                .detail(format!("The setting workflow.max_waiters allows {limit}."))
                .hint("Let one session of each process of workers wait, and hand the work on in the process."));
        };
        BACKEND.waits_in.set(Some(slot));
        Ok(Self { slot, class })
    }

    /// Checks, in a transaction of its own.
    fn check(&self, names: Option<&[String]>) -> Result<CheckResult, PgError> {
        shared::with_waiters(|waiters| waiters.begin_check(self.slot));
        procedure::in_transaction_of_its_own(|| {
            wake::report_check(self.class);
            check(names)
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

/// Asks what a claim would ask.
fn check(names: Option<&[String]>) -> Result<CheckResult, PgError> {
    if lease::refuse_unless_firing().is_err() {
        return Ok(CheckResult::Nothing { until: NEVER, blockers: Vec::new() });
    }
    let (now, claimant) = (Timestamp::from(clock::now()), task_consent::claimant(role::current()));
    let names = names.map_or_else(|| leases::names(claimant.stored_under()), <[String]>::to_vec);
    leases::release_due(&names, now, &claimant);
    let mut blockers = Vec::new();
    let mut page = PAGE;
    let mut search = Search::new(names.clone(), now, &claimant);
    loop {
        let (found, is_all) = search.page(page, page);
        for claimable in &found {
            if !search.is_open(claimable) {
                continue;
            }
            match holder(claimable, now)? {
                Holder::None => return Ok(CheckResult::Ready),
                Holder::Transactions(running) => blockers.extend(running),
                Holder::Changed => {}
            }
        }
        if is_all {
            break;
        }
        page = page.saturating_mul(4);
    }
    let (slot, holders) = search.held_until();
    blockers.extend(holders);
    let changing = search.changing();
    blockers.extend(changing.into_iter().flatten());
    let mut until =
        leases::next_end(&names, now, &claimant).into_iter().chain(slot).min().map_or(NEVER, wake::by_server_clock);
    let unreleased = leases::unreleased(&names, now, &claimant);
    // A session that has not loaded the library wakes no other when it ends a transaction: by COMMIT PREPARED, for
    // example.
    // A transaction that changes limits without writing one, because it changes the owner of a definition, is not known.
    let is_unknown = changing.is_some_and(<[u32]>::is_empty);
    if unreleased.len() == leases::MAX_UNRELEASED || !shared::is_preloaded() || is_unknown {
        until = until.min(process::now().saturating_add(1_000_000));
    }
    for task in unreleased {
        match leases::lock_holder(task) {
            Holder::Transactions(running) => blockers.extend(running),
            // Its transaction has just ended: the next look puts the task back, or moves it on.
            Holder::None | Holder::Changed => {
                until = process::now();
                break;
            }
        }
    }
    blockers.sort_unstable();
    blockers.dedup();
    Ok(CheckResult::Nothing { until, blockers })
}

/// Who is in the way of claiming a task.
fn holder(claimable: &ClaimableTask, now: Timestamp) -> Result<Holder, PgError> {
    let until = Timestamp(now.0.saturating_add(USUAL_LEASE));
    let needs_instance = match attempt_of_claim(claimable, until) {
        Ok(next) => next.needs_instance(),
        Err(error) if error.aborts_transaction() => return Err(error),
        // A claim passes over a task whose definition cannot be read.
        Err(_) => return Ok(Holder::Changed),
    };
    if is_excluded(claimable)? {
        return Ok(Holder::Changed);
    }
    match leases::lock_holder(claimable.task) {
        Holder::None if needs_instance => Ok(instances::lock_holder(claimable.instance)),
        holder => Ok(holder),
    }
}
