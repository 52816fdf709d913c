//! The next attempt at a task: whether it is the last one, and whether claiming it changes the instance.

use std::sync::Arc;

use workflow_engine::execution;
use workflow_engine::program::Retry;
use workflow_engine::retry::RetryPolicy;

use crate::access::exclusion::Exclusion;
use crate::access::person::{self, Person};
use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc};
use crate::run::call::isolated;
use crate::run::tasks::answer::opener;
use crate::store::instances;
use crate::store::tasks::leases::{self, ClaimableTask};

/// The attempt that a claim of a task would start.
pub struct NextAttempt {
    /// Its number, starting at 1.
    pub attempt: i32,
    /// The number of attempts that the retry policy allows.
    pub max_attempts: Option<u32>,
    /// Whether it is the last one: its lease has a bookmark.
    pub is_last: bool,
    /// Whether a `startTimeout` limits the wait for this claim: the claim removes the bookmark of that timeout.
    pub is_awaited: bool,
}

impl NextAttempt {
    /// Whether the claim changes bookmarks, so that it needs the lock of the instance.
    pub fn needs_instance(&self) -> bool {
        self.is_last || self.is_awaited
    }
}

/// The attempt that a claim of the task would start now, with a lease that ends at `until`.
pub fn attempt_of_claim(claimable: &ClaimableTask, until: Timestamp) -> Result<NextAttempt, PgError> {
    let compiled = compiled::of_version(claimable.version)?;
    let node = opener(&compiled.program, &claimable.node_id);
    let policy = match node.and_then(|node| node.retry.as_ref()) {
        Some(Retry::Computed(_)) => computed_policy(claimable)?,
        Some(Retry::Policy(policy) | Retry::Strategy(policy)) => Some(Arc::clone(policy)),
        None => None,
    };
    let max_attempts = policy.as_ref().map(|policy| policy.max_attempts);
    let attempt = claimable.attempt.saturating_add(1);
    // No attempt starts after the time for all of them, so none follows a lease that ends after it.
    let within = policy.as_ref().and_then(|policy| policy.within).and_then(|within| within.num_microseconds());
    let is_too_late = within.is_some_and(|within| until.0 > claimable.opened_at.0.saturating_add(within));
    let max_leases = || isolated::read_setting(&compiled.row.owner, guc::max_leases);
    let is_last = is_too_late || i64::from(attempt) >= i64::from(max_attempts.unwrap_or_else(max_leases));
    let is_awaited = node.is_some_and(|node| node.start_timeout.is_some()) && leases::awaits_start(claimable.task);
    Ok(NextAttempt { attempt, max_attempts, is_last, is_awaited })
}

/// Whether a claim must skip a task because the task excludes the caller, or is a vote.
pub fn is_excluded(claimable: &ClaimableTask) -> Result<bool, PgError> {
    let compiled = compiled::of_version(claimable.version)?;
    if !compiled.program.excludes_people {
        return Ok(false);
    }
    if compiled.program.asks_for_votes(&claimable.node_id) {
        return Ok(true);
    }
    let Some(row) = instances::get(claimable.instance) else { return Ok(true) };
    let exclusion = Exclusion::of(&row, &compiled, claimable.task, &claimable.node_id)?;
    let Some(exclusion) = exclusion else { return Ok(false) };
    Ok(exclusion.require(&Person::from(&person::current()?)).is_err())
}

/// The policy that an activity computed when it opened its task. The version is read from the instance: it may have
/// been migrated since the task was read.
fn computed_policy(claimable: &ClaimableTask) -> Result<Option<Arc<RetryPolicy>>, PgError> {
    let (Some(held), Some(row)) = (leases::read(claimable.task), instances::get(claimable.instance)) else {
        return Ok(None);
    };
    let compiled = compiled::of_instance(&row)?;
    Ok(execution::retry_policy(&compiled.program, &row.instance, held.execution))
}
