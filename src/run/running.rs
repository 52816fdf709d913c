//! The instances whose bursts are running further up in this backend.

use std::cell::{Cell, RefCell};

use uuid::Uuid;

use crate::pg::PgError;

thread_local! {
    /// Each with whether it is a burst, and not an import.
    static STACK: RefCell<Vec<(Uuid, bool)>> = const { RefCell::new(Vec::new()) };
    static CALLED_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks an instance as running until the mark is dropped, also on unwinding.
pub struct Mark;

impl Mark {
    /// Marks an instance.
    pub fn set(instance: Uuid) -> Self {
        STACK.with_borrow_mut(|stack| stack.push((instance, true)));
        Self
    }

    /// Marks an instance whose rows are being taken in.
    pub fn importing(instance: Uuid) -> Self {
        STACK.with_borrow_mut(|stack| stack.push((instance, false)));
        Self
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        STACK.with_borrow_mut(Vec::pop);
    }
}

/// Whether this instance's burst is running.
pub fn contains(instance: Uuid) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|(running, _)| *running == instance))
}

/// Whether any burst is running.
pub fn any() -> bool {
    STACK.with_borrow(|stack| !stack.is_empty())
}

/// All instances whose bursts are running, each with whether it may make bookmarks: one that is taken in makes none.
pub fn all() -> Vec<(Uuid, bool)> {
    STACK.with_borrow(Clone::clone)
}

/// Remembers that a call may have deferred a stimulus until a burst ends.
pub fn note_deferral() {
    CALLED_INSIDE.set(true);
}

/// Whether a deferral was noted. The note is cleared when no burst is left.
pub fn may_have_deferred() -> bool {
    let noted = CALLED_INSIDE.get();
    if noted && !any() {
        CALLED_INSIDE.set(false);
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
