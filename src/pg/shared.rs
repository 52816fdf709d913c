//! The shared memory of the workers: one struct under one lock.
//!
//! With `shared_preload_libraries` it is reserved at start. Otherwise whoever needs it first makes it, in the room
//! that every server keeps for that. The lock is held for moments only, and nothing under it may fail.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::pg_sys;

use crate::pg::error::{PgError, catch, log, unwind};

mod board;

pub use board::{Board, Database, Executor, ExecutorState, Fire, FireKind, HasExtension, MAX_BATCH, Process};

#[repr(C)]
struct Shared {
    lock: pg_sys::LWLock,
    /// Whether whoever made it has initialised it.
    is_ready: AtomicBool,
    /// Read without the lock on the way of every commit: whether a database has stimuli that a new bookmark may
    /// have missed.
    unsettled: [AtomicBool; board::MAX_DATABASES],
    board: Board,
}

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
/// not preloaded; then there are no workers, and nobody to be told anything.
fn shared() -> *mut Shared {
    if SHARED.get().is_null() && !HAS_FAILED.get() {
        match catch(attach) {
            Ok(shared) => SHARED.set(shared),
            Err(error) => {
                HAS_FAILED.set(true);
                log(&format!("workflow has no shared memory, and so no workers: {}", error.message));
            }
        }
    }
    SHARED.get()
}

fn attach() -> *mut Shared {
    // SAFETY: PostgreSQL makes the struct once, of memory that is zero until then. No lock is held: it may raise, and
    // whoever finds the struct waits for whoever made it.
    unsafe {
        let mut found = false;
        let shared = pg_sys::ShmemInitStruct(c"workflow".as_ptr(), size_of::<Shared>(), &mut found).cast::<Shared>();
        if found {
            while !(*shared).is_ready.load(Ordering::Acquire) {
                pg_sys::pg_usleep(100);
            }
        } else {
            pg_sys::LWLockInitialize(&mut (*shared).lock, pg_sys::LWLockNewTrancheId());
            (*shared).board.initialise();
            (*shared).is_ready.store(true, Ordering::Release);
        }
        pg_sys::LWLockRegisterTranche((*shared).lock.tranche.into(), c"workflow".as_ptr());
        shared
    }
}

/// Looks at or changes the board, alone.
pub fn with<R>(body: impl FnOnce(&mut Board) -> R) -> R {
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
        let outcome = body(&mut (*shared).board);
        pg_sys::LWLockRelease(&mut (*shared).lock);
        outcome
    }
}

/// Makes sure that the memory is attached, where that may take long: a commit must not. `false`: there is none.
pub fn ensure() -> bool {
    !shared().is_null()
}

/// As [`with`], if this process has attached the memory already.
pub fn with_attached(body: impl FnOnce(&mut Board)) {
    if !SHARED.get().is_null() {
        with(body);
    }
}

/// Says whether the database in this place has unsettled stimuli.
pub fn set_unsettled(place: usize, unsettled: bool) {
    let shared = SHARED.get();
    // SAFETY: attached for the life of the process that serves the place; the flag is atomic.
    unsafe { (*shared).unsettled[place].store(unsettled, Ordering::SeqCst) };
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
