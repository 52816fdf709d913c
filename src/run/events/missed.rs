//! Kept stimuli that a new bookmark has missed: the transactions that wrote both did not see each other.

use uuid::Uuid;

use crate::access::hearing::{Hearing, Verdict};
use crate::pg::PgError;
use crate::pg::spi::Timestamp;
use crate::store::events::matching;
use crate::store::events::queue::{self, WantedBookmark};
use crate::store::instances;

/// For each bookmark of an instance, the next candidate: the oldest queue item after `after` that matches the bookmark
/// and that its instance may receive. `shapes` are the shapes that are in the queue.
///
/// Another bookmark may take the candidate. So the caller asks again, with that item as `after`, once the item needs no
/// further attempt.
pub fn of_instance(instance: Uuid, after: Uuid, shapes: &[i32], now: Timestamp) -> Result<Vec<Uuid>, PgError> {
    let mut missed = Vec::new();
    // A burst that ends the fault takes them from the queue itself.
    if instances::is_faulted(instance) {
        return Ok(missed);
    }
    for stored in matching::of_instance(instance) {
        let Some((version, owner)) = instances::owner(instance) else { continue };
        let correlation_id = stored.correlation_id.as_deref();
        let wanted = WantedBookmark { bookmark: &stored.bookmark, instance, correlation_id };
        let item = queue::oldest_for(wanted, shapes, now, after, &[], |sender, names_target| {
            Ok(Hearing::of(sender, names_target).resumes_at(&stored.bookmark, instance, version, &owner)?
                == Verdict::Heard)
        })?;
        missed.extend(item.map(|item| item.id));
    }
    Ok(missed)
}
