//! The boundary between PostgreSQL and Rust: it runs calls and raises their errors.
//!
//! Every call pushes an error context callback, which keeps a copy of each error while PostgreSQL raises it. The
//! outermost call of a session begins the accounting of memory.

use std::ffi::c_void;

use pgrx::pg_sys;
use workflow_engine::value::Bounds;

use crate::pg::error::{self, ERROR, PgError, catch, from_error_data, raise};
use crate::pg::state::{BACKEND, CALL};
use crate::pg::{actor, guc, interrupt, memory, raw};

/// Whether a call is running.
pub(super) fn is_in_call() -> bool {
    !CALL.innermost.get().is_null()
}

/// Runs the body of a SQL-callable function and raises its error.
///
/// # Safety
/// Only for the frame that PostgreSQL called, which must own nothing.
pub unsafe fn entry(body: impl FnOnce() -> Result<pg_sys::Datum, PgError>) -> pg_sys::Datum {
    match keeping(body) {
        Ok(datum) => datum,
        Err(error) => raise(error),
    }
}

/// Runs `body` with an error context callback that keeps a copy of any error raised below. It is the outermost Rust
/// frame of a call.
#[inline(never)]
pub fn keeping<R>(body: impl FnOnce() -> Result<R, PgError>) -> Result<R, PgError> {
    let mut callback = pg_sys::ErrorContextCallback {
        // SAFETY: reading a global of the backend's only thread.
        previous: unsafe { pg_sys::error_context_stack },
        callback: Some(keep_error),
        arg: std::ptr::null_mut(),
    };
    callback.arg = (&raw mut callback).cast();
    make_room_for_copies();
    let outer = CALL.innermost.replace(callback.arg);
    if outer.is_null() {
        begin_call();
    }
    // SAFETY: the callback lives until the line that pops it, which is always reached: panics stop at `catch`.
    unsafe { pg_sys::error_context_stack = &mut callback };
    let outcome = catch(body);
    CALL.innermost.set(outer);
    if outer.is_null() {
        memory::end_call();
    }
    // SAFETY: as above.
    unsafe { pg_sys::error_context_stack = callback.previous };
    outcome.and_then(|result| result)
}

fn make_room_for_copies() {
    if BACKEND.error_context.get().is_null() {
        // SAFETY: a context that lives as long as the backend.
        BACKEND.error_context.set(unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::TopMemoryContext,
                c"workflow errors".as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
            )
        });
    }
}

/// The error context callback: PostgreSQL calls it while it raises an error (or a notice) below us.
unsafe extern "C-unwind" fn keep_error(argument: *mut c_void) {
    if argument != CALL.innermost.get() {
        return;
    }
    // SAFETY: called by errfinish, with an error under construction. CopyErrorData must not run in ErrorContext, and
    // FreeErrorData does not free all that it copies, so the copy has a context of its own. An out-of-memory error is
    // not copied here, since nothing may be allocated; pgrx's own copy serves instead.
    unsafe {
        if raw::geterrcode() == raw::OUT_OF_MEMORY || BACKEND.error_context.get().is_null() {
            return;
        }
        let context = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = BACKEND.error_context.get();
        let data = raw::CopyErrorData();
        if (*data).elevel >= ERROR {
            error::keep(from_error_data(&*data));
        }
        pg_sys::CurrentMemoryContext = context;
        pg_sys::MemoryContextReset(BACKEND.error_context.get());
    }
}

/// Starts a call with its actor and its limits: `workflow.memory_limit`, and the limits on decoded JSON.
fn begin_call() {
    memory::begin_call();
    actor::begin_call();
    Bounds {
        body: guc::max_request_size(),
        nodes: guc::max_nodes(),
        interrupted: interrupt::pending,
        spare: memory::spare,
        room: memory::has_room,
    }
    .apply();
}
