//! The frame of a call: it runs everything that a burst sets off before the call returns.

use crate::pg::{PgError, interrupt};
use crate::run::CallContext;
use crate::run::call::context::FollowUp;
use crate::run::events::{deliver, queued};
use crate::run::instances::{abandoned, children, continuation};
use crate::store::instances::{self, InstanceRow};

/// Runs one call, or one fire of many: `body`, and then the follow-ups of its bursts.
///
/// # Errors
/// What `body` or a follow-up failed with.
pub fn run<R>(
    context: &mut CallContext,
    body: impl FnOnce(&mut CallContext) -> Result<R, PgError>,
) -> Result<R, PgError> {
    // An earlier fire of the same pass has left its own.
    context.generation = 0;
    let result = body(context)?;
    while let Some(next) = context.follow_ups.pop_front() {
        interrupt::check();
        context.has_followed_up = true;
        follow_up(context, next)?;
    }
    Ok(result)
}

/// Runs one call of a SQL function: its session begins, `body` runs, and then all follow-ups.
///
/// # Errors
/// As of [`run`].
pub fn begin<R>(body: impl FnOnce(&mut CallContext) -> Result<R, PgError>) -> Result<R, PgError> {
    run(&mut CallContext::begin(), body)
}

/// The same for a call that ends with an instance, which is returned as it is after the follow-ups.
///
/// # Errors
/// As of [`run`].
pub fn begin_for_instance<R: HasInstance>(
    body: impl FnOnce(&mut CallContext) -> Result<R, PgError>,
) -> Result<R, PgError> {
    let mut context = CallContext::begin();
    let result = run(&mut context, body)?;
    Ok(latest(&context, result))
}

/// A result with an instance as it is after the call: a follow-up may have run the instance again.
pub fn latest<R: HasInstance>(context: &CallContext, mut result: R) -> R {
    if context.has_followed_up
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

/// How many notices have led to what a burst has set off.
fn generation(next: &FollowUp) -> u32 {
    match next {
        FollowUp::Published(published, publisher) => publisher.generation + u32::from(published.by_author),
        FollowUp::Child(_, parent) => parent.generation,
        FollowUp::Item(_) | FollowUp::Continue(_) | FollowUp::Report(_) | FollowUp::Cancel(..) => 0,
    }
}

fn follow_up(context: &mut CallContext, next: FollowUp) -> Result<(), PgError> {
    context.generation = generation(&next);
    match next {
        FollowUp::Item(item) => queued::deliver_taken(context, *item).map(drop),
        FollowUp::Published(published, publisher) => deliver::published(context, *published, publisher),
        FollowUp::Child(child, parent) => children::start(context, *child, parent),
        FollowUp::Continue(id) => continuation::begin(context, id),
        FollowUp::Report(report) => children::resume_parent(context, *report),
        FollowUp::Cancel(child, owner) => abandoned::cancel(context, child, &owner),
    }
}
