//! The frame of a call: it runs everything that a burst sets off before the call returns.

use crate::pg::{PgError, interrupt};
use crate::run::Session;
use crate::run::call::session::FollowUp;
use crate::run::events::{deliver, queued};
use crate::run::instances::{abandoned, children, continued};
use crate::store::instances::{self, InstanceRow};

/// Runs one call, or one fire of many: `body`, and then the follow-ups of its bursts.
///
/// # Errors
/// What `body` or a follow-up failed with.
pub fn call<R>(session: &mut Session, body: impl FnOnce(&mut Session) -> Result<R, PgError>) -> Result<R, PgError> {
    let result = body(session)?;
    while let Some(next) = session.follow_ups.pop_front() {
        interrupt::check();
        session.has_followed_up = true;
        follow_up(session, next)?;
    }
    Ok(result)
}

/// The row of an instance as it is after the call: a follow-up may have run the instance again.
pub fn latest(session: &Session, row: InstanceRow) -> InstanceRow {
    if !session.has_followed_up {
        return row;
    }
    instances::get(row.instance.id).unwrap_or(row)
}

fn follow_up(session: &mut Session, next: FollowUp) -> Result<(), PgError> {
    match next {
        FollowUp::Item(item) => queued::deliver_taken(session, *item).map(drop),
        FollowUp::Published(published, publisher) => deliver::published(session, *published, publisher),
        FollowUp::Child(child, parent) => children::start(session, *child, parent),
        FollowUp::Continue(id) => continued::begin(session, id),
        FollowUp::Report(report) => children::tell(session, *report),
        FollowUp::Cancel(child, owner) => abandoned::cancel(session, child, &owner),
    }
}
