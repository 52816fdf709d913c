//! The input of explanations and diagrams of an instance: its journal, open bookmarks, compensation records and
//! incidents.

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::ForPeople;
use workflow_engine::explain::{GivenUp, Lease, OpenBookmark, OpenIncident, OpenRecords};
use workflow_engine::fault::Error;
use workflow_engine::instance::compensation::HELD_BY_INTERRUPTION;
use workflow_engine::journal::{self, Act, Event};

use crate::clock;
use crate::pg::interrupt;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::tasks::assignments::Assignment;

static JOURNAL: Statement = Statement::new(
    "SELECT created_at, events FROM workflow.execution_log WHERE instance_id = $1 ORDER BY seq",
    &[Type::Uuid],
);
static OPEN_BOOKMARKS: Statement = Statement::new(
    "SELECT b.id, b.node_id, b.activity_id, b.name, b.payload, t.name, \
         b.claims, b.metadata ->> 'Attempt', b.worker, b.last_error, b.lease_until, \
         coalesce(b.due_when_paused, b.available_at, CASE WHEN b.name = 'Workflow.Retry' THEN b.due_at END), b.paused_at, b.created_at, \
         CASE WHEN b.paused_at IS NULL OR b.name = 'Elsa.RunTask' THEN b.due_at ELSE b.due_when_paused END, coalesce(b.attempts, 0), q.id, q.dead_at, q.last_error, \
         b.assignee, b.candidates, t.deadline \
     FROM workflow.bookmarks b LEFT JOIN workflow.tasks t ON t.id = b.id \
     LEFT JOIN LATERAL (SELECT d.id, d.dead_at, d.last_error FROM workflow.dead_letters d \
         WHERE d.bookmark_id = b.id AND d.due_at IS NOT NULL AND d.replayed_at IS NULL ORDER BY d.id DESC LIMIT 1) q \
         ON b.due_at IS NULL \
     WHERE b.instance_id = $1 ORDER BY b.id",
    &[Type::Uuid],
);
static OPEN_INCIDENTS: Statement = Statement::new(
    "SELECT node_id, activity_id, sqlstate, code, message, detail, hint FROM workflow.incidents \
     WHERE instance_id = $1 AND resolved_at IS NULL ORDER BY id",
    &[Type::Uuid],
);

/// Passes the journal of an instance to `told`, row by row. Unpacks one row at a time to limit memory.
///
/// # Errors
/// The stored events cannot be decoded.
pub fn journal(instance: Uuid, mut visit: impl FnMut(DateTime<Utc>, Option<Act>, &[Event])) -> Result<(), Error> {
    let rows = JOURNAL.rows(&[Arg::Uuid(&instance)], |row| {
        let at: Timestamp = row.get();
        let events: Vec<u8> = row.get();
        (at, events)
    });
    for (at, events) in rows {
        interrupt::check();
        visit(at.into(), journal::decode_act(&events)?, &journal::decode(&events)?);
    }
    Ok(())
}

/// The open bookmarks of an instance, oldest first.
pub fn open_bookmarks(instance: Uuid) -> Vec<OpenBookmark> {
    OPEN_BOOKMARKS.rows(&[Arg::Uuid(&instance)], |row| OpenBookmark {
        bookmark_id: row.get(),
        node_id: row.get(),
        activity_id: row.get(),
        name: row.get(),
        payload: row.maybe(),
        task: row.maybe(),
        lease: lease(row),
        since: row.get::<Timestamp>().into(),
        due: row.maybe::<Timestamp>().map(Into::into),
        attempts: row.get::<i32>().unsigned_abs(),
        given_up: given_up(row),
        for_people: for_people(row),
    })
}

fn for_people(row: &mut Row<'_>) -> Option<ForPeople> {
    let (assignment, deadline) = (Assignment::read(row.maybe(), row.maybe(), None), row.maybe::<Timestamp>());
    let given = assignment.unwrap_or_default();
    Some(ForPeople {
        assignee: given.assignee().map(|entry| entry.title()),
        candidates: given.candidates().map(|entry| entry.title()).collect(),
        deadline: deadline.map(Into::into),
        ..ForPeople::default()
    })
}

fn lease(row: &mut Row<'_>) -> Option<Lease> {
    // Of a task, and of an activity that will be repeated.
    let (claims, repeated) = (row.maybe::<i32>().map(i32::unsigned_abs), row.maybe::<String>());
    let attempt = claims.or_else(|| repeated?.parse().ok());
    let (worker, last_error) = (row.maybe(), row.maybe());
    let (until, again_at) = (row.maybe::<Timestamp>(), row.maybe::<Timestamp>());
    // The clock of a paused instance is stopped.
    let now = row.maybe::<Timestamp>().map_or_else(clock::now, DateTime::from);
    let until = until.map(DateTime::from).filter(|until| *until > now);
    let again_at = again_at.filter(|at| Timestamp::MINUS_INFINITY < *at && *at < Timestamp::INFINITY);
    let again_at = again_at.map(DateTime::from).filter(|at| *at > now);
    Some(Lease { attempt: attempt?, worker, until, again_at, last_error })
}

fn given_up(row: &mut Row<'_>) -> Option<GivenUp> {
    let (id, at, error) = (row.maybe(), row.maybe::<Timestamp>(), row.maybe());
    Some(GivenUp { dead_letter_id: id?, at: at?.into(), error: error.unwrap_or_default() })
}

static OPEN_RECORDS: Statement = Statement::new(
    "SELECT node_id, activity_id, holder = $2 AS interrupted, count(*) FROM workflow.compensations WHERE instance_id = $1 \
     GROUP BY node_id, activity_id, interrupted ORDER BY max(number) DESC",
    &[Type::Uuid, Type::BigInt],
);

/// The open compensation records of an instance, by activity, latest first.
pub fn open_records(instance: Uuid) -> Vec<OpenRecords> {
    OPEN_RECORDS.rows(&[Arg::Uuid(&instance), Arg::BigInt(HELD_BY_INTERRUPTION.into())], |row| OpenRecords {
        node_id: row.get(),
        activity_id: row.get(),
        interrupted: row.get(),
        count: row.get::<i64>().unsigned_abs(),
    })
}

static WAITING_EXECUTIONS: Statement = Statement::new(
    "SELECT DISTINCT b.activity_instance_id FROM workflow.bookmarks b WHERE b.instance_id = $1",
    &[Type::Uuid],
);

/// The executions of an instance that have open bookmarks.
pub fn waiting_executions(instance: Uuid) -> Vec<Uuid> {
    WAITING_EXECUTIONS.rows(&[Arg::Uuid(&instance)], |row| row.get())
}

static FAULTS: Statement = Statement::new(
    "SELECT DISTINCT ON (n.activity_instance_id) n.activity_instance_id, jsonb_strip_nulls(jsonb_build_object( \
         'sqlstate', n.sqlstate, 'code', n.code, 'message', n.message, 'detail', n.detail, 'hint', n.hint, \
         'context', n.context)) \
     FROM workflow.incidents n WHERE n.instance_id = $1 ORDER BY n.activity_instance_id, n.id DESC",
    &[Type::Uuid],
);

/// The last incident of each execution of an instance that had any.
pub fn faults(instance: Uuid) -> Vec<(Uuid, Value)> {
    FAULTS.rows(&[Arg::Uuid(&instance)], |row| (row.get(), row.get()))
}

/// The open incidents of an instance, oldest first.
pub fn open_incidents(instance: Uuid) -> Vec<OpenIncident> {
    OPEN_INCIDENTS.rows(&[Arg::Uuid(&instance)], |row| OpenIncident {
        node_id: row.get(),
        activity_id: row.get(),
        sqlstate: row.get(),
        code: row.maybe(),
        message: row.get(),
        detail: row.maybe(),
        hint: row.maybe(),
    })
}
