//! Instance rows. A session that changes an instance holds the lock of its row. [`lock_keyed`] takes it and asks the
//! routing guard first; [`retention`](super::maintenance::retention), [`adoption`](super::maintenance::adoption) and
//! [`moving`](super::nodes::moving) take it by statements of their own, and need not ask.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::Changed;
use workflow_engine::instance::{Instance, SubStatus, codec};
use workflow_engine::journal::Identity;
use workflow_engine::traceparent::{Span, Traceparent};

use crate::pg::error::throw;
use crate::pg::memory;
use crate::pg::rows::{self, Columns, Holder, Wait, Writer};
use crate::pg::spi::{Arg, Change, Row, Statement, Timestamp, Type, changed, read, written};
use crate::store::nodes::route;
use crate::store::rights::owners::{self, Owner};
use crate::store::tables::INSTANCES;
use crate::wake;

pub mod admissions;
pub mod bookmarks;
pub mod messages;
mod relatives;
pub mod search_attributes;

pub use relatives::{
    children, children_not_awaited, continued_as, count_above, forget_parent, has_running_children, is_child,
    reporting_to,
};

/// An instance with the columns that the extension adds to the engine's state.
#[derive(Debug)]
pub struct InstanceRow {
    /// The instance as the engine sees it.
    pub instance: Instance,
    /// The definition version that it runs; only a migration changes it.
    pub definition_version_id: Uuid,
    /// The id that all versions of its definition share.
    pub definition_id: String,
    /// The role to which it belongs. Members of that role may do everything with it.
    pub owner: Owner,
    /// The key by which it excludes other running instances.
    pub activation_key: Option<String>,
    /// The trigger whose fire by time started it.
    pub schedule_id: Option<Uuid>,
    /// The instance that started it as a child workflow. `None`: another call or a trigger started it.
    pub parent: Option<Parent>,
    /// The instance that ended with `ContinueAs` and goes on as this one.
    pub continued_from: Option<Uuid>,
    /// Since when it is paused: see [`pauses`](crate::store::repair::pauses).
    pub paused_at: Option<Timestamp>,
    /// Who started it.
    pub starter: Starter,
    /// The trace that it belongs to, with what started it as the parent.
    pub traceparent: Option<Traceparent>,
    /// All its open bookmarks, if the burst that has just run created all of them.
    pub open: Option<Vec<Bookmark>>,
}

/// Who started an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starter {
    /// The role, by its id in `workflow.owners`, if it is not the owner of the instance.
    pub role: Option<i32>,
    /// The person for whom the role acted.
    pub actor: Option<String>,
}

impl Starter {
    /// Of an instance of this owner.
    pub fn of(who: &Identity, owner: &Owner) -> Self {
        let role = i32::try_from(who.role).ok().filter(|role| *role != owner.id);
        Self { role, actor: who.actor.clone() }
    }

    /// The same person for an instance of owner `to`, where this one is of an instance of owner `from`.
    pub fn under(&self, from: &Owner, to: &Owner) -> Self {
        let role = Some(self.role.unwrap_or(from.id)).filter(|role| *role != to.id);
        Self { role, actor: self.actor.clone() }
    }
}

/// The instance that started another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Id of the parent, in `parent_instance_id` of the child.
    pub instance: Uuid,
    /// Its bookmark that waits for the end of the child.
    pub bookmark: Option<Uuid>,
}

read! {
    struct Stored of INSTANCES {
        id: Uuid,
        version: i32,
        correlation_id: Option<String>,
        name: Option<String>,
        sub_status: String,
        input: Map<String, Value>,
        output: Option<Map<String, Value>>,
        variables: Map<String, Value>,
        incident_count: i32,
        state: Vec<u8>,
        definition_version_id: Uuid,
        definition_id: String,
        activation_key: Option<String>,
        schedule_id: Option<Uuid>,
        parent_instance_id: Option<Uuid>,
        parent_bookmark_id: Option<Uuid>,
        continued_from: Option<Uuid>,
        owner: i32,
        paused_at: Option<Timestamp>,
        started_by: Option<i32>,
        started_actor: Option<String>,
        traceparent: Option<String>,
    }
}
static STORED: Columns = Columns::of(&INSTANCES, Stored::COLUMNS);

fn read(row: &mut Row<'_>) -> InstanceRow {
    let stored = Stored::read(row);
    let state = codec::decode_state(&stored.state);
    InstanceRow {
        instance: Instance {
            id: stored.id,
            version: stored.version,
            correlation_id: stored.correlation_id,
            name: stored.name,
            sub_status: SubStatus::from_name(&stored.sub_status).unwrap_or(SubStatus::Suspended),
            input: stored.input,
            output: stored.output.unwrap_or_default(),
            variables: stored.variables,
            incident_count: stored.incident_count.unsigned_abs(),
            state: state.unwrap_or_else(|error| throw(crate::error::burst(error, stored.id))),
        },
        definition_version_id: stored.definition_version_id,
        definition_id: stored.definition_id,
        activation_key: stored.activation_key,
        schedule_id: stored.schedule_id,
        parent: parent(stored.parent_instance_id, stored.parent_bookmark_id),
        continued_from: stored.continued_from,
        owner: owners::by_id(stored.owner),
        paused_at: stored.paused_at,
        starter: Starter { role: stored.started_by, actor: stored.started_actor },
        traceparent: stored.traceparent.and_then(|text| Traceparent::parse(&text)),
        open: None,
    }
}

impl InstanceRow {
    /// What the instances join that it starts.
    pub fn handed_traceparent(&self) -> Option<Traceparent> {
        self.traceparent.map(|joined| joined.under(Span::Instance(self.instance.id)))
    }

    /// The instant at which its clock stands: now, unless it is paused.
    pub fn clock(&self, now: Timestamp) -> Timestamp {
        self.paused_at.unwrap_or(now)
    }
}

fn parent(instance: Option<Uuid>, bookmark: Option<Uuid>) -> Option<Parent> {
    instance.map(|instance| Parent { instance, bookmark })
}

/// Takes the table lock of a row lock on `instances`, before the one on `bookmarks`. DDL that locks both tables in
/// order of creation then waits for this call, or the call waits for the DDL, without a deadlock.
pub fn announce_lock() {
    rows::lock_table(&STORED);
}

/// Locks an instance, waiting for the session that holds it. An instance of another node is refused (40001).
pub fn lock(id: Uuid) -> Option<InstanceRow> {
    lock_with(id, Wait::Block)
}

/// Locks an instance. `wait` says whether to wait for a session that holds the lock; one that does not wait finds no
/// instance of another node.
pub fn lock_with(id: Uuid, wait: Wait) -> Option<InstanceRow> {
    lock_keyed(id, None, wait)
}

/// Locks an instance whose correlation id is known, if it has one.
pub fn lock_keyed(id: Uuid, key: Option<&str>, wait: Wait) -> Option<InstanceRow> {
    // The lock of its partition comes first.
    match wait {
        Wait::Block => route::require_instance(id, key).unwrap_or_else(|error| throw(error)),
        Wait::Skip if route::admits_instance(id, key) => {}
        Wait::Skip => return None,
    }
    rows::lock(&STORED, Arg::Uuid(&id), wait, read)
}

/// Who is in the way of locking an instance.
pub fn lock_holder(id: Uuid) -> Holder {
    rows::holder(&STORED, Arg::Uuid(&id))
}

static MANY: Statement = Statement::reading(
    Stored::COLUMNS,
    "SELECT {b} FROM workflow.instances b WHERE b.id = ANY ($1) ORDER BY b.id",
    &[Type::UuidArray],
);

/// Reads instances without a lock, in the order of their ids.
pub fn many(ids: &[Uuid]) -> Vec<InstanceRow> {
    MANY.rows(&[Arg::Uuids(ids)], read)
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

read! {
    struct State of INSTANCES {
        id: Uuid,
        sub_status: String,
    }
}
static STATUS: Columns = Columns::of(&INSTANCES, State::COLUMNS);

/// Whether an instance is faulted, read without a lock.
pub fn is_faulted(id: Uuid) -> bool {
    let state = rows::read(&STATUS, Arg::Uuid(&id), State::read);
    state.is_some_and(|state| state.id == id && state.sub_status == SubStatus::Faulted.name())
}

written! {
    struct New<'a> of INSTANCES {
        id: &'a Uuid,
        definition_version_id: &'a Uuid,
        definition_id: &'a str,
        version: i32,
        owner: i32,
        status: &'a str,
        sub_status: &'a str,
        incident_count: i32,
        created_at: Timestamp,
        updated_at: Timestamp,
        finished_at: Option<Timestamp>,
        correlation_id: Option<&'a str>,
        name: Option<&'a str>,
        activation_key: Option<&'a str>,
        state: &'a [u8],
        variables: &'a Map<String, Value>,
        input: &'a Map<String, Value>,
        output: Option<&'a Map<String, Value>>,
        schedule_id: Option<&'a Uuid>,
        parent_instance_id: Option<&'a Uuid>,
        parent_bookmark_id: Option<&'a Uuid>,
        continued_from: Option<&'a Uuid>,
        started_by: Option<i32>,
        started_actor: Option<&'a str>,
        traceparent: Option<&'a str>,
    }
}
static ROW: Columns = Columns::of(&INSTANCES, New::COLUMNS);
// Waits for a transaction that is inserting the same id or activation key, and inserts nothing if it commits.
static INSERT_UNLESS_TAKEN: Statement = Statement::insert(&INSTANCES, New::COLUMNS, "ON CONFLICT DO NOTHING", &[]);

/// Packs the state of an instance.
pub(super) fn packed(instance: &Instance) -> Vec<u8> {
    let size = memory::room_to_pack(|| codec::packed_size(&instance.state));
    codec::encode_state_of(&instance.state, size)
}

/// Inserts an instance. `false`: its id or activation key is taken.
pub fn insert_unless_taken(row: &InstanceRow, now: Timestamp) -> bool {
    let (state, traceparent) = (packed(&row.instance), row.traceparent.map(|joined| joined.to_string()));
    report_if_ended(&row.instance);
    INSERT_UNLESS_TAKEN.run(&new(row, &state, traceparent.as_deref(), now).values()) > 0
}

/// Inserts an instance. The caller knows that no instance has its id or activation key.
pub fn insert(writer: &mut Writer, row: &InstanceRow, now: Timestamp) {
    let (state, traceparent) = (packed(&row.instance), row.traceparent.map(|joined| joined.to_string()));
    report_if_ended(&row.instance);
    writer.insert(&ROW, &new(row, &state, traceparent.as_deref(), now).values());
}

fn new<'a>(row: &'a InstanceRow, state: &'a [u8], traceparent: Option<&'a str>, now: Timestamp) -> New<'a> {
    let instance = &row.instance;
    let parent = row.parent.as_ref();
    New {
        id: &instance.id,
        definition_version_id: &row.definition_version_id,
        definition_id: &row.definition_id,
        version: instance.version,
        owner: row.owner.id,
        status: instance.sub_status.status().name(),
        sub_status: instance.sub_status.name(),
        incident_count: instance.incident_count as i32,
        created_at: now,
        updated_at: now,
        finished_at: finished_at(instance, now),
        correlation_id: instance.correlation_id.as_deref(),
        name: instance.name.as_deref(),
        activation_key: row.activation_key.as_deref(),
        state,
        variables: &instance.variables,
        input: &instance.input,
        output: output(instance),
        schedule_id: row.schedule_id.as_ref(),
        parent_instance_id: parent.map(|parent| &parent.instance),
        parent_bookmark_id: parent.and_then(|parent| parent.bookmark.as_ref()),
        continued_from: row.continued_from.as_ref(),
        started_by: row.starter.role,
        started_actor: row.starter.actor.as_deref(),
        traceparent,
    }
}

fn output(instance: &Instance) -> Option<&Map<String, Value>> {
    (!instance.output.is_empty()).then_some(&instance.output)
}

/// The end time of an instance that is stored now; `None`: it has not ended.
fn finished_at(instance: &Instance, now: Timestamp) -> Option<Timestamp> {
    instance.has_ended().then_some(now)
}

/// Records the end of an instance that is stored now, if it has ended.
fn report_if_ended(instance: &Instance) {
    if instance.has_ended() {
        wake::report_ended(&instance.id);
    }
}

changed! {
    struct Changes<'a> of INSTANCES {
        id: &'a Uuid,
        status: &'a str,
        sub_status: &'a str,
        incident_count: i32,
        updated_at: Timestamp,
        finished_at: Option<Timestamp>,
        state: &'a [u8],
        variables: Change<&'a Map<String, Value>>,
        output: Change<Option<&'a Map<String, Value>>>,
        name: Change<Option<&'a str>>,
        correlation_id: Change<Option<&'a str>>,
        activation_key: Change<Option<&'a str>>,
    }
}
static CHANGES: Columns = Columns::of(&INSTANCES, Changes::COLUMNS);

/// Writes the columns of a locked instance that a burst changed, among them its activation key if it has a new one.
pub fn update(writer: &mut Writer, row: &InstanceRow, changed: &Changed, has_new_key: bool, now: Timestamp) {
    let instance = &row.instance;
    let state = packed(instance);
    report_if_ended(instance);
    let changes = Changes {
        id: &instance.id,
        status: instance.sub_status.status().name(),
        sub_status: instance.sub_status.name(),
        incident_count: instance.incident_count as i32,
        updated_at: now,
        finished_at: finished_at(instance, now),
        state: &state,
        variables: Change::when(changed.variables, &instance.variables),
        output: Change::when(changed.output, output(instance)),
        name: Change::when(changed.name, instance.name.as_deref()),
        correlation_id: Change::when(changed.correlation_id, instance.correlation_id.as_deref()),
        activation_key: Change::when(has_new_key, row.activation_key.as_deref()),
    };
    writer.update(&CHANGES, &changes.changes());
}

static HOLDER: Statement = Statement::new("SELECT id FROM workflow.instances WHERE activation_key = $1", &[Type::Text]);
static SET_KEY: Statement = Statement::new(
    "UPDATE workflow.instances SET activation_key = $2, correlation_id = $3 WHERE id = $1",
    &[Type::Uuid, Type::Text, Type::Text],
);

/// The instance that holds an activation key.
pub fn holder(key: &str) -> Option<Uuid> {
    HOLDER.first(&[Arg::Text(key)], |row| row.get())
}

/// Sets the activation key and the correlation id of an instance. A key that another instance holds is a unique
/// violation (23505).
pub fn set_key(id: Uuid, key: Option<&str>, correlation_id: Option<&str>) {
    SET_KEY.run(&[Arg::Uuid(&id), Arg::text(key), Arg::text(correlation_id)]);
}

static SET_OWNER: Statement = Statement::new(
    "UPDATE workflow.instances SET started_by = NULLIF(COALESCE(started_by, owner), $2), owner = $2, state = $3 WHERE id = $1",
    &[Type::Uuid, Type::Integer, Type::Bytea],
);

/// Gives a locked instance to another owner. Who started it stays on record. Also stores its state, which contains the number of its journal rows.
pub fn set_owner(instance: &Instance, owner: i32) {
    SET_OWNER.run(&[Arg::Uuid(&instance.id), Arg::Integer(owner), Arg::Bytea(&packed(instance))]);
}

static SAVE_STATE: Statement =
    Statement::new("UPDATE workflow.instances SET state = $2 WHERE id = $1", &[Type::Uuid, Type::Bytea]);

/// Stores the state of a locked instance, and nothing else of it.
pub fn save_state(instance: &Instance) {
    SAVE_STATE.run(&[Arg::Uuid(&instance.id), Arg::Bytea(&packed(instance))]);
}

static NOTE_CANCELLING: Statement = Statement::new(
    "UPDATE workflow.instances SET cancelling_at = $2 WHERE id = $1 AND cancelling_at IS NULL",
    &[Type::Uuid, Type::Timestamp],
);

/// Records that an instance is cancelled when its handlers have run.
pub fn record_cancelling(id: Uuid, now: Timestamp) {
    NOTE_CANCELLING.run(&[Arg::Uuid(&id), Arg::Timestamp(now)]);
}
