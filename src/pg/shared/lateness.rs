//! The lateness of fires: the delay between due time and start, in microseconds.

use super::histogram::{Bounds, Histogram, MILLISECOND, MINUTE, SECOND};

/// Four buckets per doubling, from 16 µs to 17 minutes and beyond.
const BUCKETS: usize = 106;

/// The bounds of the histogram for monitoring systems.
pub const LATENESS_BOUNDS: Bounds =
    [MILLISECOND, 5 * MILLISECOND, 25 * MILLISECOND, 100 * MILLISECOND, SECOND, 10 * SECOND, MINUTE];

/// What is known of the lateness of the fires of a database.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Lateness {
    /// Fires by narrow ranges of lateness, for quantiles.
    ranges: [u32; BUCKETS],
    /// For monitoring systems, which add up and subtract histograms, and have no use for so many buckets.
    pub histogram: Histogram,
}

impl Lateness {
    /// Counts a fire with this lateness.
    pub fn count(&mut self, lateness: i64) {
        let slot = &mut self.ranges[bucket(lateness)];
        *slot = slot.saturating_add(1);
        self.histogram.add(&LATENESS_BOUNDS, lateness);
    }

    /// The given quantile of the lateness, accurate to about a fifth.
    pub fn of(&self, share: f64) -> Option<i64> {
        let total: u64 = self.ranges.iter().map(|count| u64::from(*count)).sum();
        let wanted = (total as f64 * share).ceil() as u64;
        let mut seen = 0;
        self.ranges.iter().enumerate().find_map(|(i, count)| {
            seen += u64::from(*count);
            (total > 0 && seen >= wanted.max(1)).then(|| upper_bound(i))
        })
    }
}

fn bucket(lateness: i64) -> usize {
    (0..BUCKETS - 1).find(|i| lateness <= upper_bound(*i)).unwrap_or(BUCKETS - 1)
}

fn upper_bound(bucket: usize) -> i64 {
    let doubling = 16_i64 << (bucket / 4);
    doubling + doubling * (bucket % 4) as i64 / 4
}
