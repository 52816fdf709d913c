//! Tasks: work for the outside. A task's id is its bookmark's id.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::NewTask;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};

static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.tasks (id, instance_id, created_at, activity_id, name, status, correlation_id, payload) \
     VALUES ($1, $2, $3, $4, $5, 'Open', $6, $7)",
    &[Type::Uuid, Type::Uuid, Type::Timestamp, Type::Text, Type::Text, Type::Text, Type::Jsonb],
);
static COMPLETE: Statement = Statement::new(
    "UPDATE workflow.tasks SET status = 'Completed', completed_at = $2, result = $3 WHERE id = $1 AND status = 'Open'",
    &[Type::Uuid, Type::Timestamp, Type::Jsonb],
);
static REOPEN: Statement = Statement::new(
    "UPDATE workflow.tasks SET status = 'Open', completed_at = NULL, result = NULL WHERE id = $1",
    &[Type::Uuid],
);
// Whatever is still open but has no bookmark any more was cancelled.
static CLOSE_ORPHANS: Statement = Statement::new(
    "UPDATE workflow.tasks t SET status = 'Cancelled', completed_at = $2 WHERE t.instance_id = $1 AND t.status = 'Open' \
         AND NOT EXISTS (SELECT 1 FROM workflow.bookmarks b WHERE b.id = t.id)",
    &[Type::Uuid, Type::Timestamp],
);
static CORRELATE: Statement = Statement::new(
    "UPDATE workflow.tasks SET correlation_id = $2 WHERE instance_id = $1 AND status = 'Open'",
    &[Type::Uuid, Type::Text],
);
static NOTIFY: Statement = Statement::new("SELECT pg_notify('workflow_task', $1)", &[Type::Text]);

/// Opens a task.
pub fn insert(task: &NewTask, instance: Uuid, correlation_id: Option<&str>, now: Timestamp) {
    INSERT.run(&[
        Arg::Uuid(&task.bookmark_id),
        Arg::Uuid(&instance),
        Arg::Timestamp(now),
        Arg::Text(&task.activity_id),
        Arg::Text(&task.name),
        Arg::text(correlation_id),
        Arg::json(task.payload.as_ref()),
    ]);
}

/// Announces a new task to whoever listens.
pub fn announce(name: &str) {
    NOTIFY.run(&[Arg::Text(name)]);
}

/// Closes a task with its result; there may be none of that id.
pub fn complete(id: Uuid, result: Option<&Value>, now: Timestamp) {
    COMPLETE.run(&[Arg::Uuid(&id), Arg::Timestamp(now), Arg::json(result)]);
}

/// Opens a task again whose activity faulted on its result.
pub fn reopen(id: Uuid) {
    REOPEN.run(&[Arg::Uuid(&id)]);
}

/// Closes the open tasks of an instance whose bookmarks are gone.
pub fn close_orphans(instance: Uuid, now: Timestamp) {
    CLOSE_ORPHANS.run(&[Arg::Uuid(&instance), Arg::Timestamp(now)]);
}

/// Gives the open tasks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}
