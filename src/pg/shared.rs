//! The shared memory of the background workers and sessions: one struct under one lock.
//!
//! With `shared_preload_libraries` it is reserved at server start. Otherwise the first process that needs it allocates
//! it from the spare shared memory of the server. The lock is held only briefly, and nothing under it may fail.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::{PgError, catch, log, throw};
use crate::pg::state::BACKEND;
use crate::pg::{interrupt, process};
use crate::retention_progress::PAUSE;

pub mod counters;
pub mod histogram;
mod lateness;
mod sleeper;
mod state;
mod waiters;

pub use lateness::LATENESS_BOUNDS;
pub use sleeper::{NEVER, Process};
pub use state::{
    Database, Executor, ExecutorState, Fire, FireKind, HasExtension, MAX_BATCH, SchedulerReport, SharedState,
};
pub use waiters::{Class, Counts, Waiters};

#[repr(C)]
struct Shared {
    lock: pg_sys::LWLock,
    /// Whether the process that allocated it has initialised it.
    is_ready: AtomicBool,
    /// The events that ending transactions must report, one bit each. Every commit reads it without the lock.
    wanted: [AtomicU8; state::MAX_DATABASES],
    /// The next xid at the time when a stimulus was last stored; commits read it without the lock as well. A session
    /// whose snapshot does not include all earlier transactions may have missed the stimulus. 0: none was stored.
    horizons: [AtomicU64; state::MAX_DATABASES],
    /// The id timestamp up to which retention has processed instances, in milliseconds since 1970.
    passed: [AtomicU64; state::MAX_DATABASES],
    /// The number of sessions that wait for tasks, and of those that other transactions block. Ending transactions read
    /// them without the lock.
    waiting: AtomicU32,
    blocked: AtomicU32,
    state: SharedState,
}

/// Report the end of a transaction that wrote or used bookmarks: it may have held a lock that a stimulus needs.
pub const ENDS: u8 = 1;
/// Report the end of any instance: retention is enabled.
const INSTANCE_ENDS: u8 = 2;
/// Report the end of an instance that retention has already processed.
const OLD_INSTANCE_ENDS: u8 = 4;
/// Report the end of an instance whose id lies in the future.
const INSTANCE_ENDS_AHEAD: u8 = 8;

/// The memory as this process has found it.
pub(super) struct Attached {
    shared: Cell<*mut Shared>,
    has_failed: Cell<bool>,
    /// The memory of the counters, and whether it could not be had.
    counters: Cell<*mut counters::Memory>,
    counters_failed: Cell<bool>,
    /// Set in the postmaster, and so in every process that it forks.
    is_preloaded: Cell<bool>,
    /// The hook for requests of memory that was there before, in the postmaster.
    previous_request: Cell<pg_sys::shmem_request_hook_type>,
}

impl Attached {
    pub(super) const fn not_yet() -> Self {
        Self {
            shared: Cell::new(std::ptr::null_mut()),
            has_failed: Cell::new(false),
            counters: Cell::new(std::ptr::null_mut()),
            counters_failed: Cell::new(false),
            is_preloaded: Cell::new(false),
            previous_request: Cell::new(None),
        }
    }
}

/// Reserves the memory; called while the postmaster loads the library.
pub fn request() {
    unsafe extern "C-unwind" fn reserve() {
        // SAFETY: PostgreSQL calls this when memory may be requested.
        unsafe {
            if let Some(previous) = BACKEND.shared.previous_request.get() {
                previous();
            }
            pg_sys::RequestAddinShmemSpace(size_of::<Shared>() + counters::size());
        }
    }
    // SAFETY: hooks are set by the postmaster's only thread, before it forks.
    unsafe {
        BACKEND.shared.previous_request.set(pg_sys::shmem_request_hook);
        pg_sys::shmem_request_hook = Some(reserve);
    }
    BACKEND.shared.is_preloaded.set(true);
}

/// Whether the library is preloaded in every session of the server. Otherwise a session that calls none of our
/// functions ends its transactions without a report.
pub fn is_preloaded() -> bool {
    BACKEND.shared.is_preloaded.get()
}

/// The struct, allocated if it does not exist yet. Null: there is no room for it, which is possible only if the library
/// is not preloaded; then no workers run. A cancel ends the wait for a process that is initialising the struct; the
/// next call tries again.
fn shared() -> *mut Shared {
    if BACKEND.shared.shared.get().is_null() && !BACKEND.shared.has_failed.get() {
        match catch(find) {
            Ok(shared) => attach(shared),
            Err(error) => {
                BACKEND.shared.has_failed.set(true);
                log(&format!("workflow has no shared memory, and so no workers: {}", error.message));
            }
        }
    }
    BACKEND.shared.shared.get()
}

fn find() -> *mut Shared {
    // SAFETY: PostgreSQL makes the struct once, of memory that is zero until then. No lock is held: it may raise.
    unsafe {
        let mut found = false;
        let shared = pg_sys::ShmemInitStruct(c"workflow".as_ptr(), size_of::<Shared>(), &mut found).cast::<Shared>();
        if !found {
            pg_sys::LWLockInitialize(&mut (*shared).lock, pg_sys::LWLockNewTrancheId());
            (*shared).state.initialise();
            (*shared).is_ready.store(true, Ordering::Release);
        }
        shared
    }
}

/// Waits until the process that allocates the struct has initialised it.
fn attach(shared: *mut Shared) {
    // SAFETY: a struct of PostgreSQL's shared memory, which is there as long as this process.
    unsafe {
        while !(*shared).is_ready.load(Ordering::Acquire) {
            interrupt::check();
            pg_sys::pg_usleep(100);
        }
        pg_sys::LWLockRegisterTranche((*shared).lock.tranche.into(), c"workflow".as_ptr());
    }
    BACKEND.shared.shared.set(shared);
}

/// Reads or changes the shared state, under the lock.
pub fn with<R>(body: impl FnOnce(&mut SharedState) -> R) -> R {
    let shared = shared();
    if shared.is_null() {
        throw(
            PgError::new("53200", "workflow has no shared memory")
                .hint("Add workflow to shared_preload_libraries, and restart the server."),
        );
    }
    // SAFETY: attached for the life of the process; the lock makes the reference the only one. `body` must not
    // raise: locks that are held then are released by the (sub)transaction's abort or at the process's end.
    unsafe {
        pg_sys::LWLockAcquire(&mut (*shared).lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let outcome = body(&mut (*shared).state);
        pg_sys::LWLockRelease(&mut (*shared).lock);
        outcome
    }
}

/// Attaches the memory before the commit, since this may take long. `false`: there is no memory.
pub fn ensure() -> bool {
    !shared().is_null()
}

/// Like [`with`], if this process has attached the memory already.
pub fn with_attached(body: impl FnOnce(&mut SharedState)) {
    if !BACKEND.shared.shared.get().is_null() {
        with(body);
    }
}

/// Reads or changes the sessions that wait for tasks.
pub fn with_waiters<R>(body: impl FnOnce(&mut Waiters) -> R) -> R {
    with(|state| {
        let outcome = body(&mut state.waiters);
        let (waiting, blocked) = state.waiters.count();
        // SAFETY: attached, because `with` has used it; the numbers are atomic.
        let shared = unsafe { &*BACKEND.shared.shared.get() };
        shared.waiting.store(waiting, Ordering::SeqCst);
        shared.blocked.store(blocked, Ordering::SeqCst);
        outcome
    })
}

/// Whether sessions wait for tasks. The caller must make its changes visible before asking.
pub fn has_waiters() -> bool {
    let shared = BACKEND.shared.shared.get();
    // SAFETY: attached for the life of the process; the number is atomic.
    !shared.is_null() && unsafe { &(*shared).waiting }.load(Ordering::SeqCst) > 0
}

/// Whether sessions wait for the end of other transactions. The caller's transaction must have ended before.
pub fn has_blocked_waiters() -> bool {
    let shared = BACKEND.shared.shared.get();
    // SAFETY: as above.
    !shared.is_null() && unsafe { &(*shared).blocked }.load(Ordering::SeqCst) > 0
}

/// Stores whether another session has locked rows that stimuli of the database in this slot need.
pub fn set_held(slot: usize, is_held: bool) {
    set_wanted(slot, ENDS, is_held);
}

fn set_wanted(slot: usize, bit: u8, is_wanted: bool) {
    let shared = BACKEND.shared.shared.get();
    if shared.is_null() {
        return;
    }
    // SAFETY: attached for the life of the process; the byte is atomic.
    let wanted = unsafe { &(&(*shared).wanted)[slot] };
    if is_wanted {
        wanted.fetch_or(bit, Ordering::SeqCst)
    } else {
        wanted.fetch_and(!bit, Ordering::SeqCst)
    };
}

/// Whether a slot still belongs to a database. The launcher may reassign the slot of a database without the extension.
pub fn is_slot_of(slot: usize, database: Oid) -> bool {
    let shared = BACKEND.shared.shared.get();
    // SAFETY: attached for the life of the process; one word, which changes as a whole.
    !shared.is_null()
        && slot < state::MAX_DATABASES
        && unsafe { (&raw const (*shared).state.databases[slot].oid).read_volatile() } == database
}

/// The events that ending transactions of the database in this slot must report; those of any database if the slot is
/// unknown.
pub fn wanted_here(slot: usize) -> u8 {
    let shared = BACKEND.shared.shared.get();
    if shared.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let wanted = unsafe { &(*shared).wanted };
    match wanted.get(slot) {
        Some(wanted) => wanted.load(Ordering::SeqCst),
        None => wanted.iter().fold(0, |all, wanted| all | wanted.load(Ordering::SeqCst)),
    }
}

/// Raises the horizon of the database in this slot; see [`horizon`].
pub fn raise_at(slot: usize, horizon: u64) {
    let shared = BACKEND.shared.shared.get();
    if !shared.is_null() {
        // SAFETY: attached for the life of the process; the number is atomic.
        unsafe { &(&(*shared).horizons)[slot] }.fetch_max(horizon, Ordering::SeqCst);
    }
}

/// As [`raise_at`], for a database.
pub fn raise(database: Oid, horizon: u64) {
    if let Some(slot) = with(|state| state.slot_of(database)) {
        raise_at(slot, horizon);
    }
}

/// The horizon of the database in this slot, or the highest one if the slot is unknown: a session whose snapshot does
/// not include all earlier transactions may have missed a stimulus.
pub fn horizon(slot: usize) -> u64 {
    let shared = BACKEND.shared.shared.get();
    if shared.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let horizons = unsafe { &(*shared).horizons };
    let read = |horizon: &AtomicU64| horizon.load(Ordering::SeqCst);
    horizons.get(slot).map_or_else(|| horizons.iter().map(read).max().unwrap_or(0), read)
}

/// The timestamps in the ids of instances that have ended, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct EndedIds {
    /// The lowest of them, from which retention reads again.
    pub first: u64,
    /// The highest of them.
    pub last: u64,
}

/// The id timestamp up to which retention has processed the instances of the database in this slot. The end of an older
/// instance lowers it, so that retention reads that instance again. The memory must be attached.
fn passed(slot: usize) -> &'static AtomicU64 {
    // SAFETY: attached for the life of the process; the number is atomic.
    unsafe { &(&(*BACKEND.shared.shared.get()).passed)[slot] }
}

/// Stores whether a scheduler found the extension in its database.
pub fn set_extension(database: Oid, has_extension: HasExtension) {
    with(|state| {
        let has_requests = state.has_requests(database);
        if let Some(slot) = state.database(database) {
            // A session may have created the extension since the scheduler checked.
            let is_outdated = has_extension == HasExtension::No && (has_requests || slot.next_due < i64::MAX);
            slot.has_extension = if is_outdated { HasExtension::Unknown } else { has_extension };
        }
    });
}

/// Milliseconds from 1970 to 2000.
const POSTGRES_EPOCH: i64 = 946_684_800_000;

/// The lowest id timestamp that lies in the future.
fn ahead(now: i64) -> u64 {
    (now.saturating_add(PAUSE) / 1000).saturating_add(POSTGRES_EPOCH).max(0).unsigned_abs()
}

/// Whether the end of these instances must be reported, in the database in this slot.
pub fn is_end_wanted(slot: usize, ended: EndedIds) -> bool {
    let wanted = wanted_here(slot);
    let is_old = || slot >= state::MAX_DATABASES || ended.first < passed(slot).load(Ordering::SeqCst);
    wanted & INSTANCE_ENDS != 0
        || wanted & OLD_INSTANCE_ENDS != 0 && is_old()
        || wanted & INSTANCE_ENDS_AHEAD != 0 && ended.last >= ahead(process::now())
}

/// Records that instances have ended; called with the state locked. Returns whether to wake the scheduler.
pub fn instance_ended(state: &mut SharedState, slot: usize, ended: EndedIds, now: i64) -> bool {
    let is_wanted = wanted_here(slot) & INSTANCE_ENDS != 0;
    let database = &mut state.databases[slot];
    // Retention reads again from the first of them on, which includes the later ones.
    let is_old = ended.first < passed(slot).fetch_min(ended.first, Ordering::SeqCst);
    let is_ahead = !is_old && ended.last >= ahead(now);
    if is_old || is_ahead {
        let from = if is_old { ended.first } else { ended.first.max(ahead(now)) };
        database.old_ended = Some(database.old_ended.map_or(from, |known| known.min(from)));
    }
    if is_ahead {
        set_wanted(slot, INSTANCE_ENDS_AHEAD, false);
    }
    set_wanted(slot, INSTANCE_ENDS, false);
    let at = now.saturating_add(database.tidy_after);
    let is_earlier = (is_wanted || is_old || is_ahead) && at < database.tidy_at;
    if is_earlier {
        database.tidy_at = at;
    }
    is_earlier
}

/// Called before retention reads the instances with ids before a time. From now on sessions report the ends of
/// instances, and retention runs `expected` after such an end. `None`: retention removes nothing. Returns the id
/// timestamp from which retention must read the remaining instances again.
pub fn expect_ends(database: Oid, expected: Option<(u64, i64)>, now: i64) -> Option<u64> {
    with(|state| {
        let index = state.slot_of(database)?;
        let slot = &mut state.databases[index];
        if slot.tidy_at <= now {
            slot.tidy_at = NEVER;
        }
        if let Some((millis, after)) = expected {
            slot.tidy_after = after;
            passed(index).fetch_max(millis, Ordering::SeqCst);
        }
        for bit in [INSTANCE_ENDS, OLD_INSTANCE_ENDS, INSTANCE_ENDS_AHEAD] {
            set_wanted(index, bit, expected.is_some());
        }
        slot.old_ended.take()
    })
}
