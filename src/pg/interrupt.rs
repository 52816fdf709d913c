//! Query cancel and termination.

use pgrx::pg_sys;

use crate::pg::memory;

/// Answers to cancel and termination, and to a call that has used up its memory; unwinds if there is one.
pub fn check() {
    pgrx::check_for_interrupts!();
    memory::check();
}

/// Whether [`check`] would unwind. Callable where nothing may. What else interrupts a backend (barriers, checks of the
/// connection, questions of others) is answered without ending anything.
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
