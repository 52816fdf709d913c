//! A piece that each process holds back, for the moment when the operating system refuses a small one.
//!
//! Rust ends the process then. What PostgreSQL takes is not counted, so this may come at any allocation, that of an error
//! included. The piece goes back to the operating system instead, the allocation is made again, and the call ends at the
//! next question. Nothing writes to it, so it takes addresses and no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// An allocator that asks for 32 MB aligned to as much asks for twice that, and there is the rest of the call.
const SIZE: usize = 80 << 20;

/// The C library maps a piece of this size on its own, and unmaps it when it is freed.
const LAYOUT: Layout = match Layout::from_size_align(SIZE, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u128>(),
};

static HELD_BACK: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Whether an allocation may be refused: it only asks.
static IS_TRIAL: AtomicBool = AtomicBool::new(false);

/// Takes the piece, unless this process has it. Without it everything is as it would be.
pub(super) fn take() {
    if HELD_BACK.load(Relaxed).is_null() {
        // SAFETY: of a size.
        HELD_BACK.store(unsafe { System.alloc(LAYOUT) }, Relaxed);
    }
}

/// Gives it back, where an allocation was refused. Whether there is more now than before.
#[cold]
pub(super) fn give_up() -> bool {
    if IS_TRIAL.load(Relaxed) {
        return false;
    }
    let piece = HELD_BACK.swap(std::ptr::null_mut(), Relaxed);
    if piece.is_null() {
        return false;
    }
    // SAFETY: allocated so by `take`, and nowhere else any more.
    unsafe { System.dealloc(piece, LAYOUT) };
    super::stop(super::used());
    true
}

/// Allocates what may be refused.
pub(super) fn without<R>(allocate: impl FnOnce() -> R) -> R {
    IS_TRIAL.store(true, Relaxed);
    let outcome = allocate();
    IS_TRIAL.store(false, Relaxed);
    outcome
}
