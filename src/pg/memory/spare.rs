//! A reserve of address space, for the moment when the operating system refuses a small allocation.
//!
//! Rust would abort the process then. PostgreSQL's own memory is not counted, so any allocation may be refused, even
//! one for an error. The allocator then unmaps the reserve and allocates again, and the call ends at the next check.
//! The reserve is never written, so it uses address space but no memory. Where the operating system does not overcommit
//! it counts as memory, so there a session has none between two calls. Elsewhere the session keeps the reserve, because
//! mapping it for each call takes three microseconds, a tenth of a call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use super::MEMORY;

/// Size of the reserve. Between two checks a call allocates at most 16 MB, which in tiny pieces take four times that.
pub(super) const SIZE: usize = 80 << 20;

/// The reserve of this process.
pub(super) struct Reserve {
    /// Where it is mapped, or null.
    piece: AtomicPtr<u8>,
    /// Whether the running allocation is a trial, which the operating system may refuse.
    is_trial: AtomicBool,
    /// Whether the operating system counts addresses as memory.
    counts_as_memory: OnceLock<bool>,
}

impl Reserve {
    pub(super) const fn none() -> Self {
        Self {
            piece: AtomicPtr::new(std::ptr::null_mut()),
            is_trial: AtomicBool::new(false),
            counts_as_memory: OnceLock::new(),
        }
    }
}

/// Maps the reserve. Returns whether the operating system provided it.
pub(super) fn take() -> bool {
    if MEMORY.reserve.piece.load(Relaxed).is_null() {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, anywhere. What may be written is what the operating system counts.
        let piece = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, rights, kind, -1, 0) };
        if piece == libc::MAP_FAILED {
            return false;
        }
        MEMORY.reserve.piece.store(piece.cast(), Relaxed);
    }
    true
}

/// Unmaps the reserve after a refused allocation, and makes the call end. Returns whether memory was freed.
#[cold]
pub(super) fn give_up() -> bool {
    let is_given = !MEMORY.reserve.is_trial.load(Relaxed) && give_back();
    if is_given {
        super::stop(super::used());
    }
    is_given
}

/// Called when a call ends. Gives the reserve back where the operating system counts addresses as memory.
pub(super) fn end_call() {
    let strict = || std::fs::read("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.starts_with(b"2"));
    if *MEMORY.reserve.counts_as_memory.get_or_init(strict) {
        give_back();
    }
}

/// Unmaps the reserve, if this process still has it.
fn give_back() -> bool {
    let piece = MEMORY.reserve.piece.swap(std::ptr::null_mut(), Relaxed);
    if piece.is_null() {
        return false;
    }
    // SAFETY: mapped by `take`, and nowhere else any more.
    unsafe { libc::munmap(piece.cast(), SIZE) == 0 }
}

/// Runs a trial allocation, which the operating system may refuse without using up the reserve.
pub(super) fn without<R>(allocate: impl FnOnce() -> R) -> R {
    MEMORY.reserve.is_trial.store(true, Relaxed);
    let outcome = allocate();
    MEMORY.reserve.is_trial.store(false, Relaxed);
    outcome
}
