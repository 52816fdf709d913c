//! Waiting for tasks: a session sleeps until a claim of its names would give it work.
//!
//! It asks the same question as the claim, but takes no lock: a check reads the tasks that can be claimed, and who is
//! in the way of locking them.

use crate::access::task_consent;
use crate::pg::rows::Holder;
use crate::pg::shared::{self, Class, NEVER};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, process, role};
use crate::run::call::waiter::{self, CheckResult};
use crate::run::tasks::lease;
use crate::run::tasks::lease::attempt::{attempt_of_claim, is_excluded};
use crate::run::tasks::limits::Search;
use crate::store::instances;
use crate::store::tasks::leases::{self, ClaimableTask};
use crate::{clock, wake};

/// Tasks that the first page of a check reads.
const PAGE: usize = 8;
/// The lease that a claim asks for by default, in microseconds.
const USUAL_LEASE: i64 = 300_000_000;

/// Sleeps until a claim of tasks of these names would give work (`true`), or so many microseconds have passed.
pub fn wait(names: Option<&[String]>, timeout: i64) -> Result<bool, PgError> {
    let (hash, mask) = wake::key_of(names);
    let class = Class { database: process::database(), role: role::current(), names: hash };
    waiter::wait("wait for tasks", class, mask, timeout, || check(names))
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
