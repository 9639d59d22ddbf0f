//! Times of live frames and sound: the camera's own, which are even, tied to the wall clock, which goes on when it is lost.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// How far the camera's clock may be from the wall's (microseconds) before it is set again. A network stream opens with
/// up to a second of frames at once, whose times are right and whose arrival is not.
const DRIFT: i64 = 1_500_000;

/// When the first frame was taken, which is the time 0 of the run, once there has been one. Shared by its clones.
pub type Beginning = Arc<OnceLock<Instant>>;

/// Tells when frames are shown, in microseconds since the first one.
#[derive(Default)]
pub struct LiveClock {
    begin: Beginning,
    /// A time of the camera's, and the time that it stands for.
    anchor: Option<(i64, i64)>,
    last: Option<i64>,
}

impl LiveClock {
    /// A clock that tells `begin` when its first frame was taken.
    pub fn telling(begin: Beginning) -> Self {
        LiveClock { begin, ..LiveClock::default() }
    }

    /// The time of a frame that was taken at `at` and is stamped `stamp` (microseconds) by the camera, if it is stamped.
    /// Always later than the one before it.
    pub fn time(&mut self, stamp: Option<i64>, at: Instant) -> i64 {
        let begin = *self.begin.get_or_init(|| at);
        let wall = at.duration_since(begin).as_micros() as i64;
        let by_anchor = stamp.and_then(|stamp| self.by_anchor(stamp));
        let time = match by_anchor.filter(|time| time.saturating_sub(wall).saturating_abs() <= DRIFT) {
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

    /// The time that a stamp of the camera's stands for; `None` before its first frame, from which on its sound can be
    /// placed, too.
    pub fn by_anchor(&self, stamp: i64) -> Option<i64> {
        self.anchor.map(|(from, to)| to.saturating_add(stamp.saturating_sub(from)))
    }

    /// The camera is gone; when it is back, its stamps mean something else.
    pub fn lost(&mut self) {
        self.anchor = None;
    }
}
