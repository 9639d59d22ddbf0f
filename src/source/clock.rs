//! Times of live frames: the camera's own, which are even, tied to the wall clock, which goes on when it is lost.

use std::time::Instant;

/// How far the camera's clock may be from the wall's (microseconds) before it is set anew. A network stream opens with
/// up to a second of frames at once, whose times are right and whose arrival is not.
const DRIFT: i64 = 1_500_000;

/// Tells when frames are shown, in microseconds since the first one.
#[derive(Default)]
pub struct LiveClock {
    begin: Option<Instant>,
    /// A time of the camera's, and the time that it stands for.
    anchor: Option<(i64, i64)>,
    last: Option<i64>,
}

impl LiveClock {
    /// The time of a frame that was read at `at` and is stamped `stamp` (microseconds) by the camera, if it is stamped.
    /// Always later than the one before it.
    pub fn time(&mut self, stamp: Option<i64>, at: Instant) -> i64 {
        let begin = *self.begin.get_or_insert(at);
        let wall = at.duration_since(begin).as_micros() as i64;
        let by_anchor = stamp.zip(self.anchor).map(|(stamp, (from, to))| to.saturating_add(stamp.saturating_sub(from)));
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

    /// The camera is gone; when it is back, its stamps mean something else.
    pub fn lost(&mut self) {
        self.anchor = None;
    }
}
