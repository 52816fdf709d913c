//! Timer triggers: due triggers, their next instants, and the outcome of their fires.
//!
//! Lock order: a fire locks the trigger and inserts instances. The end of an instance locks the instance and then the
//! trigger. A fire waits for other locks only briefly (`ShortWaits`) and otherwise leaves the trigger due, so the two
//! cannot deadlock.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::journal::Identity;

use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::definitions::triggers::TriggerRow;
use crate::store::instances::bookmarks::hash_of;
use crate::store::maintenance::identity;
use crate::store::rights::owners::{self, Owner};

/// Id of the definition that runs the commands of schedules.
pub use workflow_engine::activities::scheduled_command::SCHEDULED_COMMAND as COMMANDS;

/// A due trigger, read without a lock.
#[derive(Debug)]
pub struct DueTrigger {
    /// Its id, the second part of the position after which the next page begins.
    pub id: Uuid,
    /// Its `next_fire_at`, the first part of that position.
    pub due_at: Timestamp,
    /// The owner of the named schedule, or else of the definition.
    pub owner: Owner,
}

static DUE: Statement = Statement::new(
    "SELECT t.id, t.next_fire_at, COALESCE(t.owner, d.owner, 0) \
     FROM workflow.triggers t LEFT JOIN workflow.definitions d ON d.id = t.definition_version_id \
     WHERE t.next_fire_at <= $1 AND (t.next_fire_at, t.id) > ($2, $3) AND t.active \
     ORDER BY t.next_fire_at, t.id LIMIT $4",
    &[Type::Timestamp, Type::Timestamp, Type::Uuid, Type::BigInt],
);

/// Triggers that are due at `now`, earliest first, after the position `after`.
pub fn due(now: Timestamp, after: (Timestamp, Uuid), limit: i64) -> Vec<DueTrigger> {
    let (due_at, id) = after;
    DUE.rows(&[Arg::Timestamp(now), Arg::Timestamp(due_at), Arg::Uuid(&id), Arg::BigInt(limit)], |row| DueTrigger {
        id: row.get(),
        due_at: row.get(),
        owner: owners::by_id(row.get()),
    })
}

/// A trigger with the columns that a fire needs.
#[derive(Debug)]
pub struct Timed {
    /// The columns that triggers of all kinds have.
    pub trigger: TriggerRow,
    /// The definition whose published version it starts.
    pub definition_id: String,
    /// A [`Schedule`](workflow_engine::calendar::Schedule) as JSON: rule, time zone, misfires, overlap, jitter.
    pub schedule: Value,
    /// Name and owner of a named schedule.
    pub named: Option<(String, Owner)>,
    /// Input of the instances that a named schedule starts.
    pub input: Option<Map<String, Value>>,
    /// Correlation id of the instances that a named schedule starts.
    pub correlation_id: Option<String>,
    /// Who created a named schedule, or last changed what it does or who owns it.
    pub maker: Option<Identity>,
    /// Whether it is active.
    pub active: bool,
    /// When the scheduler fires it next.
    pub next_fire_at: Option<Timestamp>,
    /// The next instant of its schedule.
    pub scheduled_at: Option<Timestamp>,
    /// Fires that wait for a run to end.
    pub queued: i32,
    /// Whether it ever fired.
    pub has_fired: bool,
    /// Number of the version that it starts.
    pub version: i32,
}

/// Selects the columns that [`read`] reads, from triggers that time fires.
macro_rules! timed_triggers {
    ($rest:literal) => {
        concat!(
            "SELECT t.id, t.definition_version_id, t.activity_id, t.node_id, t.name, t.hash, t.payload, t.definition_id, \
             t.schedule, t.schedule_name, t.owner, t.input, t.correlation_id, t.active, t.next_fire_at, t.scheduled_at, \
             t.queued, t.last_fire_at IS NOT NULL, t.version, t.made_by, t.made_login, t.made_actor FROM workflow.triggers t WHERE t.schedule IS NOT NULL AND ",
            $rest
        )
    };
}

pub(in crate::store) use timed_triggers;

/// Reads a row that begins with [`timed_triggers!`].
pub fn read(row: &mut Row<'_>) -> Timed {
    let trigger = TriggerRow {
        id: row.get(),
        definition_version_id: row.get(),
        activity_id: row.get(),
        node_id: row.get(),
        name: row.get(),
        hash: hash_of(&row.get::<Vec<u8>>()),
        payload: row.maybe(),
    };
    let (definition_id, schedule) = (row.get(), row.get());
    let (name, owner): (Option<String>, Option<i32>) = (row.maybe(), row.maybe());
    Timed {
        trigger,
        definition_id,
        schedule,
        named: name.zip(owner.map(owners::by_id)),
        input: row.maybe(),
        correlation_id: row.maybe(),
        active: row.get(),
        next_fire_at: row.maybe(),
        scheduled_at: row.maybe(),
        queued: row.get(),
        has_fired: row.get(),
        version: row.get(),
        maker: read_maker(row),
    }
}

fn read_maker(row: &mut Row<'_>) -> Option<Identity> {
    let (role, login, actor): (Option<i32>, Option<i32>, Option<String>) = (row.maybe(), row.maybe(), row.maybe());
    Some(Identity { role: role?.unsigned_abs(), login: login.map(i32::unsigned_abs), actor })
}

static LOCK_DUE: Statement = Statement::new(
    timed_triggers!("t.id = $1 AND t.active AND t.next_fire_at <= $2 FOR UPDATE OF t SKIP LOCKED"),
    &[Type::Uuid, Type::Timestamp],
);
static OF_DEFINITION: Statement = Statement::new(
    timed_triggers!("t.definition_id = $1 AND t.schedule_name IS NULL FOR NO KEY UPDATE OF t"),
    &[Type::Text],
);

/// Locks a trigger if it is still due and no other session has locked it.
pub fn lock_due(id: Uuid, now: Timestamp) -> Option<Timed> {
    LOCK_DUE.first(&[Arg::Uuid(&id), Arg::Timestamp(now)], read)
}

/// Locks the timer triggers of a definition. The lock keeps their next instants unchanged until the caller writes new
/// ones.
pub fn of_definition(definition_id: &str) -> Vec<Timed> {
    OF_DEFINITION.rows(&[Arg::Text(definition_id)], read)
}

static RUNNING: Statement = Statement::new(
    "SELECT r.id FROM (SELECT i.id, i.status, i.sub_status FROM workflow.instances i WHERE i.schedule_id = $1 \
         ORDER BY i.id DESC LIMIT 20) r \
     WHERE r.status = 'Running' AND (r.sub_status <> 'Pending' OR EXISTS \
         (SELECT FROM workflow.bookmarks b WHERE b.instance_id = r.id \
              AND (b.due_at IS NOT NULL OR b.name = 'Workflow.Limit' AND NOT EXISTS \
                  (SELECT FROM workflow.dead_letters l \
                   WHERE l.bookmark_id = b.id AND l.due_at IS NOT NULL AND l.replayed_at IS NULL)))) LIMIT 1",
    &[Type::Uuid],
);

/// A run of a schedule that has not ended. Reads only the latest twenty runs, so the cost does not grow with the number
/// of past runs. A pending run counts, unless its start was given up (it has a dead letter), because it would block all
/// later runs.
pub fn running(id: Uuid) -> Option<Uuid> {
    RUNNING.first(&[Arg::Uuid(&id)], |row| row.get())
}

/// The changes that a fire makes to its trigger.
#[derive(Debug, Default)]
pub struct FireOutcome {
    /// When the scheduler fires it next.
    pub next_fire_at: Option<Timestamp>,
    /// The next instant of its schedule.
    pub scheduled_at: Option<Timestamp>,
    /// The scheduled instant that was fired; `None`: none was, and the column stays unchanged.
    pub last_fire_at: Option<Timestamp>,
    /// The instance that this fire started; `None`: it started none, and the column stays unchanged.
    pub last_instance_id: Option<Uuid>,
    /// Fires that wait for a run to end.
    pub queued: i32,
    /// Fires that started no instance.
    pub skipped: i64,
    /// Instants that do not fire because of the misfire policy.
    pub missed: i64,
}

static FIRED: Statement = Statement::new(
    "UPDATE workflow.triggers SET next_fire_at = $2, scheduled_at = $3, last_fire_at = COALESCE($4, last_fire_at), \
         last_instance_id = COALESCE($5, last_instance_id), queued = $6, skipped = skipped + $7, missed = missed + $8, \
         attempts = 0, last_error = NULL \
     WHERE id = $1",
    &[
        Type::Uuid,
        Type::Timestamp,
        Type::Timestamp,
        Type::Timestamp,
        Type::Uuid,
        Type::Integer,
        Type::BigInt,
        Type::BigInt,
    ],
);
static FAILED: Statement = Statement::new(
    "UPDATE workflow.triggers SET next_fire_at = $2, scheduled_at = $3, attempts = attempts + 1, last_error = $4 \
     WHERE id = $1",
    &[Type::Uuid, Type::Timestamp, Type::Timestamp, Type::Text],
);
static RESOLVED: Statement = Statement::new(
    "UPDATE workflow.triggers SET definition_version_id = $2, version = $3 WHERE id = $1 AND definition_version_id <> $2",
    &[Type::Uuid, Type::Uuid, Type::Integer],
);

/// Writes the outcome of a fire.
pub fn fired(id: Uuid, outcome: &FireOutcome) {
    identity::record_due(outcome.next_fire_at);
    FIRED.run(&[
        Arg::Uuid(&id),
        Arg::time(outcome.next_fire_at),
        Arg::time(outcome.scheduled_at),
        Arg::time(outcome.last_fire_at),
        Arg::uuid(outcome.last_instance_id.as_ref()),
        Arg::Integer(outcome.queued),
        Arg::BigInt(outcome.skipped),
        Arg::BigInt(outcome.missed),
    ]);
}

/// Records a failed fire and the time of the next one.
pub fn failed(id: Uuid, next_fire_at: Option<Timestamp>, scheduled_at: Option<Timestamp>, error: &str) {
    identity::record_due(next_fire_at);
    FAILED.run(&[Arg::Uuid(&id), Arg::time(next_fire_at), Arg::time(scheduled_at), Arg::Text(error)]);
}

/// Records the version that a named schedule started.
pub fn resolved(id: Uuid, version_id: Uuid, version: i32) {
    RESOLVED.run(&[Arg::Uuid(&id), Arg::Uuid(&version_id), Arg::Integer(version)]);
}

// Two statements, because a fire that is queued behind a run and the end of that run must not miss each other. The lock
// waits for the fire's transaction, and then reads the row that the fire wrote.
static LOCK_QUEUE: Statement = Statement::new(
    "SELECT t.queued FROM workflow.triggers t WHERE t.id = $1 AND t.schedule ->> 'overlap' = 'queue' \
     FOR NO KEY UPDATE OF t",
    &[Type::Uuid],
);
static WAKE: Statement = Statement::new(
    "UPDATE workflow.triggers SET next_fire_at = LEAST(next_fire_at, $2) WHERE id = $1 AND queued > 0 AND active",
    &[Type::Uuid, Type::Timestamp],
);

/// Call when a run of a schedule has ended: makes the schedule due immediately if fires are queued behind the run.
pub fn ended(id: Uuid, now: Timestamp) {
    if LOCK_QUEUE.first(&[Arg::Uuid(&id)], |row| row.get::<i32>()).is_some_and(|queued| queued > 0) {
        identity::record_due(Some(now));
        WAKE.run(&[Arg::Uuid(&id), Arg::Timestamp(now)]);
    }
}

static REBOOT: Statement = Statement::new(
    "UPDATE workflow.triggers SET next_fire_at = $1, scheduled_at = $1 \
     WHERE active AND schedule -> 'when' = '\"reboot\"'",
    &[Type::Timestamp],
);

static IS_BEHIND: Statement =
    Statement::new("SELECT 1 FROM workflow.triggers WHERE next_fire_at <= $1 AND active LIMIT 1", &[Type::Timestamp]);

/// Whether a due trigger remains unfired. After a scan this means that another session has locked it.
pub fn is_behind(now: Timestamp) -> bool {
    IS_BEHIND.run(&[Arg::Timestamp(now)]) > 0
}

/// Makes every active `reboot` schedule due, and returns their number.
pub fn reboot(now: Timestamp) -> u64 {
    let count = REBOOT.run(&[Arg::Timestamp(now)]);
    // Without such a schedule do not bind the timers to this database: pg_restore may be about to restore another
    // database's dump here.
    if count > 0 {
        identity::record_due(Some(now));
    }
    count
}

static SET_SCHEDULE: Statement = Statement::new(
    "UPDATE workflow.triggers SET schedule = $2, next_fire_at = $3, scheduled_at = $4, \
         queued = CASE WHEN $2 ->> 'overlap' = 'queue' THEN queued ELSE 0 END \
     WHERE id = $1",
    &[Type::Uuid, Type::Jsonb, Type::Timestamp, Type::Timestamp],
);

/// Sets the schedule of a trigger and its next instants.
pub fn set(id: Uuid, schedule: &Value, next_fire_at: Option<Timestamp>, scheduled_at: Option<Timestamp>) {
    identity::record_due(next_fire_at);
    SET_SCHEDULE.run(&[Arg::Uuid(&id), Arg::Json(schedule), Arg::time(next_fire_at), Arg::time(scheduled_at)]);
}
