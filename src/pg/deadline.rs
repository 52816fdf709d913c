//! A deadline for part of a statement: a timer that cancels it, as `statement_timeout` does for the whole statement.
//!
//! SQL can catch the cancellation by name (`query_canceled`) and continue. So the timer fires again and again while the
//! deadline lives.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use crate::pg::raw;
use crate::pg::state::{BACKEND, CALL};
use crate::pg::version::{STATEMENT_TIMEOUT, USER_TIMEOUT};

/// Minimum time in milliseconds between two cancellations. An error of the first one has then left the deadline, so that
/// no later one hits a statement that follows.
const SHORTEST_REPEAT: c_int = 1000;

/// Called by PostgreSQL from its signal handler. Does what a cancel request does there, and records that it did.
unsafe extern "C-unwind" fn expired() {
    CALL.deadline_has_fired.store(true, Relaxed);
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
    /// Arms it. When it passes, the running statement fails with the SQLSTATE of a cancel request, 57014. One that
    /// catches this fails again after the same time, but not before [`SHORTEST_REPEAT`].
    pub fn arm(milliseconds: u64) -> Self {
        let is_own = !CALL.has_deadline.replace(true);
        if is_own {
            let milliseconds = c_int::try_from(milliseconds).unwrap_or(c_int::MAX);
            CALL.deadline_has_fired.store(false, Relaxed);
            // SAFETY: the timer is registered; the clock only returns a number.
            unsafe {
                CALL.statement_is_timed.set(raw::get_timeout_active(STATEMENT_TIMEOUT));
                let first = raw::GetCurrentTimestamp().saturating_add(i64::from(milliseconds) * 1000);
                raw::enable_timeout_every(timer(), first, milliseconds.max(SHORTEST_REPEAT));
            }
        }
        Self { is_own }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if self.is_own {
            CALL.has_deadline.set(false);
            // SAFETY: the timer is registered.
            unsafe { raw::disable_timeout(timer(), false) };
        }
    }
}

/// Whether the last deadline passed and `statement_timeout` did not. Call it once, after the deadline has ended.
///
/// On a busy machine both timers may fire at once, and the error does not say which one cancelled the statement.
/// `statement_timeout` then takes precedence, since it would otherwise have no effect.
pub fn has_passed() -> bool {
    if CALL.has_deadline.get() {
        return false;
    }
    // SAFETY: reads whether a timer still runs.
    let statement_is_over = unsafe { CALL.statement_is_timed.get() && !raw::get_timeout_active(STATEMENT_TIMEOUT) };
    CALL.deadline_has_fired.swap(false, Relaxed) && !statement_is_over
}
