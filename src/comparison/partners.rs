//! The frames of B that are shown at the same time as those of A.

use crate::ffmpeg::{AutoRotate, Rational, microseconds, rescale};
use crate::frame::Frame;
use crate::pipeline::{Input, Source};
use anyhow::Result;

/// Frames a second of a video that does not say.
const USUAL_RATE: f64 = 25.0;

/// Finds the partner of each frame of A. Times count from where both begin by `--start`, else from the first frame of
/// each.
pub struct Partners {
    b: Box<dyn Source>,
    clocks: [Clock; 2],
    /// Both are held upright before they are put together.
    upright: [AutoRotate; 2],
    /// The frame of B that is shown, and the one that follows it, with their times in microseconds.
    shown: Option<(i64, Frame)>,
    following: Option<(i64, Frame)>,
    b_is_over: bool,
    /// How long the last frame of B is shown, in microseconds.
    interval: i64,
    /// Times as close as this are the same: containers round them differently. In microseconds.
    tolerance: i64,
}

impl Partners {
    /// Those of the frames of A; answers with what the sink has to know of the two together, as long as the shorter one.
    pub fn new(of_a: Input, (b, of_b): (Box<dyn Source>, Input)) -> (Self, Input) {
        let clocks = [Clock::of(&of_a), Clock::of(&of_b)];
        let rates = [of_a.rate(), of_b.rate()].map(|rate| rate.unwrap_or(USUAL_RATE));
        let partners = Partners {
            b,
            clocks,
            upright: [&of_a, &of_b].map(|input| AutoRotate::new(input.video_stream(), false)),
            shown: None,
            following: None,
            b_is_over: false,
            interval: (1e6 / rates[1]) as i64,
            tolerance: (0.25e6 / rates[0].max(rates[1])) as i64,
        };
        let duration = of_a.duration.into_iter().chain(of_b.duration).min();
        let by_rate = duration.map(|duration| (duration as f64 / 1e6 * rates[0]).round() as u64);
        let frames = of_a.frames.into_iter().chain(by_rate).min();
        let mut joined = Input { duration, frames, ..of_a };
        let stream = &mut joined.media.streams[joined.video];
        if !stream.side_data.has_other_angle() {
            stream.side_data = std::mem::take(&mut stream.side_data).without_rotation();
            stream.metadata.retain(|(key, _)| !key.eq_ignore_ascii_case("rotate"));
        }
        (partners, joined)
    }

    /// `frame` of A, upright, and the frame of B that is shown at the same time, upright too; `None` when B is over by
    /// then.
    ///
    /// # Errors
    /// When B cannot be read, or a frame cannot be turned.
    pub fn pair(&mut self, frame: Frame) -> Result<Option<[Frame; 2]>> {
        let frame = self.upright[0].frame(frame)?;
        let time = self.clocks[0].time_of(&frame);
        Ok(self.partner(time)?.map(|partner| [frame, partner]))
    }

    /// The frame of B that is shown `time` microseconds after its first one; `None` when B is over by then.
    fn partner(&mut self, time: i64) -> Result<Option<Frame>> {
        loop {
            if self.following.is_none() && !self.b_is_over {
                self.following = self.read_b()?;
                self.b_is_over = self.following.is_none();
            }
            let Some(next) = self.following.take_if(|(at, _)| *at <= time + self.tolerance) else { break };
            if let Some((last, _)) = &self.shown {
                self.interval = next.0 - last;
            }
            self.shown = Some(next);
        }
        let lasts = |at: i64| !self.b_is_over || time + self.tolerance < at + self.interval;
        Ok(self.shown.as_ref().filter(|(at, _)| lasts(*at)).map(|(_, frame)| frame.clone()))
    }

    fn read_b(&mut self) -> Result<Option<(i64, Frame)>> {
        while let Some(delivery) = self.b.next()? {
            // Its other streams are left out.
            if let Some(frame) = delivery.frame {
                return Ok(Some((self.clocks[1].time_of(&frame), self.upright[1].frame(frame)?)));
            }
        }
        Ok(None)
    }
}

/// Times since a video begins.
struct Clock {
    unit: Rational,
    first: Option<i64>,
}

impl Clock {
    fn of(input: &Input) -> Self {
        // A part that was asked for begins at 0, whenever its first frame is shown.
        let first = (input.shift != 0).then_some(0);
        Clock { unit: input.video_stream().time_base, first }
    }

    /// In microseconds.
    fn time_of(&mut self, frame: &Frame) -> i64 {
        let time = rescale(frame.pts.unwrap_or(0), self.unit, microseconds());
        time - *self.first.get_or_insert(time)
    }
}
