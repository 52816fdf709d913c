//! Memory of Rust: counted, so that a call that wants too much ends instead of the process.
//!
//! PostgreSQL answers memory that it cannot get with an error. Rust ends the process, and with it the postmaster ends
//! every session of the server. So what a call adds is bounded, and asked for before it is taken.
//!
//! A value is made in many small pieces, none of which may fail. Therefore the bound is asked at steps, between which
//! little is made: before text is decoded and while it is, at each activity and expression, before a state is packed.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::pg::error::{PgError, unwind};
use crate::pg::guc;

mod spare;

/// Bytes that this process holds, as they were asked for.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Bytes that it held when the call began.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// Bytes that it may hold. Zero: the call was refused memory and is to end.
static CEILING: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Where it is looked next: at the ceiling, or before that, where the operating system is asked whether it has more.
static LOOK_AT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// What it wanted when it was refused.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// An allocator that counts what another one gives.
pub struct Counting<A>(A);

impl<A> Counting<A> {
    /// Counts what this one gives.
    pub const fn of(allocator: A) -> Self {
        Self(allocator)
    }
}

/// Two plain instructions instead of a locked one: a backend has one thread. With more of them the count would be wrong,
/// and nothing else.
#[inline]
fn count(more: usize, less: usize) {
    HELD.store(HELD.load(Relaxed).wrapping_add(more).wrapping_sub(less), Relaxed);
}

// SAFETY: each call goes to the other allocator as it came, and what it answers goes back.
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

/// Begins a call: from here on it may add what `workflow.memory_limit` says.
pub fn begin_call() {
    let held = HELD.load(Relaxed);
    BASE.store(held, Relaxed);
    CEILING.store(held.saturating_add(guc::memory_limit()), Relaxed);
    LOOK_AT.store(held.saturating_add(guc::memory_limit().min(GROWTH)), Relaxed);
    if !spare::take() {
        stop(spare::SIZE.min(guc::memory_limit()));
    }
}

/// Ends it: what happens between two calls has no bound.
pub fn end_call() {
    CEILING.store(usize::MAX, Relaxed);
    LOOK_AT.store(usize::MAX, Relaxed);
    spare::end_call();
}

/// Bytes that this process holds.
pub fn held() -> usize {
    HELD.load(Relaxed)
}

/// Bytes that the call has added.
fn used() -> usize {
    held().saturating_sub(BASE.load(Relaxed))
}

/// Bytes that it may still add.
pub fn spare() -> usize {
    CEILING.load(Relaxed).saturating_sub(held())
}

/// Whether the call holds more than it may, or asked for more. It stays so until [`check`] has ended it: what made it stop
/// may be gone by then.
pub fn is_used_up() -> bool {
    held() > LOOK_AT.load(Relaxed) && look()
}

/// The same, with a look at what it is. A call that grows asks the operating system now and then whether it has more: the
/// next small piece may be the one that it refuses.
#[cold]
fn look() -> bool {
    let held = held();
    let ceiling = CEILING.load(Relaxed);
    if held <= ceiling && system_has(reserve()) {
        LOOK_AT.store(ceiling.min(held.saturating_add(GROWTH)), Relaxed);
        return false;
    }
    stop(used());
    true
}

/// Notes that the call is to end, and what it wanted.
fn stop(wanted: usize) {
    if CEILING.swap(0, Relaxed) > 0 {
        WANTED.store(wanted, Relaxed);
    }
    LOOK_AT.store(0, Relaxed);
}

/// Ends a call that holds more than it may, or asked for more (53200).
pub fn check() {
    if is_used_up() {
        refuse();
    }
}

#[cold]
fn refuse() -> ! {
    // What goes on after the error may use what it gave back.
    let base = BASE.load(Relaxed);
    CEILING.store(base.saturating_add(guc::memory_limit()), Relaxed);
    LOOK_AT.store(base.saturating_add(guc::memory_limit().min(GROWTH)), Relaxed);
    unwind(exceeded(WANTED.load(Relaxed)))
}

/// Ends a call that may not add so many bytes (53200).
pub fn room(bytes: usize) {
    if bytes > spare() {
        unwind(exceeded(used().saturating_add(bytes)));
    }
    if !system_has(bytes) {
        unwind(refused(bytes));
    }
}

/// The same for where nothing may unwind: if there is no room, the next [`check`] ends the call.
pub fn has_room(bytes: usize) -> bool {
    let has_room = bytes <= spare() && system_has(bytes);
    if !has_room {
        stop(used().saturating_add(bytes));
    }
    has_room
}

/// Pieces from this size on are asked of the operating system before they are needed, with the reserve beside them.
const LARGE: usize = 1 << 20;

/// How much a call may grow before it asks the operating system for more than it needs.
const GROWTH: usize = 16 << 20;

/// What the operating system should still have: what a call may make between two questions, PostgreSQL's part included.
fn reserve() -> usize {
    (guc::memory_limit() / 2).min(256 << 20)
}

/// Whether the operating system would give so much in one piece now.
fn system_has(bytes: usize) -> bool {
    if bytes < LARGE {
        return true;
    }
    let mut trial: Vec<u8> = Vec::new();
    let outcome = spare::without(|| trial.try_reserve_exact(bytes.max(reserve())));
    // Otherwise the compiler sees that it is not used, and leaves the call out.
    std::hint::black_box(&trial);
    outcome.is_ok()
}

/// Asks the operating system at the next question whether it has more, if the call is large: PostgreSQL has made something
/// of its size, and the count knows nothing of that.
pub fn look_next() {
    if used() > guc::memory_limit() / 8 {
        LOOK_AT.store(LOOK_AT.load(Relaxed).min(held().saturating_sub(1)), Relaxed);
    }
}

/// Ends a call that holds more than half of what it may: what it is about to save must be loaded again, beside whatever
/// the call that does so brings with it.
pub fn room_to_save() {
    room(used());
}

/// Asks for the room of something packed, and says how much it is; small calls are not asked, and get 0.
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
        .detail(format!("It wants {}, and workflow.memory_limit is {}.", size(wanted), size(guc::memory_limit())))
        .hint("Work with smaller values, or let a superuser raise workflow.memory_limit.")
}

fn refused(bytes: usize) -> PgError {
    PgError::new("53200", "out of memory")
        .detail(format!("The operating system does not give a workflow call {}.", size(bytes)))
        .hint("Lower workflow.memory_limit, or let the operating system give a session more than it.")
}

fn size(bytes: usize) -> String {
    if bytes >= 10 << 20 { format!("{} MB", bytes >> 20) } else { format!("{} kB", bytes >> 10) }
}
