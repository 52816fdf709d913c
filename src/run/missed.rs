//! Kept stimuli that a new bookmark has missed: the transactions that wrote both did not see each other.

use uuid::Uuid;

use crate::access::hearing::{Hearing, Verdict};
use crate::pg::PgError;
use crate::pg::spi::Timestamp;
use crate::store::{instances, matching, queue};

/// The item that each bookmark of an instance wants most, for whoever delivers items: the oldest one whose sender may
/// resume the instance and that its owner may hear. `shapes` are those of the queue.
pub fn of_instance(instance: Uuid, shapes: &[i32], now: Timestamp) -> Result<Vec<Uuid>, PgError> {
    let mut missed = Vec::new();
    let mut failed = None;
    for stored in matching::of_instance(instance) {
        let correlation_id = stored.correlation_id.as_deref();
        let item = queue::oldest_for(&stored.bookmark, instance, correlation_id, shapes, now, |item| {
            let Some((version, owner)) = instances::owner(instance) else { return false };
            let verdict = Hearing::of(&item.sender, item.filter.names_target()).resumes(version, &owner);
            verdict.map_err(|error| failed = Some(error)) == Ok(Verdict::Heard)
        });
        missed.extend(item.map(|item| item.id));
    }
    failed.map_or(Ok(missed), Err)
}
