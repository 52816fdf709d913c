//! Rows that retention removes. Retention scans by id, which is the order of creation, a page at a time: an index on
//! `finished_at` would cost every burst that finishes an instance.

use uuid::Uuid;

use crate::pg::cluster;
use crate::pg::session::sees_old_rows;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::maintenance::removal;

/// Rows that retention reads per page.
pub const PAGE: i64 = 1000;

/// A row that retention reads: an instance, a dead letter or a rejected start.
#[derive(Clone, Copy, Debug)]
pub struct RetentionRow {
    /// Id of the instance or dead letter; for a rejected start, the id in the journal.
    pub id: Uuid,
    /// Id in `workflow.owners` of its owner, or of the sender of a dead letter; 0 for a rejected start.
    pub owner: i32,
    /// Whether retention may remove it now.
    pub is_over: bool,
    /// When retention may remove it, if known.
    pub over_at: Option<Timestamp>,
}

// The definition's retention applies, else the setting `workflow.retention`. Runs of commands have their own setting,
// and `COMMANDS` finds them by their schedule.
static INSTANCES: Statement = Statement::new(
    "SELECT r.id, r.owner, COALESCE(r.over_at <= $3, false), r.over_at FROM ( \
         SELECT p.id, p.owner, CASE WHEN d.definition_id <> 'Workflow.ScheduledCommand' \
             THEN p.finished_at + LEAST(COALESCE(d.retention, $4), 100000000000000000) * interval '1 microsecond' END AS over_at \
     FROM (SELECT i.id, i.owner, i.definition_version_id, i.finished_at FROM workflow.instances i \
           WHERE i.id > $1 AND i.id < $2 ORDER BY i.id LIMIT $5) p \
     JOIN workflow.definitions d ON d.id = p.definition_version_id) r ORDER BY r.id",
    &[Type::Uuid, Type::Uuid, Type::Timestamp, Type::BigInt, Type::BigInt],
);
static OLDEST: Statement = Statement::new("SELECT i.id FROM workflow.instances i ORDER BY i.id LIMIT 1", &[]);
static SHORTEST: Statement = Statement::new(
    "SELECT d.retention FROM workflow.definitions d WHERE d.retention IS NOT NULL ORDER BY d.retention LIMIT 1",
    &[],
);

/// The shortest retention of any definition.
pub fn shortest() -> Option<i64> {
    SHORTEST.first(&[], |row| row.get())
}

static HAS_ANY: Statement = Statement::new(
    "SELECT 1 FROM workflow.instances i WHERE i.id >= $1 AND i.id < $2 LIMIT 1",
    &[Type::Uuid, Type::Uuid],
);

/// Whether any instance has an id from `from` up to, but not including, `before`.
pub fn has_any(from: Uuid, before: Uuid) -> bool {
    HAS_ANY.run(&[Arg::Uuid(&from), Arg::Uuid(&before)]) > 0
}

/// The id of the oldest instance.
pub fn oldest() -> Option<Uuid> {
    OLDEST.first(&[], |row| row.get())
}

/// A page of instances in the order of ids, between two ids. `keep` is the setting. Without it, only instances of
/// definitions with a retention are removed.
pub fn instances(after: Uuid, before: Uuid, now: Timestamp, keep: Option<i64>) -> Vec<RetentionRow> {
    let keep = keep.map_or(Arg::Null, Arg::BigInt);
    let args = [Arg::Uuid(&after), Arg::Uuid(&before), Arg::Timestamp(now), keep, Arg::BigInt(PAGE)];
    INSTANCES.rows(&args, |row| RetentionRow {
        id: row.get(),
        owner: row.get(),
        is_over: row.get(),
        over_at: row.maybe(),
    })
}

// A loose index scan over the schedules that have run commands, with the oldest runs of each. The last run of a
// schedule stays, because views show it with the schedule. A failed run of a command is removed like any other, because
// it cannot be retried. The index contains only runs of commands: there may be millions of timer runs, and this setting
// does not apply to them.
static COMMANDS: Statement = Statement::new(
    "WITH RECURSIVE s (id) AS ( \
         (SELECT i.schedule_id FROM workflow.instances i \
          WHERE i.definition_id = 'Workflow.ScheduledCommand' AND i.schedule_id IS NOT NULL ORDER BY i.schedule_id LIMIT 1) \
         UNION ALL \
         SELECT (SELECT i.schedule_id FROM workflow.instances i \
                 WHERE i.definition_id = 'Workflow.ScheduledCommand' AND i.schedule_id > s.id ORDER BY i.schedule_id LIMIT 1) \
         FROM s WHERE s.id IS NOT NULL) \
     SELECT r.id, r.owner FROM s CROSS JOIN LATERAL ( \
         SELECT i.id, i.owner FROM workflow.instances i \
         WHERE i.schedule_id = s.id AND i.id < $1 AND i.updated_at <= $2 AND i.status = 'Finished' \
             AND i.definition_id = 'Workflow.ScheduledCommand' \
             AND NOT EXISTS (SELECT FROM workflow.triggers t WHERE t.id = s.id AND t.last_instance_id = i.id) \
         ORDER BY i.id LIMIT $3) r LIMIT $3",
    &[Type::Uuid, Type::Timestamp, Type::BigInt],
);

/// Ended runs of scheduled commands with an id below `before` that were last updated at or before `until`.
pub fn commands(before: Uuid, until: Timestamp, limit: i64) -> Vec<RetentionRow> {
    COMMANDS.rows(&[Arg::Uuid(&before), Arg::Timestamp(until), Arg::BigInt(limit)], |row| RetentionRow {
        id: row.get(),
        owner: row.get(),
        is_over: true,
        over_at: None,
    })
}

static LOCK: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i WHERE i.id = ANY ($1) AND i.status = 'Finished' FOR UPDATE SKIP LOCKED",
    &[Type::UuidArray],
);

/// Removes ended instances with their rows in other tables. Skips instances that another session has locked. Returns
/// the number of removed instances.
pub fn remove(ids: &[Uuid]) -> u64 {
    let ids = LOCK.rows(&[Arg::Uuids(ids)], |row| row.get::<Uuid>());
    removal::remove(&ids);
    ids.len() as u64
}

// A dead letter whose bookmark still waits for a replay stays: without the letter no call could replay it.
static LETTERS: Statement = Statement::new(
    "SELECT q.id, q.sender FROM workflow.dead_letters q WHERE q.dead_at <= $1 \
         AND (q.due_at IS NULL OR q.replayed_at IS NOT NULL \
              OR NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = q.bookmark_id)) \
     ORDER BY q.dead_at LIMIT $2 FOR UPDATE OF q SKIP LOCKED",
    &[Type::Timestamp, Type::BigInt],
);
static REMOVE_LETTERS: Statement =
    Statement::new("DELETE FROM workflow.dead_letters WHERE id = ANY ($1)", &[Type::UuidArray]);

/// Locks and returns dead letters that were added at or before `until`.
pub fn letters(until: Timestamp, limit: i64) -> Vec<RetentionRow> {
    LETTERS.rows(&[Arg::Timestamp(until), Arg::BigInt(limit)], |row| RetentionRow {
        id: row.get(),
        owner: row.get(),
        is_over: true,
        over_at: None,
    })
}

/// Removes dead letters.
pub fn remove_letters(ids: &[Uuid]) -> u64 {
    REMOVE_LETTERS.run(&[Arg::Uuids(ids)])
}

// A rejected start has a journal row under an id that no instance has.
static REFUSALS: Statement = Statement::new(
    "SELECT p.instance_id, i.id IS NULL AND p.created_at <= $3 \
     FROM (SELECT l.instance_id, l.created_at FROM workflow.execution_log l \
           WHERE l.instance_id > $1 AND l.instance_id < $2 ORDER BY l.instance_id LIMIT $4) p \
     LEFT JOIN workflow.instances i ON i.id = p.instance_id ORDER BY p.instance_id",
    &[Type::Uuid, Type::Uuid, Type::Timestamp, Type::BigInt],
);
static REMOVE_REFUSALS: Statement = Statement::new(
    "DELETE FROM workflow.execution_log l WHERE l.instance_id = ANY ($1) \
         AND NOT EXISTS (SELECT FROM workflow.instances i WHERE i.id = l.instance_id)",
    &[Type::UuidArray],
);

/// A page of journal rows in the order of instance ids, between two ids. Rows of rejected starts up to `until` may be
/// removed.
pub fn refusals(after: Uuid, before: Uuid, until: Timestamp) -> Vec<RetentionRow> {
    let args = [Arg::Uuid(&after), Arg::Uuid(&before), Arg::Timestamp(until), Arg::BigInt(PAGE)];
    REFUSALS.rows(&args, |row| RetentionRow { id: row.get(), owner: 0, is_over: row.get(), over_at: None })
}

/// Removes the journal rows of rejected starts.
pub fn remove_refusals(ids: &[Uuid]) -> u64 {
    REMOVE_REFUSALS.run(&[Arg::Uuids(ids)])
}

/// Whether nothing refers to a version `d`.
macro_rules! unreferenced {
    () => {
        "NOT EXISTS (SELECT FROM workflow.instances i WHERE i.definition_version_id = d.id) \
         AND NOT EXISTS (SELECT FROM workflow.triggers t WHERE t.definition_version_id = d.id) \
         AND NOT EXISTS (SELECT FROM workflow.definitions c WHERE c.links IS NOT NULL \
                         AND c.links @> jsonb_build_array(jsonb_build_object('uses', d.id::text)))"
    };
}

static DELETED: Statement = Statement::new(
    concat!(
        "SELECT d.id, d.deletion_xid, CAST(CAST(d.xmin AS text) AS bigint) \
         FROM workflow.definitions d WHERE d.deleted_at <= $1 AND ",
        unreferenced!(),
        " LIMIT $2 FOR UPDATE OF d SKIP LOCKED"
    ),
    &[Type::Timestamp, Type::BigInt],
);
static MARK_DELETED: Statement = Statement::new(
    "UPDATE workflow.definitions SET deletion_xid = $2 WHERE id = ANY ($1)",
    &[Type::UuidArray, Type::BigInt],
);
// An import uses a deleted version for ended instances, and locks its row FOR KEY SHARE. An import that has committed
// since the snapshot of DELETED is visible now, and another one waits for the lock of this transaction.
static REMOVE_DELETED: Statement = Statement::new(
    concat!("DELETE FROM workflow.definitions d WHERE d.id = ANY ($1) AND ", unreferenced!()),
    &[Type::UuidArray],
);

/// What retention did to deleted versions.
#[derive(Clone, Copy, Debug)]
pub struct RemovedDefinitions {
    /// The number of versions that it removed.
    pub removed: u64,
    /// Whether it found versions for the first time. A later pass removes these, once all current transactions have
    /// ended.
    pub has_found: bool,
}

/// Removes versions that were deleted at or before `until`, unless an instance, a trigger or another version still
/// refers to them, or a transaction is still open that may have started an instance before it could see the deletion.
/// In a transaction that does not see later commits of others it removes none.
pub fn remove_definitions(until: Timestamp, limit: i64) -> RemovedDefinitions {
    if sees_old_rows() {
        return RemovedDefinitions { removed: 0, has_found: false };
    }
    // Read before the statement takes its snapshot, which then sees the effects of the transactions before this xid.
    let oldest = cluster::oldest_needed();
    let found = DELETED.rows(&[Arg::Timestamp(until), Arg::BigInt(limit)], |row| {
        (row.get::<Uuid>(), row.maybe::<i64>().map(i64::cast_unsigned), row.get::<i64>() as u32)
    });
    // Every transaction with this xid or a higher one sees the deletions, which had committed before.
    let next = cluster::next_transaction();
    let (mut over, mut new) = (Vec::new(), Vec::new());
    for (id, found_at, row_xid) in found {
        match found_at {
            Some(xid) if xid <= oldest => over.push(id),
            // An xid above the next one comes from the cluster in which the database was dumped.
            Some(xid) if xid <= next => {}
            // No other transaction sees yet what this one has deleted.
            _ if cluster::is_mine(row_xid) => {}
            _ => new.push(id),
        }
    }
    if !new.is_empty() {
        MARK_DELETED.run(&[Arg::Uuids(&new), Arg::BigInt(next.cast_signed())]);
    }
    let removed = if over.is_empty() { 0 } else { REMOVE_DELETED.run(&[Arg::Uuids(&over)]) };
    RemovedDefinitions { removed, has_found: !new.is_empty() }
}
