//! Claiming one task: its rows are locked if they are free, and its lease begins.

use uuid::Uuid;
use workflow_engine::execution;
use workflow_engine::journal::Act;

use super::attempt::{NextAttempt, attempt_of_claim, is_excluded};
use crate::access::people;
use crate::compiled::{self, Compiled};
use crate::pg::rows::{self, Wait};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::tasks::limits::Search;
use crate::store::history::journal;
use crate::store::instances::bookmarks;
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::tasks::assignments::Assignment;
use crate::store::tasks::leases::{self, ClaimableTask, Held, Lease};
use crate::store::tasks::limits;

/// Token, attempt and number of attempts of a task that was claimed.
pub type ClaimedAttempt = (Uuid, i32, Option<u32>);

/// What a claim asks of a task, and gives.
pub struct Terms<'a> {
    /// When the lease ends.
    pub until: Timestamp,
    /// The name that the worker gave.
    pub worker: Option<&'a str>,
    /// The instance of the task, and its definition, if the worker has named the task.
    pub named: Option<(&'a InstanceRow, &'a Compiled)>,
    /// What the journal records of the claim. A worker's claim is no act of a person, and nothing records it.
    pub act: Option<Act>,
}

impl Terms<'_> {
    /// Whether a task is given to the current role. It may have been assigned since it was read.
    fn admit(&self, claimable: &ClaimableTask, assignment: Option<&Assignment>) -> bool {
        match (self.named, assignment.filter(|given| given.is_assigned())) {
            (Some((row, compiled)), given) => people::require_work(row, compiled, claimable.task, given).is_ok(),
            (None, Some(given)) => people::is_claimed_by(role::current(), given),
            (None, None) => !claimable.is_assigned,
        }
    }

    /// Whether a task can be claimed at this instant.
    fn is_due(&self, held: &Held, now: Timestamp) -> bool {
        let has_ended = |at: Timestamp| self.named.is_some() && at <= now && !held.lease.runs(now);
        !held.is_paused && held.lease.available_at.is_none_or(has_ended)
    }
}

/// Claims one task, if its row is free and it is still unclaimed. `locked` is the row if the search has locked it. The
/// caller stores the leases that are added to `later`, all by one command; one that binds slots is stored here, for the
/// next task may need them.
pub fn take(
    context: &mut CallContext,
    search: &mut Search,
    claimable: &ClaimableTask,
    locked: Option<Held>,
    terms: &Terms<'_>,
    later: &mut Vec<(Uuid, Lease)>,
) -> Result<Option<ClaimedAttempt>, PgError> {
    // The state of an instance whose burst runs further up in this session is in that burst, not in the table.
    if search.is_held(claimable)
        || running::contains(claimable.instance)
        || !route::admits_instance(claimable.instance, None)
    {
        return Ok(None);
    }
    let until = terms.until;
    let next = attempt_of_claim(claimable, until)?;
    let NextAttempt { attempt, max_attempts, is_last, .. } = next;
    // Asked before its row is locked, so that others can have a task that is passed over.
    if is_excluded(claimable)? {
        return Ok(None);
    }
    let needs_instance = next.needs_instance() || terms.act.is_some();
    let row = if needs_instance { instances::lock_with(claimable.instance, Wait::Skip) } else { None };
    if needs_instance && row.is_none() {
        return Ok(None);
    }
    let Some(held) = locked.or_else(|| leases::lock(claimable.task, Wait::Skip)) else { return Ok(None) };
    let is_same = held.lease.attempt == claimable.attempt;
    if !is_same
        || !terms.is_due(&held, context.timestamp())
        || !terms.admit(claimable, held.lease.assignment.as_deref())
    {
        return Ok(None);
    }
    let Some(slots) = search.take(claimable) else { return Ok(None) };
    if let Some(mut row) = row {
        if is_last && !add_end(context, &mut row, &held, attempt, until)? {
            return Ok(None);
        }
        if leases::remove_start(&held.instance, &held.execution) {
            execution::drop_lease(&mut row.instance, held.execution);
        }
        if let Some(act) = &terms.act {
            let seq = journal::take_rows(&mut row.instance, Some(act), 0);
            let now = context.timestamp();
            rows::write(|writer| journal::append(writer, &row.instance.id, seq, Some(act), &[], now));
        }
        instances::save_state(&row.instance);
    }
    let token = Uuid::new_v4();
    let lease = Lease {
        attempt,
        available_at: Some(if is_last { Timestamp::INFINITY } else { until }),
        until: Some(until),
        token: Some(token),
        worker: terms.worker.map(str::to_owned),
        ..Lease::default()
    };
    if slots.is_empty() {
        later.push((claimable.task, lease));
    } else {
        rows::write(|writer| leases::set(writer, &claimable.task, &lease));
        limits::bind(&slots, &claimable.task, &token, context.timestamp());
    }
    Ok(Some((token, attempt, max_attempts)))
}

/// Stores the bookmark of the end of a last lease. `false`: the execution that opened the task is not open.
fn add_end(
    context: &mut CallContext,
    row: &mut InstanceRow,
    held: &Held,
    attempt: i32,
    until: Timestamp,
) -> Result<bool, PgError> {
    let compiled = compiled::of_instance(row)?;
    let (id, number) = (context.new_id(), attempt.unsigned_abs());
    let instance = &mut row.instance;
    let end = execution::add_lease(&compiled.program, instance, held.execution, id, number, until.into());
    let Some(end) = end else { return Ok(false) };
    rows::write(|writer| bookmarks::insert(writer, &end, &Lease::default(), row, None, context.timestamp()));
    Ok(true)
}
