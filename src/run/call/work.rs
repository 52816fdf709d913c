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

/// Runs one call of a SQL function: its session begins, `body` runs, and then all follow-ups.
///
/// # Errors
/// As of [`call`].
pub fn begin<R>(body: impl FnOnce(&mut Session) -> Result<R, PgError>) -> Result<R, PgError> {
    call(&mut Session::begin(), body)
}

/// The same for a call that ends with an instance, which is returned as it is after the follow-ups.
///
/// # Errors
/// As of [`call`].
pub fn begin_for_instance<R: HasInstance>(body: impl FnOnce(&mut Session) -> Result<R, PgError>) -> Result<R, PgError> {
    let mut session = Session::begin();
    let result = call(&mut session, body)?;
    Ok(latest(&session, result))
}

/// A result with an instance as it is after the call: a follow-up may have run the instance again.
pub fn latest<R: HasInstance>(session: &Session, mut result: R) -> R {
    if session.has_followed_up
        && let Some(row) = result.instance()
        && let Some(read) = instances::get(row.instance.id)
    {
        *row = read;
    }
    result
}

/// A result of a call that may have the row of an instance.
pub trait HasInstance {
    /// The row.
    fn instance(&mut self) -> Option<&mut InstanceRow>;
}

impl HasInstance for InstanceRow {
    fn instance(&mut self) -> Option<&mut InstanceRow> {
        Some(self)
    }
}

impl HasInstance for Option<InstanceRow> {
    fn instance(&mut self) -> Option<&mut InstanceRow> {
        self.as_mut()
    }
}

impl<T> HasInstance for (InstanceRow, T) {
    fn instance(&mut self) -> Option<&mut InstanceRow> {
        Some(&mut self.0)
    }
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
