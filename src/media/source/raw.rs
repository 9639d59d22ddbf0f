//! Reads raw frames and y4m streams directly into memory of the equalizer's pool.

use super::native::exceeding;
use super::options::InputOptions;
use crate::ffmpeg::demux::Media;
use crate::ffmpeg::frame::{Picture, PictureProperties};
use crate::ffmpeg::{microseconds, rescale};
use crate::pipeline::{Delivery, FailureKind, Input, Notices, PartPosition, Progress, Source};
use crate::rawvideo::{FRAME, MAX_LINE, RawVideo};
use crate::sys::io::{Filled, Filling, Reader};
use anyhow::{Context, Result};
use histeq::internal::frame::{Frame, HostPool, Matrix, Memory, Model, Plane, Pool, Range};
use std::collections::VecDeque;
use std::sync::Arc;

/// Raw frames from a file or a pipe.
pub struct RawSource {
    reader: Reader,
    video: RawVideo,
    /// Whether the stream is y4m, with a header before each frame.
    is_y4m: bool,
    pub(super) input: Input,
    pool: Arc<dyn Pool>,
    attachment: histeq::internal::frame::Attachment,
    notices: Notices,
    progress: Arc<Progress>,
    /// How many frames are read at once; `None` before the first.
    most_ahead: Option<usize>,
    /// The frames that are being read, oldest first; `None` for the end of the stream.
    ahead: VecDeque<Result<Option<Filling>>>,
    /// Whether samples were lowered that were above their depth.
    has_clamped: bool,
    /// Number of frames read, from the beginning of the input.
    read: u64,
    /// Number of the first frame of the warm-up.
    warm_up: u64,
    /// Number of the first frame of the requested part.
    first: u64,
    /// Number of the first frame after the part.
    end: u64,
    /// The number of frames after the part that the equalizer needs.
    look_ahead: u64,
}

impl RawSource {
    /// Reads frames of `video` from `reader`, each after a y4m frame header if `is_y4m`.
    pub fn new(
        reader: Reader,
        name: &str,
        video: RawVideo,
        is_y4m: bool,
        options: &InputOptions,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Self {
        let part = options.part;
        let time_base = video.rate.invert();
        let to_frames = |time: i64| rescale(time, microseconds(), time_base).max(0) as u64;
        let first = part.start.map_or(0, to_frames);
        let by_time = part.duration.map_or(u64::MAX, |duration| first.saturating_add(to_frames(duration)));
        let by_count = part.frames.map_or(u64::MAX, |frames| first.saturating_add(frames));
        let end = by_time.min(by_count);
        let frames = (end != u64::MAX).then(|| end - first);
        let demuxer = if is_y4m { "yuv4mpegpipe" } else { "rawvideo" };
        let mut properties = Picture::described(&PictureProperties {
            format: video.format,
            range: video.range,
            chroma_location: video.chroma_location,
            interlaced: video.interlaced,
            sample_aspect_ratio: video.sample_aspect_ratio,
        });
        // One unit of the time base for each frame.
        properties.set_duration(1);
        RawSource {
            reader,
            video,
            is_y4m,
            input: Input {
                picture: Some((video.format.into(), video.size)),
                length: part.duration,
                frames,
                duration: frames.map(|frames| rescale(frames as i64, time_base, microseconds())),
                limits: options.limits.clone(),
                ..Input::new(name, Media::for_raw_video(demuxer, video.rate, video.sample_aspect_ratio))
            },
            pool: Arc::new(HostPool::new(&options.limits)),
            attachment: Arc::new(properties),
            notices,
            progress,
            most_ahead: None,
            ahead: VecDeque::new(),
            has_clamped: false,
            read: 0,
            warm_up: first,
            first,
            end,
            look_ahead: 0,
        }
    }

    /// The next frame of the stream, `None` at its end.
    fn read_frame(&mut self) -> Result<Option<Frame>> {
        let bytes = self.video.frame_bytes();
        let most_ahead = match self.most_ahead {
            Some(most) => most,
            None => self.reader.read_ahead(bytes, &self.input.limits).with_context(|| self.describe(self.read))?,
        };
        self.most_ahead = Some(most_ahead);
        let needed = self.end.saturating_add(self.look_ahead);
        loop {
            let next = self.read + self.ahead.len() as u64;
            let goes_on = self.ahead.back().is_none_or(|last| matches!(last, Ok(Some(_))));
            if self.ahead.len() >= most_ahead || next >= needed || !goes_on {
                break;
            }
            let begun = self.begin_frame(next, bytes);
            self.ahead.push_back(begun);
        }
        let Some(filling) = self.ahead.pop_front().unwrap_or(Ok(None))? else { return Ok(None) };
        let finished = self.reader.finish(filling);
        let Filled { buffer, len: filled, clamped, .. } = finished.with_context(|| self.describe(self.read))?;
        if filled < bytes {
            self.ahead.clear();
            if (filled > 0 || self.is_y4m) && !self.reader.is_interrupted() {
                self.progress.count_damaged();
                self.notices.warn_of_damage(&format!(
                    "{}: the last frame is cut off ({filled} of {bytes} bytes)",
                    self.describe(self.read)
                ))?;
            }
            return Ok(None);
        }
        if clamped && !std::mem::replace(&mut self.has_clamped, true) {
            self.notices.warn(&exceeding(&self.describe(self.read), self.video.format))?;
        }
        let memory: Arc<dyn Memory> = buffer.freeze();
        let RawVideo { format, size, .. } = self.video;
        let mut start = 0;
        let planes = (0..format.descriptor().planes().len())
            .map(|index| {
                let (row_bytes, rows) = (format.row_bytes(index, size.0), format.rows(index, size.1));
                let plane = Plane::new(memory.clone(), start, row_bytes as isize, row_bytes, rows);
                start += row_bytes * rows;
                plane.context("a plane outside of its frame")
            })
            .collect::<Result<Vec<Plane>>>()?;
        let model = format.descriptor().model;
        let range = self.video.range.unwrap_or(if model == Model::Gray { Range::Full } else { Range::Limited });
        let mut frame = Frame::new(format, size, range, Matrix::usual(model, size), planes)?;
        frame.is_interlaced = self.video.interlaced.is_some();
        frame.attachment = Some(self.attachment.clone());
        frame.pts = Some(self.read as i64 - self.first as i64);
        self.read += 1;
        Ok(Some(frame))
    }

    /// Begins to read frame `index`, of `bytes` bytes; `None` at the end of the stream.
    fn begin_frame(&mut self, index: u64, bytes: usize) -> Result<Option<Filling>> {
        if self.is_y4m && !self.read_frame_header(index)? {
            return Ok(None);
        }
        let sample = self.video.format.descriptor().sample;
        self.reader.begin(&self.pool, bytes, sample).map(Some).with_context(|| self.describe(index))
    }

    /// Reads `FRAME`, its parameters and its line end; `false` at the end of the stream.
    fn read_frame_header(&mut self, index: u64) -> Result<bool> {
        let mut word = [0; FRAME.len()];
        let filled = self.reader.fill(&mut word).with_context(|| self.describe(index))?;
        if filled == 0 || self.reader.is_interrupted() {
            return Ok(false);
        }
        if word != FRAME {
            let what = "no frame header where one is expected (damaged, or the frames before have another size)";
            return Err(FailureKind::Damage.error(format!("{}: {what}", self.describe(index))));
        }
        // Parameters of single frames are ignored.
        match self.reader.line(MAX_LINE).with_context(|| self.describe(index))? {
            Some(_) => Ok(true),
            None => Err(FailureKind::Damage.error(format!("{}: a frame header without an end", self.describe(index)))),
        }
    }

    fn nothing_read(&self) -> anyhow::Error {
        let name = &self.input.name;
        match self.read {
            0 => FailureKind::Damage.error(format!("{name}: not a single whole frame")),
            count => FailureKind::Usage.error(format!("{name}: no frame at or after --start ({count} before it)")),
        }
    }

    fn describe(&self, index: u64) -> String {
        format!("{}: frame {index}", self.input.name)
    }
}

impl Source for RawSource {
    fn look_around(&mut self, before: u32, behind: u32) {
        self.warm_up = self.first.saturating_sub(before.into());
        self.look_ahead = behind.into();
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.pool = pool;
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        while self.read < self.end {
            let index = self.read;
            let Some(frame) = self.read_frame()? else { break };
            if index < self.warm_up {
                continue;
            }
            if index < self.first {
                return Ok(Some(Delivery::beside(PartPosition::Before, frame)));
            }
            let time = (index - self.first) as i64;
            self.progress.count_decoded(rescale(time, self.video.rate.invert(), microseconds()));
            return Ok(Some(Delivery { frame: Some(frame), ..Delivery::default() }));
        }
        if self.read >= self.end && self.read < self.end.saturating_add(self.look_ahead) {
            let after = self.read_frame()?;
            return Ok(after.map(|frame| Delivery::beside(PartPosition::Behind, frame)));
        }
        if self.read <= self.first && !self.reader.is_interrupted() {
            return Err(self.nothing_read());
        }
        Ok(None)
    }
}
