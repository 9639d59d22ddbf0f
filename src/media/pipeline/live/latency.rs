//! Percentiles of the latency of frames, in constant memory.

use super::Status;
use std::time::{Duration, Instant};

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

pub(super) struct ViewerStats {
    pub(super) all: Latency,
    pub(super) count: u64,
    recent: Latency,
    recent_count: u32,
    since: Instant,
    pub(super) status: Status,
}

impl ViewerStats {
    pub(super) fn new() -> Self {
        let (all, recent) = (Latency::default(), Latency::default());
        ViewerStats { all, count: 0, recent, recent_count: 0, since: Instant::now(), status: Status::default() }
    }

    pub(super) fn count_shown(&mut self, latency: Duration) {
        self.all.add(latency);
        self.count += 1;
        self.recent.add(latency);
        self.recent_count += 1;
        let elapsed = self.since.elapsed();
        if elapsed >= Duration::from_secs(1) {
            self.status.fps = f64::from(self.recent_count) / elapsed.as_secs_f64();
            self.status.latency = self.recent.percentile(0.95);
            self.recent = Latency::default();
            self.recent_count = 0;
            self.since = Instant::now();
        }
    }
}
