//! A deadline for part of a statement: a timer that cancels it, as `statement_timeout` does for the whole statement.

use std::ffi::c_int;

use crate::pg::raw;
use crate::pg::state::{BACKEND, CALL};
use crate::pg::version::{STATEMENT_TIMEOUT, USER_TIMEOUT};

/// Called by PostgreSQL from its signal handler. Does what a cancel request does there, and nothing else.
unsafe extern "C-unwind" fn expired() {
    // SAFETY: sets flags and a latch.
    unsafe { raw::StatementCancelHandler(0) };
}

/// This backend's timer, registered once, since PostgreSQL has few timers for extensions.
fn timer() -> c_int {
    BACKEND.deadline_timer.get().unwrap_or_else(|| {
        // SAFETY: any number from USER_TIMEOUT on stands for the next free one.
        let timer = unsafe { raw::RegisterTimeout(USER_TIMEOUT, expired) };
        BACKEND.deadline_timer.set(Some(timer));
        timer
    })
}

/// A deadline that is armed while this lives. Inside another deadline it does nothing: the outer deadline applies.
pub struct Deadline {
    is_own: bool,
}

impl Deadline {
    /// Arms it. When it passes, the running statement fails with the SQLSTATE of a cancel request, 57014.
    pub fn arm(milliseconds: u64) -> Self {
        let is_own = !CALL.has_deadline.replace(true);
        if is_own {
            let milliseconds = c_int::try_from(milliseconds).unwrap_or(c_int::MAX);
            // SAFETY: the timer is registered; arming clears its indicator.
            unsafe {
                CALL.statement_is_timed.set(raw::get_timeout_active(STATEMENT_TIMEOUT));
                raw::enable_timeout_after(timer(), milliseconds);
            }
        }
        Self { is_own }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if self.is_own {
            CALL.has_deadline.set(false);
            // SAFETY: the timer is registered; its indicator is kept.
            unsafe { raw::disable_timeout(timer(), true) };
        }
    }
}

/// Whether the last deadline passed and `statement_timeout` did not. Call it once, after the deadline has ended.
///
/// On a busy machine both timers may fire at once, and the error does not say which one cancelled the statement.
/// `statement_timeout` then takes precedence, since it would otherwise have no effect.
pub fn has_passed() -> bool {
    let Some(timer) = BACKEND.deadline_timer.get().filter(|_| !CALL.has_deadline.get()) else { return false };
    // SAFETY: reads and resets a flag of a registered timer, and reads whether another one still runs.
    unsafe {
        let statement_is_over = CALL.statement_is_timed.get() && !raw::get_timeout_active(STATEMENT_TIMEOUT);
        raw::get_timeout_indicator(timer, true) && !statement_is_over
    }
}
