//! Named schedules: triggers that belong to a role, not to a definition.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::instances::bookmarks::hash_key;
use crate::store::maintenance::identity;
use crate::store::timers::schedules::{self, Timed, timed_triggers};

static LOCK: Statement = Statement::new(
    timed_triggers!("t.owner = $1 AND t.schedule_name = $2 FOR NO KEY UPDATE OF t"),
    &[Type::Integer, Type::Text],
);
// The name alone has no index: only superusers search by it, and schedules are few.
static ALL: Statement = Statement::new(
    timed_triggers!("t.schedule_name IS NOT NULL AND t.schedule_name = $1 ORDER BY t.id"),
    &[Type::Text],
);

/// Locks an owner's schedule with this name.
pub fn lock(owner: i32, name: &str) -> Option<Timed> {
    LOCK.first(&[Arg::Integer(owner), Arg::Text(name)], schedules::read)
}

/// The schedules with this name, of all owners.
pub fn all(name: &str) -> Vec<Timed> {
    ALL.rows(&[Arg::Text(name)], schedules::read)
}

/// The columns of a named schedule that `wf_alter_schedule` may change.
#[derive(Debug)]
pub struct ScheduleColumns<'a> {
    /// The definition whose published version it starts.
    pub definition_id: &'a str,
    /// Version that was published when the schedule was written. Each fire looks up the published version again.
    pub version_id: &'a Uuid,
    /// Number of the version with the id `version_id`.
    pub version: i32,
    /// A [`Schedule`](workflow_engine::calendar::Schedule) as JSON: rule, time zone, misfires, overlap, jitter.
    pub schedule: &'a Value,
    /// Input of the instances that it starts.
    pub input: &'a Map<String, Value>,
    /// Correlation id of the instances that it starts.
    pub correlation_id: Option<&'a str>,
    /// Whether it is active.
    pub active: bool,
    /// When the scheduler fires it next.
    pub next_fire_at: Option<Timestamp>,
    /// The next instant of its schedule.
    pub scheduled_at: Option<Timestamp>,
}

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.triggers (id, definition_id, definition_version_id, version, schedule, input, correlation_id, \
         active, next_fire_at, scheduled_at, activity_id, node_id, activity_type, name, hash, hash_key, created_at, \
         owner, schedule_name, made_by, made_login, made_actor) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', '', $11, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
     ON CONFLICT DO NOTHING",
    &[
        Type::Uuid,
        Type::Text,
        Type::Uuid,
        Type::Integer,
        Type::Jsonb,
        Type::Jsonb,
        Type::Text,
        Type::Boolean,
        Type::Timestamp,
        Type::Timestamp,
        Type::Text,
        Type::Bytea,
        Type::BigInt,
        Type::Timestamp,
        Type::Integer,
        Type::Text,
        Type::Integer,
        Type::Integer,
        Type::Text,
    ],
);
static UPDATE: Statement = Statement::new(
    "UPDATE workflow.triggers SET definition_id = $2, definition_version_id = $3, version = $4, schedule = $5, \
         input = $6, correlation_id = $7, active = $8, next_fire_at = $9, scheduled_at = $10, \
         queued = CASE WHEN $5 ->> 'overlap' = 'queue' THEN queued ELSE 0 END \
     WHERE id = $1",
    &[
        Type::Uuid,
        Type::Text,
        Type::Uuid,
        Type::Integer,
        Type::Jsonb,
        Type::Jsonb,
        Type::Text,
        Type::Boolean,
        Type::Timestamp,
        Type::Timestamp,
    ],
);
static DELETE: Statement = Statement::new("DELETE FROM workflow.triggers WHERE id = $1", &[Type::Uuid]);
static SET_OWNER: Statement =
    Statement::new("UPDATE workflow.triggers SET owner = $2 WHERE id = $1", &[Type::Uuid, Type::Integer]);
static SET_MAKER: Statement = Statement::new(
    "UPDATE workflow.triggers SET made_by = $2, made_login = $3, made_actor = $4 WHERE id = $1",
    &[Type::Uuid, Type::Integer, Type::Integer, Type::Text],
);
static STARTED: Statement =
    Statement::new("UPDATE workflow.triggers SET last_instance_id = $2 WHERE id = $1", &[Type::Uuid, Type::Uuid]);

/// The columns of a named schedule that `wf_alter_schedule` does not change.
#[derive(Debug)]
pub struct FixedColumns<'a> {
    /// Id of its row in `workflow.triggers`.
    pub id: Uuid,
    /// Stimulus name of all named schedules.
    pub stimulus: &'a str,
    /// Stimulus hash, different for each schedule.
    pub hash: [u8; 32],
    /// Id in `workflow.owners` of its owner, which also owns the instances that it starts.
    pub owner: i32,
    /// The name given by the caller, unique per owner.
    pub name: &'a str,
    /// Who creates it.
    pub maker: &'a Identity,
    /// The time of the call that creates it.
    pub created_at: Timestamp,
}

/// Adds a schedule. Returns `false` if another session has just added one with that owner and name.
pub fn insert(fixed: &FixedColumns<'_>, changing: &ScheduleColumns<'_>) -> bool {
    identity::record_due(changing.next_fire_at);
    let mut args = columns(&fixed.id, changing).to_vec();
    let [role, login, actor] = maker(fixed.maker);
    args.extend([
        Arg::Text(fixed.stimulus),
        Arg::Bytea(&fixed.hash),
        Arg::BigInt(hash_key(&fixed.hash)),
        Arg::Timestamp(fixed.created_at),
        Arg::Integer(fixed.owner),
        Arg::Text(fixed.name),
        role,
        login,
        actor,
    ]);
    INSERT.run(&args) > 0
}

/// Changes a locked schedule.
pub fn update(id: &Uuid, changing: &ScheduleColumns<'_>) {
    identity::record_due(changing.next_fire_at);
    UPDATE.run(&columns(id, changing));
}

fn columns<'a>(id: &'a Uuid, changing: &ScheduleColumns<'a>) -> [Arg<'a>; 10] {
    [
        Arg::Uuid(id),
        Arg::Text(changing.definition_id),
        Arg::Uuid(changing.version_id),
        Arg::Integer(changing.version),
        Arg::Json(changing.schedule),
        Arg::Object(changing.input),
        Arg::text(changing.correlation_id),
        Arg::Boolean(changing.active),
        Arg::time(changing.next_fire_at),
        Arg::time(changing.scheduled_at),
    ]
}

static PENDING_RUNS: Statement = Statement::new(
    "SELECT i.id FROM workflow.instances i WHERE i.schedule_id = $1 AND i.sub_status = 'Pending' \
     ORDER BY i.id FOR UPDATE SKIP LOCKED",
    &[Type::Uuid],
);

/// Locks the runs of a schedule that have not started. Skips those that another session has locked, because they are
/// about to start.
pub fn lock_pending_runs(id: Uuid) -> Vec<Uuid> {
    PENDING_RUNS.rows(&[Arg::Uuid(&id)], |row| row.get())
}

/// Removes a schedule.
pub fn delete(id: Uuid) {
    DELETE.run(&[Arg::Uuid(&id)]);
}

/// Records who last decided what a locked schedule does.
pub fn set_maker(id: Uuid, by: &Identity) {
    let [role, login, actor] = maker(by);
    SET_MAKER.run(&[Arg::Uuid(&id), role, login, actor]);
}

fn maker(by: &Identity) -> [Arg<'_>; 3] {
    let id = |id: u32| Arg::Integer(id.cast_signed());
    [id(by.role), by.login.map_or(Arg::Null, id), Arg::text(by.actor.as_deref())]
}

/// Gives a locked schedule to another owner.
pub fn set_owner(id: Uuid, owner: i32) {
    SET_OWNER.run(&[Arg::Uuid(&id), Arg::Integer(owner)]);
}

/// Records a run that was started without a fire as the last one of the schedule.
pub fn started(id: Uuid, instance: Uuid) {
    STARTED.run(&[Arg::Uuid(&id), Arg::Uuid(&instance)]);
}
