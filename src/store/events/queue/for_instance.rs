//! Stimuli that are kept for one instance.

use uuid::Uuid;

use super::{Item, items, read};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
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

static ACTS: Statement = Statement::new(
    "SELECT q.id FROM workflow.bookmark_queue q WHERE q.instance_id = $1 AND q.name = 'Workflow.Act'",
    &[Type::Uuid],
);

/// Wakes workers for the queued acts of an instance, which they skipped while it was paused.
pub fn report_acts_of(instance: Uuid) {
    ACTS.rows(&[Arg::Uuid(&instance)], |row| row.get()).into_iter().for_each(wake::report_queued);
}
