//! The next attempt at a task: whether it is the last one, and whether a claim of it changes the instance.

use std::sync::Arc;

use workflow_engine::execution;
use workflow_engine::program::Retry;
use workflow_engine::retry::RetryPolicy;

use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc};
use crate::run::opener::opener;
use crate::store::instances;
use crate::store::leases::{self, Candidate};

/// The next attempt at a task.
pub struct Next {
    /// Its number.
    pub attempt: i32,
    /// The number that the retry policy allows.
    pub max_attempts: Option<u32>,
    /// Whether it is the last one: its lease has a bookmark.
    pub is_last: bool,
    /// Whether it is the first one, and has to begin in time: it ends that bookmark.
    pub is_awaited: bool,
}

impl Next {
    /// Whether the claim changes bookmarks, so that it needs the lock of the instance.
    pub fn needs_instance(&self) -> bool {
        self.is_last || self.is_awaited
    }
}

/// The next attempt at a task, whose lease would end at `until`.
pub fn next_attempt(candidate: &Candidate, until: Timestamp) -> Result<Next, PgError> {
    let compiled = compiled::of_version(candidate.version)?;
    let node = opener(&compiled.program, &candidate.node_id);
    let policy = match node.and_then(|node| node.retry.as_ref()) {
        Some(Retry::Computed(_)) => computed_policy(candidate)?,
        Some(Retry::Policy(policy)) => Some(Arc::clone(policy)),
        None => None,
    };
    let max_attempts = policy.as_ref().map(|policy| policy.max_attempts);
    let attempt = candidate.attempt.saturating_add(1);
    // No attempt begins after the time for all of them, so none follows a lease that ends after it.
    let within = policy.as_ref().and_then(|policy| policy.within).and_then(|within| within.num_microseconds());
    let is_too_late = within.is_some_and(|within| until.0 > candidate.opened_at.0.saturating_add(within));
    let is_last = is_too_late || i64::from(attempt) >= i64::from(max_attempts.unwrap_or_else(guc::max_leases));
    let is_awaited = node.is_some_and(|node| node.start_timeout.is_some()) && leases::awaits_start(candidate.task);
    Ok(Next { attempt, max_attempts, is_last, is_awaited })
}

/// The policy that an activity computed when it opened its task. The instance says which version its state belongs to: a
/// migration may have come since the candidate was read.
fn computed_policy(candidate: &Candidate) -> Result<Option<Arc<RetryPolicy>>, PgError> {
    let (Some(held), Some(row)) = (leases::read(candidate.task), instances::get(candidate.instance)) else {
        return Ok(None);
    };
    let compiled = compiled::of_instance(&row)?;
    Ok(execution::retry_policy(&compiled.program, &row.instance, held.execution))
}
