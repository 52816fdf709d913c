//! Bookmark rows, and which of them a stimulus matches: one statement per shape of filter.

use uuid::Uuid;
use workflow_engine::bookmark::{Bookmark, Resumed};
use workflow_engine::program::NodeIx;

use crate::instance_columns;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::batch::{Batch, Part};
use crate::store::identity;
use crate::store::instances::{self, InstanceRow};
use crate::store::owners::{self, Owner};
use crate::wake;

/// First eight bytes of a hash: the index key.
pub fn hash_key(hash: &[u8; 32]) -> i64 {
    let mut key = [0; 8];
    key.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(key)
}

/// A stored hash; a damaged one matches nothing.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().unwrap_or([0; 32])
}

static INSERT: Part = Part {
    name: "bookmarked",
    sql: "INSERT INTO workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, \
              auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, payload, metadata) \
          SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM {decides}",
    types: INSERT_TYPES,
    decides: false,
};
static INSERT_ALONE: Statement = Statement::new(
    "INSERT INTO workflow.bookmarks (id, instance_id, activity_instance_id, hash_key, created_at, due_at, auto_burn, \
         auto_complete, hash, activity_id, node_id, activity_type, name, correlation_id, callback, payload, metadata) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    INSERT_TYPES,
);
const INSERT_TYPES: &[Type] = &[
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
];

/// Inserts a bookmark of an instance.
pub fn insert(bookmark: &Bookmark, instance: &Uuid, correlation_id: Option<&str>, now: Timestamp) {
    note(bookmark);
    INSERT_ALONE.run(&arguments(bookmark, instance, correlation_id, now));
}

/// Tells the workers, when this transaction commits.
fn note(bookmark: &Bookmark) {
    wake::bookmarks();
    if let Some(due_at) = bookmark.due_at {
        identity::claim();
        wake::due(due_at.into());
    }
}

/// Adds the insertion of a bookmark, if there is room.
pub fn push_insert<'a>(
    batch: &mut Batch<'a>,
    bookmark: &'a Bookmark,
    instance: &'a Uuid,
    correlation_id: Option<&'a str>,
    now: Timestamp,
) -> bool {
    let has_room = batch.has_room_for(&INSERT);
    if has_room {
        note(bookmark);
        batch.push(&INSERT, &arguments(bookmark, instance, correlation_id, now));
    }
    has_room
}

fn arguments<'a>(
    bookmark: &'a Bookmark,
    instance: &'a Uuid,
    correlation_id: Option<&'a str>,
    now: Timestamp,
) -> [Arg<'a>; 17] {
    [
        Arg::Uuid(&bookmark.id),
        Arg::Uuid(instance),
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
    ]
}

static TAKE_PART: Part =
    Part { name: "taken", sql: "DELETE FROM workflow.bookmarks WHERE id = ?", types: &[Type::Uuid], decides: false };

/// Adds the taking of a locked bookmark.
pub fn push_take<'a>(batch: &mut Batch<'a>, id: &'a Uuid) {
    wake::bookmarks();
    batch.push(&TAKE_PART, &[Arg::Uuid(id)]);
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
             WHERE b.id = $1 FOR NO KEY UPDATE OF i, b",
            $suffix
        )
    };
}

// One statement reads the bookmark, locks its instance and then the bookmark, in the order in which they are named.
// A bookmark that the holder of the instance has used up meanwhile is not returned: this lock is what decides
// between two resumers.
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

/// Reads a bookmark and locks its instance and it, waiting for whoever holds that.
pub fn lock(id: Uuid) -> Option<Waiting> {
    LOCK.first(&[Arg::Uuid(&id)], read_waiting)
}

/// Reads a bookmark and locks its instance and it, unless somebody holds one of them.
pub fn try_lock(id: Uuid) -> Option<Waiting> {
    TRY_LOCK.first(&[Arg::Uuid(&id)], read_waiting)
}

/// Uses a locked bookmark up.
pub fn take(id: Uuid) {
    wake::bookmarks();
    TAKE.run(&[Arg::Uuid(&id)]);
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
static DELETE_ALL: Statement = Statement::new("DELETE FROM workflow.bookmarks WHERE instance_id = $1", &[Type::Uuid]);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.bookmarks SET correlation_id = $2 WHERE instance_id = $1",
    &[Type::Uuid, Type::Text],
);

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
    wake::bookmarks();
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}

/// A due bookmark, read without a lock.
#[derive(Debug)]
pub struct Due {
    /// The bookmark.
    pub bookmark: Uuid,
    /// When it was due.
    pub due_at: Timestamp,
    /// Its instance.
    pub instance: Uuid,
    /// The definition version of that.
    pub definition_version: Uuid,
    /// The owner of that.
    pub owner: Owner,
}

static DUE: Statement = Statement::new(
    "SELECT b.id, b.due_at, b.instance_id, i.definition_version_id, i.owner FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.due_at <= $1 AND (b.due_at, b.id) > ($2, $3) AND i.sub_status <> 'Faulted' \
         AND b.activity_type <> 'Workflow.ScheduledCommand' \
     ORDER BY b.due_at, b.id LIMIT 100",
    &[Type::Timestamp, Type::Timestamp, Type::Uuid],
);

/// Bookmarks that are due at `now`, earliest first, after a certain one; at most 100. Those of faulted instances are
/// held. A command that runs outside a transaction block is left to a worker: whoever asks here is inside one.
pub fn due(now: Timestamp, after: (Timestamp, Uuid)) -> Vec<Due> {
    let (due_at, id) = after;
    DUE.rows(&[Arg::Timestamp(now), Arg::Timestamp(due_at), Arg::Uuid(&id)], |row| Due {
        bookmark: row.get(),
        due_at: row.get(),
        instance: row.get(),
        definition_version: row.get(),
        owner: owners::by_id(row.get()),
    })
}
