//! Leases: which tasks workers can claim, and which of them a worker holds until when.
//!
//! A lease is stored in the row of the task's bookmark, because the index in which a claim looks for the next task must
//! lose the task with the claim, while `workflow.tasks` keeps a row that no claim touches.
//!
//! The index is ordered by `available_at`: NULL for a task that can be claimed now, and the instant from which it can
//! be for one that is leased or waits for its next attempt. A heartbeat prolongs `lease_until` alone. When the index
//! says that such a task is available, [`release_due`] looks at `lease_until` and puts the task back or moves it on.

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;

use crate::pg::interrupt;
use crate::pg::rows::{self, Columns, Wait, Writer};
use crate::pg::spi::{Arg, Change, Statement, Timestamp, Type, changed, read};
use crate::store::tables::BOOKMARKS;

/// How workers stand to a task.
#[derive(Clone, Debug, Default)]
pub struct Lease {
    /// Tasks with a higher one are claimed first.
    pub priority: i32,
    /// Number of attempts, which the claims count.
    pub attempt: i32,
    /// From when it can be claimed; `None`: now. [`Timestamp::INFINITY`]: a worker makes the last attempt.
    pub available_at: Option<Timestamp>,
    /// Until when a worker holds it.
    pub until: Option<Timestamp>,
    /// What proves that a worker holds it.
    pub token: Option<Uuid>,
    /// The name that the worker gave.
    pub worker: Option<String>,
    /// What a worker noted with its heartbeats.
    pub progress: Option<Value>,
    /// Why the last attempt failed that a worker reported.
    pub last_error: Option<String>,
}

impl Lease {
    /// Whether a worker holds the task at this instant.
    pub fn runs(&self, now: Timestamp) -> bool {
        self.token.is_some() && self.until.is_some_and(|until| until > now)
    }

    /// Whether a worker makes the last attempt, whose lease has a bookmark of its own.
    pub fn is_last(&self) -> bool {
        self.available_at == Some(Timestamp::INFINITY)
    }
}

/// A task that can be claimed, read without a lock.
#[derive(Debug)]
pub struct Candidate {
    /// Its id.
    pub task: Uuid,
    /// Its instance.
    pub instance: Uuid,
    /// The definition version of the instance.
    pub version: Uuid,
    /// Path of the activity that opened it.
    pub node_id: String,
    /// Number of attempts so far.
    pub attempt: i32,
}

// The index is the only one with the names of tasks. Each step is one descent.
static NAMES: Statement = Statement::new(
    "WITH RECURSIVE names (name) AS ( \
         (SELECT b.payload ->> 'TaskName' FROM workflow.bookmarks b \
          WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' ORDER BY b.payload ->> 'TaskName' LIMIT 1) \
         UNION ALL \
         SELECT (SELECT b.payload ->> 'TaskName' FROM workflow.bookmarks b \
                 WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.payload ->> 'TaskName' > n.name \
                 ORDER BY b.payload ->> 'TaskName' LIMIT 1) \
         FROM names n WHERE n.name IS NOT NULL) \
     SELECT name FROM names WHERE name IS NOT NULL",
    &[],
);

/// The names of all tasks that are open.
pub fn names() -> Vec<String> {
    NAMES.rows(&[], |row| row.get())
}

/// Makes a statement whose `$1` is a role: after `WITH mine`, the owners whose rights it has. `i` is the instance that it
/// must be able to resume, as `access::may_resume` says.
macro_rules! for_role {
    ($before:literal, $after:literal) => {
        concat!(
            "WITH mine AS MATERIALIZED ( \
                 SELECT o.id FROM workflow.owners o \
                 WHERE CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL \
                            THEN (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $1) \
                            ELSE pg_has_role($1, workflow._role_of(o.role_oid, o.name), 'USAGE') END) ",
            $before,
            "(i.owner = ANY (ARRAY(SELECT m.id FROM mine m)) \
              OR EXISTS (SELECT FROM workflow.definitions d \
                         WHERE d.id = i.definition_version_id \
                           AND (d.owner = ANY (ARRAY(SELECT m.id FROM mine m)) \
                                OR d.definition_id = ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g \
                                                                WHERE g.privilege = 'resume' \
                                                                  AND g.role = ANY (ARRAY(SELECT m.id FROM mine m))))))) ",
            $after
        )
    };
}

// The order by available_at, which is NULL throughout, makes the order that of the index.
static CANDIDATES: Statement = Statement::new(
    for_role!(
        "SELECT c.id, c.instance_id, c.definition_version_id, c.node_id, c.claims \
         FROM unnest($2) AS n (name) CROSS JOIN LATERAL ( \
             SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0) AS claims, \
                    COALESCE(b.priority, 0) AS priority, b.created_at \
             FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
             WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.payload ->> 'TaskName' = n.name \
               AND b.available_at IS NULL AND i.sub_status <> 'Faulted' AND ",
        "ORDER BY b.payload ->> 'TaskName', b.available_at NULLS FIRST, COALESCE(b.priority, 0) DESC, b.created_at LIMIT $3) c \
         ORDER BY c.priority DESC, c.created_at LIMIT $3"
    ),
    &[Type::Oid, Type::TextArray, Type::BigInt],
);

/// The first tasks of these names that a role may claim, at most `max`: those with a higher priority first, then older
/// ones.
pub fn candidates(names: &[String], max: i64, role: Oid) -> Vec<Candidate> {
    CANDIDATES.rows(&[Arg::Oid(role), Arg::Texts(names), Arg::BigInt(max)], |row| Candidate {
        task: row.get(),
        instance: row.get(),
        version: row.get(),
        node_id: row.get(),
        attempt: row.get(),
    })
}

read! {
    struct Row of BOOKMARKS {
        id: Uuid,
        instance_id: Uuid,
        activity_instance_id: Uuid,
        claims: Option<i32>,
        available_at: Option<Timestamp>,
        lease_until: Option<Timestamp>,
        token: Option<Uuid>,
    }
}
static ROW: Columns = Columns::of(&BOOKMARKS, Row::COLUMNS);

/// A task, and how workers stand to it.
#[derive(Debug)]
pub struct Held {
    /// Its id.
    pub task: Uuid,
    /// Its instance.
    pub instance: Uuid,
    /// The execution of the activity that opened it.
    pub execution: Uuid,
    /// The lease, as far as a claim or a heartbeat needs it.
    pub lease: Lease,
}

impl From<Row> for Held {
    fn from(row: Row) -> Self {
        let Row { id: task, instance_id: instance, activity_instance_id: execution, token, available_at, .. } = row;
        let (attempt, until) = (row.claims.unwrap_or_default(), row.lease_until);
        Self { task, instance, execution, lease: Lease { attempt, available_at, until, token, ..Lease::default() } }
    }
}

/// Deletes the row of a task unless a worker holds the task at this instant. `false`: one does.
pub fn delete_unless_held(writer: &mut Writer, task: Arg<'_>, now: Timestamp) -> bool {
    writer.delete_if(&ROW, task, |row| !Held::from(Row::read(row)).lease.runs(now))
}

/// Reads an open task without a lock.
pub fn read(task: Uuid) -> Option<Held> {
    rows::read(&ROW, Arg::Uuid(&task), Row::read).map(Held::from)
}

/// Locks the row of an open task and reads it.
pub fn lock(task: Uuid, wait: Wait) -> Option<Held> {
    rows::lock(&ROW, Arg::Uuid(&task), wait, Row::read).map(Held::from)
}

changed! {
    struct Given<'a> of BOOKMARKS {
        id: &'a Uuid,
        claims: i32,
        available_at: Option<Timestamp>,
        lease_until: Option<Timestamp>,
        token: Option<&'a Uuid>,
        worker: Option<&'a str>,
        last_error: Change<Option<&'a str>>,
    }
}
static GIVEN: Columns = Columns::of(&BOOKMARKS, Given::COLUMNS);

/// Stores a lease, or that there is none. The progress stays, and the last error unless there is a new one.
pub fn set(writer: &mut Writer, task: &Uuid, lease: &Lease) {
    let Lease { attempt, available_at, until, token, worker, last_error, .. } = lease;
    let given = Given {
        id: task,
        claims: *attempt,
        available_at: *available_at,
        lease_until: *until,
        token: token.as_ref(),
        worker: worker.as_deref(),
        last_error: Change::when(last_error.is_some(), last_error.as_deref()),
    };
    writer.update(&GIVEN, &given.changes());
}

changed! {
    struct Extended<'a> of BOOKMARKS {
        id: &'a Uuid,
        available_at: Change<Option<Timestamp>>,
        lease_until: Option<Timestamp>,
        progress: Change<Option<&'a Value>>,
    }
}
static EXTENDED: Columns = Columns::of(&BOOKMARKS, Extended::COLUMNS);
static MOVE_END: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET due_at = $4 WHERE instance_id = $1 AND activity_instance_id = $2 AND name = $3",
    &[Type::Uuid, Type::Uuid, Type::Text, Type::Timestamp],
);

// Without the type only the index on instances can be used; the name says the same.
static LOCK_OPEN: Statement = Statement::new(
    "SELECT 1 FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.name = 'Elsa.RunTask' \
     FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Uuid],
);
static COUNT_OPEN: Statement = Statement::new(
    "SELECT 1 FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.name = 'Elsa.RunTask'",
    &[Type::Uuid],
);

/// Locks the open tasks of a locked instance. `false`: another session holds one of them.
pub fn lock_all_of(instance: Uuid) -> bool {
    let id = [Arg::Uuid(&instance)];
    LOCK_OPEN.run(&id) == COUNT_OPEN.run(&id)
}

/// Prolongs or shortens the lease of a locked row. The index is told only if it would find the task too late.
pub fn extend(held: &Held, until: Timestamp, progress: Option<&Value>) {
    let lease = &held.lease;
    let is_late = lease.available_at.is_none_or(|at| !lease.is_last() && at > until);
    let extended = Extended {
        id: &held.task,
        available_at: Change::when(is_late, Some(until)),
        lease_until: Some(until),
        progress: Change::when(progress.is_some(), progress),
    };
    rows::write(|writer| writer.update(&EXTENDED, &extended.changes()));
}

/// Moves the due time of the bookmark of a last lease. The caller holds the lock of the instance.
pub fn move_end(instance: &Uuid, execution: &Uuid, until: Timestamp) {
    crate::wake::note_due(until);
    let name = workflow_engine::stimulus::LEASE;
    MOVE_END.run(&[Arg::Uuid(instance), Arg::Uuid(execution), Arg::Text(name), Arg::Timestamp(until)]);
}

static REMOVE_END: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = $2 AND name = $3",
    &[Type::Uuid, Type::Uuid, Type::Text],
);

/// Removes the bookmark of a last lease. The caller holds the lock of the instance.
pub fn remove_end(instance: &Uuid, execution: &Uuid) {
    REMOVE_END.run(&[Arg::Uuid(instance), Arg::Uuid(execution), Arg::Text(workflow_engine::stimulus::LEASE)]);
}

// Another claim that has locked one of them puts it back itself.
static RELEASE_DUE: Statement = Statement::new(
    for_role!(
        "UPDATE workflow.bookmarks b SET available_at = CASE WHEN b.lease_until > $3 THEN b.lease_until END \
         WHERE b.id = ANY (ARRAY(SELECT t.id FROM workflow.bookmarks t JOIN workflow.instances i ON i.id = t.instance_id \
                                 WHERE t.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND t.payload ->> 'TaskName' = ANY ($2) \
                                   AND t.available_at <= $3 AND ",
        "LIMIT 1000 FOR NO KEY UPDATE OF t SKIP LOCKED))"
    ),
    &[Type::Oid, Type::TextArray, Type::Timestamp],
);

/// Makes tasks of these names available that the role may claim and whose lease or delay has ended, at most 10,000.
pub fn release_due(names: &[String], now: Timestamp, role: Oid) {
    for _ in 0..10 {
        if RELEASE_DUE.run(&[Arg::Oid(role), Arg::Texts(names), Arg::Timestamp(now)]) == 0 {
            break;
        }
        interrupt::check();
    }
}

/// A task that was claimed, as its worker sees it.
#[derive(Debug)]
pub struct Claimed {
    /// Its id.
    pub task: Uuid,
    /// Its name.
    pub name: String,
    /// Its payload.
    pub payload: Option<Value>,
    /// Correlation id of its instance.
    pub correlation_id: Option<String>,
    /// Its instance.
    pub instance: Uuid,
    /// The definition of the instance.
    pub definition_id: String,
    /// The activity that opened it.
    pub activity_id: String,
    /// Id of the instance's owner.
    pub owner: i32,
    /// Its priority.
    pub priority: i32,
    /// What a worker noted before.
    pub progress: Option<Value>,
}

static CLAIMED: Statement = Statement::new(
    "SELECT t.id, t.name, t.payload, i.correlation_id, t.instance_id, i.definition_id, t.activity_id, i.owner, \
            COALESCE(b.priority, 0), b.progress \
     FROM workflow.tasks t JOIN workflow.bookmarks b ON b.id = t.id JOIN workflow.instances i ON i.id = t.instance_id \
     WHERE t.id = ANY ($1)",
    &[Type::UuidArray],
);

/// What the workers of these tasks need to know, in no order.
pub fn claimed(tasks: &[Uuid]) -> Vec<Claimed> {
    CLAIMED.rows(&[Arg::Uuids(tasks)], |row| Claimed {
        task: row.get(),
        name: row.get(),
        payload: row.maybe(),
        correlation_id: row.maybe(),
        instance: row.get(),
        definition_id: row.get(),
        activity_id: row.get(),
        owner: row.get(),
        priority: row.get(),
        progress: row.maybe(),
    })
}

static END_ALL: [Statement; 2] = [
    Statement::new(
        "UPDATE workflow.bookmarks e SET due_at = $1 FROM workflow.bookmarks t \
         WHERE e.name = 'Workflow.Lease' AND t.instance_id = e.instance_id AND t.activity_instance_id = e.activity_instance_id \
           AND t.token IS NOT NULL",
        &[Type::Timestamp],
    ),
    Statement::new(
        "UPDATE workflow.bookmarks SET token = NULL, lease_until = NULL, worker = NULL, \
             available_at = CASE WHEN available_at = 'infinity' THEN available_at END \
         WHERE activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND token IS NOT NULL",
        &[],
    ),
];

/// Ends all leases, in a database that goes on with the data of another one: workers there may hold them.
pub fn end_all(now: Timestamp) {
    let [last, all] = &END_ALL;
    last.run(&[Arg::Timestamp(now)]);
    all.run(&[]);
}
