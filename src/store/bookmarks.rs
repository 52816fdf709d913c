//! Bookmark rows, and which of them a stimulus matches: one statement per shape of filter.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::bookmark::{Bookmark, Resumed};
use workflow_engine::program::NodeIx;

use crate::instance_columns;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::instances::{self, InstanceRow};

/// What a stimulus asks for; `None` matches anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Bookmark.
    pub bookmark_id: Option<Uuid>,
    /// Instance.
    pub instance_id: Option<Uuid>,
    /// Execution of an activity.
    pub activity_instance_id: Option<Uuid>,
    /// Hashes that count as a match: of the stimulus, with and without the activity instance.
    pub hashes: Vec<[u8; 32]>,
    /// Stimulus name.
    pub name: Option<String>,
    /// Correlation id.
    pub correlation_id: Option<String>,
    /// Activity type.
    pub activity_type: Option<String>,
    /// Activity id.
    pub activity_id: Option<String>,
}

impl Filter {
    /// Whether it asks for nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it matches a bookmark of this instance and correlation id.
    pub fn matches(&self, bookmark: &Bookmark, instance: Uuid, correlation_id: Option<&str>) -> bool {
        fn is<T: PartialEq>(wanted: Option<&T>, found: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        is(self.bookmark_id.as_ref(), &bookmark.id)
            && is(self.instance_id.as_ref(), &instance)
            && is(self.activity_instance_id.as_ref(), &bookmark.activity_instance_id)
            && (self.hashes.is_empty() || self.hashes.contains(&bookmark.hash))
            && is(self.name.as_ref(), &bookmark.name)
            && (self.correlation_id.is_none() || self.correlation_id.as_deref() == correlation_id)
            && is(self.activity_type.as_ref(), &bookmark.activity_type)
            && is(self.activity_id.as_ref(), &bookmark.activity_id)
    }
}

/// First eight bytes of a hash: the index key.
pub fn hash_key(hash: &[u8; 32]) -> i64 {
    let mut key = [0; 8];
    key.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(key)
}

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, \
         auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, payload, metadata) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    &[
        Type::Uuid,
        Type::Uuid,
        Type::Uuid,
        Type::BigInt,
        Type::Timestamp,
        Type::Timestamp,
        Type::Boolean,
        Type::Boolean,
        Type::Bytea,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Jsonb,
        Type::Jsonb,
    ],
);

/// Inserts a bookmark of an instance.
pub fn insert(bookmark: &Bookmark, instance: Uuid, correlation_id: Option<&str>, now: Timestamp) {
    INSERT.run(&[
        Arg::Uuid(&bookmark.id),
        Arg::Uuid(&instance),
        Arg::Uuid(&bookmark.activity_instance_id),
        Arg::BigInt(hash_key(&bookmark.hash)),
        Arg::Timestamp(now),
        Arg::time(bookmark.due_at.map(Into::into)),
        Arg::Boolean(bookmark.auto_burn),
        Arg::Boolean(bookmark.auto_complete),
        Arg::Bytea(&bookmark.hash),
        Arg::Text(&bookmark.activity_id),
        Arg::Text(&bookmark.node_id),
        Arg::Text(&bookmark.activity_type),
        Arg::Text(&bookmark.name),
        Arg::text(correlation_id),
        Arg::text(bookmark.callback.as_deref()),
        Arg::json(bookmark.payload.as_ref()),
        Arg::json(bookmark.metadata.as_ref()),
    ]);
}

/// A bookmark that is about to be resumed, with its locked instance.
#[derive(Debug)]
pub struct Waiting {
    /// What the engine needs.
    pub resumed: Resumed,
    /// The locked instance.
    pub row: InstanceRow,
    /// All of it, to put it back when its activity faults.
    pub bookmark: Bookmark,
}

macro_rules! with_instance {
    ($suffix:literal) => {
        concat!(
            "SELECT ",
            instance_columns!(),
            ", b.id, b.name, b.activity_instance_id, b.payload, b.metadata, b.callback, b.auto_burn, b.auto_complete, \
             b.activity_id, b.node_id, b.activity_type, b.hash, b.due_at \
             FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
             JOIN workflow.owners o ON o.id = i.owner WHERE b.id = $1 FOR NO KEY UPDATE OF i",
            $suffix
        )
    };
}

// One statement reads the bookmark and locks its instance. It may return a bookmark that the holder of the
// lock has used up meanwhile: `take` is what decides.
static LOCK: Statement = Statement::new(with_instance!(""), &[Type::Uuid]);
static TRY_LOCK: Statement = Statement::new(with_instance!(" SKIP LOCKED"), &[Type::Uuid]);
static TAKE: Statement = Statement::new("DELETE FROM workflow.bookmarks WHERE id = $1", &[Type::Uuid]);
static EXISTS: Statement = Statement::new("SELECT 1 FROM workflow.bookmarks WHERE id = $1", &[Type::Uuid]);

fn read_waiting(row: &mut Row<'_>) -> Waiting {
    let instance = instances::read(row);
    let resumed = Resumed {
        id: row.get(),
        name: row.get(),
        activity_instance_id: row.get(),
        payload: row.maybe(),
        metadata: row.maybe(),
        callback: row.maybe(),
        auto_burn: row.get(),
        auto_complete: row.get(),
    };
    let bookmark = Bookmark {
        id: resumed.id,
        node: NodeIx(0),
        activity_id: row.get(),
        node_id: row.get(),
        activity_type: row.get(),
        activity_instance_id: resumed.activity_instance_id,
        name: resumed.name.clone(),
        hash: hash_of(&row.get::<Vec<u8>>()),
        payload: resumed.payload.clone(),
        metadata: resumed.metadata.clone(),
        callback: resumed.callback.clone(),
        auto_burn: resumed.auto_burn,
        auto_complete: resumed.auto_complete,
        due_at: row.maybe::<Timestamp>().map(Into::into),
    };
    Waiting { row: instance, resumed, bookmark }
}

/// Reads a bookmark and locks its instance, waiting for whoever holds it.
pub fn lock(id: Uuid) -> Option<Waiting> {
    LOCK.first(&[Arg::Uuid(&id)], read_waiting)
}

/// Reads a bookmark and locks its instance, unless somebody holds that.
pub fn try_lock(id: Uuid) -> Option<Waiting> {
    TRY_LOCK.first(&[Arg::Uuid(&id)], read_waiting)
}

/// With the instance locked: uses the bookmark up (or finds that it is still there, if it is not used up by a
/// resume). `false`: somebody else won.
pub fn take(bookmark: &Resumed) -> bool {
    let statement = if bookmark.auto_burn { &TAKE } else { &EXISTS };
    statement.run(&[Arg::Uuid(&bookmark.id)]) > 0
}

/// Whether a bookmark is there, in this transaction's view.
pub fn exists(id: Uuid) -> bool {
    EXISTS.run(&[Arg::Uuid(&id)]) > 0
}

static DELETE: Statement = Statement::new("DELETE FROM workflow.bookmarks WHERE id = ANY ($1)", &[Type::UuidArray]);
static DELETE_OF_ACTIVITIES: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = ANY ($2)",
    &[Type::Uuid, Type::UuidArray],
);
static DELETE_ALL: Statement =
    Statement::new("DELETE FROM workflow.bookmarks WHERE instance_id = $1", &[Type::Uuid]);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET correlation_id = $2 WHERE instance_id = $1",
    &[Type::Uuid, Type::Text],
);
static POSTPONE: Statement =
    Statement::new("UPDATE workflow.bookmarks SET due_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]);

/// Removes bookmarks by id.
pub fn delete(ids: &[Uuid]) {
    DELETE.run(&[Arg::Uuids(ids)]);
}

/// Removes the bookmarks of executions of activities.
pub fn delete_of_activities(instance: Uuid, activity_instances: &[Uuid]) {
    DELETE_OF_ACTIVITIES.run(&[Arg::Uuid(&instance), Arg::Uuids(activity_instances)]);
}

/// Removes all bookmarks of an instance.
pub fn delete_all(instance: Uuid) {
    DELETE_ALL.run(&[Arg::Uuid(&instance)]);
}

/// Gives the bookmarks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}

/// Moves a bookmark's due time.
pub fn postpone(id: Uuid, until: Timestamp) {
    POSTPONE.run(&[Arg::Uuid(&id), Arg::Timestamp(until)]);
}

/// A bookmark as a stored row: what matching and results need.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Instance that waits.
    pub instance_id: Uuid,
    /// The bookmark.
    pub bookmark: Bookmark,
    /// Correlation id.
    pub correlation_id: Option<String>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT b.instance_id, b.id, b.activity_id, b.node_id, b.activity_type, b.activity_instance_id, b.name, b.hash, \
             b.payload, b.correlation_id FROM workflow.bookmarks b ",
            $rest
        )
    };
}

fn read_stored(row: &mut Row<'_>) -> Stored {
    let instance_id = row.get();
    let bookmark = Bookmark {
        id: row.get(),
        node: NodeIx(0),
        activity_id: row.get(),
        node_id: row.get(),
        activity_type: row.get(),
        activity_instance_id: row.get(),
        name: row.get(),
        hash: hash_of(&row.get::<Vec<u8>>()),
        payload: row.maybe::<Value>(),
        metadata: None,
        callback: None,
        auto_burn: true,
        auto_complete: true,
        due_at: None,
    };
    Stored { instance_id, bookmark, correlation_id: row.maybe() }
}

/// A stored hash; a damaged one matches nothing.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or([0; 32])
}

static BY_ID: Statement = Statement::new(select!("WHERE b.id = $1"), &[Type::Uuid]);
static BY_INSTANCE: Statement =
    Statement::new(select!("WHERE b.instance_id = $1 ORDER BY b.id"), &[Type::Uuid]);
static BY_HASH: Statement =
    Statement::new(select!("WHERE b.hash_key = ANY ($1) ORDER BY b.instance_id, b.id"), &[Type::BigIntArray]);
static BY_HASH_AND_CORRELATION: Statement = Statement::new(
    select!("WHERE b.hash_key = ANY ($1) AND b.correlation_id = $2 ORDER BY b.instance_id, b.id"),
    &[Type::BigIntArray, Type::Text],
);
static BY_CORRELATION: Statement = Statement::new(
    select!(
        "JOIN workflow.instances i ON i.id = b.instance_id WHERE i.correlation_id = $1 ORDER BY b.instance_id, b.id"
    ),
    &[Type::Text],
);
static BY_ACTIVITY: Statement =
    Statement::new(select!("WHERE b.activity_id = $1 ORDER BY b.instance_id, b.id"), &[Type::Text]);
static BY_NAME: Statement =
    Statement::new(select!("WHERE b.name = $1 ORDER BY b.instance_id, b.id"), &[Type::Text]);
// A bookmark is nearly always named after its type, so one index on the name and a small one on the types
// that differ answer this.
static BY_TYPE: Statement = Statement::new(
    concat!(
        select!("WHERE b.name = $1 AND b.activity_type = $1 "),
        "UNION ALL ",
        select!("WHERE b.activity_type = $1 AND b.activity_type <> b.name ORDER BY 1, 2")
    ),
    &[Type::Text],
);

/// The bookmarks that a filter matches, in order of instance.
pub fn find(filter: &Filter) -> Vec<Stored> {
    let mut found = candidates(filter);
    found.retain(|stored| {
        filter.matches(&stored.bookmark, stored.instance_id, stored.correlation_id.as_deref())
    });
    found
}

fn candidates(filter: &Filter) -> Vec<Stored> {
    let keys: Vec<i64> = filter.hashes.iter().map(hash_key).collect();
    if let Some(id) = &filter.bookmark_id {
        return BY_ID.rows(&[Arg::Uuid(id)], read_stored);
    }
    if let Some(execution) = &filter.activity_instance_id
        && filter.instance_id.is_none()
        && keys.is_empty()
    {
        // Which instance an execution belongs to is not indexed; its id differs from the instance's only in
        // the last four bytes, so a range of the primary key finds it.
        return BY_EXECUTION.rows(&[Arg::Uuid(execution)], read_stored);
    }
    if let Some(id) = &filter.instance_id {
        return BY_INSTANCE.rows(&[Arg::Uuid(id)], read_stored);
    }
    if !keys.is_empty() {
        return match &filter.correlation_id {
            Some(id) => BY_HASH_AND_CORRELATION.rows(&[Arg::BigInts(&keys), Arg::Text(id)], read_stored),
            None => BY_HASH.rows(&[Arg::BigInts(&keys)], read_stored),
        };
    }
    if let Some(id) = &filter.correlation_id {
        return BY_CORRELATION.rows(&[Arg::Text(id)], read_stored);
    }
    if let Some(id) = &filter.activity_id {
        return BY_ACTIVITY.rows(&[Arg::Text(id)], read_stored);
    }
    if let Some(name) = &filter.name {
        return BY_NAME.rows(&[Arg::Text(name)], read_stored);
    }
    match &filter.activity_type {
        Some(kind) => BY_TYPE.rows(&[Arg::Text(kind)], read_stored),
        None => Vec::new(),
    }
}

static BY_EXECUTION: Statement = Statement::new(
    select!(
        "WHERE b.instance_id BETWEEN (substr($1::text, 1, 28) || '00000000')::uuid \
         AND (substr($1::text, 1, 28) || 'ffffffff')::uuid AND b.activity_instance_id = $1 ORDER BY b.id"
    ),
    &[Type::Uuid],
);

/// The bookmarks of an instance.
pub fn of_instance(instance: Uuid) -> Vec<Stored> {
    BY_INSTANCE.rows(&[Arg::Uuid(&instance)], read_stored)
}

static DUE: Statement = Statement::new(
    "SELECT b.id, b.due_at FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.due_at <= $1 AND (b.due_at, b.id) > ($2, $3) AND i.sub_status <> 'Faulted' \
     ORDER BY b.due_at, b.id LIMIT 100",
    &[Type::Timestamp, Type::Timestamp, Type::Uuid],
);

/// Bookmarks that are due at `now`, earliest first, after a certain one; at most 100. Those of faulted
/// instances are held.
pub fn due(now: Timestamp, after: (Timestamp, Uuid)) -> Vec<(Uuid, Timestamp)> {
    let (due_at, id) = after;
    DUE.rows(&[Arg::Timestamp(now), Arg::Timestamp(due_at), Arg::Uuid(&id)], |row| (row.get(), row.get()))
}
