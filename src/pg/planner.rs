//! A planner hook that plans our statements without sequential scans. A backend keeps their plans, and a plan made
//! while a table was empty would otherwise read a million rows later.
//!
//! The hook affects only our statements, and only while the planner plans them. A trigger on our tables runs inside our
//! statement, but the statements of its function (whose plans PL/pgSQL keeps) are planned as usual.

use std::cell::Cell;
use std::ffi::{c_char, c_int};

use pgrx::pg_sys;

use crate::pg::entry::keeping;
use crate::pg::error::raise;
use crate::pg::raw;

/// A cursor option that marks our statements. PostgreSQL passes it to the planner and does not use it.
pub const OURS: c_int = 0x4000_0000;

thread_local! {
    static PREVIOUS: Cell<pg_sys::planner_hook_type> = const { Cell::new(None) };
}

/// Installs the hook of this process.
pub fn install() {
    // SAFETY: hooks are set by the process's only thread; the callback lives as long as the library.
    unsafe {
        PREVIOUS.set(pg_sys::planner_hook);
        pg_sys::planner_hook = Some(plan);
    }
}

unsafe extern "C-unwind" fn plan(
    query: *mut pg_sys::Query,
    text: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut pg_sys::PlannedStmt {
    if options & OURS == 0 {
        // SAFETY: passes PostgreSQL's arguments on unchanged; this frame owns nothing when an error leaves it.
        return unsafe { next(query, text, options, parameters) };
    }
    let planned = keeping(|| {
        let _planning = Planning::begin();
        // SAFETY: as above; an error comes as a panic here, and puts the settings back.
        Ok(unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| next(query, text, options, parameters)) })
    });
    match planned {
        Ok(planned) => planned,
        Err(error) => raise(error),
    }
}

unsafe fn next(
    query: *mut pg_sys::Query,
    text: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut pg_sys::PlannedStmt {
    // SAFETY: as the caller's.
    unsafe {
        match PREVIOUS.get() {
            Some(previous) => previous(query, text, options, parameters),
            None => raw::standard_planner(query, text, options, parameters),
        }
    }
}

/// Disables sequential scans and JIT while it lives. JIT must be off because an unavoidable sequential scan then has so
/// high a cost that every session would load the JIT compiler, ten megabytes each.
struct Planning {
    seqscan: bool,
    jit: bool,
}

impl Planning {
    fn begin() -> Self {
        // SAFETY: planner settings of the backend's only thread; put back by `drop`, also on unwinding.
        unsafe {
            let before = Self { seqscan: pg_sys::enable_seqscan, jit: pg_sys::jit_enabled };
            pg_sys::enable_seqscan = false;
            pg_sys::jit_enabled = false;
            before
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe {
            pg_sys::enable_seqscan = self.seqscan;
            pg_sys::jit_enabled = self.jit;
        }
    }
}
