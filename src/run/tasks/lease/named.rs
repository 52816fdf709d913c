//! Claiming a task that the worker names.
//!
//! The rules are those of a claim of any task, with two differences. A role that may answer a task for certain people
//! may claim it: such a task is not given to a worker that asks for any work. And a lease or delay that has ended need
//! not be found by the search for such ends first.

use std::slice;

use uuid::Uuid;
use workflow_engine::journal::{Act, ActKind};

use super::{NewLease, TaskClaim, Terms, begin, take};
use crate::access::exclusion::Exclusion;
use crate::access::person::{self, Person};
use crate::access::{people, task_consent};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, role};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::history::acts;
use crate::run::instances::not_found::{self, Missing};
use crate::run::repair::pause;
use crate::run::tasks::limits::Search;
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::tasks::leases::{self, ClaimableTask, Held};
use crate::{clock, compiled};

/// Claims a task. One that cannot be claimed now is refused with the reason (55000). The call waits for a session that
/// moves the partition of the instance.
pub fn claim(context: &mut CallContext, task: Uuid, worker: Option<String>, lease: i64) -> Result<NewLease, PgError> {
    begin()?;
    let now = context.timestamp();
    let missing = || not_found::missing_error(Missing::Task(task));
    let Some(mut claimable) = leases::claimable_by_id(task) else { return Err(missing()?) };
    let (Some(row), Some(held)) = (instances::get(claimable.instance), leases::read(task)) else {
        return Err(missing()?);
    };
    let compiled = compiled::of_instance(&row)?;
    let assignment = held.lease.assignment.as_deref();
    people::require_work(&row, &compiled, task, assignment)?;
    if compiled.program.asks_for_votes(&claimable.node_id) {
        return Err(PgError::new("55000", format!("task {task} is a vote, and cannot be claimed"))
            .hint("wf_complete_task answers it without a claim."));
    }
    if let Some(exclusion) = Exclusion::of(&row, &compiled, task, &claimable.node_id)? {
        exclusion.require_answer(&Person::from(&person::current()?), assignment)?;
    }
    running::refuse(claimable.instance)?;
    route::require_instance(claimable.instance, None)?;
    pause::refuse(&row, &compiled)?;
    refuse_unless_due(context, &row, &held)?;
    let mut search = Search::for_named(claimable.name.clone(), now, &task_consent::claimant(role::current()));
    if search.assign_lanes(slice::from_ref(&claimable)) {
        let Some(assigned) = leases::claimable_by_id(task) else { return Err(missing()?) };
        claimable = assigned;
    }
    // The call may have waited: the lease begins now.
    let mut claim = TaskClaim::new(worker.as_deref(), 1, lease, Timestamp::from(clock::now()));
    let act = match claimable.is_assigned {
        true => Some(Act { subject: Some(task), ..acts::of_call(context, ActKind::Claim, &compiled)? }),
        false => None,
    };
    let terms = Terms { until: claim.until, worker: claim.worker, named: Some((&row, &compiled)), act };
    let taken = take(context, &mut search, &claimable, None, &terms, &mut claim.later)?;
    let Some(taken) = taken else { return Err(not_taken(&mut search, &claimable)?) };
    claim.add(task, taken);
    claim.end().pop().ok_or_else(|| busy(task))
}

/// Refuses a task whose time has not come: a worker holds it, its next attempt is later, or its instance is faulted.
fn refuse_unless_due(context: &CallContext, row: &InstanceRow, held: &Held) -> Result<(), PgError> {
    let (task, now) = (held.task, context.timestamp());
    let refused = |what: &str| PgError::new("55000", format!("task {task} {what}"));
    if held.lease.runs(now) {
        let until = held.lease.until.map_or_else(String::new, |until| not_found::format_instant(until.into()));
        return Err(refused("is claimed")
            .detail(format!("A worker holds it until {until}."))
            .hint("It can be claimed when the lease ends, or when the worker gives it back."));
    }
    if held.lease.is_last() {
        return Err(refused("cannot be claimed any more")
            .detail("The lease of its last attempt has ended, and its activity faults with that."));
    }
    if let Some(at) = held.lease.available_at.filter(|at| *at > now) {
        return Err(refused("cannot be claimed yet")
            .detail(format!("Its next attempt is from {} on.", not_found::format_instant(at.into()))));
    }
    if instances::is_faulted(row.instance.id) {
        return Err(refused("cannot be claimed").detail("Its workflow instance is faulted."));
    }
    Ok(())
}

/// Why a task was not given that could have been claimed a moment ago.
fn not_taken(search: &mut Search, claimable: &ClaimableTask) -> Result<PgError, PgError> {
    let task = claimable.task;
    if leases::read(task).is_none() {
        return not_found::missing_error(Missing::Task(task));
    }
    if search.is_held(claimable) {
        return Ok(PgError::new("55000", format!("task {task} cannot be claimed yet")).detail(format!(
            "As many tasks named \"{}\" are claimed as the limits allow, or another session is claiming one.",
            claimable.name
        )));
    }
    Ok(busy(task))
}

fn busy(task: Uuid) -> PgError {
    PgError::new("55000", format!("task {task} cannot be claimed now"))
        .detail("Another session is claiming or changing it, its workflow instance, or the limits of such tasks.")
        .hint("Try again when that session has ended its transaction.")
}
