//! Changes of ownership in bulk, for `wf_adopt_database` in a restored or copied database.

use std::collections::HashMap;

use uuid::Uuid;

use crate::pg::catalog;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::rights::owners::Owner;
use crate::store::timers::schedules::{self, Timed, timed_triggers};

/// A row of `workflow.owners`.
#[derive(Debug)]
pub struct StoredOwner {
    /// The owner that it stores.
    pub owner: Owner,
    /// Cluster, OID and name.
    pub text: String,
    /// The row into which this one was merged.
    pub same_as: Option<i32>,
}

static ALL: Statement =
    Statement::new("SELECT id, role_oid, name, CAST(role AS text), same_as FROM workflow.owners ORDER BY id", &[]);

/// All rows, by id.
pub fn all() -> Vec<StoredOwner> {
    ALL.rows(&[], |row| StoredOwner {
        owner: Owner { id: row.get(), oid: row.maybe(), name: row.maybe().unwrap_or_default() },
        text: row.get(),
        same_as: row.maybe(),
    })
}

static INSTANCES: Statement = Statement::new("SELECT owner, count(*) FROM workflow.instances GROUP BY owner", &[]);
static OVERDUE: Statement = Statement::new(
    "SELECT d.owner, sum(d.count)::bigint FROM ( \
         SELECT i.owner, count(*) FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
         WHERE b.due_at <= $1 AND i.sub_status <> 'Faulted' GROUP BY i.owner \
         UNION ALL \
         SELECT COALESCE(t.owner, d.owner), count(*) \
         FROM workflow.triggers t LEFT JOIN workflow.definitions d ON d.id = t.definition_version_id \
         WHERE t.next_fire_at <= $1 AND t.active GROUP BY 1) AS d (owner, count) \
     WHERE d.owner IS NOT NULL GROUP BY d.owner",
    &[Type::Timestamp],
);

/// The number of instances of each owner.
pub fn instances() -> HashMap<i32, i64> {
    INSTANCES.rows(&[], |row| (row.get(), row.get())).into_iter().collect()
}

/// The number of overdue timers of each owner.
pub fn overdue(now: Timestamp) -> HashMap<i32, i64> {
    OVERDUE.rows(&[Arg::Timestamp(now)], |row| (row.get(), row.get())).into_iter().collect()
}

static SET: Statement = Statement::new(
    "UPDATE workflow.owners SET role = CAST($2 AS workflow.stored_role) WHERE id = $1",
    &[Type::Integer, Type::Text],
);

/// Sets the role to which a row refers.
pub fn set(id: i32, text: &str) {
    SET.run(&[Arg::Integer(id), Arg::Text(text)]);
}

static SHARED_SCHEDULE: Statement = Statement::new(
    "SELECT a.schedule_name FROM workflow.triggers a JOIN workflow.triggers b ON b.schedule_name = a.schedule_name \
     WHERE a.owner = $1 AND b.owner = $2 LIMIT 1",
    &[Type::Integer, Type::Integer],
);

/// The name of a schedule that both owners have.
pub fn shared_schedule(one: i32, other: i32) -> Option<String> {
    SHARED_SCHEDULE.first(&[Arg::Integer(one), Arg::Integer(other)], |row| row.get())
}

// There may be millions of instances, stored stimuli and dead letters, so their rows keep the old owner; `same_as`
// resolves it.
static MOVE: [Statement; 24] = [
    Statement::new("UPDATE workflow.definitions SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new("UPDATE workflow.definition_ids SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new("UPDATE workflow.triggers SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new("UPDATE workflow.paths SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new(
        "WITH gone AS (DELETE FROM workflow.limits l WHERE l.owner = $1 AND EXISTS (SELECT FROM workflow.limits o \
             WHERE o.owner = $2 AND o.name = l.name AND (o.key IS NULL) = (l.key IS NULL)) RETURNING l.id) \
         DELETE FROM workflow.slots s USING gone WHERE s.limit_id = gone.id",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new("UPDATE workflow.limits SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new("UPDATE workflow.activity_types SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new(
        "UPDATE workflow.activity_types SET handler_owner = $2 WHERE handler_owner = $1",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "UPDATE workflow.activity_types SET payloads_owner = $2 WHERE payloads_owner = $1",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new("UPDATE workflow.directory SET owner = $2 WHERE owner = $1", &[Type::Integer, Type::Integer]),
    Statement::new(
        "INSERT INTO workflow.grants (definition_id, role, privilege, grantor) \
         SELECT g.definition_id, $2, g.privilege, g.grantor FROM workflow.grants g WHERE g.role = $1 \
         ON CONFLICT DO NOTHING",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new("DELETE FROM workflow.grants WHERE role = $1 AND $1 <> $2", &[Type::Integer, Type::Integer]),
    Statement::new("UPDATE workflow.grants SET grantor = $2 WHERE grantor = $1", &[Type::Integer, Type::Integer]),
    Statement::new(
        "INSERT INTO workflow.task_grants (id, role, grantor, definition_id, name) \
         SELECT gen_random_uuid(), CASE g.role WHEN $1 THEN $2 ELSE g.role END, \
                CASE g.grantor WHEN $1 THEN $2 ELSE g.grantor END, g.definition_id, g.name \
         FROM workflow.task_grants g WHERE $1 IN (g.role, g.grantor) ON CONFLICT DO NOTHING",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "DELETE FROM workflow.task_grants WHERE $1 IN (role, grantor) AND $1 <> $2",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "INSERT INTO workflow.event_grants (publisher, listener) \
         SELECT CASE g.publisher WHEN $1 THEN $2 ELSE g.publisher END, CASE g.listener WHEN $1 THEN $2 ELSE g.listener END \
         FROM workflow.event_grants g WHERE $1 IN (g.publisher, g.listener) ON CONFLICT DO NOTHING",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "DELETE FROM workflow.event_grants WHERE $1 IN (publisher, listener) AND $1 <> $2",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "INSERT INTO workflow.invoker_grants (lender, borrower) \
         SELECT CASE g.lender WHEN $1 THEN $2 ELSE g.lender END, CASE g.borrower WHEN $1 THEN $2 ELSE g.borrower END \
         FROM workflow.invoker_grants g WHERE $1 IN (g.lender, g.borrower) ON CONFLICT DO NOTHING",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "DELETE FROM workflow.invoker_grants WHERE $1 IN (lender, borrower) AND $1 <> $2",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "INSERT INTO workflow.accepted_owners (worker, owner, for_members) \
         SELECT CASE a.worker WHEN $1 THEN $2 ELSE a.worker END, CASE a.owner WHEN $1 THEN $2 ELSE a.owner END, bool_or(a.for_members) \
         FROM workflow.accepted_owners a WHERE $1 IN (a.worker, a.owner) GROUP BY 1, 2 \
         ON CONFLICT (worker, owner) DO UPDATE SET for_members = accepted_owners.for_members OR EXCLUDED.for_members",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "DELETE FROM workflow.accepted_owners WHERE $1 IN (worker, owner) AND $1 <> $2",
        &[Type::Integer, Type::Integer],
    ),
    // Messages and HTTP requests are looked up by their owner, so they move as well. If both have one with the same id or
    // key, the one of `into` is kept.
    Statement::new(
        "UPDATE workflow.messages m SET owner = $2 WHERE m.owner = $1 AND NOT EXISTS (SELECT FROM workflow.messages o \
             WHERE o.key = m.key AND o.owner = $2 AND o.message = m.message)",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "UPDATE workflow.http_requests r SET owner = $2 WHERE r.owner = $1 AND NOT EXISTS ( \
             SELECT FROM workflow.http_requests o WHERE o.key = r.key AND o.owner = $2)",
        &[Type::Integer, Type::Integer],
    ),
    Statement::new(
        "UPDATE workflow.owners SET same_as = $2 WHERE id = $1 OR same_as = $1",
        &[Type::Integer, Type::Integer],
    ),
];

/// Assigns everything that `owner` has to `into`, and marks `owner` as the same as `into`.
pub fn merge(owner: i32, into: i32) {
    for statement in &MOVE {
        statement.run(&[Arg::Integer(owner), Arg::Integer(into)]);
    }
}

static ALIGN: Statement = Statement::new(
    "UPDATE workflow.owners a SET role = o.role FROM workflow.owners o \
     WHERE o.id = a.same_as AND CAST(a.role AS text) <> CAST(o.role AS text)",
    &[],
);
// Logical replication copies the rows, but not the position of the sequence.
static ADVANCE: Statement = Statement::new(
    "SELECT setval('workflow.owners_id_seq', o.id) \
     FROM (SELECT max(id) AS id FROM workflow.owners) o CROSS JOIN workflow.owners_id_seq s \
     WHERE o.id >= s.last_value + s.is_called::integer",
    &[],
);

/// Gives each merged row the role of its target, and advances the sequence past the highest id. Invalidates the owners
/// that sessions have cached.
pub fn finish() {
    ALIGN.run(&[]);
    ADVANCE.run(&[]);
    catalog::definitions_changed();
}

static LOCK_OVERDUE: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i WHERE i.sub_status <> 'Faulted' AND i.id IN ( \
         SELECT b.instance_id FROM workflow.bookmarks b \
         WHERE b.due_at <= $1 AND b.activity_type NOT LIKE 'Workflow.%' AND b.name NOT LIKE 'Workflow.%') \
     ORDER BY i.id FOR NO KEY UPDATE OF i",
    &[Type::Timestamp],
);
static HOLD: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET due_at = NULL, attempts = NULL \
     WHERE due_at <= $1 AND instance_id = ANY ($2) AND activity_type NOT LIKE 'Workflow.%' \
         AND name NOT LIKE 'Workflow.%'",
    &[Type::Timestamp, Type::UuidArray],
);
static TRIGGERS: Statement = Statement::new(
    timed_triggers!("t.active AND t.next_fire_at <= $1 ORDER BY t.id FOR UPDATE OF t"),
    &[Type::Timestamp],
);

/// Clears the due time of overdue timers in instances, which then wait for a call that resumes them. Bookmarks that the
/// engine itself made for a background worker (`Workflow.*`) stay due.
pub fn hold_timers(now: Timestamp) {
    // Lock the instances first, in the order of their ids.
    let ids: Vec<Uuid> = LOCK_OVERDUE.rows(&[Arg::Timestamp(now)], |row| row.get());
    HOLD.run(&[Arg::Timestamp(now), Arg::Uuids(&ids)]);
}

/// Locks the active triggers whose fire is overdue.
pub fn overdue_triggers(now: Timestamp) -> Vec<Timed> {
    TRIGGERS.rows(&[Arg::Timestamp(now)], schedules::read)
}
