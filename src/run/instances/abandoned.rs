//! Child workflows for which nothing waits any more: a timeout, another attempt or a catch has ended the wait. The
//! burst that gives them up finds them here, and the call cancels them afterwards (`cancel_abandoned.rs`).

use uuid::Uuid;
use workflow_engine::execution::Delta;

use crate::run::Session;
use crate::run::burst::save::Consumed;
use crate::store::events::matching;
use crate::store::instances;
use crate::store::instances::bookmarks;

/// The children that a burst has given up. Its bookmarks are still stored.
pub fn children(session: &mut Session, parent: Uuid, delta: &Delta, resumed: Option<Consumed<'_>>) -> Vec<Uuid> {
    if delta.abandoned.is_empty() {
        return Vec::new();
    }
    let mut waits = matching::of_activities(parent, &delta.abandoned);
    // The bookmark that is used up may be gone already.
    let own = resumed.map(|taking| taking.bookmark);
    waits.extend(own.filter(|own| delta.abandoned.contains(&own.activity_instance_id)).map(|own| own.id));
    let children = instances::reporting_to(parent, &waits);
    // Children that an earlier burst of this call asked for may not have begun.
    session.abandoned.extend(waits);
    children
}

/// Whether a child is not to begin, because the activity that asked for it has been given up in this call.
pub fn is_given_up(session: &Session, bookmark: Option<Uuid>) -> bool {
    // A burst that gave it up may have been rolled back.
    bookmark.is_some_and(|id| session.abandoned.contains(&id) && !bookmarks::exists(id))
}
