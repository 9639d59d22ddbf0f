//! Percentiles of the latency of frames, in constant memory.

use std::time::Duration;

/// Buckets of 0.1 ms up to two seconds; longer durations count in the last one.
const BUCKETS: usize = 20_000;
const BUCKET: Duration = Duration::from_micros(100);

/// A histogram of latencies.
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
    /// Counts a latency.
    pub fn add(&mut self, time: Duration) {
        let bucket = (time.as_nanos() / BUCKET.as_nanos()) as usize;
        self.counts[bucket.min(BUCKETS - 1)] += 1;
        self.total += 1;
    }

    /// The percentile `share` (0.95 for the 95th), rounded up to 0.1 ms; `None` without durations.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let reaches = |count: &u64| {
            seen += count;
            seen >= wanted
        };
        self.counts.iter().position(reaches).map(|bucket| BUCKET * (bucket as u32 + 1))
    }
}
