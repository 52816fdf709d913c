//! The instances whose bursts are running further up in this backend, and those that are being moved there.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use uuid::Uuid;

use crate::pg::PgError;

/// What counts as running.
enum Running {
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

thread_local! {
    static STACK: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
    static CALLED_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks instances as running until the mark is dropped, also on unwinding.
pub struct Mark;

impl Mark {
    /// Marks an instance whose burst begins.
    pub fn set(instance: Uuid) -> Self {
        Self::push(Running::Burst(instance))
    }

    /// Marks instances whose rows are being taken in or removed. They make no bookmarks.
    pub fn moving(instances: &[Uuid]) -> Self {
        Self::push(Running::Moving(instances.iter().copied().collect()))
    }

    fn push(running: Running) -> Self {
        STACK.with_borrow_mut(|stack| stack.push(running));
        Self
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        STACK.with_borrow_mut(Vec::pop);
    }
}

/// Whether this instance counts as running.
pub fn contains(instance: Uuid) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|running| running.has(instance)))
}

/// Whether anything counts as running.
pub fn any() -> bool {
    STACK.with_borrow(|stack| !stack.is_empty())
}

/// The instances whose bursts are running. Each may be about to make a bookmark.
pub fn bursts() -> Vec<Uuid> {
    let burst = |running: &Running| match running {
        Running::Burst(id) => Some(*id),
        Running::Moving(_) => None,
    };
    STACK.with_borrow(|stack| stack.iter().filter_map(burst).collect())
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
