//! Bookmarks that are due.

use uuid::Uuid;

use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::rights::owners::{self, Owner};

/// A due bookmark, read without a lock.
#[derive(Debug)]
pub struct DueBookmark {
    /// Its id, the second part of the position after which the next page begins.
    pub bookmark: Uuid,
    /// When it is due, the first part of that position.
    pub due_at: Timestamp,
    /// The instance that waits at it.
    pub instance: Uuid,
    /// The definition version of the instance, which determines what SQL it can run.
    pub definition_version: Uuid,
    /// The owner of the instance, whose rights determine where it may run.
    pub owner: Owner,
}

static DUE: Statement = Statement::new(
    "SELECT b.id, b.due_at, b.instance_id, i.definition_version_id, i.owner FROM workflow.bookmarks b JOIN workflow.instances i ON i.id = b.instance_id \
     WHERE b.due_at <= $1 AND (b.due_at, b.id) > ($2, $3) \
         AND CASE WHEN i.paused_at IS NULL THEN i.sub_status <> 'Faulted' OR b.name = 'Workflow.RunTimeout' \
                  ELSE EXISTS (SELECT FROM workflow.pauses p WHERE p.instance_id = i.id AND p.unpaused_at IS NOT NULL) END \
         AND b.activity_type <> 'Workflow.ScheduledCommand' \
     ORDER BY b.due_at, b.id LIMIT 100",
    &[Type::Timestamp, Type::Timestamp, Type::Uuid],
);

/// At most 100 bookmarks that are due at `now`, earliest first, after the position `after`. Bookmarks of faulted
/// instances do not fire, nor do those of paused ones, except the one that ends the pause. Commands of schedules run
/// outside a transaction block, and the caller is inside one, so they are left to the workers.
pub fn due(now: Timestamp, after: (Timestamp, Uuid)) -> Vec<DueBookmark> {
    let (due_at, id) = after;
    DUE.rows(&[Arg::Timestamp(now), Arg::Timestamp(due_at), Arg::Uuid(&id)], |row| DueBookmark {
        bookmark: row.get(),
        due_at: row.get(),
        instance: row.get(),
        definition_version: row.get(),
        owner: owners::by_id(row.get()),
    })
}
