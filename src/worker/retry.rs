//! When to retry what another session held. Most locks last for milliseconds; a session that is idle in transaction may
//! keep its locks indefinitely.

use crate::worker::SECOND;

/// The first and the longest wait for a try, in microseconds. Each wait doubles the last; a costly try waits longer.
const FIRST: i64 = SECOND / 10;
const LONGEST: i64 = SECOND;

/// When the next try is due, and the wait for the one after it.
#[derive(Clone, Copy, Debug)]
pub struct RetryTimer {
    /// When the next try is due, microseconds since 2000; `i64::MAX`: no retry is wanted.
    pub at: i64,
    after: i64,
    last: i64,
}

impl RetryTimer {
    /// No retry is wanted.
    pub const fn new() -> Self {
        Self { at: i64::MAX, after: FIRST, last: i64::MIN / 2 }
    }

    /// Another session held something. `cost` is how long it takes to try all of it again: retries take a tenth of the
    /// time at the most.
    pub fn again(&mut self, now: i64, cost: i64) {
        if now - self.last > self.after {
            // The last try is longer ago than its wait: this is other work, or work that was free meanwhile.
            self.after = FIRST;
        }
        self.at = self.at.min(now + self.after.max(10 * cost));
        self.after = (self.after * 2).min(LONGEST);
    }

    /// A transaction that may have held it has ended. If many transactions end, one try serves all of them.
    pub fn soon(&mut self, now: i64, cost: i64) {
        if self.at < i64::MAX {
            self.at = self.at.min(now.max(self.last.saturating_add(FIRST.max(10 * cost))));
        }
    }

    /// Whether a try is due. If so, no other one is wanted until `again` is called.
    pub fn is_due(&mut self, now: i64) -> bool {
        let is_due = self.at <= now;
        if is_due {
            (self.at, self.last) = (i64::MAX, now);
        }
        is_due
    }
}
