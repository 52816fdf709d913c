//! Bursts of other owners: apart, so that they undo nothing of the caller's own, and within a time that they share.

use crate::pg::{PgError, process};
use crate::run::Session;
use crate::store::owners::Owner;

/// What became of a burst.
pub enum Isolated<R> {
    /// It has run.
    Done(R),
    /// A script of it did not fit into the time that those of other owners share in one call. Nothing of it is left: a
    /// session of its owner is to run it.
    Short,
    /// It failed, and nothing of it is left.
    Failed(Box<PgError>),
}

/// Runs `body` for an owner. Unless that is the current role it runs in a subtransaction, and what is undone takes back
/// what it set off.
///
/// # Errors
/// Those of the current role's own, and those that end everything.
pub fn unless_own<R>(
    session: &mut Session,
    owner: &Owner,
    body: impl FnOnce(&mut Session) -> Result<R, PgError>,
) -> Result<Isolated<R>, PgError> {
    if owner.is_current() {
        return body(session).map(Isolated::Done);
    }
    // A worker has no time but theirs.
    let time = (!is_worker()).then(|| session.time_of_others.clone());
    let attempt = {
        let _in_force = time.as_ref().map(|time| time.begin());
        session.isolated(body)
    };
    let error = match attempt {
        Ok(done) => return Ok(Isolated::Done(done)),
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => error,
    };
    let is_short = time.is_some_and(|time| time.was_short());
    Ok(if is_short { Isolated::Short } else { Isolated::Failed(Box::new(error)) })
}

/// Whether this is a session of the workers.
pub fn is_worker() -> bool {
    process::connected_as().is_some()
}
