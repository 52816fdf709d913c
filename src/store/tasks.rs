//! Tasks: work for the outside. A task's id is its bookmark's id.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::execution::NewTask;

use crate::pg::rows::{Columns, Writer};
use crate::pg::spi::{Arg, Statement, Timestamp, Type, changed, written};
use crate::store::tables::TASKS;

written! {
    struct New<'a> of TASKS {
        id: &'a Uuid,
        instance_id: &'a Uuid,
        created_at: Timestamp,
        activity_id: &'a str,
        name: &'a str,
        status: &'a str,
        correlation_id: Option<&'a str>,
        payload: Option<&'a Value>,
    }
}
changed! {
    struct Completion<'a> of TASKS {
        id: &'a Uuid,
        status: &'a str,
        completed_at: Option<Timestamp>,
        result: Option<&'a Value>,
    }
}
static ROW: Columns = Columns::of(&TASKS, New::COLUMNS);
static COMPLETION: Columns = Columns::of(&TASKS, Completion::COLUMNS);
// An open task whose bookmark no longer exists was cancelled.
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
    let new = New {
        id: &task.bookmark_id,
        instance_id: instance,
        created_at: now,
        activity_id: &task.activity_id,
        name: &task.name,
        status: "Open",
        correlation_id,
        payload: task.payload.as_ref(),
    };
    writer.insert(&ROW, &new.values());
}

/// Closes a task with its result.
pub fn complete(writer: &mut Writer, id: &Uuid, result: Option<&Value>, now: Timestamp) {
    let completion = Completion { id, status: "Completed", completed_at: Some(now), result };
    writer.update(&COMPLETION, &completion.changes());
}

/// Announces a new task to the sessions that listen on channel `workflow_task`.
pub fn announce(name: &str) {
    NOTIFY.run(&[Arg::Text(name)]);
}

/// Closes the open tasks of an instance whose bookmarks no longer exist, except the task that the caller completes.
pub fn close_orphans(instance: Uuid, except: Option<Uuid>, now: Timestamp) {
    CLOSE_ORPHANS.run(&[Arg::Uuid(&instance), Arg::Timestamp(now), Arg::uuid(except.as_ref())]);
}

/// Gives the open tasks of an instance its new correlation id.
pub fn correlate(instance: Uuid, correlation_id: Option<&str>) {
    CORRELATE.run(&[Arg::Uuid(&instance), Arg::text(correlation_id)]);
}
