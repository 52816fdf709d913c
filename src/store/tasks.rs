//! Tasks: work for the outside. A task's id is its bookmark's id.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::NewTask;

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

static ROW: Columns = Columns::of(
    c"tasks",
    &[
        (c"id", Type::Uuid),
        (c"instance_id", Type::Uuid),
        (c"created_at", Type::Timestamp),
        (c"activity_id", Type::Text),
        (c"name", Type::Text),
        (c"status", Type::Text),
        (c"correlation_id", Type::Text),
        (c"payload", Type::Jsonb),
    ],
);
static COMPLETION: Columns = Columns::of(
    c"tasks",
    &[(c"id", Type::Uuid), (c"status", Type::Text), (c"completed_at", Type::Timestamp), (c"result", Type::Jsonb)],
);
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
pub fn insert(writer: &mut Writer, task: &NewTask, instance: &Uuid, correlation_id: Option<&str>, now: Timestamp) {
    let values = [
        Arg::Uuid(&task.bookmark_id),
        Arg::Uuid(instance),
        Arg::Timestamp(now),
        Arg::Text(&task.activity_id),
        Arg::Text(&task.name),
        Arg::Text("Open"),
        Arg::text(correlation_id),
        Arg::json(task.payload.as_ref()),
    ];
    writer.insert(&ROW, &values);
}

/// Closes a task with its result.
pub fn complete(writer: &mut Writer, id: &Uuid, result: Option<&Value>, now: Timestamp) {
    let values = [Some(Arg::Text("Completed")), Some(Arg::Timestamp(now)), Some(Arg::json(result))];
    writer.update(&COMPLETION, Arg::Uuid(id), &values);
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
