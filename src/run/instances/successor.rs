//! Beginning the instance that a burst has stored to go on in place of the one that it has ended.

use uuid::Uuid;

use crate::access::lending;
use crate::compiled;
use crate::pg::PgError;
use crate::run::Session;
use crate::run::burst::OnFault;
use crate::run::call::isolated::{self, Isolated};
use crate::run::call::notices::tell_how_to_fire;
use crate::run::instances::claim::{self, Claim};
use crate::run::instances::create::START_BOOKMARK;
use crate::run::instances::resume;
use crate::store::events::matching;
use crate::store::instances;

/// Begins an instance that goes on in place of another one, if this session may run it.
pub fn begin(session: &mut Session, id: Uuid) -> Result<(), PgError> {
    let waits = matching::of_instance(id);
    let Some(start) = waits.iter().find(|stored| stored.bookmark.name == START_BOOKMARK) else { return Ok(()) };
    let Some((version, owner)) = instances::owner(id) else { return Ok(()) };
    let compiled = compiled::of_version(version)?;
    let bookmark = start.bookmark.id;
    if !lending::runs_here(&owner, &compiled) {
        tell_how_to_fire();
    } else if isolated::is_worker() {
        run(session, bookmark)?;
    } else if !matches!(isolated::unless_own(session, &owner, |session| run(session, bookmark))?, Isolated::Done(())) {
        // A session of the owner begins it, and reports what is wrong with it.
        tell_how_to_fire();
    }
    Ok(())
}

fn run(session: &mut Session, bookmark: Uuid) -> Result<(), PgError> {
    session.has_waited = true;
    match claim::try_claim(bookmark)? {
        Claim::Ready(mut waiting, compiled) => {
            resume::resume_at(session, &mut waiting, &compiled, None, OnFault::Store)?;
        }
        Claim::Busy(reason) => reason.tell(),
        Claim::Gone => {}
    }
    Ok(())
}
