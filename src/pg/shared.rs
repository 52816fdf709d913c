//! The shared memory of the workers: one struct under one lock.
//!
//! With `shared_preload_libraries` it is reserved at start. Otherwise whoever needs it first makes it, in the room
//! that every server keeps for that. The lock is held for moments only, and nothing under it may fail.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::pg_sys;

use crate::pg::version;

mod board;

pub use board::{Board, Database, Executor, ExecutorState, Fire, FireKind, HasExtension, MAX_BATCH, Process};

#[repr(C)]
struct Shared {
    lock: pg_sys::LWLock,
    /// Read without the lock on the way of every commit: whether a database has stimuli that a new bookmark may
    /// have missed.
    unsettled: [AtomicBool; board::MAX_DATABASES],
    board: Board,
}

thread_local! {
    static SHARED: Cell<*mut Shared> = const { Cell::new(std::ptr::null_mut()) };
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

/// The struct, made if it is not there yet.
fn shared() -> *mut Shared {
    if SHARED.get().is_null() {
        SHARED.set(attach());
    }
    SHARED.get()
}

fn attach() -> *mut Shared {
    // SAFETY: the lock that PostgreSQL has for this; memory is zeroed, and initialised by whoever made it before
    // anybody else sees it.
    unsafe {
        let init_lock = version::addin_shmem_init_lock();
        pg_sys::LWLockAcquire(init_lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let mut found = false;
        let shared = pg_sys::ShmemInitStruct(c"workflow".as_ptr(), size_of::<Shared>(), &mut found).cast::<Shared>();
        if !found {
            std::ptr::write_bytes(shared, 0, 1);
            pg_sys::LWLockInitialize(&mut (*shared).lock, pg_sys::LWLockNewTrancheId());
            (*shared).board.initialise();
        }
        pg_sys::LWLockRegisterTranche((*shared).lock.tranche.into(), c"workflow".as_ptr());
        pg_sys::LWLockRelease(init_lock);
        shared
    }
}

/// Looks at or changes the board, alone.
pub fn with<R>(body: impl FnOnce(&mut Board) -> R) -> R {
    let shared = shared();
    // SAFETY: attached for the life of the process; the lock makes the reference the only one. `body` must not
    // raise: locks that are held then are released by the (sub)transaction's abort or at the process's end.
    unsafe {
        pg_sys::LWLockAcquire(&mut (*shared).lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let outcome = body(&mut (*shared).board);
        pg_sys::LWLockRelease(&mut (*shared).lock);
        outcome
    }
}

/// Makes sure that the memory is attached, where that may fail: a commit must not.
pub fn ensure() {
    shared();
}

/// As [`with`], if this process has attached the memory already.
pub fn with_attached(body: impl FnOnce(&mut Board)) {
    if !SHARED.get().is_null() {
        with(body);
    }
}

/// Says whether the database in this place has unsettled stimuli.
pub fn set_unsettled(place: usize, unsettled: bool) {
    // SAFETY: attached for the life of the process; the flag is atomic.
    unsafe { (*shared()).unsettled[place].store(unsettled, Ordering::SeqCst) };
}

/// Whether it has, as far as this process knows; where it does not know the place, whether any database has.
pub fn is_unsettled_here(place: usize) -> bool {
    let shared = SHARED.get();
    if shared.is_null() {
        return false;
    }
    // SAFETY: as above.
    let flags = unsafe { &(*shared).unsettled };
    match flags.get(place) {
        Some(flag) => flag.load(Ordering::SeqCst),
        None => flags.iter().any(|flag| flag.load(Ordering::SeqCst)),
    }
}
