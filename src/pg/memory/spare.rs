//! A piece of addresses that is held back, for the moment when the operating system refuses a small one.
//!
//! Rust ends the process then. What PostgreSQL takes is not counted, so this may come at any allocation, that of an error
//! included. The piece goes back to the operating system instead, the allocation is made again, and the call ends at the
//! next question. Nothing writes to it, so it takes addresses and no memory, but counts as memory where the operating
//! system does not overcommit: there a session between two calls has none. Elsewhere it keeps the piece, because mapping it
//! for each call takes three microseconds, a tenth of what a call takes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// An allocator that asks for 32 MB aligned to as much asks for twice that, and there is the rest of the call.
pub(super) const SIZE: usize = 80 << 20;

static HELD_BACK: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Whether an allocation may be refused: it only asks.
static IS_TRIAL: AtomicBool = AtomicBool::new(false);

/// Takes the piece. Whether the operating system gives it.
pub(super) fn take() -> bool {
    if HELD_BACK.load(Relaxed).is_null() {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, anywhere. What may be written is what the operating system counts.
        let piece = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, rights, kind, -1, 0) };
        if piece == libc::MAP_FAILED {
            return false;
        }
        HELD_BACK.store(piece.cast(), Relaxed);
    }
    true
}

/// Gives it back, where an allocation was refused: the call is to end. Whether there is more now than before.
#[cold]
pub(super) fn give_up() -> bool {
    let is_given = !IS_TRIAL.load(Relaxed) && give_back();
    if is_given {
        super::stop(super::used());
    }
    is_given
}

/// Ends a call.
pub(super) fn end_call() {
    static COUNTS_AS_MEMORY: OnceLock<bool> = OnceLock::new();
    let strict = || std::fs::read("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.starts_with(b"2"));
    if *COUNTS_AS_MEMORY.get_or_init(strict) {
        give_back();
    }
}

/// Gives it back, if this process still has it.
fn give_back() -> bool {
    let piece = HELD_BACK.swap(std::ptr::null_mut(), Relaxed);
    if piece.is_null() {
        return false;
    }
    // SAFETY: mapped by `take`, and nowhere else any more.
    unsafe { libc::munmap(piece.cast(), SIZE) == 0 }
}

/// Allocates what may be refused.
pub(super) fn without<R>(allocate: impl FnOnce() -> R) -> R {
    IS_TRIAL.store(true, Relaxed);
    let outcome = allocate();
    IS_TRIAL.store(false, Relaxed);
    outcome
}
