//! Kept stimuli that a new bookmark has missed: the transactions that wrote both did not see each other.

use uuid::Uuid;

use crate::pg::PgError;
use crate::pg::spi::Timestamp;
use crate::run::deliver;
use crate::store::{instances, matching, queue};

/// The item that each bookmark of an instance wants most, for whoever delivers items: the oldest one whose sender may
/// resume the instance. `shapes` are those of the queue.
pub fn of_instance(instance: Uuid, shapes: &[i32], now: Timestamp) -> Result<Vec<Uuid>, PgError> {
    let mut missed = Vec::new();
    let mut failed = None;
    for stored in matching::of_instance(instance) {
        let correlation_id = stored.correlation_id.as_deref();
        let item = queue::oldest_for(&stored.bookmark, instance, correlation_id, shapes, now, |item| {
            let Some((version, owner)) = instances::owner(instance) else { return false };
            deliver::sender_may_resume(&item.sender, version, &owner).unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        });
        missed.extend(item.map(|item| item.id));
    }
    failed.map_or(Ok(missed), Err)
}
