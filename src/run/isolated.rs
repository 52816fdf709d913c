//! Bursts of other owners: in subtransactions, so that a failure does not undo the caller's work, and within a shared
//! time.

use crate::pg::{PgError, process};
use crate::run::Session;
use crate::store::owners::Owner;

/// The outcome of a burst.
pub enum Isolated<R> {
    /// It has run.
    Done(R),
    /// Its scripts did not fit into the time that other owners share in one call. The burst was rolled back, and a
    /// session of its owner is to run it.
    Short,
    /// It failed and was rolled back.
    Failed(Box<PgError>),
}

/// Runs `body` for an owner. Unless the owner is the current role, `body` runs in a subtransaction; if it fails, the
/// follow-ups that it added are dropped.
///
/// # Errors
/// Errors of the current role's own bursts, and errors that abort the transaction.
pub fn unless_own<R>(
    session: &mut Session,
    owner: &Owner,
    body: impl FnOnce(&mut Session) -> Result<R, PgError>,
) -> Result<Isolated<R>, PgError> {
    if owner.is_current() {
        return body(session).map(Isolated::Done);
    }
    // The limit protects the caller's time, and a worker has no caller.
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

/// Whether this is a worker's session.
pub fn is_worker() -> bool {
    process::connected_as().is_some()
}
