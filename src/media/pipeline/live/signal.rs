//! Whether frames come from a source.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A source that gives no frame for this long gives no signal.
const MAX_GAP: Duration = Duration::from_secs(1);

/// When the last frame of a source came.
pub(super) struct Signal(Mutex<Frames>);

struct Frames {
    /// When the last one came; at first, when the source was opened. `None` when the source has ended.
    last: Option<Instant>,
    /// The time between the last two.
    apart: Duration,
}

impl Default for Signal {
    fn default() -> Self {
        Signal(Mutex::new(Frames { last: Some(Instant::now()), apart: Duration::ZERO }))
    }
}

impl Signal {
    /// A frame has come.
    pub fn frame(&self) {
        self.change(|frames| {
            frames.apart = frames.last.map_or(Duration::ZERO, |last| last.elapsed());
            frames.last = Some(Instant::now());
        });
    }

    /// The source has ended.
    pub fn end(&self) {
        self.change(|frames| frames.last = None);
    }

    /// The time since the last frame, if there is no signal: after two of the last frame intervals, and at least 1 s.
    pub fn missing(&self) -> Option<Duration> {
        self.change(|frames| {
            let longest = MAX_GAP.max(2 * frames.apart.min(10 * MAX_GAP));
            frames.last.map(|last| last.elapsed()).filter(|silence| *silence >= longest)
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Frames) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
