//! Leases: which tasks workers can claim, and which of them a worker holds until when.
//!
//! A lease is stored in the row of the task's bookmark, because the index in which a claim looks for the next task must
//! lose the task with the claim, while `workflow.tasks` keeps a row that no claim touches.
//!
//! The index is ordered by `available_at`. It is NULL for a task that can be claimed now, and `-infinity` for one that
//! can be claimed within the limits of its lane. For a task that is leased or waits for its next attempt it is the
//! instant from which the task can be claimed. A heartbeat prolongs `lease_until` alone. When the index says that such
//! a task is available, [`release_due`] looks at `lease_until` and puts the task back or moves it on.

use std::cell::OnceCell;

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;

use crate::pg::rows::{self, Columns, Holder, Wait, Writer};
use crate::pg::spi::{Arg, Change, Row, Statement, Timestamp, Type, changed, read};
use crate::store::definitions::{self, DefinitionOwner};
use crate::store::rights::owners::Owner;
use crate::store::tables::BOOKMARKS;
use crate::store::tasks::assignments::Assignment;

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
    /// Who may answer it and how, if not all that may resume the instance.
    pub assignment: Option<Box<Assignment>>,
    /// The lane, if limits apply to the task: see [`limits`](crate::store::tasks::limits).
    pub lane: Option<String>,
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

    /// Whether another task has got the slot of the lease since it ended. It cannot be prolonged any more.
    pub fn has_lost_slot(&self) -> bool {
        self.token.is_some() && self.until.is_none()
    }

    /// `available_at` as it is stored: a task with a lane is not among those that can be claimed without a slot.
    pub(in crate::store) fn stored_available_at(&self) -> Option<Timestamp> {
        self.available_at.or(self.lane.as_ref().map(|_| Timestamp::MINUS_INFINITY))
    }

    /// `available_at` as it was stored, without what only says that the task has a lane.
    pub(in crate::store) fn read_available_at(stored: Option<Timestamp>) -> Option<Timestamp> {
        stored.filter(|at| *at != Timestamp::MINUS_INFINITY)
    }
}

/// A task that can be claimed. It is read without a lock, except by [`lock_first`].
#[derive(Debug)]
pub struct ClaimableTask {
    /// Id of the task, which is that of its bookmark.
    pub task: Uuid,
    /// The instance that opened it.
    pub instance: Uuid,
    /// The definition version of the instance.
    pub version: Uuid,
    /// Path of the activity that opened it.
    pub node_id: String,
    /// Number of attempts so far.
    pub attempt: i32,
    /// Name of the task, by which workers claim it.
    pub name: String,
    /// Its lane, if limits apply to it.
    pub lane: Option<String>,
    /// Those with a higher priority come first.
    pub priority: i32,
    /// Then older ones.
    pub opened_at: Timestamp,
    /// Whether it is for certain people.
    pub is_assigned: bool,
}

impl ClaimableTask {
    fn read(row: &mut Row<'_>) -> Self {
        Self {
            task: row.get(),
            instance: row.get(),
            version: row.get(),
            node_id: row.get(),
            attempt: row.get(),
            name: row.get(),
            lane: row.maybe(),
            priority: row.get(),
            opened_at: row.get(),
            is_assigned: row.get(),
        }
    }
}

/// A role that claims tasks, and the owners of definitions whose tasks it accepts.
pub struct Claimant {
    /// The role.
    pub role: Oid,
    accepts: Box<dyn Fn(&Owner) -> bool>,
    accepted: OnceCell<AcceptedOwners>,
}

impl Claimant {
    /// A role that accepts the tasks of the owners for which `accepts` returns `true`.
    pub fn new(role: Oid, accepts: impl Fn(&Owner) -> bool + 'static) -> Self {
        Self { role, accepts: Box::new(accepts), accepted: OnceCell::new() }
    }

    /// Whether the role accepts the tasks of an owner.
    pub fn accepts(&self, owner: &Owner) -> bool {
        (self.accepts)(owner)
    }

    fn accepted(&self) -> &AcceptedOwners {
        self.accepted
            .get_or_init(|| AcceptedOwners::of(definitions::owners().iter().filter(|known| self.accepts(&known.owner))))
    }

    /// The ids of the owners of definitions whose tasks the role accepts.
    pub fn owners(&self) -> &[i32] {
        &self.accepted().owners
    }

    /// The ids under which their tasks may be stored.
    pub fn stored_under(&self) -> &[i32] {
        &self.accepted().stored_under
    }
}

/// Owners of definitions, by ids.
#[derive(Default)]
struct AcceptedOwners {
    owners: Vec<i32>,
    stored_under: Vec<i32>,
}

impl AcceptedOwners {
    fn of<'a>(known: impl Iterator<Item = &'a DefinitionOwner>) -> Self {
        let mut accepted = Self::default();
        for known in known {
            accepted.owners.extend(&known.own);
            accepted.stored_under.extend(known.ids());
        }
        accepted.stored_under.sort_unstable();
        accepted.stored_under.dedup();
        accepted
    }
}

// The index is the only one with the names of tasks. Each step is one descent.
static NAMES: Statement = Statement::new(
    "WITH RECURSIVE names (owner, name) AS ( \
         SELECT o.owner, f.name FROM unnest($1) AS o (owner) CROSS JOIN LATERAL ( \
             SELECT b.payload ->> 'TaskName' AS name FROM workflow.bookmarks b \
             WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
             ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1) f \
         UNION ALL \
         SELECT p.owner, n.name FROM names p CROSS JOIN LATERAL ( \
             SELECT b.payload ->> 'TaskName' AS name FROM workflow.bookmarks b \
             WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = p.owner \
               AND b.payload ->> 'TaskName' > p.name \
             ORDER BY b.definition_owner, b.payload ->> 'TaskName' LIMIT 1) n) \
     SELECT name FROM names WHERE name IS NOT NULL LIMIT $2",
    &[Type::IntegerArray, Type::BigInt],
);

/// The names of all open tasks that are stored under these owners.
pub fn names(owners: &[i32]) -> Vec<String> {
    few_names(owners, usize::MAX)
}

/// Some of them.
pub fn few_names(owners: &[i32], most: usize) -> Vec<String> {
    let mut names: Vec<String> = NAMES.rows(&[Arg::Integers(owners), limit(most)], |row| row.get());
    names.sort_unstable();
    names.dedup();
    names
}

/// Makes a statement whose `$1` is a role, and `$2` the owners of definitions whose tasks it accepts. The statement itself
/// reads only tasks that may be stored under one of these. It claims the task
/// with bookmark `b` of instance `i` only if it accepts the owner of the definition, and may work on the task, as
/// `access::work::may_work` says; a task for certain people only if the task names it, as
/// `access::people::is_claimed_by` says. `mine` are the owners whose rights the role has, `me` those that a task for
/// certain people can name. `given` are its task grants, each with an owner whose definitions its grantor may manage;
/// without one, it may manage all.
macro_rules! for_role {
    ($before:expr, $after:literal) => {
        concat!(
            "WITH mine AS MATERIALIZED ( \
                 SELECT o.id FROM workflow.owners o \
                 WHERE CASE WHEN workflow._role_of(o.role_oid, o.name) IS NULL \
                            THEN (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $1) \
                            ELSE pg_has_role($1, workflow._role_of(o.role_oid, o.name), 'USAGE') END), \
             me AS MATERIALIZED ( \
                 SELECT 'role:' || m.id AS entry FROM mine m JOIN workflow.owners o ON o.id = m.id \
                 WHERE workflow._role_of(o.role_oid, o.name) = $1 \
                    OR NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = $1)), \
             held AS MATERIALIZED ( \
                 SELECT g.definition_id, g.name, g.grantor FROM workflow.task_grants g \
                 WHERE g.role = ANY (ARRAY(SELECT m.id FROM mine m))), \
             grantors AS MATERIALIZED ( \
                 SELECT o.id, r.oid AS role, r.rolsuper FROM workflow.owners o \
                 JOIN pg_roles r ON r.oid = workflow._role_of(o.role_oid, o.name) \
                 WHERE o.id = ANY (ARRAY(SELECT h.grantor FROM held h))), \
             managed AS MATERIALIZED ( \
                 SELECT a.id AS grantor, CAST(NULL AS integer) AS owner FROM grantors a WHERE a.rolsuper \
                 UNION ALL \
                 SELECT a.id, o.id FROM grantors a CROSS JOIN workflow.owners o \
                 WHERE NOT a.rolsuper AND pg_has_role(a.role, workflow._role_of(o.role_oid, o.name), 'USAGE')), \
             given AS MATERIALIZED ( \
                 SELECT h.definition_id, h.name, m.owner FROM held h JOIN managed m ON m.grantor = h.grantor) ",
            $before,
            "EXISTS (SELECT FROM workflow.definitions d \
                     WHERE d.id = i.definition_version_id AND d.owner = ANY ($2) \
                       AND CASE WHEN b.assignee IS NOT NULL OR b.candidates IS NOT NULL \
                                THEN b.assignee = ANY (ARRAY(SELECT m.entry FROM me m)) \
                                     OR b.candidates ?| ARRAY(SELECT m.entry FROM me m) \
                                ELSE d.owner = ANY (ARRAY(SELECT m.id FROM mine m)) \
                                     OR d.definition_id = ANY (ARRAY(SELECT g.definition_id FROM workflow.grants g \
                                                                     WHERE g.privilege = 'resume' \
                                                                       AND g.role = ANY (ARRAY(SELECT m.id FROM mine m)))) \
                                     OR EXISTS (SELECT FROM given w \
                                                WHERE (w.owner IS NULL OR w.owner = d.owner) \
                                                  AND (w.definition_id IS NULL OR w.definition_id = d.definition_id) \
                                                  AND (w.name IS NULL OR w.name = b.payload ->> 'TaskName')) \
                           END) ",
            $after
        )
    };
}

/// Makes the statement that gives the first tasks of some names that a role may claim, in the order of the inbox. All
/// of them have the same `available_at`, which is in `ORDER BY` for the sake of the index.
macro_rules! claimable_tasks {
    ($available_at:literal) => {
        for_role!(
            concat!(
                "SELECT c.id, c.instance_id, c.definition_version_id, c.node_id, c.claims, n.name, c.lane, c.priority, c.created_at, \
                        c.is_assigned \
                 FROM unnest($3) AS n (name) CROSS JOIN unnest($5) AS o (owner) CROSS JOIN LATERAL ( \
                     SELECT b.id, b.instance_id, i.definition_version_id, b.node_id, COALESCE(b.claims, 0) AS claims, b.lane, \
                            COALESCE(b.priority, 0) AS priority, b.created_at, \
                            b.assignee IS NOT NULL OR b.candidates IS NOT NULL AS is_assigned \
                     FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
                     WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = o.owner \
                       AND b.payload ->> 'TaskName' = n.name AND ",
                $available_at,
                " AND i.sub_status <> 'Faulted' AND "
            ),
            "ORDER BY b.definition_owner, b.payload ->> 'TaskName', b.available_at NULLS FIRST, COALESCE(b.priority, 0) DESC, b.created_at \
             LIMIT $4) c ORDER BY c.priority DESC, c.created_at LIMIT $4"
        )
    };
}

mod claimed;
mod due;
mod front;
mod lanes;
mod start;

pub use claimed::{Claimed, claimable_by_id, claimed};
pub use due::{MAX_UNRELEASED, end_all, end_of, next_end, release_due, unreleased};
pub use front::{Front, first, heads, lock_first, owners_of};
pub use lanes::{Lane, in_lanes, in_order, lanes_of, wake_waiters_of};
pub use start::{attempts, awaits_start, remove_start};

static CLAIMABLE: Statement = Statement::new(claimable_tasks!("b.available_at IS NULL"), CLAIMABLE_TYPES);

/// The first tasks of these names without limits that a role may claim, at most `max`: those with a higher priority
/// first, then older ones.
pub fn claimable(names: &[String], max: usize, claimant: &Claimant) -> Vec<ClaimableTask> {
    CLAIMABLE.rows(&claimable_args(names, max, claimant), ClaimableTask::read)
}

const CLAIMABLE_TYPES: &[Type] = &[Type::Oid, Type::IntegerArray, Type::TextArray, Type::BigInt, Type::IntegerArray];

fn claimable_args<'a>(names: &'a [String], max: usize, claimant: &'a Claimant) -> [Arg<'a>; 5] {
    let (role, owners) = (Arg::Oid(claimant.role), Arg::Integers(claimant.owners()));
    [role, owners, Arg::Texts(names), limit(max), Arg::Integers(claimant.stored_under())]
}

fn limit(rows: usize) -> Arg<'static> {
    Arg::BigInt(i64::try_from(rows).unwrap_or(i64::MAX))
}

read! {
    struct LeaseRow of BOOKMARKS {
        id: Uuid,
        instance_id: Uuid,
        activity_instance_id: Uuid,
        claims: Option<i32>,
        available_at: Option<Timestamp>,
        lease_until: Option<Timestamp>,
        token: Option<Uuid>,
        assignee: Option<String>,
        candidates: Option<Value>,
        lane: Option<String>,
        paused_at: Option<Timestamp>,
        due_when_paused: Option<Timestamp>,
    }
}
static ROW: Columns = Columns::of(&BOOKMARKS, LeaseRow::COLUMNS);

/// A task, and how workers stand to it.
#[derive(Debug)]
pub struct Held {
    /// Id of the task, which is that of its bookmark.
    pub task: Uuid,
    /// The instance that opened it.
    pub instance: Uuid,
    /// The execution of the activity that opened it.
    pub execution: Uuid,
    /// Whether its instance is paused.
    pub is_paused: bool,
    /// The lease, as far as a claim or a heartbeat needs it.
    pub lease: Lease,
}

impl From<LeaseRow> for Held {
    fn from(row: LeaseRow) -> Self {
        let LeaseRow { id: task, instance_id: instance, activity_instance_id: execution, token, lane, .. } = row;
        let (attempt, until) = (row.claims.unwrap_or_default(), row.lease_until);
        let assignment = Assignment::read(row.assignee, row.candidates, None);
        let available_at = Lease::read_available_at(row.due_when_paused.or(row.available_at));
        let lease = Lease { attempt, available_at, until, token, assignment, lane, ..Lease::default() };
        Self { task, instance, execution, is_paused: row.paused_at.is_some(), lease }
    }
}

/// Deletes the row of a task unless a worker holds the task at this instant. `false`: one does.
pub fn delete_unless_held(writer: &mut Writer, task: Arg<'_>, now: Timestamp) -> bool {
    writer.delete_if(&ROW, task, |row| !Held::from(LeaseRow::read(row)).lease.runs(now))
}

/// Reads an open task without a lock.
pub fn read(task: Uuid) -> Option<Held> {
    rows::read(&ROW, Arg::Uuid(&task), LeaseRow::read).map(Held::from)
}

/// Locks the row of an open task and reads it.
pub fn lock(task: Uuid, wait: Wait) -> Option<Held> {
    rows::lock(&ROW, Arg::Uuid(&task), wait, LeaseRow::read).map(Held::from)
}

/// Who is in the way of locking the row of an open task.
pub fn lock_holder(task: Uuid) -> Holder {
    rows::holder(&ROW, Arg::Uuid(&task))
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
    let Lease { attempt, until, token, worker, last_error, .. } = lease;
    let given = Given {
        id: task,
        claims: *attempt,
        available_at: lease.stored_available_at(),
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
        paused_at: Change<Option<Timestamp>>,
        due_when_paused: Change<Option<Timestamp>>,
    }
}
static EXTENDED: Columns = Columns::of(&BOOKMARKS, Extended::COLUMNS);
static MOVE_END: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET due_at = CASE WHEN paused_at IS NULL THEN $4 END, \
         due_when_paused = CASE WHEN paused_at IS NOT NULL THEN $4 END, paused_at = CASE WHEN paused_at IS NOT NULL THEN $5 END \
     WHERE instance_id = $1 AND activity_instance_id = $2 AND name = $3",
    &[Type::Uuid, Type::Uuid, Type::Text, Type::Timestamp, Type::Timestamp],
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

/// Prolongs or shortens the lease of a locked row. The index is told only if it would find the task too late. If its
/// instance is paused the clock of the lease stands from now on.
pub fn extend(held: &Held, until: Timestamp, progress: Option<&Value>, now: Timestamp) {
    let (lease, is_paused) = (&held.lease, held.is_paused);
    let is_late = !is_paused && lease.available_at.is_none_or(|at| !lease.is_last() && at > until);
    let extended = Extended {
        id: &held.task,
        available_at: Change::when(is_late, Some(until)),
        lease_until: Some(until),
        progress: Change::when(progress.is_some(), progress),
        paused_at: Change::when(is_paused, Some(now)),
        due_when_paused: Change::when(is_paused && !lease.is_last(), Some(until)),
    };
    rows::write(|writer| writer.update(&EXTENDED, &extended.changes()));
    if is_late {
        crate::wake::report_any_task_at(until);
    }
}

/// Moves the due time of the bookmark of a last lease. The caller holds the lock of the instance.
pub fn move_end(instance: &Uuid, execution: &Uuid, until: Timestamp, now: Timestamp) {
    crate::wake::report_due(until);
    let name = Arg::Text(workflow_engine::stimulus::LEASE);
    MOVE_END.run(&[Arg::Uuid(instance), Arg::Uuid(execution), name, Arg::Timestamp(until), Arg::Timestamp(now)]);
}

static TIME_LIMIT: Statement = Statement::new(
    "SELECT id FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = $2 AND name = $3",
    &[Type::Uuid, Type::Uuid, Type::Text],
);

/// The bookmark of this name that limits the time of an execution's task. The caller holds the lock of the instance.
pub fn time_limit(instance: &Uuid, execution: &Uuid, name: &str) -> Option<Uuid> {
    TIME_LIMIT.first(&[Arg::Uuid(instance), Arg::Uuid(execution), Arg::Text(name)], |row| row.get())
}

static REMOVE_END: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = $2 AND name = $3",
    &[Type::Uuid, Type::Uuid, Type::Text],
);

/// Removes the bookmark of a last lease. The caller holds the lock of the instance.
pub fn remove_end(instance: &Uuid, execution: &Uuid) {
    REMOVE_END.run(&[Arg::Uuid(instance), Arg::Uuid(execution), Arg::Text(workflow_engine::stimulus::LEASE)]);
}
