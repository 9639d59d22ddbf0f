//! Times of live frames and audio: the camera's timestamps, which are evenly spaced, mapped to the wall clock, which
//! keeps running while the camera is lost. Frames without timestamps get smoothed arrival times.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The largest difference between mapped timestamp and wall clock, in microseconds, before the mapping is set again. A
/// network stream begins with up to a second of buffered frames, whose timestamps are right.
const MAX_DRIFT: i64 = 1_500_000;

/// A frame without a timestamp gets its expected time, moved by 1/`PART` of the difference towards its arrival.
const PART: i64 = 8;

/// How much later than expected, in microseconds, a frame without a timestamp may arrive; twice the mean distance of
/// frames, if that is more. A longer delay is a gap.
const MAX_LATE: i64 = 150_000;

/// How much later than its arrival, in microseconds, the time of a frame may be when the frame rate has risen.
const MAX_AHEAD: i64 = 30_000;

/// The most distances of frames without timestamps that enter their running mean.
const MEASURED: i64 = 16;

/// When the first frame was captured, which is time 0 of the run; set once. Clones share it.
pub type StartTime = Arc<OnceLock<Instant>>;

/// Gives live frames their presentation times, in microseconds since the first one.
#[derive(Default)]
pub struct LiveClock {
    /// When the first frame of the run was captured.
    pub(crate) start: StartTime,
    /// A timestamp of the camera, and the time in the run that it maps to.
    anchor: Option<(i64, i64)>,
    pace: Option<FramePace>,
    last: Option<i64>,
}

/// The pace of frames that have no timestamps. Times in microseconds.
struct FramePace {
    /// When the last frame arrived, and the time that it got.
    last: (i64, i64),
    /// The mean distance of two frames, and the number of distances that it is computed from.
    distance: (i64, i64),
}

impl FramePace {
    fn new(wall: i64) -> Self {
        FramePace { last: (wall, wall), distance: (0, 0) }
    }

    /// The time of the frame that arrived at `wall`: one distance later than the frame before it, moved a little
    /// towards `wall`. After a gap, it is `wall`.
    fn time(&mut self, wall: i64) -> i64 {
        let (came, time) = self.last;
        let (distance, count) = self.distance;
        let expected = time + distance;
        if count > 0 && wall - expected > MAX_LATE.max(2 * distance) {
            *self = FramePace::new(wall);
            return wall;
        }
        let count = (count + 1).min(MEASURED);
        let distance = distance + (wall - came - distance) / count;
        let time = if count == 1 { wall } else { (expected + (wall - expected) / PART).min(wall + MAX_AHEAD) };
        *self = FramePace { last: (wall, time), distance: (distance, count) };
        time
    }
}

impl LiveClock {
    /// A clock that sets `start` with its first frame.
    pub fn setting(start: StartTime) -> Self {
        LiveClock { start, ..LiveClock::default() }
    }

    /// The time of a frame that was captured at `moment`, with the camera's timestamp `stamp` (microseconds) if it has
    /// one. Always later than the time of the frame before it.
    pub fn time(&mut self, stamp: Option<i64>, moment: Instant) -> i64 {
        let start = *self.start.get_or_init(|| moment);
        let wall = moment.duration_since(start).as_micros() as i64;
        let time = match stamp {
            Some(stamp) => self.by_stamp(stamp, wall),
            None => match &mut self.pace {
                Some(pace) => pace.time(wall),
                None => self.pace.insert(FramePace::new(wall)).last.1,
            },
        };
        let time = self.last.map_or(time, |last| time.max(last + 1));
        self.last = Some(time);
        time
    }

    fn by_stamp(&mut self, stamp: i64, wall: i64) -> i64 {
        let near = |time: &i64| time.saturating_sub(wall).saturating_abs() <= MAX_DRIFT;
        self.by_anchor(stamp).filter(near).unwrap_or_else(|| {
            self.anchor = Some((stamp, wall));
            wall
        })
    }

    /// The time that a timestamp of the camera maps to; `None` before its first frame.
    pub fn by_anchor(&self, stamp: i64) -> Option<i64> {
        self.anchor.map(|(stamped, shown)| shown.saturating_add(stamp.saturating_sub(stamped)))
    }

    /// Resets the mapping after the camera was lost: its timestamps start again.
    pub fn reset(&mut self) {
        (self.anchor, self.pace) = (None, None);
    }
}
