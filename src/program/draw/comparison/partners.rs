//! Finds the frame of B that is shown at the same time as a frame of A.

use anyhow::Result;
use histeq::internal::frame::Frame;
use histeq_media::ffmpeg::frame::AutoRotate;
use histeq_media::ffmpeg::{Rational, microseconds, rescale};
use histeq_media::pipeline::{Input, Source};

/// Frames a second of a video of unknown rate.
const DEFAULT_RATE: f64 = 25.0;

/// Finds the partner of each frame of A. Times of both videos count from `--start`, else from their first frames.
pub struct Partners {
    b: Box<dyn Source>,
    clocks: [VideoClock; 2],
    /// Rotate the frames of A and of B upright.
    upright: [AutoRotate; 2],
    /// The current frame of B and the next one, with their times in microseconds.
    shown: Option<(i64, Frame)>,
    following: Option<(i64, Frame)>,
    b_has_ended: bool,
    /// Duration of the last frame of B, in microseconds.
    interval: i64,
    /// Times within this distance count as equal, since containers round them differently; in microseconds.
    tolerance: i64,
}

impl Partners {
    /// The partners for the frames of A. Also returns the description of the drawn video for the sink; its length is
    /// that of the shorter video.
    pub fn new(of_a: Input, (b, of_b): (Box<dyn Source>, Input)) -> (Self, Input) {
        let clocks = [VideoClock::new(&of_a), VideoClock::new(&of_b)];
        let rates = [of_a.rate(), of_b.rate()].map(|rate| rate.unwrap_or(DEFAULT_RATE));
        let partners = Partners {
            b,
            clocks,
            upright: [&of_a, &of_b].map(|input| AutoRotate::new(input.video_stream(), false, &input.limits)),
            shown: None,
            following: None,
            b_has_ended: false,
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

    /// `frame` of A and the frame of B at the same time, both upright; `None` after the end of B.
    ///
    /// # Errors
    /// When B cannot be read, or a frame cannot be rotated.
    pub fn pair(&mut self, frame: Frame) -> Result<Option<[Frame; 2]>> {
        let frame = self.upright[0].frame(frame)?;
        let time = self.clocks[0].time_of(&frame);
        Ok(self.partner(time)?.map(|partner| [frame, partner]))
    }

    /// The frame of B at `time` microseconds; `None` after the end of B.
    fn partner(&mut self, time: i64) -> Result<Option<Frame>> {
        let until = time.saturating_add(self.tolerance);
        loop {
            if self.following.is_none() && !self.b_has_ended {
                self.following = self.read_b()?;
                self.b_has_ended = self.following.is_none();
            }
            let Some(next) = self.following.take_if(|(offset, _)| *offset <= until) else { break };
            // In a damaged file, times may go backwards, and are made equal: no frame duration.
            if let Some((last, _)) = self.shown.as_ref().filter(|(last, _)| *last < next.0) {
                self.interval = next.0 - last;
            }
            self.shown = Some(next);
        }
        let lasts = |offset: i64| !self.b_has_ended || until < offset.saturating_add(self.interval);
        Ok(self.shown.as_ref().filter(|(offset, _)| lasts(*offset)).map(|(_, frame)| frame.clone()))
    }

    fn read_b(&mut self) -> Result<Option<(i64, Frame)>> {
        while let Some(delivery) = self.b.next()? {
            // Other streams of B are left out.
            if let Some(frame) = delivery.frame {
                return Ok(Some((self.clocks[1].time_of(&frame), self.upright[1].frame(frame)?)));
            }
        }
        Ok(None)
    }
}

/// Converts times of frames to times since the beginning of the video.
struct VideoClock {
    unit: Rational,
    first: Option<i64>,
    last: Option<i64>,
}

impl VideoClock {
    fn new(input: &Input) -> Self {
        // Times of a requested part begin at 0, even if its first frame is later.
        let first = (input.shift != 0).then_some(0);
        VideoClock { unit: input.video_stream().time_base, first, last: None }
    }

    /// The time of `frame` in microseconds, not before that of the last frame.
    fn time_of(&mut self, frame: &Frame) -> i64 {
        let time = rescale(frame.pts.unwrap_or(0), self.unit, microseconds());
        let time = time.saturating_sub(*self.first.get_or_insert(time));
        *self.last.insert(self.last.map_or(time, |last| time.max(last)))
    }
}
