//! Histograms of durations, as Prometheus has them: a few buckets with fixed bounds, and the sum.

/// The number of buckets. The last one has no bound.
pub const BUCKETS: usize = 8;

/// The upper bounds of the other buckets, in microseconds and ascending.
pub type Bounds = [i64; BUCKETS - 1];

/// One millisecond, one second, one minute and one hour in microseconds, for bounds.
pub const MILLISECOND: i64 = 1000;
pub const SECOND: i64 = 1000 * MILLISECOND;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;

/// The values of a histogram.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The number of durations in each bucket.
    pub buckets: [u64; BUCKETS],
    /// Their sum in microseconds.
    pub sum: u64,
}

impl Histogram {
    /// Without any duration.
    pub const EMPTY: Self = Self { buckets: [0; BUCKETS], sum: 0 };

    /// Adds a duration in microseconds. A negative one, after the clock was set back, counts as 0.
    pub fn add(&mut self, bounds: &Bounds, duration: i64) {
        self.buckets[bucket(bounds, duration)] += 1;
        self.sum = self.sum.saturating_add(duration.max(0).unsigned_abs());
    }
}

/// The bucket of a duration.
pub fn bucket(bounds: &Bounds, duration: i64) -> usize {
    bounds.iter().position(|bound| duration <= *bound).unwrap_or(BUCKETS - 1)
}
