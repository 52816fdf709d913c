//! Stimuli that are kept for one instance.

use uuid::Uuid;

use super::{Item, items, read};
use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::tables::BOOKMARK_QUEUE;
use crate::wake;

static KEPT_FOR: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q WHERE q.instance_id = $1 AND q.expires_at > $2 AND q.deferred_for IS NULL \
         AND (q.name IS NULL OR q.name NOT IN ('Workflow.Cancel', 'Workflow.Act')) ORDER BY q.id",
    &[Type::Uuid, Type::Timestamp],
);

/// The stimuli that name an instance, in the order of arrival.
pub fn items_for(instance: Uuid, now: Timestamp) -> Vec<Item> {
    KEPT_FOR.rows(&[Arg::Uuid(&instance), Arg::Timestamp(now)], read)
}

static BY_INSTANCE: Columns = Columns::by(
    c"bookmark_queue_instance_id_idx",
    &BOOKMARK_QUEUE,
    &[BOOKMARK_QUEUE.read("instance_id", Type::Uuid, true)],
);
static BOUND: Statement = Statement::new(
    "SELECT q.id FROM workflow.bookmark_queue q WHERE q.instance_id = $1 AND (q.bookmark_id IS NOT NULL OR q.momentary)",
    &[Type::Uuid],
);

/// Wakes workers for the items that were stored for what an instance waited for, which may have ended.
pub fn report_bound_to(instance: Uuid) {
    // An index probe costs less than a statement.
    if rows::read_by(&BY_INSTANCE, &[Arg::Uuid(&instance)], |_| Some(())).is_some() {
        BOUND.rows(&[Arg::Uuid(&instance)], |row| row.get()).into_iter().for_each(wake::report_queued);
    }
}

static ACTS: Statement = Statement::new(
    "SELECT q.id FROM workflow.bookmark_queue q WHERE q.instance_id = $1 AND q.name = 'Workflow.Act'",
    &[Type::Uuid],
);

/// Wakes workers for the queued acts of an instance, which they skipped while it was paused.
pub fn report_acts_of(instance: Uuid) {
    ACTS.rows(&[Arg::Uuid(&instance)], |row| row.get()).into_iter().for_each(wake::report_queued);
}
