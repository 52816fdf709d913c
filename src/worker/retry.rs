//! When to look again for what another session held: most is held for milliseconds, some for as long as a session is
//! forgotten.

use crate::worker::SECOND;

/// The first time after this, then after twice as long, up to the second one, in microseconds.
const FIRST: i64 = SECOND / 10;
const LONGEST: i64 = SECOND;

/// When the next try is, and how long the one after it waits.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// When it is time, microseconds since 2000; `i64::MAX`: nothing is to be tried again.
    pub at: i64,
    after: i64,
    last: i64,
}

impl Retry {
    /// Nothing is to be tried again.
    pub const fn new() -> Self {
        Self { at: i64::MAX, after: FIRST, last: i64::MIN / 2 }
    }

    /// Another session held something. `cost` is how long it takes to try all of it again: that is done a tenth of the
    /// time at the most.
    pub fn again(&mut self, now: i64, cost: i64) {
        if now - self.last > self.after {
            // Not what was just tried, or that was free in the meantime.
            self.after = FIRST;
        }
        self.at = self.at.min(now + self.after.max(10 * cost));
        self.after = (self.after * 2).min(LONGEST);
    }

    /// A transaction has ended that may have held it. Where many end, one try is for all of them.
    pub fn soon(&mut self, now: i64, cost: i64) {
        if self.at < i64::MAX {
            self.at = self.at.min(now.max(self.last.saturating_add(FIRST.max(10 * cost))));
        }
    }

    /// Whether it is time; then nothing is to be tried again until a process says so.
    pub fn is_due(&mut self, now: i64) -> bool {
        let is_due = self.at <= now;
        if is_due {
            (self.at, self.last) = (i64::MAX, now);
        }
        is_due
    }
}
