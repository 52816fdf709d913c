//! Workers outside: claiming tasks, prolonging leases and giving tasks back.
//!
//! A claim locks rows only if they are free, and passes over tasks whose limits another session is changing
//! (`wf_limit_tasks`), so that a new limit counts every lease. For the last attempt of a task the lock of its instance comes first: the lease then
//! has a bookmark, which the state of the instance counts. So it does for the first one of a task that has to be
//! claimed in time.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution;

use crate::access::people;
use crate::pg::error::warning;
use crate::pg::rows::{self, Wait};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, session};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::tasks::limits::{self, Search};
use crate::run::timers::moved_clock;
use crate::store::instances;
use crate::store::instances::bookmarks;
use crate::store::maintenance::identity::{self, Identity};
use crate::store::nodes::route;
use crate::store::repair::pauses;
use crate::store::tasks::leases::{self, ClaimableTask, Claimed, Held, Lease};
use crate::wake::{CountOf, HistogramOf};
use crate::{compiled, wake};

pub mod attempt;
pub(in crate::run) mod front;
pub mod named;
mod take;
pub(in crate::run) mod withheld;

use take::{ClaimedAttempt, Terms, take};

/// What a worker asks for.
#[derive(Debug)]
pub struct ClaimRequest {
    /// Names of tasks; `None`: all.
    pub names: Option<Vec<String>>,
    /// Name of the worker.
    pub worker: Option<String>,
    /// Number of tasks at most.
    pub max: usize,
    /// Length of the lease in microseconds.
    pub lease: i64,
}

/// A task that a worker holds from now on.
#[derive(Debug)]
pub struct NewLease {
    /// What the worker is told of the task.
    pub task: Claimed,
    /// What proves the claim.
    pub token: Uuid,
    /// Number of this attempt.
    pub attempt: i32,
    /// Number of attempts that the retry policy allows, if the activity has one.
    pub max_attempts: Option<u32>,
    /// Until when the worker holds it.
    pub until: Timestamp,
}

/// Names at most whose first tasks are read before it is known which of them the role may claim.
const FEW_NAMES: usize = 16;

/// Refuses a claim where and when none is possible.
fn begin() -> Result<(), PgError> {
    refuse_unless_firing()?;
    session::require_read_committed("claim tasks")?;
    instances::announce_lock();
    Ok(())
}

/// Claims tasks.
pub fn claim(context: &mut CallContext, request: &ClaimRequest) -> Result<Vec<NewLease>, PgError> {
    begin()?;
    let mut claim = TaskClaim::new(request.worker.as_deref(), request.max, request.lease, context.timestamp());
    front::search(&mut claim, context, request)?;
    if claim.given.is_empty() {
        withheld::notice_withheld(request.names.as_deref());
    }
    Ok(claim.end())
}

/// What a claim has found so far.
struct TaskClaim<'a> {
    worker: Option<&'a str>,
    max: usize,
    now: Timestamp,
    until: Timestamp,
    given: HashMap<Uuid, ClaimedAttempt>,
    order: Vec<Uuid>,
    unreadable: HashSet<Uuid>,
    /// Leases that are stored at the end, by one command.
    later: Vec<(Uuid, Lease)>,
    /// Tasks that could not be claimed, most of them because other workers hold them.
    passed: usize,
    /// Whether limits have changed since the search began.
    is_outdated: bool,
}

impl<'a> TaskClaim<'a> {
    /// `lease` is its length in microseconds.
    fn new(worker: Option<&'a str>, max: usize, lease: i64, now: Timestamp) -> Self {
        Self {
            worker,
            max,
            now,
            until: Timestamp(now.0.saturating_add(lease)),
            given: HashMap::new(),
            order: Vec::new(),
            unreadable: HashSet::new(),
            later: Vec::new(),
            passed: 0,
            is_outdated: false,
        }
    }

    fn add(&mut self, task: Uuid, taken: ClaimedAttempt) {
        self.order.push(task);
        self.given.insert(task, taken);
    }

    /// Takes tasks until there are enough.
    fn take_all<'c>(
        &mut self,
        context: &mut CallContext,
        search: &mut Search,
        found: impl Iterator<Item = (&'c ClaimableTask, Option<Held>)>,
    ) -> Result<(), PgError> {
        for (claimable, locked) in found {
            if self.given.len() == self.max {
                break;
            }
            if self.unreadable.contains(&claimable.version) || self.given.contains_key(&claimable.task) {
                continue;
            }
            let terms = Terms { until: self.until, worker: self.worker, named: None, act: None };
            match take(context, search, claimable, locked, &terms, &mut self.later) {
                Ok(None) => {
                    self.passed += 1;
                    self.is_outdated |= search.is_outdated();
                }
                Ok(Some(taken)) => self.add(claimable.task, taken),
                Err(error) if error.aborts_transaction() => return Err(error),
                // A definition that cannot be read keeps no other task from being claimed, and is warned of once.
                Err(error) => {
                    self.unreadable.insert(claimable.version);
                    let message = format!("task {} cannot be claimed: {}", claimable.task, error.message);
                    warning(PgError { message, ..error });
                }
            }
        }
        Ok(())
    }

    /// Stores the leases that were left for later.
    fn store(&mut self) {
        let later = std::mem::take(&mut self.later);
        rows::write(|writer| later.iter().for_each(|(task, lease)| leases::set(writer, task, lease)));
    }

    fn end(mut self) -> Vec<NewLease> {
        self.store();
        let mut claimed: HashMap<Uuid, Claimed> =
            leases::claimed(&self.order).into_iter().map(|claimed| (claimed.task, claimed)).collect();
        let given = self.order.iter().filter_map(|id| {
            let (token, attempt, max_attempts) = self.given.remove(id)?;
            Some(NewLease { task: claimed.remove(id)?, token, attempt, max_attempts, until: self.until })
        });
        let given: Vec<NewLease> = given.collect();
        // With none given nothing is said: waiting sessions need not look again.
        wake::report_claimed_tasks(given.len());
        given.iter().for_each(|given| {
            wake::report_task_at(&given.task.name, self.until);
            wake::count(CountOf::Claims, &given.task.name, 1);
            // A later attempt has waited for the end of the one before it as well.
            if given.attempt == 1 {
                wake::observe_open(HistogramOf::Claims, &given.task.name, &given.task.task, self.now);
            }
        });
        given
    }
}

/// Refuses to give out work of a database that is a copy, or that is to fire nothing (55000).
pub fn refuse_unless_firing() -> Result<(), PgError> {
    let refused = PgError::new("55000", "no task can be claimed in this database");
    if !guc::enabled() {
        return Err(refused
            .detail("The setting workflow.enabled is off.")
            .hint("Switch it on in the configuration of the server."));
    }
    if guc::restoring() {
        return Err(refused
            .detail("The setting workflow.restoring is on: the database is being filled from a dump.")
            .hint("Reset it when the data is complete."));
    }
    moved_clock::refuse("claim tasks")?;
    if identity::read() == Identity::Foreign {
        return Err(refused
            .detail("It is a copy, and the original gives out the same tasks.")
            .hint("If this database is to give them out from now on, run wf_adopt_database()."));
    }
    Ok(())
}

/// Prolongs the lease of a task, and notes the progress. `None`: the worker does not hold the task any more.
pub fn extend(
    context: &CallContext,
    task: Uuid,
    token: Uuid,
    lease: i64,
    progress: Option<&Value>,
) -> Result<Option<Timestamp>, PgError> {
    let is_held = |held: &Held| held.lease.token == Some(token) && !held.lease.has_lost_slot();
    instances::announce_lock();
    let Some(seen) = leases::read(task).filter(is_held) else { return Ok(None) };
    require_work(&seen)?;
    route::require_instance(seen.instance, None)?;
    // The bookmark of a last lease moves as well, and what ends the activity locks the instance before it.
    if seen.lease.is_last() {
        instances::lock(seen.instance);
    }
    let Some(held) = leases::lock(task, Wait::Block).filter(is_held) else { return Ok(None) };
    let until = Timestamp(context.timestamp().0.saturating_add(lease));
    if held.lease.is_last() {
        leases::move_end(&held.instance, &held.execution, until, context.timestamp());
    }
    leases::extend(&held, until, progress, context.timestamp());
    Ok(Some(until))
}

fn require_work(held: &Held) -> Result<(), PgError> {
    let Some(row) = instances::get(held.instance) else { return Ok(()) };
    people::require_work(&row, &*compiled::of_instance(&row)?, held.task, held.lease.assignment.as_deref())
}

/// Gives a task back, as if it had not been claimed. It can be claimed again after `delay` microseconds, or at once.
/// `false`: the worker does not hold it any more.
pub fn release(context: &mut CallContext, task: Uuid, token: Uuid, delay: Option<i64>) -> Result<bool, PgError> {
    context.has_waited = true;
    let Some(mut waiting) = bookmarks::lock(task) else { return Ok(false) };
    running::refuse(waiting.row.instance.id)?;
    let assignment = waiting.lease.assignment.as_deref();
    people::require_work(&waiting.row, &*compiled::of_instance(&waiting.row)?, task, assignment)?;
    if !bookmarks::lock_lease(&mut waiting) || waiting.lease.token != Some(token) {
        return Ok(false);
    }
    if waiting.lease.is_last() {
        let (instance, execution) = (&mut waiting.row.instance, waiting.bookmark.activity_instance_id);
        leases::remove_end(&instance.id, &execution);
        execution::drop_lease(instance, execution);
        instances::save_state(instance);
    }
    let attempt = waiting.lease.attempt.saturating_sub(1);
    let later = |delay: i64| Timestamp(context.timestamp().0.saturating_add(delay));
    let available_at = delay.filter(|delay| *delay > 0).map(later);
    let lease = Lease { attempt, available_at, lane: waiting.lease.lane.clone(), ..Lease::default() };
    rows::write(|writer| leases::set(writer, &task, &lease));
    pauses::hold_if_paused(&waiting.row.instance, waiting.row.paused_at, false, context.timestamp());
    let name = bookmarks::task_name(&waiting.bookmark);
    match (name, available_at) {
        (Some(name), Some(at)) => {
            // Tasks that have waited for its slot can be claimed now.
            limits::wake_waiters(Some(name), &waiting.lease);
            wake::report_task_at(name, at);
        }
        (Some(name), None) => wake::report_task(name),
        (None, _) => {}
    }
    Ok(true)
}
