//! Queries of background workers for due bookmarks and queue items.

use std::ffi::c_int;

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::activities::scheduled_command::SCHEDULED_COMMAND;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::definitions::{self, DefinitionOwner};
use crate::store::rights::owners::{self, Owner};

/// A due bookmark or item, read without a lock.
#[derive(Debug)]
pub struct Due {
    /// Bookmark or queue item.
    pub id: Uuid,
    /// When a bookmark is due, or when an item may be delivered.
    pub due_at: Timestamp,
    /// The owner of a bookmark's instance, or the sender of an item.
    pub owner: i32,
    /// The owner of its instance, if the instance can run users' SQL with that owner's rights.
    pub runs_as: Option<Owner>,
    /// Whether its instance can run users' SQL.
    pub uses_sql: bool,
    /// Whether it is a command of a schedule, which runs at the top level of a session.
    pub is_command: bool,
}

/// `due_at` of an item whose delivery has not failed: it may be delivered immediately.
pub const AT_ONCE: Timestamp = Timestamp(i64::MIN);

static BOOKMARKS: Statement = Statement::new(
    "SELECT b.id, b.due_at, d.uses_sql, d.security, b.activity_type, i.owner \
     FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     JOIN workflow.definitions d ON d.id = i.definition_version_id \
     WHERE b.due_at <= $1 AND b.due_at >= $2 AND (b.due_at, b.id) > ($2, $3) \
         AND CASE WHEN i.paused_at IS NULL THEN i.sub_status <> 'Faulted' OR b.name = 'Workflow.RunTimeout' \
                  ELSE EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.unpaused_at IS NOT NULL) END \
     ORDER BY b.due_at, b.id LIMIT $4",
    &[Type::Timestamp, Type::Timestamp, Type::Uuid, Type::BigInt],
);

/// Bookmarks that are due at `now`, earliest first, after the position `after`. Excludes bookmarks of faulted
/// instances, except for the time limit of the run, and of paused ones, except for the bookmark that ends the pause.
pub fn bookmarks(now: Timestamp, after: (Timestamp, Uuid), limit: i64) -> Vec<Due> {
    let (due_at, id) = after;
    let args = [Arg::Timestamp(now), Arg::Timestamp(due_at), Arg::Uuid(&id), Arg::BigInt(limit)];
    BOOKMARKS.rows(&args, |row| {
        let (id, due_at, uses_sql) = (row.get(), row.get(), row.get());
        let is_definer = row.get::<String>() == "definer";
        let is_command = row.get::<String>() == SCHEDULED_COMMAND;
        let owner = row.get();
        let runs_as = (uses_sql && !is_definer).then(|| owners::by_id(owner));
        Due { id, due_at, owner, runs_as, uses_sql, is_command }
    })
}

/// A queue item that is not deferred, and whether any bookmark may match it.
#[derive(Debug)]
pub struct DueItem {
    /// The item. If it names a bookmark, or is momentary, `runs_as` is the owner of the instance.
    pub due: Due,
    /// Whether a bookmark may match it, or it is to be given up. `false`: no bookmark matches.
    pub may_match: bool,
}

// `may_match` costs one index probe per item. Tasks are in no index by hash: a stimulus for a task is matched by the id
// in its payload.
static ITEMS: Statement = Statement::new(
    "SELECT q.id, q.not_before, q.sender, d.uses_sql, d.security, i.owner, \
         CASE WHEN q.bookmark_id IS NOT NULL OR q.activity_instance_id IS NOT NULL OR q.momentary THEN true \
              WHEN q.instance_id IS NOT NULL AND q.name IN ('Workflow.Cancel', 'Workflow.Act') THEN true \
              WHEN q.instance_id IS NOT NULL \
              THEN EXISTS (SELECT FROM workflow.bookmarks m WHERE m.instance_id = q.instance_id) \
                   OR EXISTS (SELECT FROM workflow.instances c WHERE c.continued_from = q.instance_id) \
              WHEN q.hash IS NOT NULL AND q.name = 'Elsa.RunTask' THEN true \
              WHEN q.hash IS NOT NULL AND q.correlation_id IS NOT NULL \
              THEN EXISTS (SELECT FROM unnest($2) AS o (owner) CROSS JOIN LATERAL ( \
                               SELECT FROM workflow.bookmarks m \
                               WHERE m.hash_key = ('x' || encode(substr(q.hash, 1, 4), 'hex'))::bit(32)::integer \
                                   AND m.definition_owner = o.owner AND m.correlation_key = hashtext(q.correlation_id) \
                                   AND m.correlation_id = q.correlation_id AND m.hash = q.hash LIMIT 1) m) \
              WHEN q.hash IS NOT NULL \
              THEN EXISTS (SELECT FROM workflow.bookmarks m \
                           WHERE m.hash_key = ('x' || encode(substr(q.hash, 1, 4), 'hex'))::bit(32)::integer \
                               AND m.hash = q.hash) \
              WHEN q.correlation_id IS NOT NULL \
              THEN EXISTS (SELECT FROM workflow.instances i WHERE i.correlation_id = q.correlation_id) \
              WHEN q.activity_type <> 'Elsa.RunTask' \
              THEN EXISTS (SELECT FROM unnest($2) AS o (owner) CROSS JOIN LATERAL ( \
                               SELECT FROM workflow.bookmarks m \
                               WHERE m.definition_owner = o.owner AND m.activity_type = q.activity_type \
                                   AND m.kind_key BETWEEN hashtext(q.activity_type) << 22 \
                                       AND (hashtext(q.activity_type) << 22 | 4194303) LIMIT 1) m) \
              ELSE true END \
     FROM workflow.bookmark_queue q \
     LEFT JOIN workflow.bookmarks b ON b.id = q.bookmark_id \
     LEFT JOIN workflow.instances i ON i.id = CASE WHEN q.momentary THEN q.instance_id ELSE b.instance_id END \
     LEFT JOIN workflow.definitions d ON d.id = i.definition_version_id \
     WHERE q.id = ANY ($1) AND q.deferred_for IS NULL",
    &[Type::UuidArray, Type::IntegerArray],
);

/// Returns those of `ids` that are still in the queue and not deferred.
pub fn items(ids: &[Uuid]) -> Vec<DueItem> {
    if ids.is_empty() {
        return Vec::new();
    }
    let owners: Vec<i32> = definitions::owners().iter().flat_map(DefinitionOwner::ids).collect();
    ITEMS.rows(&[Arg::Uuids(ids), Arg::Integers(&owners)], |row| {
        let (id, due_at, sender) = (row.get(), row.maybe().unwrap_or(AT_ONCE), row.get());
        let uses_sql: Option<bool> = row.maybe();
        let security: Option<String> = row.maybe();
        let owner: Option<i32> = row.maybe();
        let is_definer = security.is_some_and(|security| security == "definer");
        let uses_sql = uses_sql.unwrap_or(false);
        let runs_as = owner.filter(|_| uses_sql && !is_definer).map(owners::by_id);
        DueItem { due: Due { id, due_at, owner: sender, runs_as, uses_sql, is_command: false }, may_match: row.get() }
    })
}

static ALL_ITEMS: Statement = Statement::new(
    "SELECT id FROM workflow.bookmark_queue WHERE id > $1 AND deferred_for IS NULL ORDER BY id LIMIT $2",
    &[Type::Uuid, Type::BigInt],
);

/// Ids of the queue items after `after`, in order of id.
pub fn all_items(after: Uuid, limit: i64) -> Vec<Uuid> {
    ALL_ITEMS.rows(&[Arg::Uuid(&after), Arg::BigInt(limit)], |row| row.get())
}

static HAS_EXPIRED: Statement =
    Statement::new("SELECT 1 FROM workflow.bookmark_queue WHERE expires_at <= $1 LIMIT 1", &[Type::Timestamp]);

/// Whether an expired item is still in the queue. After a scan this means that another session has locked it.
pub fn has_expired(now: Timestamp) -> bool {
    HAS_EXPIRED.run(&[Arg::Timestamp(now)]) > 0
}

static NEXT: Statement = Statement::new(
    "SELECT least( \
         (SELECT min(b.due_at) FROM workflow.bookmarks b WHERE b.due_at > $1), \
         (SELECT min(t.next_fire_at) FROM workflow.triggers t WHERE t.next_fire_at > $1 AND t.active), \
         (SELECT min(q.expires_at) FROM workflow.bookmark_queue q WHERE q.expires_at > $1 AND q.expires_at < 'infinity'))",
    &[Type::Timestamp],
);

/// The earliest due time after `now` of a bookmark, a trigger or the expiry of a queue item.
pub fn next(now: Timestamp) -> Option<Timestamp> {
    NEXT.first(&[Arg::Timestamp(now)], |row| row.maybe()).flatten()
}

static COUNT_ATTEMPT: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET attempts = coalesce(attempts, 0) + 1 \
     WHERE id = (SELECT b.id FROM workflow.bookmarks b WHERE b.id = $1 AND b.due_at <= $2 FOR UPDATE SKIP LOCKED) \
     RETURNING attempts",
    &[Type::Uuid, Type::Timestamp],
);

/// Counts an attempt to fire a bookmark and returns its number. `None`: another session has locked the bookmark, or has
/// moved its due time, as a heartbeat does, or it is gone.
pub fn count_attempt(bookmark: Uuid, now: Timestamp) -> Option<c_int> {
    COUNT_ATTEMPT.first(&[Arg::Uuid(&bookmark), Arg::Timestamp(now)], |row| row.get())
}

static FORGET_ATTEMPT: Statement =
    Statement::new("UPDATE workflow.bookmarks SET attempts = nullif(attempts, 1) - 1 WHERE id = $1", &[Type::Uuid]);

/// Takes back an attempt that was counted but not made. Waits for a session that has locked the bookmark.
pub fn forget_attempt(bookmark: Uuid) {
    FORGET_ATTEMPT.run(&[Arg::Uuid(&bookmark)]);
}

static ATTEMPTS: Statement = Statement::new(
    "SELECT coalesce(attempts, 0) FROM workflow.bookmarks WHERE id = $1 AND due_at <= $2 FOR UPDATE SKIP LOCKED",
    &[Type::Uuid, Type::Timestamp],
);

/// Locks a bookmark that is due and returns the number of counted attempts. `None` as for [`count_attempt`].
pub fn attempts(bookmark: Uuid, now: Timestamp) -> Option<c_int> {
    ATTEMPTS.first(&[Arg::Uuid(&bookmark), Arg::Timestamp(now)], |row| row.get())
}

static COUNT_DELIVERY: Statement = Statement::new(
    "UPDATE workflow.bookmark_queue SET attempts = attempts + 1 \
     WHERE id = (SELECT q.id FROM workflow.bookmark_queue q WHERE q.id = $1 FOR UPDATE SKIP LOCKED) RETURNING attempts",
    &[Type::Uuid],
);
static FORGET_DELIVERY: Statement = Statement::new(
    "UPDATE workflow.bookmark_queue SET attempts = greatest(attempts - 1, 0) WHERE id = $1",
    &[Type::Uuid],
);

/// Counts an attempt to deliver an item before it is made, and returns its number. `None`: another session has locked
/// the item, or it is gone.
pub fn count_delivery(id: Uuid) -> Option<c_int> {
    COUNT_DELIVERY.first(&[Arg::Uuid(&id)], |row| row.get())
}

/// Takes back an attempt that was counted but not made, or that the caller counts again. Waits for a session that has
/// locked the item.
pub fn forget_delivery(id: Uuid) {
    FORGET_DELIVERY.run(&[Arg::Uuid(&id)]);
}

static MARK: Statement =
    Statement::new("UPDATE workflow.bookmarks SET metadata = $2 WHERE id = $1", &[Type::Uuid, Type::Jsonb]);

/// Records in the metadata of a locked bookmark that its command has started.
pub fn mark(bookmark: Uuid, metadata: &Value) {
    MARK.run(&[Arg::Uuid(&bookmark), Arg::Json(metadata)]);
}

static POSTPONE: Statement =
    Statement::new("UPDATE workflow.bookmarks SET due_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]);

/// Moves the due time of a locked bookmark. Does not read the instance, whose state may be damaged.
pub fn postpone(bookmark: Uuid, until: Timestamp) {
    crate::wake::report_due(until);
    POSTPONE.run(&[Arg::Uuid(&bookmark), Arg::Timestamp(until)]);
}

static CLEAR: Statement = Statement::new("UPDATE workflow.bookmarks SET due_at = NULL WHERE id = $1", &[Type::Uuid]);

/// Clears the due time of a bookmark, if the bookmark still exists.
pub fn clear(bookmark: Uuid) {
    CLEAR.run(&[Arg::Uuid(&bookmark)]);
}

static MAKE_DEAD_LETTER: Statement = Statement::new(
    "WITH given_up AS ( \
         UPDATE workflow.bookmarks b SET due_at = NULL FROM workflow.bookmarks before \
         WHERE b.id = $1 AND before.id = b.id RETURNING b.*, before.due_at AS was_due_at) \
     INSERT INTO workflow.dead_letters (id, reason, sender, attempts, created_at, dead_at, bookmark_id, instance_id, \
         activity_instance_id, hash, name, correlation_id, activity_type, activity_id, last_error, due_at) \
     SELECT $2, 'Failed', i.owner, coalesce(g.attempts, 0), g.created_at, $3, g.id, g.instance_id, g.activity_instance_id, \
         g.hash, g.name, g.correlation_id, g.activity_type, g.activity_id, $4, g.was_due_at \
     FROM given_up g JOIN workflow.instances i ON i.id = g.instance_id",
    &[Type::Uuid, Type::Uuid, Type::Timestamp, Type::Text],
);

/// Gives up on a bookmark: clears its due time, keeps the bookmark, and adds a dead letter with the error.
pub fn make_dead_letter(bookmark: Uuid, letter: Uuid, now: Timestamp, error: &str) {
    MAKE_DEAD_LETTER.run(&[Arg::Uuid(&bookmark), Arg::Uuid(&letter), Arg::Timestamp(now), Arg::Text(error)]);
}
