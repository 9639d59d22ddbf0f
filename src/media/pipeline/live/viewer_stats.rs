//! Statistics of the viewer: number and latency of the frames shown.

use super::{Latency, Status};
use std::time::{Duration, Instant};

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
