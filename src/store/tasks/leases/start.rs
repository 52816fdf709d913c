//! Tasks that must be claimed in time.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Type};

static REMOVE_START: Statement = Statement::new(
    "DELETE FROM workflow.bookmarks WHERE instance_id = $1 AND activity_instance_id = $2 AND name = 'Workflow.StartTimeout'",
    &[Type::Uuid, Type::Uuid],
);
static AWAITS_START: Statement = Statement::new(
    "SELECT 1 FROM workflow.bookmarks t JOIN workflow.bookmarks s ON s.instance_id = t.instance_id \
         AND s.activity_instance_id = t.activity_instance_id AND s.name = 'Workflow.StartTimeout' \
     WHERE t.id = $1",
    &[Type::Uuid],
);
static CLAIMS: Statement = Statement::new(
    "SELECT COALESCE(b.claims, 0) FROM workflow.bookmarks b \
     WHERE b.instance_id = $1 AND b.activity_instance_id = $2 AND b.name = 'Elsa.RunTask'",
    &[Type::Uuid, Type::Uuid],
);

/// Whether a task must be claimed in time, and has not been claimed yet.
pub fn awaits_start(task: Uuid) -> bool {
    AWAITS_START.run(&[Arg::Uuid(&task)]) > 0
}

/// Removes the bookmark that is due when the task of an execution was not claimed, and says whether there was one. The
/// caller holds the lock of the instance.
pub fn remove_start(instance: &Uuid, execution: &Uuid) -> bool {
    REMOVE_START.run(&[Arg::Uuid(instance), Arg::Uuid(execution)]) > 0
}

/// Number of attempts at the open task of an execution.
pub fn attempts(instance: &Uuid, execution: &Uuid) -> Option<i32> {
    CLAIMS.first(&[Arg::Uuid(instance), Arg::Uuid(execution)], |row| row.get())
}
