//! Accounting of Rust's memory, so that a call that needs too much fails instead of ending the process.
//!
//! PostgreSQL raises an error when an allocation fails. Rust aborts the process, and the postmaster then ends every
//! session of the server. So the memory that a call adds is bounded, and checked before it is allocated.
//!
//! A value consists of many small allocations, none of which may fail. Therefore the bound is checked at points between
//! which little is allocated: before and during decoding, at each activity and expression, before packing a state.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::pg::error::{PgError, throw};
use crate::pg::guc;

mod spare;

/// Backend: the memory of this process, and what the running call may add.
static MEMORY: Accounting = Accounting {
    held: AtomicUsize::new(0),
    base: AtomicUsize::new(0),
    ceiling: AtomicUsize::new(usize::MAX),
    check_at: AtomicUsize::new(usize::MAX),
    has_grown: AtomicBool::new(false),
    wanted: AtomicUsize::new(0),
    reserve: spare::Reserve::none(),
};

struct Accounting {
    /// Bytes that this process holds, by requested size.
    held: AtomicUsize,
    /// Bytes that it held when the call began.
    base: AtomicUsize,
    /// Bytes that it may hold. Zero: the call was refused memory and must end.
    ceiling: AtomicUsize,
    /// Bytes held at which `has_exceeded` runs next: the ceiling, or less, to ask the operating system whether it has
    /// more.
    check_at: AtomicUsize,
    /// Whether the call has grown by more than [`GROWTH`].
    has_grown: AtomicBool,
    /// Bytes that the call needed when it was refused.
    wanted: AtomicUsize,
    reserve: spare::Reserve,
}

/// An allocator that counts the allocations of another one.
pub struct Counting<A>(A);

impl<A> Counting<A> {
    /// Counts the allocations of this allocator.
    pub const fn of(allocator: A) -> Self {
        Self(allocator)
    }
}

/// Uses a plain load and store instead of an atomic addition, since a backend has one thread. With several threads only
/// the count would be wrong.
#[inline]
fn count(more: usize, less: usize) {
    MEMORY.held.store(MEMORY.held.load(Relaxed).wrapping_add(more).wrapping_sub(less), Relaxed);
}

// SAFETY: each method passes its arguments to the other allocator and returns its result.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        let mut memory = unsafe { self.0.alloc(layout) };
        if memory.is_null() && spare::give_up() {
            // SAFETY: as above.
            memory = unsafe { self.0.alloc(layout) };
        }
        if !memory.is_null() {
            count(layout.size(), 0);
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        let mut memory = unsafe { self.0.alloc_zeroed(layout) };
        if memory.is_null() && spare::give_up() {
            // SAFETY: as above.
            memory = unsafe { self.0.alloc_zeroed(layout) };
        }
        if !memory.is_null() {
            count(layout.size(), 0);
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller promised.
        unsafe { self.0.dealloc(memory, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        let mut moved = unsafe { self.0.realloc(memory, layout, size) };
        if moved.is_null() && spare::give_up() {
            // SAFETY: as above; what was refused has not moved.
            moved = unsafe { self.0.realloc(memory, layout, size) };
        }
        if !moved.is_null() {
            count(size, layout.size());
        }
        moved
    }
}

/// Begins a call: from here on it may add up to `workflow.memory_limit`.
pub fn begin_call() {
    let held = MEMORY.held.load(Relaxed);
    MEMORY.base.store(held, Relaxed);
    MEMORY.ceiling.store(held.saturating_add(guc::memory_limit()), Relaxed);
    MEMORY.check_at.store(held.saturating_add(guc::memory_limit().min(GROWTH)), Relaxed);
    if !spare::take() {
        stop(spare::SIZE.min(guc::memory_limit()));
    }
}

/// Ends a call: between two calls memory has no bound.
pub fn end_call() {
    MEMORY.ceiling.store(usize::MAX, Relaxed);
    MEMORY.check_at.store(usize::MAX, Relaxed);
    spare::end_call();
    if MEMORY.has_grown.swap(false, Relaxed) {
        trim();
    }
}

/// Returns freed memory to the operating system. The GNU C library keeps what lies below anything in use.
fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: changes nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes that this process holds.
pub fn held() -> usize {
    MEMORY.held.load(Relaxed)
}

/// Bytes that the call has added.
fn used() -> usize {
    held().saturating_sub(MEMORY.base.load(Relaxed))
}

/// Bytes that the call may still add.
pub fn spare() -> usize {
    MEMORY.ceiling.load(Relaxed).saturating_sub(held())
}

/// Whether the call holds or has requested more memory than it may. Stays true until [`check`] has ended the call, even
/// if the memory is freed before that.
pub fn is_used_up() -> bool {
    held() > MEMORY.check_at.load(Relaxed) && has_exceeded()
}

/// The slow path of [`is_used_up`]. While a call grows, asks the operating system from time to time whether it has
/// more: it might refuse the next small allocation.
#[cold]
fn has_exceeded() -> bool {
    MEMORY.has_grown.store(true, Relaxed);
    let held = held();
    let ceiling = MEMORY.ceiling.load(Relaxed);
    if held <= ceiling && system_has(reserve()) {
        MEMORY.check_at.store(ceiling.min(held.saturating_add(GROWTH)), Relaxed);
        return false;
    }
    stop(used());
    true
}

/// Records that the call must end, and how much it needed.
fn stop(wanted: usize) {
    if MEMORY.ceiling.swap(0, Relaxed) > 0 {
        MEMORY.wanted.store(wanted, Relaxed);
    }
    MEMORY.check_at.store(0, Relaxed);
}

/// Ends a call that holds or has requested more memory than it may (53200).
pub fn check() {
    if is_used_up() {
        refuse();
    }
}

#[cold]
fn refuse() -> ! {
    // The code that runs after the error may use the memory that unwinding frees.
    let base = MEMORY.base.load(Relaxed);
    MEMORY.ceiling.store(base.saturating_add(guc::memory_limit()), Relaxed);
    MEMORY.check_at.store(base.saturating_add(guc::memory_limit().min(GROWTH)), Relaxed);
    throw(exceeded(MEMORY.wanted.load(Relaxed)))
}

/// Ends a call that may not add this many bytes (53200).
pub fn room(bytes: usize) {
    if bytes > spare() {
        throw(exceeded(used().saturating_add(bytes)));
    }
    if !system_has(bytes) {
        throw(refused(bytes));
    }
}

/// Checks the same where nothing may unwind. If there is no room, the next [`check`] ends the call.
pub fn has_room(bytes: usize) -> bool {
    let has_room = bytes <= spare() && system_has(bytes);
    if !has_room {
        stop(used().saturating_add(bytes));
    }
    has_room
}

/// Minimum size of an allocation for which a trial asks the operating system first, together with the reserve.
const LARGE: usize = 1 << 20;

/// How much a call may grow before the next trial allocation.
const GROWTH: usize = 16 << 20;

/// Bytes that the operating system should still have: what a call may allocate between two checks, including memory of
/// PostgreSQL. That grows with what it holds, which it may copy. Where the system does not overcommit, a larger trial
/// would fail calls that need little.
fn reserve() -> usize {
    let copies = used().saturating_mul(4);
    GROWTH.saturating_mul(2).saturating_add(copies).min(guc::memory_limit() / 2).min(256 << 20)
}

/// Whether the operating system would provide this many bytes in one piece now.
fn system_has(bytes: usize) -> bool {
    if bytes < LARGE {
        return true;
    }
    let mut trial: Vec<u8> = Vec::new();
    let outcome = spare::without(|| trial.try_reserve_exact(bytes.max(reserve())));
    // Without this the compiler may remove the unused allocation.
    std::hint::black_box(&trial);
    outcome.is_ok()
}

/// Makes the next check ask the operating system whether it has more, if the call is large: PostgreSQL has allocated
/// memory of similar size, which is not counted.
pub fn check_next() {
    if used() > guc::memory_limit() / 8 {
        MEMORY.check_at.store(MEMORY.check_at.load(Relaxed).min(held().saturating_sub(1)), Relaxed);
    }
}

/// Ends a call that holds more than half of its limit: a later call must load what it is about to save, in addition to
/// that call's own memory.
pub fn room_to_save() {
    room(used());
}

/// Checks that a packed value fits into the limit, and returns its size. Small calls skip the check and get 0.
pub fn room_to_pack(size: impl FnOnce() -> usize) -> usize {
    if used() < guc::memory_limit() / 8 {
        return 0;
    }
    let size = size();
    room(size);
    size
}

fn exceeded(wanted: usize) -> PgError {
    if wanted <= guc::memory_limit() {
        return refused(wanted);
    }
    PgError::new("53200", "workflow call uses too much memory")
        .detail(format!("It needs {}, and workflow.memory_limit is {}.", size(wanted), size(guc::memory_limit())))
        .hint("Work with smaller values, or let a superuser raise workflow.memory_limit.")
}

fn refused(bytes: usize) -> PgError {
    PgError::new("53200", "out of memory")
        .detail(format!("The operating system refused {} of memory to a workflow call.", size(bytes)))
        .hint("Lower workflow.memory_limit, or let the operating system give a session more than this limit.")
}

fn size(bytes: usize) -> String {
    if bytes >= 10 << 20 { format!("{} MB", bytes >> 20) } else { format!("{} kB", bytes >> 10) }
}
