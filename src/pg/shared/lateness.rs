//! The lateness of fires: the delay between due time and start.

/// Four buckets per doubling, from 16 µs to 17 minutes and beyond.
const BUCKETS: usize = 106;

/// A histogram, in microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Lateness([u32; BUCKETS]);

impl Lateness {
    /// Counts a fire with this lateness.
    pub fn count(&mut self, lateness: i64) {
        let slot = &mut self.0[bucket(lateness)];
        *slot = slot.saturating_add(1);
    }

    /// The given quantile of the lateness, accurate to about a fifth.
    pub fn of(&self, share: f64) -> Option<i64> {
        let total: u64 = self.0.iter().map(|count| u64::from(*count)).sum();
        let wanted = (total as f64 * share).ceil() as u64;
        let mut seen = 0;
        self.0.iter().enumerate().find_map(|(i, count)| {
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
