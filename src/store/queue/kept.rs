//! Stimuli that are kept for one instance.

use uuid::Uuid;

use super::{Item, items, read};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};

static KEPT_FOR: Statement = items(
    "SELECT {q} FROM workflow.bookmark_queue q WHERE q.instance_id = $1 AND q.expires_at > $2 AND q.deferred_for IS NULL \
         AND q.name IS DISTINCT FROM 'Workflow.Cancel' ORDER BY q.id",
    &[Type::Uuid, Type::Timestamp],
);

/// The items that name an instance, in the order in which they came.
pub fn kept_for(instance: Uuid, now: Timestamp) -> Vec<Item> {
    KEPT_FOR.rows(&[Arg::Uuid(&instance), Arg::Timestamp(now)], read)
}
