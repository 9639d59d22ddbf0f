//! The warm-up of runs on one GPU. It makes room for the first frames of each, some 0.1 s for a frame, and holds up all runs
//! while it does. Until it is over, no captured frame is dropped: camera or network keep what comes meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Number of frames of a run that belong to its warm-up.
pub(super) const FRAMES: u64 = 8;

/// The longest warm-up: a source that cannot be opened, or gives no frames, does not hold up the others.
const LONGEST: Duration = Duration::from_secs(10);

/// Shared by the runs on one GPU.
#[derive(Clone, Default)]
pub struct WarmUp {
    /// Number of runs that warm up.
    runs: Arc<AtomicUsize>,
}

/// One run in its warm-up, until it is dropped.
pub struct WarmingUp {
    runs: Arc<AtomicUsize>,
}

impl WarmUp {
    /// Begins the warm-up of a run. Begin all before the first source is opened: sources open one after the other, and those
    /// that are there wait for the rest.
    pub fn begin(&self) -> WarmingUp {
        self.runs.fetch_add(1, Ordering::Relaxed);
        WarmingUp { runs: self.runs.clone() }
    }

    /// Whether a run warms up, for a run that has begun at this time.
    pub(super) fn goes_on(&self, begin: Instant) -> bool {
        self.runs.load(Ordering::Relaxed) > 0 && begin.elapsed() < LONGEST
    }
}

impl WarmingUp {
    /// The warm-up of this run and of the others.
    pub(super) fn of_all(&self) -> WarmUp {
        WarmUp { runs: self.runs.clone() }
    }
}

impl Drop for WarmingUp {
    fn drop(&mut self) {
        self.runs.fetch_sub(1, Ordering::Relaxed);
    }
}
