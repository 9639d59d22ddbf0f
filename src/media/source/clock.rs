//! Times of live frames and audio: the camera's timestamps, which are even, mapped to the wall clock, which goes on
//! while the camera is lost.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The largest difference between mapped timestamp and wall clock, in microseconds, before the mapping is set again. A
/// network stream begins with up to a second of buffered frames, whose timestamps are right.
const MOST_DRIFT: i64 = 1_500_000;

/// When the first frame was captured, which is time 0 of the run; set once. Clones share it.
pub type StartTime = Arc<OnceLock<Instant>>;

/// Gives live frames their presentation times, in microseconds since the first one.
#[derive(Default)]
pub struct LiveClock {
    start: StartTime,
    /// A timestamp of the camera, and the time in the run that it maps to.
    anchor: Option<(i64, i64)>,
    last: Option<i64>,
}

impl LiveClock {
    /// A clock that sets `start` with its first frame.
    pub fn setting(start: StartTime) -> Self {
        LiveClock { start, ..LiveClock::default() }
    }

    /// The time of a frame that was captured at `at`, with the camera's timestamp `stamp` (microseconds) if it has one.
    /// Always later than the time of the frame before it.
    pub fn time(&mut self, stamp: Option<i64>, at: Instant) -> i64 {
        let start = *self.start.get_or_init(|| at);
        let wall = at.duration_since(start).as_micros() as i64;
        let by_anchor = stamp.and_then(|stamp| self.by_anchor(stamp));
        let time = match by_anchor.filter(|time| time.saturating_sub(wall).saturating_abs() <= MOST_DRIFT) {
            Some(time) => time,
            None => {
                self.anchor = stamp.map(|stamp| (stamp, wall));
                wall
            }
        };
        let time = self.last.map_or(time, |last| time.max(last + 1));
        self.last = Some(time);
        time
    }

    /// The time that a timestamp of the camera maps to; `None` before its first frame.
    pub fn by_anchor(&self, stamp: i64) -> Option<i64> {
        self.anchor.map(|(from, to)| to.saturating_add(stamp.saturating_sub(from)))
    }

    /// Resets the mapping after the camera was lost: its timestamps start again.
    pub fn reset(&mut self) {
        self.anchor = None;
    }
}
