//! Rows that move to another node: whole trees of instances, and rows of a correlation id without an instance.
//!
//! Lock order: the partition, then the instances in the order of their ids, then rows of other tables. Each session
//! that changes a row of an instance has locked the instance, except for claims and heartbeats of task workers, which
//! lock only the bookmark.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bundle::{Definition, Digest};

use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::rights::owners;

mod rows;

pub use rows::{Contents, MovedRows, References, arrived, is_known, unpack};

// Each part returns up to `limit` of its own, so the first `limit` of all are among these. They are the keys of the rows
// that move: see `rows.rs`.
static LIVE_KEYS: Statement = Statement::new(
    "(SELECT DISTINCT i.correlation_id FROM workflow.instances i WHERE i.correlation_id IS NOT NULL AND i.correlation_id > $1 \
         AND i.definition_id <> ALL ($3) ORDER BY 1 LIMIT $2) \
     UNION (SELECT DISTINCT q.correlation_id FROM workflow.bookmark_queue q WHERE q.correlation_id > $1 AND q.instance_id IS NULL ORDER BY 1 LIMIT $2) \
     UNION (SELECT DISTINCT q.correlation_id FROM workflow.dead_letters q WHERE q.correlation_id > $1 AND q.instance_id IS NULL ORDER BY 1 LIMIT $2) \
     UNION (SELECT DISTINCT m.key FROM workflow.messages m WHERE m.key > $1 ORDER BY 1 LIMIT $2) \
     UNION (SELECT DISTINCT t.correlation_id FROM workflow.triggers t WHERE t.correlation_id > $1 AND t.schedule_name IS NOT NULL ORDER BY 1 LIMIT $2) \
     ORDER BY 1 LIMIT $2",
    &[Type::Text, Type::BigInt, Type::TextArray],
);

/// Correlation ids of this node after the given one, in order.
pub fn keys(after: &str, limit: i64, not_of: &[String]) -> Vec<String> {
    LIVE_KEYS.rows(&[Arg::Text(after), Arg::BigInt(limit), Arg::Texts(not_of)], |row| row.get())
}

static WITH_ROWS: Statement = Statement::new(
    "SELECT k.key FROM unnest($1) AS k (key) \
     WHERE EXISTS (SELECT FROM workflow.bookmark_queue q WHERE q.correlation_id = k.key AND q.instance_id IS NULL) \
        OR EXISTS (SELECT FROM workflow.dead_letters d WHERE d.correlation_id = k.key AND d.instance_id IS NULL) \
        OR EXISTS (SELECT FROM workflow.messages m WHERE m.key = k.key) \
        OR EXISTS (SELECT FROM workflow.triggers t WHERE t.correlation_id = k.key AND t.schedule_name IS NOT NULL) \
     ORDER BY 1",
    &[Type::TextArray],
);

/// Those of these keys that have rows that belong to no instance: stored stimuli, dead letters, messages, schedules.
pub fn with_rows(keys: &[String]) -> Vec<String> {
    WITH_ROWS.rows(&[Arg::Texts(keys)], |row| row.get())
}

/// Whether the parent of an instance `i` is not on this node. A subquery for a single value is never hashed: that would
/// read all instances.
macro_rules! is_root {
    () => {
        "(i.parent_instance_id IS NULL OR (SELECT p.id FROM workflow.instances p WHERE p.id = i.parent_instance_id) IS NULL)"
    };
}

static KEYLESS_ROOTS: Statement = Statement::new(
    concat!(
        "SELECT i.id FROM workflow.instances i WHERE i.correlation_id IS NULL AND i.definition_id <> ALL ($1) AND ",
        is_root!(),
        " ORDER BY i.id LIMIT $2"
    ),
    &[Type::TextArray, Type::BigInt],
);

/// At most `limit` instances without a correlation id and without a parent here, excluding these definitions.
pub fn keyless_roots(not_of: &[String], limit: i64) -> Vec<Uuid> {
    KEYLESS_ROOTS.rows(&[Arg::Texts(not_of), Arg::BigInt(limit)], |row| row.get())
}

static COUNT: [Statement; 2] = [
    Statement::new("SELECT count(*) FROM workflow.instances i WHERE i.definition_id <> ALL ($1)", &[Type::TextArray]),
    Statement::new(
        concat!(
            "WITH RECURSIVE keyless (id) AS ( \
                 SELECT i.id FROM workflow.instances i WHERE i.correlation_id IS NULL AND i.definition_id <> ALL ($1) AND ",
            is_root!(),
            " UNION SELECT c.id FROM keyless k JOIN workflow.instances c ON c.parent_instance_id = k.id) \
             SELECT count(*) FROM keyless"
        ),
        &[Type::TextArray],
    ),
];

/// The number of instances, excluding these definitions: of all trees, and of trees whose root has no correlation id.
pub fn counts(not_of: &[String]) -> (u64, u64) {
    let count = |statement: &'static Statement| {
        let counted: Option<i64> = statement.first(&[Arg::Texts(not_of)], |row| row.get());
        counted.unwrap_or_default().unsigned_abs()
    };
    (count(&COUNT[0]), count(&COUNT[1]))
}

static CHILDREN: Statement = Statement::new(
    "SELECT i.parent_instance_id, i.id FROM workflow.instances i WHERE i.parent_instance_id = ANY ($1)",
    &[Type::UuidArray],
);

/// These instances and their descendants, each with its root, in order.
pub fn trees(roots: &[Uuid]) -> Vec<(Uuid, Uuid)> {
    let mut root_of: HashMap<Uuid, Uuid> = roots.iter().map(|root| (*root, *root)).collect();
    let mut level = roots.to_vec();
    while !level.is_empty() {
        let children = CHILDREN.rows(&[Arg::Uuids(&level)], |row| (row.get(), row.get()));
        level.clear();
        for (parent, child) in children {
            let root = root_of[&parent];
            if root_of.insert(child, root).is_none() {
                level.push(child);
            }
        }
    }
    let mut trees: Vec<_> = root_of.into_iter().map(|(id, root)| (root, id)).collect();
    trees.sort_unstable();
    trees
}

// Without `IS NOT NULL`: if few instances have a parent, the partial index of those would be read completely.
static PARENTS: Statement = Statement::new(
    "WITH RECURSIVE above (id, parent) AS ( \
         SELECT i.id, i.parent_instance_id FROM workflow.instances i WHERE i.id = ANY ($1) \
         UNION SELECT i.id, i.parent_instance_id FROM above a JOIN workflow.instances i ON i.id = a.parent) \
     SELECT id, parent FROM above",
    &[Type::UuidArray],
);

/// Whether one of these instances, or an ancestor, is its own ancestor.
pub fn has_circle(ids: &[Uuid]) -> bool {
    let parents: Vec<(Uuid, Option<Uuid>)> = PARENTS.rows(&[Arg::Uuids(ids)], |row| (row.get(), row.maybe()));
    let parent_of: HashMap<Uuid, Uuid> = parents.into_iter().filter_map(|(id, parent)| Some((id, parent?))).collect();
    let mut below_a_root = HashSet::new();
    parent_of.keys().any(|id| {
        let (mut path, mut at) = (HashSet::new(), id);
        while let Some(parent) = parent_of.get(at).filter(|_| !below_a_root.contains(at)) {
            if !path.insert(*at) {
                return true;
            }
            at = parent;
        }
        below_a_root.extend(path);
        false
    })
}

/// An instance with a correlation id.
#[derive(Debug)]
pub struct Keyed {
    /// Id of the instance.
    pub id: Uuid,
    /// Its correlation id, from which its partition is derived.
    pub key: String,
    /// Whether its parent is not on this node.
    pub is_root: bool,
}

static WITH_KEYS: Statement = Statement::new(
    concat!(
        "SELECT i.id, i.correlation_id, ",
        is_root!(),
        " FROM workflow.instances i WHERE i.correlation_id = ANY ($1) AND i.definition_id <> ALL ($2)"
    ),
    &[Type::TextArray, Type::TextArray],
);

/// Instances with these correlation ids, excluding these definitions.
pub fn with_keys(keys: &[String], not_of: &[String]) -> Vec<Keyed> {
    WITH_KEYS.rows(&[Arg::Texts(keys), Arg::Texts(not_of)], |row| Keyed {
        id: row.get(),
        key: row.get(),
        is_root: row.get(),
    })
}

static LOCK: [Statement; 2] = [
    Statement::new(
        "SELECT 1 FROM workflow.instances i WHERE i.id = ANY ($1) ORDER BY i.id FOR UPDATE",
        &[Type::UuidArray],
    ),
    Statement::new(
        "SELECT 1 FROM workflow.bookmarks b WHERE b.instance_id = ANY ($1) ORDER BY b.id FOR UPDATE",
        &[Type::UuidArray],
    ),
];
static LOCK_KEYS: [Statement; 2] = [
    Statement::new(
        "SELECT 1 FROM workflow.bookmark_queue q WHERE q.correlation_id = ANY ($1) ORDER BY q.id FOR UPDATE",
        &[Type::TextArray],
    ),
    Statement::new(
        "SELECT 1 FROM workflow.triggers t WHERE t.correlation_id = ANY ($1) ORDER BY t.id FOR UPDATE",
        &[Type::TextArray],
    ),
];

/// Locks instances and their bookmarks; waits for sessions that have locked them.
pub fn lock(ids: &[Uuid]) {
    LOCK.iter().for_each(|statement| _ = statement.run(&[Arg::Uuids(ids)]));
}

/// Locks the rows of keys without an instance.
pub fn lock_keys(keys: &[String]) {
    LOCK_KEYS.iter().for_each(|statement| _ = statement.run(&[Arg::Texts(keys)]));
}

/// A statement that reads definition versions in the format of a bundle.
macro_rules! definitions {
    ($where:literal) => {
        concat!(
            "SELECT d.id, d.definition_id, d.version, d.owner, \
                    sha256(convert_to(d.document::text || COALESCE(d.numbering::text, ''), 'UTF8')) \
             FROM workflow.definitions d WHERE ",
            $where
        )
    };
}

static BY_ID: Statement = Statement::new(definitions!("d.id = ANY ($1)"), &[Type::UuidArray]);
static BY_NUMBER: Statement = Statement::new(
    definitions!("d.definition_id = $1 AND d.version = $2 AND d.deleted_at IS NULL"),
    &[Type::Text, Type::Integer],
);
static DELETED_BY_NUMBER: Statement = Statement::new(
    definitions!("d.definition_id = $1 AND d.version = $2 AND d.deleted_at IS NOT NULL FOR KEY SHARE OF d"),
    &[Type::Text, Type::Integer],
);

/// Definition versions by id.
pub fn definitions(ids: &[Uuid]) -> Vec<Definition> {
    BY_ID.rows(&[Arg::Uuids(ids)], definition)
}

/// The definition versions that have a number, or had it before they were deleted.
pub fn versions(definition_id: &str, version: i32) -> Vec<Definition> {
    let number = [Arg::Text(definition_id), Arg::Integer(version)];
    let mut found = BY_NUMBER.rows(&number, definition);
    found.extend(DELETED_BY_NUMBER.rows(&number, definition));
    found
}

static UNENDED_OF_DELETED: Statement = Statement::new(
    "SELECT d.definition_id, d.version, i.id \
     FROM workflow.instances i JOIN workflow.definitions d ON d.id = i.definition_version_id \
     WHERE i.id = ANY ($1) AND d.deleted_at IS NOT NULL AND i.finished_at IS NULL LIMIT 1",
    &[Type::UuidArray],
);

/// A deleted definition version, and an instance of it that has not ended.
pub fn unended_of_deleted(ids: &[Uuid]) -> Option<(String, i32, Uuid)> {
    UNENDED_OF_DELETED.first(&[Arg::Uuids(ids)], |row| (row.get(), row.get(), row.get()))
}

fn definition(row: &mut Row<'_>) -> Definition {
    let (id, definition_id, version) = (row.get(), row.get(), row.get());
    let owner = owners::by_id(row.get()).title();
    let content = row.get::<Vec<u8>>().as_slice().try_into().unwrap_or_default();
    Definition { id, definition_id, version, owner, content }
}

static TAKEN_SCHEDULE: Statement = Statement::new(
    "SELECT t.owner, t.schedule_name FROM unnest($1, $2) AS n (owner, name) \
     JOIN workflow.triggers t ON t.owner = n.owner AND t.schedule_name = n.name ORDER BY 2 LIMIT 1",
    &[Type::IntegerArray, Type::TextArray],
);

/// A schedule that already exists for a role here: its owner and name.
pub fn taken_schedule(owners: &[i32], names: &[String]) -> Option<(i32, String)> {
    TAKEN_SCHEDULE.first(&[Arg::Integers(owners), Arg::Texts(names)], |row| (row.get(), row.get()))
}

static KEYS_OF: Statement = Statement::new(
    "SELECT i.id, i.correlation_id FROM workflow.instances i WHERE i.id = ANY ($1) AND i.correlation_id IS NOT NULL",
    &[Type::UuidArray],
);

/// The correlation ids of instances that have one.
pub fn keys_of(ids: &[Uuid]) -> Vec<(Uuid, String)> {
    KEYS_OF.rows(&[Arg::Uuids(ids)], |row| (row.get(), row.get()))
}

static ENDPOINTS: Statement = Statement::new(
    "SELECT i.definition_version_id, b.payload FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.instance_id = ANY ($1) AND b.activity_type IS NOT DISTINCT FROM 'Elsa.HttpEndpoint' AND b.payload IS NOT NULL",
    &[Type::UuidArray],
);

/// The endpoints at which instances wait: version and payload.
pub fn endpoints(ids: &[Uuid]) -> Vec<(Uuid, Value)> {
    ENDPOINTS.rows(&[Arg::Uuids(ids)], |row| (row.get(), row.get()))
}

static KNOWN: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i WHERE i.id = ANY ($1) ORDER BY i.id LIMIT 1",
    &[Type::UuidArray],
);

/// One of these instances that already exists here.
pub fn known(ids: &[Uuid]) -> Option<Uuid> {
    KNOWN.first(&[Arg::Uuids(ids)], |row| row.get())
}

static FIRST_DUE: Statement = Statement::new(
    "SELECT min(d.at) FROM ( \
         SELECT b.due_at FROM workflow.bookmarks b WHERE b.instance_id = ANY ($1) AND b.due_at IS NOT NULL \
         UNION ALL SELECT t.next_fire_at FROM workflow.triggers t WHERE t.correlation_id = ANY ($2) AND t.next_fire_at IS NOT NULL \
     ) AS d (at)",
    &[Type::UuidArray, Type::TextArray],
);

/// The earliest due time of these instances and keys.
pub fn first_due(ids: &[Uuid], keys: &[String]) -> Option<Timestamp> {
    FIRST_DUE.first(&[Arg::Uuids(ids), Arg::Texts(keys)], |row| row.maybe()).flatten()
}

static TASKS_OF: Statement = Statement::new(
    "SELECT b.id FROM workflow.bookmarks b \
     WHERE b.instance_id = ANY ($1) AND b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask'",
    &[Type::UuidArray],
);

/// The open tasks of instances.
pub fn tasks_of(ids: &[Uuid]) -> Vec<Uuid> {
    TASKS_OF.rows(&[Arg::Uuids(ids)], |row| row.get())
}

static NOTE_PIECE: Statement = Statement::new(
    "INSERT INTO workflow.imports (set_id, piece, digest, last_digest) VALUES ($1, $2, $3, $4)",
    &[Type::Uuid, Type::Integer, Type::Bytea, Type::Bytea],
);

/// Records that a piece of a set was imported. The transaction can commit only when the set is complete.
pub fn record_piece(set: &Uuid, piece: i32, digest: &Digest, last: Option<&Digest>) {
    let last = last.map_or(Arg::Null, |last| Arg::Bytea(last));
    NOTE_PIECE.run(&[Arg::Uuid(set), Arg::Integer(piece), Arg::Bytea(digest), last]);
}
