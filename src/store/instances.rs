//! Instance rows. A session that changes anything of an instance holds the lock that `lock` takes.

use std::ffi::CStr;

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::Changed;
use workflow_engine::instance::{Instance, SubStatus, codec};

use crate::pg::error::unwind;
use crate::pg::memory;
use crate::pg::rows::{self, Columns, Wait, Writer, types};
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::owners::{self, Owner};
use crate::wake;

/// An instance with what the shell knows about it.
#[derive(Debug)]
pub struct InstanceRow {
    /// What the engine works on.
    pub instance: Instance,
    /// The definition version it is pinned to.
    pub definition_version_id: Uuid,
    /// Logical id of the definition.
    pub definition_id: String,
    /// Owner.
    pub owner: Owner,
    /// What it excludes others by.
    pub activation_key: Option<String>,
    /// The trigger that time fired to start it.
    pub schedule_id: Option<Uuid>,
    /// The instance that started it.
    pub parent: Option<Parent>,
    /// All its open bookmarks, where the burst just run made them all.
    pub open: Option<Vec<Bookmark>>,
}

/// The instance that started another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Its id.
    pub instance: Uuid,
    /// Its bookmark that waits for the end of the child.
    pub bookmark: Option<Uuid>,
}

/// The columns that [`read`] reads, in its order.
static STORED: Columns = Columns::of(
    c"instances",
    &[
        (c"id", Type::Uuid),
        (c"version", Type::Integer),
        (c"correlation_id", Type::Text),
        (c"name", Type::Text),
        (c"sub_status", Type::Text),
        (c"input", Type::Jsonb),
        (c"output", Type::Jsonb),
        (c"variables", Type::Jsonb),
        (c"incident_count", Type::Integer),
        (c"state", Type::Bytea),
        (c"definition_version_id", Type::Uuid),
        (c"definition_id", Type::Text),
        (c"activation_key", Type::Text),
        (c"schedule_id", Type::Uuid),
        (c"parent_instance_id", Type::Uuid),
        (c"parent_bookmark_id", Type::Uuid),
        (c"owner", Type::Integer),
    ],
);

fn read(row: &mut Row<'_>) -> InstanceRow {
    let id: Uuid = row.get();
    let version = row.get();
    let correlation_id = row.maybe();
    let name = row.maybe();
    let sub_status: String = row.get();
    let input = row.get();
    let output: Option<Map<String, Value>> = row.maybe();
    let variables = row.get();
    let incident_count: i32 = row.get();
    let state: Vec<u8> = row.get();
    let state = codec::decode_state(&state).unwrap_or_else(|error| unwind(crate::error::burst(error, id)));
    InstanceRow {
        instance: Instance {
            id,
            version,
            correlation_id,
            name,
            sub_status: SubStatus::from_name(&sub_status).unwrap_or(SubStatus::Suspended),
            input,
            output: output.unwrap_or_default(),
            variables,
            incident_count: incident_count.unsigned_abs(),
            state,
        },
        definition_version_id: row.get(),
        definition_id: row.get(),
        activation_key: row.maybe(),
        schedule_id: row.maybe(),
        parent: parent(row.maybe(), row.maybe()),
        owner: owners::by_id(row.get()),
        open: None,
    }
}

fn parent(instance: Option<Uuid>, bookmark: Option<Uuid>) -> Option<Parent> {
    instance.map(|instance| Parent { instance, bookmark })
}

/// Locks the table as the lock of a row does, before that of bookmarks: DDL that takes both in the order in which they
/// were made waits, or makes a call wait.
pub fn announce_lock() {
    rows::lock_table(&STORED);
}

/// Locks an instance, waiting for the session that holds it.
pub fn lock(id: Uuid) -> Option<InstanceRow> {
    lock_with(id, Wait::Block)
}

/// Locks an instance; whether a session that holds it is waited for is the caller's choice.
pub fn lock_with(id: Uuid, wait: Wait) -> Option<InstanceRow> {
    rows::lock(&STORED, Arg::Uuid(&id), wait, read)
}

/// Reads an instance without a lock.
pub fn get(id: Uuid) -> Option<InstanceRow> {
    rows::read(&STORED, Arg::Uuid(&id), read)
}

static OWNER: Statement = Statement::new(
    "SELECT i.definition_version_id, i.owner \
     FROM workflow.instances i WHERE i.id = $1",
    &[Type::Uuid],
);

/// The definition version and the owner of an instance, without a lock.
pub fn owner(id: Uuid) -> Option<(Uuid, Owner)> {
    OWNER.first(&[Arg::Uuid(&id)], |row| (row.get(), owners::by_id(row.get())))
}

static STATUS: Columns = Columns::of(c"instances", &[(c"id", Type::Uuid), (c"sub_status", Type::Text)]);

/// Whether an instance is faulted, read without a lock.
pub fn is_faulted(id: Uuid) -> bool {
    rows::read(&STATUS, Arg::Uuid(&id), |row| {
        let _id: Uuid = row.get();
        row.get::<String>() == SubStatus::Faulted.name()
    }) == Some(true)
}

const COLUMNS: [(&CStr, Type); 21] = [
    (c"id", Type::Uuid),
    (c"definition_version_id", Type::Uuid),
    (c"definition_id", Type::Text),
    (c"version", Type::Integer),
    (c"owner", Type::Integer),
    (c"status", Type::Text),
    (c"sub_status", Type::Text),
    (c"incident_count", Type::Integer),
    (c"created_at", Type::Timestamp),
    (c"updated_at", Type::Timestamp),
    (c"finished_at", Type::Timestamp),
    (c"correlation_id", Type::Text),
    (c"name", Type::Text),
    (c"activation_key", Type::Text),
    (c"state", Type::Bytea),
    (c"variables", Type::Jsonb),
    (c"input", Type::Jsonb),
    (c"output", Type::Jsonb),
    (c"schedule_id", Type::Uuid),
    (c"parent_instance_id", Type::Uuid),
    (c"parent_bookmark_id", Type::Uuid),
];
static ROW: Columns = Columns::of(c"instances", &COLUMNS);
// Waits for a transaction that is inserting the same id or activation key, and does nothing if it commits.
static INSERT_UNLESS_TAKEN: Statement = Statement::new(
    "INSERT INTO workflow.instances (id, definition_version_id, definition_id, version, owner, status, sub_status, \
         incident_count, created_at, updated_at, finished_at, correlation_id, name, activation_key, state, variables, \
         input, output, schedule_id, parent_instance_id, parent_bookmark_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) \
     ON CONFLICT DO NOTHING",
    &types(&COLUMNS),
);

/// The state of an instance in bytes.
fn packed(instance: &Instance) -> Vec<u8> {
    let size = memory::room_to_pack(|| codec::packed_size(&instance.state));
    codec::encode_state_of(&instance.state, size)
}

/// Inserts an instance. `false`: its id or activation key is taken.
pub fn insert_unless_taken(row: &InstanceRow, now: Timestamp) -> bool {
    let state = packed(&row.instance);
    INSERT_UNLESS_TAKEN.run(&values(row, &state, now)) > 0
}

/// Inserts an instance whose id and activation key no instance has.
pub fn insert(writer: &mut Writer, row: &InstanceRow, now: Timestamp) {
    let state = packed(&row.instance);
    writer.insert(&ROW, &values(row, &state, now));
}

fn values<'a>(row: &'a InstanceRow, state: &'a [u8], now: Timestamp) -> [Arg<'a>; COLUMNS.len()] {
    let instance = &row.instance;
    let parent = row.parent.as_ref();
    [
        Arg::Uuid(&instance.id),
        Arg::Uuid(&row.definition_version_id),
        Arg::Text(&row.definition_id),
        Arg::Integer(instance.version),
        Arg::Integer(row.owner.id),
        Arg::Text(instance.sub_status.status().name()),
        Arg::Text(instance.sub_status.name()),
        Arg::Integer(instance.incident_count as i32),
        Arg::Timestamp(now),
        Arg::Timestamp(now),
        Arg::time(finished_at(instance, now)),
        Arg::text(instance.correlation_id.as_deref()),
        Arg::text(instance.name.as_deref()),
        Arg::text(row.activation_key.as_deref()),
        Arg::Bytea(state),
        Arg::Object(&instance.variables),
        Arg::Object(&instance.input),
        output(instance),
        Arg::uuid(row.schedule_id.as_ref()),
        Arg::uuid(parent.map(|parent| &parent.instance)),
        Arg::uuid(parent.and_then(|parent| parent.bookmark.as_ref())),
    ]
}

fn output(instance: &Instance) -> Arg<'_> {
    if instance.output.is_empty() { Arg::Null } else { Arg::Object(&instance.output) }
}

/// A faulted instance has not finished: it can go on.
fn finished_at(instance: &Instance, now: Timestamp) -> Option<Timestamp> {
    let has_ended = matches!(instance.sub_status, SubStatus::Finished | SubStatus::Cancelled);
    has_ended.then(|| {
        wake::note_ended(&instance.id);
        now
    })
}

static CHANGES: Columns = Columns::of(
    c"instances",
    &[
        (c"id", Type::Uuid),
        (c"status", Type::Text),
        (c"sub_status", Type::Text),
        (c"incident_count", Type::Integer),
        (c"updated_at", Type::Timestamp),
        (c"finished_at", Type::Timestamp),
        (c"state", Type::Bytea),
        (c"variables", Type::Jsonb),
        (c"output", Type::Jsonb),
        (c"name", Type::Text),
        (c"correlation_id", Type::Text),
        (c"activation_key", Type::Text),
    ],
);

/// Writes what a burst changed in a locked instance. `key_before` is the activation key that the row has.
pub fn update(writer: &mut Writer, row: &InstanceRow, changed: &Changed, key_before: Option<&str>, now: Timestamp) {
    let instance = &row.instance;
    let key = row.activation_key.as_deref();
    let state = packed(instance);
    let values = [
        Some(Arg::Text(instance.sub_status.status().name())),
        Some(Arg::Text(instance.sub_status.name())),
        Some(Arg::Integer(instance.incident_count as i32)),
        Some(Arg::Timestamp(now)),
        Some(Arg::time(finished_at(instance, now))),
        Some(Arg::Bytea(&state)),
        changed.variables.then_some(Arg::Object(&instance.variables)),
        changed.output.then_some(output(instance)),
        changed.name.then_some(Arg::text(instance.name.as_deref())),
        changed.correlation_id.then_some(Arg::text(instance.correlation_id.as_deref())),
        (key != key_before).then_some(Arg::text(key)),
    ];
    writer.update(&CHANGES, Arg::Uuid(&instance.id), &values);
}

static HOLDER: Statement = Statement::new("SELECT id FROM workflow.instances WHERE activation_key = $1", &[Type::Text]);
static SET_KEY: Statement = Statement::new(
    "UPDATE workflow.instances SET activation_key = $2, correlation_id = $3 WHERE id = $1",
    &[Type::Uuid, Type::Text, Type::Text],
);
static CHILDREN: Statement =
    Statement::new("SELECT id FROM workflow.instances WHERE parent_instance_id = $1 ORDER BY id", &[Type::Uuid]);

/// The instance that holds an activation key.
pub fn holder(key: &str) -> Option<Uuid> {
    HOLDER.first(&[Arg::Text(key)], |row| row.get())
}

/// Takes an activation key for an instance; a taken one is a unique violation (23505).
pub fn set_key(id: Uuid, key: Option<&str>, correlation_id: Option<&str>) {
    SET_KEY.run(&[Arg::Uuid(&id), Arg::text(key), Arg::text(correlation_id)]);
}

static SET_OWNER: Statement = Statement::new(
    "UPDATE workflow.instances SET owner = $2, state = $3 WHERE id = $1",
    &[Type::Uuid, Type::Integer, Type::Bytea],
);

/// Gives a locked instance to another owner, and stores its state, which counts the rows of its journal.
pub fn set_owner(instance: &Instance, owner: i32) {
    SET_OWNER.run(&[Arg::Uuid(&instance.id), Arg::Integer(owner), Arg::Bytea(&packed(instance))]);
}

static FORGET_PARENT: Statement =
    Statement::new("UPDATE workflow.instances SET parent_bookmark_id = NULL WHERE id = $1", &[Type::Uuid]);

/// The parent has heard of this instance, and waits for it no longer.
pub fn forget_parent(id: Uuid) {
    FORGET_PARENT.run(&[Arg::Uuid(&id)]);
}

/// Instances that this one started, in order of id.
pub fn children(id: Uuid) -> Vec<Uuid> {
    CHILDREN.rows(&[Arg::Uuid(&id)], |row| row.get())
}

static DELETE: [Statement; 6] = [
    Statement::new("DELETE FROM workflow.bookmarks WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("DELETE FROM workflow.tasks WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("DELETE FROM workflow.incidents WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("DELETE FROM workflow.execution_log WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("DELETE FROM workflow.bookmark_queue WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("DELETE FROM workflow.instances WHERE id = $1", &[Type::Uuid]),
];

/// Removes an instance and all that belongs to it.
pub fn delete(id: Uuid) {
    for statement in &DELETE {
        statement.run(&[Arg::Uuid(&id)]);
    }
}
