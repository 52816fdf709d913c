//! Instance rows. Whoever changes anything of an instance holds the lock that `lock` takes.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::execution::Changed;
use workflow_engine::instance::{Instance, SubStatus, codec};

use crate::pg::error::unwind;
use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::owners::Owner;

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
}

/// The columns that [`read`] reads, in its order.
#[macro_export]
macro_rules! instance_columns {
    () => {
        "i.id, i.version, i.correlation_id, i.name, i.sub_status, i.input, i.output, i.variables, i.incident_count, \
         i.state, i.definition_version_id, i.definition_id, i.activation_key, o.id, o.role, o.system_identifier, o.name"
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
        owner: Owner::read(row),
    }
}

macro_rules! lock {
    ($suffix:literal) => {
        concat!(
            "SELECT ",
            instance_columns!(),
            " FROM workflow.instances i JOIN workflow.owners o ON o.id = i.owner WHERE i.id = $1 \
             FOR NO KEY UPDATE OF i",
            $suffix
        )
    };
}

static LOCK: Statement = Statement::new(lock!(""), &[Type::Uuid]);
static TRY_LOCK: Statement = Statement::new(lock!(" SKIP LOCKED"), &[Type::Uuid]);
static READ: Statement = Statement::new(
    concat!(
        "SELECT ",
        instance_columns!(),
        " FROM workflow.instances i JOIN workflow.owners o ON o.id = i.owner WHERE i.id = $1"
    ),
    &[Type::Uuid],
);
static EXISTS: Statement = Statement::new("SELECT 1 FROM workflow.instances WHERE id = $1", &[Type::Uuid]);

/// Locks an instance, waiting for whoever holds it.
pub fn lock(id: Uuid) -> Option<InstanceRow> {
    LOCK.first(&[Arg::Uuid(&id)], read)
}

/// Locks an instance if nobody holds it.
pub fn try_lock(id: Uuid) -> Option<InstanceRow> {
    TRY_LOCK.first(&[Arg::Uuid(&id)], read)
}

/// Reads an instance without a lock.
pub fn get(id: Uuid) -> Option<InstanceRow> {
    READ.first(&[Arg::Uuid(&id)], read)
}

static OWNER: Statement = Statement::new(
    "SELECT i.definition_version_id, o.id, o.role, o.system_identifier, o.name \
     FROM workflow.instances i JOIN workflow.owners o ON o.id = i.owner WHERE i.id = $1",
    &[Type::Uuid],
);

/// The definition version and the owner of an instance, without a lock.
pub fn owner(id: Uuid) -> Option<(Uuid, Owner)> {
    OWNER.first(&[Arg::Uuid(&id)], |row| (row.get(), Owner::read(row)))
}

/// Whether there is such an instance.
pub fn exists(id: Uuid) -> bool {
    EXISTS.run(&[Arg::Uuid(&id)]) > 0
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
        concat!(
            "INSERT INTO workflow.instances (id, definition_version_id, definition_id, version, owner, status, sub_status, \
                 incident_count, created_at, updated_at, finished_at, correlation_id, name, activation_key, state, \
                 variables, input, output) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
            $suffix
        )
    };
}

static INSERT: Statement = Statement::new(insert!(""), INSERT_TYPES);
// Waits for a transaction that is inserting the same id or activation key, and does nothing if it commits.
static INSERT_UNLESS_TAKEN: Statement = Statement::new(insert!(" ON CONFLICT DO NOTHING"), INSERT_TYPES);

/// Inserts an instance. `false`: its id or activation key is taken, possible only where the caller said so.
pub fn insert(row: &InstanceRow, now: Timestamp, may_be_taken: bool) -> bool {
    let instance = &row.instance;
    let statement = if may_be_taken { &INSERT_UNLESS_TAKEN } else { &INSERT };
    statement.run(&[
        Arg::Uuid(&instance.id),
        Arg::Uuid(&row.definition_version_id),
        Arg::Text(&row.definition_id),
        Arg::Integer(instance.version),
        Arg::Integer(row.owner.id),
        Arg::Text(instance.sub_status.status().name()),
        Arg::Text(instance.sub_status.name()),
        Arg::Integer(instance.incident_count as i32),
        Arg::Timestamp(now),
        Arg::time(finished_at(instance.sub_status, now)),
        Arg::text(instance.correlation_id.as_deref()),
        Arg::text(instance.name.as_deref()),
        Arg::text(row.activation_key.as_deref()),
        Arg::Bytea(&codec::encode_state(&instance.state)),
        Arg::Object(&instance.variables),
        Arg::Object(&instance.input),
        output(instance),
    ]) > 0
}

fn output(instance: &Instance) -> Arg<'_> {
    if instance.output.is_empty() { Arg::Null } else { Arg::Object(&instance.output) }
}

/// A faulted instance has not finished: it can go on.
fn finished_at(sub_status: SubStatus, now: Timestamp) -> Option<Timestamp> {
    matches!(sub_status, SubStatus::Finished | SubStatus::Cancelled).then_some(now)
}

static UPDATE: Statement = Statement::new(
    "UPDATE workflow.instances SET status = $2, sub_status = $3, incident_count = $4, updated_at = $5, \
         finished_at = $6, state = $7 WHERE id = $1",
    &[Type::Uuid, Type::Text, Type::Text, Type::Integer, Type::Timestamp, Type::Timestamp, Type::Bytea],
);

// A CASE that takes the old value keeps its toasted form: a large variable that did not change is not
// written again.
static UPDATE_ALL: Statement = Statement::new(
    "UPDATE workflow.instances SET status = $2, sub_status = $3, incident_count = $4, updated_at = $5, \
         finished_at = $6, state = $7, \
         variables = CASE WHEN $8 THEN $9 ELSE variables END, \
         output = CASE WHEN $10 THEN $11 ELSE output END, \
         name = $12, correlation_id = $13, activation_key = $14 WHERE id = $1",
    &[
        Type::Uuid,
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
    ],
);

/// Writes what a burst changed. `key_before` is the activation key that the row has.
pub fn update(row: &InstanceRow, changed: &Changed, key_before: Option<&str>, now: Timestamp) {
    let instance = &row.instance;
    let state = codec::encode_state(&instance.state);
    let common = [
        Arg::Uuid(&instance.id),
        Arg::Text(instance.sub_status.status().name()),
        Arg::Text(instance.sub_status.name()),
        Arg::Integer(instance.incident_count as i32),
        Arg::Timestamp(now),
        Arg::time(finished_at(instance.sub_status, now)),
        Arg::Bytea(&state),
    ];
    let same_key = row.activation_key.as_deref() == key_before;
    if same_key && !changed.variables && !changed.output && !changed.name && !changed.correlation_id {
        UPDATE.run(&common);
        return;
    }
    let rest = [
        Arg::Boolean(changed.variables),
        if changed.variables { Arg::Object(&instance.variables) } else { Arg::Null },
        Arg::Boolean(changed.output),
        if changed.output { output(instance) } else { Arg::Null },
        Arg::text(instance.name.as_deref()),
        Arg::text(instance.correlation_id.as_deref()),
        Arg::text(row.activation_key.as_deref()),
    ];
    UPDATE_ALL.run(&[common.as_slice(), rest.as_slice()].concat());
}

static HOLDER: Statement =
    Statement::new("SELECT id FROM workflow.instances WHERE activation_key = $1", &[Type::Text]);
static SET_KEY: Statement = Statement::new(
    "UPDATE workflow.instances SET activation_key = $2, correlation_id = $3 WHERE id = $1",
    &[Type::Uuid, Type::Text, Type::Text],
);
static CHILDREN: Statement = Statement::new(
    "SELECT id FROM workflow.instances WHERE parent_instance_id = $1 ORDER BY id",
    &[Type::Uuid],
);

/// The instance that holds an activation key.
pub fn holder(key: &str) -> Option<Uuid> {
    HOLDER.first(&[Arg::Text(key)], |row| row.get())
}

/// Takes an activation key for an instance; a taken one is a unique violation (23505).
pub fn set_key(id: Uuid, key: Option<&str>, correlation_id: Option<&str>) {
    SET_KEY.run(&[Arg::Uuid(&id), Arg::text(key), Arg::text(correlation_id)]);
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
