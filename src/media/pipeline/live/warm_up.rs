//! The warm-up of runs on one GPU. Each run allocates GPU memory for its first frames, which takes about 0.1 s per
//! frame and delays all runs. During warm-up, no captured frame is dropped: the camera or the network buffers them.
//! They arrive in a burst afterwards, so for the same time again, no frame is dropped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Number of frames at the start of a run that belong to its warm-up.
pub(super) const FRAMES: u64 = 8;

/// The longest warm-up: a source that cannot be opened, or gives no frames, must not delay the other runs longer.
const MAX_WARM_UP: Duration = Duration::from_secs(10);

/// The state of the warm-up, shared by the runs on one GPU.
#[derive(Clone, Default)]
pub struct WarmUp {
    /// Number of runs that are still in their warm-up.
    runs: Arc<AtomicUsize>,
    /// When the last run finished its warm-up.
    over: Arc<OnceLock<Instant>>,
}

/// A run in its warm-up, which ends when this is dropped.
pub struct WarmingUp {
    /// The shared state of all runs.
    pub(super) all: WarmUp,
}

impl WarmUp {
    /// Begins the warm-up of a run. Call it for all runs before the first source is opened: sources are opened one
    /// after the other, and opened ones have to wait for the others.
    pub fn begin(&self) -> WarmingUp {
        self.runs.fetch_add(1, Ordering::Relaxed);
        WarmingUp { all: self.clone() }
    }

    /// Whether a run that began at `begin` drops no frame: a run is still in its warm-up, or the burst after it lasts.
    pub(super) fn goes_on(&self, begin: Instant) -> bool {
        match self.over.get() {
            None => begin.elapsed() < MAX_WARM_UP,
            Some(over) => over.elapsed() < over.saturating_duration_since(begin).min(MAX_WARM_UP),
        }
    }
}

impl Drop for WarmingUp {
    fn drop(&mut self) {
        if self.all.runs.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.all.over.get_or_init(Instant::now);
        }
    }
}
