//! The warm-up of runs on one GPU. It allocates memory for the first frames of each, which takes some 0.1 s per frame
//! and holds up all runs. Until it is over, no captured frame is dropped: camera or network buffer the frames. These
//! come in one burst then, so nothing is dropped for as long again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Number of frames of a run that belong to its warm-up.
pub(super) const FRAMES: u64 = 8;

/// The longest warm-up: a source that cannot be opened, or gives no frames, does not hold up the others.
const MAX_WARM_UP: Duration = Duration::from_secs(10);

/// Shared by the runs on one GPU.
#[derive(Clone, Default)]
pub struct WarmUp {
    /// Number of runs that warm up.
    runs: Arc<AtomicUsize>,
    /// When the last of them was warm.
    over: Arc<OnceLock<Instant>>,
}

/// One run in its warm-up, until it is dropped.
pub struct WarmingUp {
    /// The warm-up of this run and of the others.
    pub(super) all: WarmUp,
}

impl WarmUp {
    /// Begins the warm-up of a run. Begin all before the first source is opened: sources open one after the other, and
    /// those that are open wait for the rest.
    pub fn begin(&self) -> WarmingUp {
        self.runs.fetch_add(1, Ordering::Relaxed);
        WarmingUp { all: self.clone() }
    }

    /// Whether a run that began at `begin` drops no frame: any run still warms up, or this one still catches up.
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
