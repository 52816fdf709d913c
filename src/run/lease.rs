//! Workers outside: claiming tasks, prolonging leases and giving tasks back.
//!
//! A claim locks rows only if they are free, so that it never waits. For the last attempt of a task the lock of its
//! instance comes first: the lease then has a bookmark, which the state of the instance counts.

use std::collections::HashMap;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::program::Node;
use workflow_engine::{Program, execution};

use crate::pg::error::warning;
use crate::pg::rows::{self, Wait};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, role, session};
use crate::run::{Session, running};
use crate::store::identity::{self, Identity};
use crate::store::leases::{self, Candidate, Claimed, Held, Lease};
use crate::store::{bookmarks, instances};
use crate::{access, compiled};

/// What a worker asks for.
#[derive(Debug)]
pub struct Request {
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
pub struct Given {
    /// The task.
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

/// Candidates that are read beyond those wanted: other workers claim at the same time.
const SPARE: usize = 8;

/// Claims tasks.
pub fn claim(session: &mut Session, request: &Request) -> Result<Vec<Given>, PgError> {
    refuse_unless_firing()?;
    session::require_read_committed("claim tasks")?;
    instances::announce_lock();
    let names = request.names.clone().unwrap_or_else(leases::names);
    let now = session.timestamp();
    let until = Timestamp(now.0.saturating_add(request.lease));
    let role = role::current();
    leases::release_due(&names, now, role);
    let mut given: HashMap<Uuid, (Uuid, i32, Option<u32>)> = HashMap::new();
    let mut order = Vec::new();
    let mut page = request.max + SPARE;
    loop {
        let found = leases::candidates(&names, i64::try_from(page).unwrap_or(i64::MAX), role);
        let is_all = found.len() < page;
        for candidate in found {
            if given.len() == request.max {
                break;
            }
            match take(session, &candidate, until, request.worker.as_deref()) {
                Ok(None) => {}
                Ok(Some(taken)) => {
                    order.push(candidate.task);
                    given.insert(candidate.task, taken);
                }
                Err(error) if error.aborts_transaction() => return Err(error),
                // A definition that cannot be read keeps no other task from being claimed.
                Err(error) => {
                    let message = format!("task {} cannot be claimed: {}", candidate.task, error.message);
                    warning(PgError { message, ..error });
                }
            }
        }
        if is_all || given.len() == request.max {
            break;
        }
        page = page.saturating_mul(4);
    }
    let mut claimed: HashMap<Uuid, Claimed> =
        leases::claimed(&order).into_iter().map(|claimed| (claimed.task, claimed)).collect();
    let given = order.iter().filter_map(|id| {
        let (token, attempt, max_attempts) = given.remove(id)?;
        Some(Given { task: claimed.remove(id)?, token, attempt, max_attempts, until })
    });
    Ok(given.collect())
}

/// Refuses to give out work of a database that is a copy, or that is to fire nothing (55000).
fn refuse_unless_firing() -> Result<(), PgError> {
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
    if identity::read() == Identity::Foreign {
        return Err(refused
            .detail("It is a copy, and the original gives out the same tasks.")
            .hint("If this database is to give them out from now on, run wf_adopt_database()."));
    }
    Ok(())
}

/// The activity that opened a task.
pub fn opener<'a>(program: &'a Program, node_id: &str) -> Option<&'a Node> {
    program.nodes.iter().find(|node| node.node_id == node_id)
}

/// Claims one task, if its row is free and it is still unclaimed. Returns token, attempt and number of attempts.
fn take(
    session: &mut Session,
    candidate: &Candidate,
    until: Timestamp,
    worker: Option<&str>,
) -> Result<Option<(Uuid, i32, Option<u32>)>, PgError> {
    // The state of an instance whose burst runs further up in this session is in that burst, not in the table.
    if running::contains(candidate.instance) {
        return Ok(None);
    }
    let compiled = compiled::of_version(candidate.version)?;
    let policy = opener(&compiled.program, &candidate.node_id).and_then(|node| node.retry.as_ref());
    let max_attempts = policy.map(|policy| policy.max_attempts);
    let attempt = candidate.attempt.saturating_add(1);
    let is_last = i64::from(attempt) >= i64::from(max_attempts.unwrap_or_else(guc::max_leases));
    let row = if is_last { instances::lock_with(candidate.instance, Wait::Skip) } else { None };
    if is_last && row.is_none() {
        return Ok(None);
    }
    let Some(held) = leases::lock(candidate.task, Wait::Skip) else { return Ok(None) };
    if held.lease.available_at.is_some() || held.lease.attempt != candidate.attempt {
        return Ok(None);
    }
    if let Some(mut row) = row {
        let compiled = compiled::of_instance(&row)?;
        let (id, number) = (session.new_id(), attempt.unsigned_abs());
        let instance = &mut row.instance;
        let end = execution::add_lease(&compiled.program, instance, held.execution, id, number, until.into());
        let Some(end) = end else { return Ok(None) };
        rows::write(|writer| bookmarks::insert(writer, &end, &Lease::default(), instance, session.timestamp()));
        instances::save_state(instance);
    }
    let token = Uuid::new_v4();
    let lease = Lease {
        attempt,
        available_at: Some(if is_last { Timestamp::INFINITY } else { until }),
        until: Some(until),
        token: Some(token),
        worker: worker.map(str::to_owned),
        ..Lease::default()
    };
    rows::write(|writer| leases::set(writer, &candidate.task, &lease));
    Ok(Some((token, attempt, max_attempts)))
}

/// Prolongs the lease of a task, and notes the progress. `None`: the worker does not hold the task any more.
pub fn extend(
    session: &Session,
    task: Uuid,
    token: Uuid,
    lease: i64,
    progress: Option<&Value>,
) -> Result<Option<Timestamp>, PgError> {
    let is_held = |held: &Held| held.lease.token == Some(token);
    instances::announce_lock();
    let Some(seen) = leases::read(task).filter(is_held) else { return Ok(None) };
    require_resume(seen.instance)?;
    // The bookmark of a last lease moves as well, and what ends the activity locks the instance before it.
    if seen.lease.is_last() {
        instances::lock(seen.instance);
    }
    let Some(held) = leases::lock(task, Wait::Block).filter(is_held) else { return Ok(None) };
    let until = Timestamp(session.timestamp().0.saturating_add(lease));
    if held.lease.is_last() {
        leases::move_end(&held.instance, &held.execution, until);
    }
    leases::extend(&held, until, progress);
    Ok(Some(until))
}

fn require_resume(instance: Uuid) -> Result<(), PgError> {
    match instances::get(instance) {
        Some(row) => access::require_resume(&row, &*compiled::of_instance(&row)?),
        None => Ok(()),
    }
}

/// Gives a task back, as if it had not been claimed. `false`: the worker does not hold it any more.
pub fn release(session: &mut Session, task: Uuid, token: Uuid) -> Result<bool, PgError> {
    session.has_waited = true;
    let Some(mut waiting) = bookmarks::lock(task) else { return Ok(false) };
    running::refuse(waiting.row.instance.id)?;
    access::require_resume(&waiting.row, &*compiled::of_instance(&waiting.row)?)?;
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
    rows::write(|writer| leases::set(writer, &task, &Lease { attempt, ..Lease::default() }));
    Ok(true)
}
