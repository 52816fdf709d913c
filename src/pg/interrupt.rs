//! Query cancel and termination.

use pgrx::pg_sys;

use crate::pg::memory;

/// Processes cancel and termination requests, and the memory limit of the call; unwinds if one applies.
pub fn check() {
    pgrx::check_for_interrupts!();
    memory::check();
}

/// Whether [`check`] would unwind. Safe to call where nothing may unwind. Other interrupts (barriers, connection
/// checks, requests to log the backend's state) end no statement and do not count.
pub fn pending() -> bool {
    if memory::is_used_up() {
        return true;
    }
    // SAFETY: reads flags that signal handlers set.
    unsafe {
        std::ptr::read_volatile(&raw const pg_sys::InterruptPending) != 0
            && (std::ptr::read_volatile(&raw const pg_sys::QueryCancelPending) != 0
                || std::ptr::read_volatile(&raw const pg_sys::ProcDiePending) != 0)
    }
}
