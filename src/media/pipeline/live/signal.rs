//! Detects whether a source still gives frames.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// If a source gives no frame for this long, it has no signal.
const MAX_GAP: Duration = Duration::from_secs(1);

/// The time of the last frame from a source.
pub(super) struct Signal(Mutex<Frames>);

struct Frames {
    /// Arrival time of the last frame; at first, the time when the source was opened. `None` once the source has ended.
    last: Option<Instant>,
    /// The time between the last two frames.
    apart: Duration,
}

impl Default for Signal {
    fn default() -> Self {
        Signal(Mutex::new(Frames { last: Some(Instant::now()), apart: Duration::ZERO }))
    }
}

impl Signal {
    /// Notes that a frame has arrived.
    pub fn frame(&self) {
        self.change(|frames| {
            frames.apart = frames.last.map_or(Duration::ZERO, |last| last.elapsed());
            frames.last = Some(Instant::now());
        });
    }

    /// Notes that the source has ended.
    pub fn end(&self) {
        self.change(|frames| frames.last = None);
    }

    /// The time since the last frame, if the signal is lost: that is, after twice the last frame interval and at least
    /// 1 s.
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
