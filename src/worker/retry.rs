//! When to retry work that was blocked by another session's lock. Most locks last for milliseconds; a session that is
//! idle in transaction may keep its locks indefinitely.

use crate::worker::SECOND;

/// The first and the longest delay of a retry, in microseconds. Each delay doubles the last; a costly retry is delayed
/// longer.
const FIRST: i64 = SECOND / 10;
const LONGEST: i64 = SECOND;

/// When the next retry is due, and the delay of the one after it.
#[derive(Clone, Copy, Debug)]
pub struct RetryTimer {
    /// When the next retry is due, microseconds since 2000; `i64::MAX`: none is planned.
    pub at: i64,
    after: i64,
    last: i64,
}

impl RetryTimer {
    /// No retry is planned.
    pub const fn new() -> Self {
        Self { at: i64::MAX, after: FIRST, last: i64::MIN / 2 }
    }

    /// Plans a retry, because another session held a lock. `cost` is how long a retry takes: retries use at most a
    /// tenth of the time.
    pub fn again(&mut self, now: i64, cost: i64) {
        if now - self.last > self.after {
            // The last retry is longer ago than its delay: this is other work, or work that was free meanwhile.
            self.after = FIRST;
        }
        self.at = self.at.min(now + self.after.max(10 * cost));
        self.after = (self.after * 2).min(LONGEST);
    }

    /// A transaction that may have blocked the work has ended. If many transactions end, one retry serves all of them.
    pub fn soon(&mut self, now: i64, cost: i64) {
        if self.at < i64::MAX {
            self.at = self.at.min(now.max(self.last.saturating_add(FIRST.max(10 * cost))));
        }
    }

    /// Whether a retry is due. If so, no other one is planned until `again` is called.
    pub fn is_due(&mut self, now: i64) -> bool {
        let is_due = self.at <= now;
        if is_due {
            (self.at, self.last) = (i64::MAX, now);
        }
        is_due
    }
}
