//! The instances whose bursts are running further up in this backend.

use std::cell::{Cell, RefCell};

use uuid::Uuid;

use crate::pg::PgError;

/// An instance that counts as running.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// Id.
    pub instance: Uuid,
    /// Whether it may make bookmarks: one that moves makes none.
    pub makes_bookmarks: bool,
}

thread_local! {
    static STACK: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
    static CALLED_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks an instance as running until the mark is dropped, also on unwinding.
pub struct Mark;

impl Mark {
    /// Marks an instance.
    pub fn set(instance: Uuid) -> Self {
        STACK.with_borrow_mut(|stack| stack.push(Running { instance, makes_bookmarks: true }));
        Self
    }

    /// Marks an instance whose rows are being taken in or removed.
    pub fn moving(instance: Uuid) -> Self {
        STACK.with_borrow_mut(|stack| stack.push(Running { instance, makes_bookmarks: false }));
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
    STACK.with_borrow(|stack| stack.iter().any(|running| running.instance == instance))
}

/// Whether any burst is running.
pub fn any() -> bool {
    STACK.with_borrow(|stack| !stack.is_empty())
}

/// All instances that count as running.
pub fn all() -> Vec<Running> {
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
