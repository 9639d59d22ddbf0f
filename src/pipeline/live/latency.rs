//! How long frames took, in memory that does not grow.

use std::time::Duration;

/// Tenths of a millisecond up to two seconds; what took longer counts as that.
const BUCKETS: usize = 20_000;
const BUCKET: Duration = Duration::from_micros(100);

/// Counts durations.
#[derive(Clone)]
pub struct Latency {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency { counts: vec![0; BUCKETS], total: 0 }
    }
}

impl Latency {
    /// Counts one.
    pub fn add(&mut self, time: Duration) {
        let bucket = (time.as_nanos() / BUCKET.as_nanos()) as usize;
        self.counts[bucket.min(BUCKETS - 1)] += 1;
        self.total += 1;
    }

    /// What `share` of all stay below (0.95 for the 95th percentile), to a tenth of a millisecond; `None` of nothing.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let reaches = |count: &u64| {
            seen += count;
            seen >= wanted
        };
        self.counts.iter().position(reaches).map(|bucket| BUCKET * (bucket as u32 + 1))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Latency::default();
    }
}
