//! Instance rows. Whoever changes anything of an instance holds the lock that `lock` takes.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::Changed;
use workflow_engine::instance::{Instance, SubStatus, codec};

use crate::pg::error::unwind;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::batch::{Batch, Part};
use crate::store::owners::{self, Owner};

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
#[macro_export]
macro_rules! instance_columns {
    () => {
        "i.id, i.version, i.correlation_id, i.name, i.sub_status, i.input, i.output, i.variables, i.incident_count, \
         i.state, i.definition_version_id, i.definition_id, i.activation_key, i.schedule_id, \
         i.parent_instance_id, i.parent_bookmark_id, i.owner"
    };
}

/// Reads an instance from a row that begins with [`instance_columns!`].
pub fn read(row: &mut Row<'_>) -> InstanceRow {
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

static LOCK: Statement = Statement::new(
    concat!("SELECT ", instance_columns!(), " FROM workflow.instances i WHERE i.id = $1 FOR NO KEY UPDATE OF i"),
    &[Type::Uuid],
);
static READ: Statement = Statement::new(
    concat!("SELECT ", instance_columns!(), " FROM workflow.instances i WHERE i.id = $1"),
    &[Type::Uuid],
);

/// Locks an instance, waiting for whoever holds it.
pub fn lock(id: Uuid) -> Option<InstanceRow> {
    LOCK.first(&[Arg::Uuid(&id)], read)
}

/// Reads an instance without a lock.
pub fn get(id: Uuid) -> Option<InstanceRow> {
    READ.first(&[Arg::Uuid(&id)], read)
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

const INSERT_TYPES: &[Type] = &[
    Type::Uuid,
    Type::Uuid,
    Type::Text,
    Type::Integer,
    Type::Integer,
    Type::Text,
    Type::Text,
    Type::Integer,
    Type::Timestamp,
    Type::Timestamp,
    Type::Timestamp,
    Type::Text,
    Type::Text,
    Type::Text,
    Type::Bytea,
    Type::Jsonb,
    Type::Jsonb,
    Type::Jsonb,
];

macro_rules! insert {
    ($suffix:literal) => {
        insert!("", "", $suffix)
    };
    ($column:literal, $value:literal, $suffix:literal) => {
        concat!(
            "INSERT INTO workflow.instances (id, definition_version_id, definition_id, version, owner, status, sub_status, \
                 incident_count, created_at, updated_at, finished_at, correlation_id, name, activation_key, state, \
                 variables, input, output",
            $column,
            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?",
            $value,
            ")",
            $suffix
        )
    };
}

static INSERT: Part = Part { name: "inserted", sql: insert!(""), types: INSERT_TYPES, decides: false };
// Waits for a transaction that is inserting the same id or activation key, and does nothing if it commits.
static INSERT_UNLESS_TAKEN: Part = Part {
    name: "inserted_unless_taken",
    sql: insert!(" ON CONFLICT DO NOTHING RETURNING id"),
    types: INSERT_TYPES,
    decides: true,
};
const INSERT_SCHEDULED_TYPES: &[Type] = &with_ids::<{ INSERT_TYPES.len() + 1 }>();
static INSERT_SCHEDULED: Part = Part {
    name: "inserted_scheduled",
    sql: insert!(", schedule_id", ", ?", " ON CONFLICT DO NOTHING RETURNING id"),
    types: INSERT_SCHEDULED_TYPES,
    decides: true,
};

const INSERT_CHILD_TYPES: &[Type] = &with_ids::<{ INSERT_TYPES.len() + 2 }>();
static INSERT_CHILD: Part = Part {
    name: "inserted_child",
    sql: insert!(", parent_instance_id, parent_bookmark_id", ", ?, ?", " ON CONFLICT DO NOTHING RETURNING id"),
    types: INSERT_CHILD_TYPES,
    decides: true,
};

/// The parameters of an insertion, and then ids.
const fn with_ids<const N: usize>() -> [Type; N] {
    let mut types = [Type::Uuid; N];
    let mut i = 0;
    while i < INSERT_TYPES.len() {
        types[i] = INSERT_TYPES[i];
        i += 1;
    }
    types
}

/// Inserts an instance. `false`: its id or activation key is taken, possible only where the caller said so.
pub fn insert(row: &InstanceRow, now: Timestamp, may_be_taken: bool) -> bool {
    let state = codec::encode_state(&row.instance.state);
    let mut batch = Batch::default();
    push_insert(&mut batch, row, &state, now, may_be_taken);
    batch.run().is_done
}

/// Adds the insertion of an instance; it decides where its id or activation key may be taken.
pub fn push_insert<'a>(
    batch: &mut Batch<'a>,
    row: &'a InstanceRow,
    state: &'a [u8],
    now: Timestamp,
    may_be_taken: bool,
) {
    let args = insert_args(row, state, now);
    match (&row.schedule_id, &row.parent) {
        (Some(schedule), _) => {
            let mut args = args.to_vec();
            args.push(Arg::Uuid(schedule));
            batch.push(&INSERT_SCHEDULED, &args);
        }
        (None, Some(parent)) => {
            let mut args = args.to_vec();
            args.extend([Arg::Uuid(&parent.instance), Arg::uuid(parent.bookmark.as_ref())]);
            batch.push(&INSERT_CHILD, &args);
        }
        (None, None) => batch.push(if may_be_taken { &INSERT_UNLESS_TAKEN } else { &INSERT }, &args),
    }
}

fn insert_args<'a>(row: &'a InstanceRow, state: &'a [u8], now: Timestamp) -> [Arg<'a>; INSERT_TYPES.len()] {
    let instance = &row.instance;
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
        Arg::time(finished_at(instance.sub_status, now)),
        Arg::text(instance.correlation_id.as_deref()),
        Arg::text(instance.name.as_deref()),
        Arg::text(row.activation_key.as_deref()),
        Arg::Bytea(state),
        Arg::Object(&instance.variables),
        Arg::Object(&instance.input),
        output(instance),
    ]
}

fn output(instance: &Instance) -> Arg<'_> {
    if instance.output.is_empty() { Arg::Null } else { Arg::Object(&instance.output) }
}

/// A faulted instance has not finished: it can go on.
fn finished_at(sub_status: SubStatus, now: Timestamp) -> Option<Timestamp> {
    matches!(sub_status, SubStatus::Finished | SubStatus::Cancelled).then_some(now)
}

const UPDATE_TYPES: &[Type] =
    &[Type::Text, Type::Text, Type::Integer, Type::Timestamp, Type::Timestamp, Type::Bytea, Type::Uuid];

const UPDATE_ALL_TYPES: &[Type] = &[
    Type::Text,
    Type::Text,
    Type::Integer,
    Type::Timestamp,
    Type::Timestamp,
    Type::Bytea,
    Type::Boolean,
    Type::Jsonb,
    Type::Boolean,
    Type::Jsonb,
    Type::Text,
    Type::Text,
    Type::Text,
    Type::Uuid,
];

macro_rules! update {
    ($more:literal) => {
        concat!(
            "UPDATE workflow.instances i SET status = ?, sub_status = ?, incident_count = ?, updated_at = ?, \
                 finished_at = ?, state = ?",
            $more,
            " WHERE i.id = ?"
        )
    };
}

static UPDATE: Part = Part { name: "updated", sql: update!(""), types: UPDATE_TYPES, decides: false };
// A CASE that takes the old value keeps its toasted form: a large variable that did not change is not
// written again.
static UPDATE_ALL: Part = Part {
    name: "updated",
    sql: update!(
        ", variables = CASE WHEN ? THEN ? ELSE i.variables END, output = CASE WHEN ? THEN ? ELSE i.output END, \
         name = ?, correlation_id = ?, activation_key = ?"
    ),
    types: UPDATE_ALL_TYPES,
    decides: false,
};

/// Adds the update of what a burst changed in a locked instance. `key_before` is the activation key that the row has.
pub fn push_update<'a>(
    batch: &mut Batch<'a>,
    row: &'a InstanceRow,
    state: &'a [u8],
    changed: &Changed,
    key_before: Option<&str>,
    now: Timestamp,
) {
    let instance = &row.instance;
    let mut args = vec![
        Arg::Text(instance.sub_status.status().name()),
        Arg::Text(instance.sub_status.name()),
        Arg::Integer(instance.incident_count as i32),
        Arg::Timestamp(now),
        Arg::time(finished_at(instance.sub_status, now)),
        Arg::Bytea(state),
    ];
    let same_key = row.activation_key.as_deref() == key_before;
    let is_small = same_key && !changed.variables && !changed.output && !changed.name && !changed.correlation_id;
    if !is_small {
        args.extend([
            Arg::Boolean(changed.variables),
            if changed.variables { Arg::Object(&instance.variables) } else { Arg::Null },
            Arg::Boolean(changed.output),
            if changed.output { output(instance) } else { Arg::Null },
            Arg::text(instance.name.as_deref()),
            Arg::text(instance.correlation_id.as_deref()),
            Arg::text(row.activation_key.as_deref()),
        ]);
    }
    args.push(Arg::Uuid(&instance.id));
    batch.push(if is_small { &UPDATE } else { &UPDATE_ALL }, &args);
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
