//! Tasks: work for the outside. A task's id is its bookmark's id.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::NewTask;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::batch::{Batch, Part};

const INSERT_TYPES: &[Type] =
    &[Type::Uuid, Type::Uuid, Type::Timestamp, Type::Text, Type::Text, Type::Text, Type::Jsonb];

static INSERT: Part = Part {
    name: "opened",
    sql: "INSERT INTO workflow.tasks (id, instance_id, created_at, activity_id, name, status, correlation_id, payload) \
          SELECT ?, ?, ?, ?, ?, 'Open', ?, ? FROM {decides}",
    types: INSERT_TYPES,
    decides: false,
};
static INSERT_ALONE: Statement = Statement::new(
    "INSERT INTO workflow.tasks (id, instance_id, created_at, activity_id, name, status, correlation_id, payload) \
     VALUES ($1, $2, $3, $4, $5, 'Open', $6, $7)",
    INSERT_TYPES,
);
static COMPLETE: Part = Part {
    name: "completed",
    sql: "UPDATE workflow.tasks SET status = 'Completed', completed_at = ?, result = ? WHERE id = ?",
    types: &[Type::Timestamp, Type::Jsonb, Type::Uuid],
    decides: false,
};
// Not by status = 'Open': the planner would take the partial index of the inbox for it, and read all of it.
// Whatever is still open but has no bookmark any more was cancelled.
static CLOSE_ORPHANS: Statement = Statement::new(
    "UPDATE workflow.tasks t SET status = 'Cancelled', completed_at = $2 WHERE t.instance_id = $1 AND t.completed_at IS NULL \
         AND t.id IS DISTINCT FROM $3 AND NOT EXISTS (SELECT 1 FROM workflow.bookmarks b WHERE b.id = t.id)",
    &[Type::Uuid, Type::Timestamp, Type::Uuid],
);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.tasks SET correlation_id = $2 WHERE instance_id = $1 AND completed_at IS NULL",
    &[Type::Uuid, Type::Text],
);
static NOTIFY: Statement = Statement::new("SELECT pg_notify('workflow_task', $1)", &[Type::Text]);

/// Opens a task.
pub fn insert(task: &NewTask, instance: &Uuid, correlation_id: Option<&str>, now: Timestamp) {
    INSERT_ALONE.run(&arguments(task, instance, correlation_id, now));
}

/// Adds the opening of a task, if there is room.
pub fn push_insert<'a>(
    batch: &mut Batch<'a>,
    task: &'a NewTask,
    instance: &'a Uuid,
    correlation_id: Option<&'a str>,
    now: Timestamp,
) -> bool {
    let has_room = batch.has_room_for(&INSERT);
    if has_room {
        batch.push(&INSERT, &arguments(task, instance, correlation_id, now));
    }
    has_room
}

fn arguments<'a>(
    task: &'a NewTask,
    instance: &'a Uuid,
    correlation_id: Option<&'a str>,
    now: Timestamp,
) -> [Arg<'a>; 7] {
    [
        Arg::Uuid(&task.bookmark_id),
        Arg::Uuid(instance),
        Arg::Timestamp(now),
        Arg::Text(&task.activity_id),
        Arg::Text(&task.name),
        Arg::text(correlation_id),
        Arg::json(task.payload.as_ref()),
    ]
}

/// Adds the closing of a task with its result.
pub fn push_complete<'a>(batch: &mut Batch<'a>, id: &'a Uuid, result: Option<&'a Value>, now: Timestamp) {
    batch.push(&COMPLETE, &[Arg::Timestamp(now), Arg::json(result), Arg::Uuid(id)]);
}

/// Announces a new task to whoever listens.
pub fn announce(name: &str) {
    NOTIFY.run(&[Arg::Text(name)]);
}

/// Closes the open tasks of an instance whose bookmarks are gone, except one that is just being completed.
pub fn close_orphans(instance: Uuid, except: Option<Uuid>, now: Timestamp) {
    CLOSE_ORPHANS.run(&[Arg::Uuid(&instance), Arg::Timestamp(now), Arg::uuid(except.as_ref())]);
}

/// Gives the open tasks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}
