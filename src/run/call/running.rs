//! The instances whose bursts are running further up in this backend, and those that are being moved there.

use std::collections::HashSet;

use uuid::Uuid;

use crate::pg::PgError;
use crate::run::CALL;

/// What counts as running.
pub(in crate::run) enum Running {
    /// An instance whose burst is running.
    Burst(Uuid),
    /// Instances whose rows are being taken in or removed.
    Moving(HashSet<Uuid>),
}

impl Running {
    fn has(&self, instance: Uuid) -> bool {
        match self {
            Self::Burst(id) => *id == instance,
            Self::Moving(ids) => ids.contains(&instance),
        }
    }
}

/// Marks instances as running until the mark is dropped, also on unwinding.
pub struct RunningGuard;

impl RunningGuard {
    /// Marks an instance whose burst begins.
    pub fn burst(instance: Uuid) -> Self {
        Self::push(Running::Burst(instance))
    }

    /// Marks instances whose rows are being taken in or removed. They make no bookmarks.
    pub fn moving(instances: &[Uuid]) -> Self {
        Self::push(Running::Moving(instances.iter().copied().collect()))
    }

    fn push(running: Running) -> Self {
        CALL.running.borrow_mut().push(running);
        Self
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        CALL.running.borrow_mut().pop();
    }
}

/// Whether this instance counts as running.
pub fn contains(instance: Uuid) -> bool {
    CALL.running.borrow().iter().any(|running| running.has(instance))
}

/// Whether anything counts as running.
pub fn any() -> bool {
    !CALL.running.borrow().is_empty()
}

/// Refuses a call that would outlive the workflow in whose SQL it is (55000): it would have the rights that somebody lent
/// for one call.
pub fn refuse_inside(function: &str) -> Result<(), PgError> {
    match any() {
        true => Err(PgError::new("55000", format!("{function} cannot be called by a workflow"))),
        false => Ok(()),
    }
}

/// The instances whose bursts are running. Each may be about to make a bookmark.
pub fn bursts() -> Vec<Uuid> {
    let burst = |running: &Running| match running {
        Running::Burst(id) => Some(*id),
        Running::Moving(_) => None,
    };
    CALL.running.borrow().iter().filter_map(burst).collect()
}

/// Remembers that a call may have deferred a stimulus until a burst ends.
pub fn record_deferral() {
    CALL.may_have_deferred.set(true);
}

/// Whether a deferral was noted. The note is cleared when no burst is left.
pub fn may_have_deferred() -> bool {
    let noted = CALL.may_have_deferred.get();
    if noted && !any() {
        CALL.may_have_deferred.set(false);
    }
    noted
}

/// Refuses a call that would run an instance inside its own burst (55006).
pub fn refuse(instance: Uuid) -> Result<(), PgError> {
    if !contains(instance) {
        return Ok(());
    }
    Err(PgError::new("55006", format!("workflow instance {instance} is running further up in this session"))
        .detail("SQL that runs inside a burst cannot run the same instance again.")
        .hint("Send a stimulus instead: it is delivered in the same transaction when the burst has ended."))
}
