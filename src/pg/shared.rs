//! The shared memory of the workers: one struct under one lock.
//!
//! With `shared_preload_libraries` it is reserved at start. Otherwise the process that needs it first makes it, in the
//! room that every server keeps for that. The lock is held for moments only, and nothing under it may fail.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use pgrx::pg_sys::{self, Oid};

use crate::pg::error::{PgError, catch, log, unwind};
use crate::pg::{interrupt, process};
use crate::rounds::PAUSE;

mod lateness;
mod state;

pub use state::{
    Database, Executor, ExecutorState, Fire, FireKind, HasExtension, MAX_BATCH, Process, Said, SharedState,
};

#[repr(C)]
struct Shared {
    lock: pg_sys::LWLock,
    /// Whether the process that made it has initialised it.
    is_ready: AtomicBool,
    /// Read without the lock on the way of every commit: what those who write bookmarks must say.
    wanted: [AtomicU8; state::MAX_DATABASES],
    /// As well: the id of the next transaction when a stimulus was kept last. Who has not seen all transactions before it
    /// may have missed the stimulus. 0: none was kept.
    horizons: [AtomicU64; state::MAX_DATABASES],
    /// Up to which time in their ids retention has passed instances, in milliseconds since 1970.
    passed: [AtomicU64; state::MAX_DATABASES],
    state: SharedState,
}

/// That a transaction which wrote or used bookmarks has ended: it may have held what a stimulus needs.
pub const ENDS: u8 = 1;
/// That an instance has ended: retention is on.
const INSTANCE_ENDS: u8 = 2;
/// That one has ended that retention has passed already.
const OLD_INSTANCE_ENDS: u8 = 4;
/// That one has ended whose id lies ahead of the clock.
const INSTANCE_ENDS_AHEAD: u8 = 8;

thread_local! {
    static SHARED: Cell<*mut Shared> = const { Cell::new(std::ptr::null_mut()) };
    static HAS_FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Reserves the memory; called while the postmaster loads the library.
pub fn request() {
    unsafe extern "C-unwind" fn reserve() {
        // SAFETY: PostgreSQL calls this when memory may be requested.
        unsafe {
            if let Some(previous) = PREVIOUS.get() {
                previous();
            }
            pg_sys::RequestAddinShmemSpace(size_of::<Shared>());
        }
    }
    thread_local! {
        static PREVIOUS: Cell<pg_sys::shmem_request_hook_type> = const { Cell::new(None) };
    }
    // SAFETY: hooks are set by the postmaster's only thread, before it forks.
    unsafe {
        PREVIOUS.set(pg_sys::shmem_request_hook);
        pg_sys::shmem_request_hook = Some(reserve);
    }
}

/// The struct, made if it is not there yet. Null: there is no room for it, which is possible only where the library is
/// not preloaded; then there are no workers to be told anything. A cancel ends the wait for a process that
/// is just making it; the next call tries again.
fn shared() -> *mut Shared {
    if SHARED.get().is_null() && !HAS_FAILED.get() {
        match catch(find) {
            Ok(shared) => attach(shared),
            Err(error) => {
                HAS_FAILED.set(true);
                log(&format!("workflow has no shared memory, and so no workers: {}", error.message));
            }
        }
    }
    SHARED.get()
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

/// Waits until the process that makes the struct has made it.
fn attach(shared: *mut Shared) {
    // SAFETY: a struct of PostgreSQL's shared memory, which is there as long as this process.
    unsafe {
        while !(*shared).is_ready.load(Ordering::Acquire) {
            interrupt::check();
            pg_sys::pg_usleep(100);
        }
        pg_sys::LWLockRegisterTranche((*shared).lock.tranche.into(), c"workflow".as_ptr());
    }
    SHARED.set(shared);
}

/// Looks at or changes the shared state, alone.
pub fn with<R>(body: impl FnOnce(&mut SharedState) -> R) -> R {
    let shared = shared();
    if shared.is_null() {
        unwind(
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

/// Makes sure that the memory is attached, where that may take long: a commit must not. `false`: there is none.
pub fn ensure() -> bool {
    !shared().is_null()
}

/// As [`with`], if this process has attached the memory already.
pub fn with_attached(body: impl FnOnce(&mut SharedState)) {
    if !SHARED.get().is_null() {
        with(body);
    }
}

/// Says whether a session holds what stimuli of the database in this slot need.
pub fn set_held(slot: usize, is_held: bool) {
    set_wanted(slot, ENDS, is_held);
}

fn set_wanted(slot: usize, bit: u8, is_wanted: bool) {
    let shared = SHARED.get();
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

/// Whether a slot is still that of a database. It may be given to another one while this has no extension.
pub fn is_slot_of(slot: usize, database: Oid) -> bool {
    let shared = SHARED.get();
    // SAFETY: attached for the life of the process; one word, which changes as a whole.
    !shared.is_null()
        && slot < state::MAX_DATABASES
        && unsafe { (&raw const (*shared).state.databases[slot].oid).read_volatile() } == database
}

/// What those who write bookmarks in the database in this slot must say when they end; where the slot is not known,
/// what those of any database must.
pub fn wanted_here(slot: usize) -> u8 {
    let shared = SHARED.get();
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

/// Whoever has not seen all transactions before this one may have missed a stimulus in the database in this slot.
pub fn raise_at(slot: usize, horizon: u64) {
    let shared = SHARED.get();
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

/// Whoever has not seen all transactions before this one may have missed a stimulus in the database in this slot; where
/// the slot is not known, in any.
pub fn horizon(slot: usize) -> u64 {
    let shared = SHARED.get();
    if shared.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let horizons = unsafe { &(*shared).horizons };
    let read = |horizon: &AtomicU64| horizon.load(Ordering::SeqCst);
    horizons.get(slot).map_or_else(|| horizons.iter().map(read).max().unwrap_or(0), read)
}

/// The times in the ids of instances that have ended, in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The lowest.
    pub first: u64,
    /// The highest.
    pub last: u64,
}

/// Up to which time retention has passed the instances of the database in this slot, but those that it is to read again
/// because one of them has ended; the memory is attached.
fn passed(slot: usize) -> &'static AtomicU64 {
    // SAFETY: attached for the life of the process; the number is atomic.
    unsafe { &(&(*SHARED.get()).passed)[slot] }
}

/// What a scheduler found out about its database.
pub fn tell_extension(database: Oid, has_extension: HasExtension) {
    with(|state| {
        let has_news = state.has_news(database);
        if let Some(slot) = state.database(database) {
            // It may have been created since it was looked for.
            let is_outdated = has_extension == HasExtension::No && (has_news || slot.next_due < i64::MAX);
            slot.has_extension = if is_outdated { HasExtension::Unknown } else { has_extension };
        }
    });
}

/// Milliseconds from 1970 to 2000.
const POSTGRES_EPOCH: i64 = 946_684_800_000;

/// The lowest time in ids that lies ahead of the clock.
fn ahead(now: i64) -> u64 {
    (now.saturating_add(PAUSE) / 1000).saturating_add(POSTGRES_EPOCH).max(0).unsigned_abs()
}

/// Whether the end of instances must be told, in the database in this slot.
pub fn is_end_wanted(slot: usize, ended: Ended) -> bool {
    let wanted = wanted_here(slot);
    let is_old = || slot >= state::MAX_DATABASES || ended.first < passed(slot).load(Ordering::SeqCst);
    wanted & INSTANCE_ENDS != 0
        || wanted & OLD_INSTANCE_ENDS != 0 && is_old()
        || wanted & INSTANCE_ENDS_AHEAD != 0 && ended.last >= ahead(process::now())
}

/// Instances have ended; with the state locked. Whether the scheduler must hear of it.
pub fn instance_ended(state: &mut SharedState, slot: usize, ended: Ended, now: i64) -> bool {
    let is_wanted = wanted_here(slot) & INSTANCE_ENDS != 0;
    let database = &mut state.databases[slot];
    // Those after it are read with it.
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

/// Retention is about to read what has ended before a time in ids, and wants to hear of ends from now on, and to look so
/// long after them. `None`: it removes nothing. Returns from which time in ids on it is to read again what it had left.
pub fn expect_ends(database: Oid, expected: Option<(u64, i64)>, now: i64) -> Option<u64> {
    with(|state| {
        let index = state.slot_of(database)?;
        let slot = &mut state.databases[index];
        if slot.tidy_at <= now {
            slot.tidy_at = state::NEVER;
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
