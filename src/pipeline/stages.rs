//! What the engine joins: a [`Source`] and a [`Sink`] (the stage between them is an
//! [`EqualizeStage`](crate::equalize::EqualizeStage)), and what passes from one to the next.

use crate::ffmpeg::{Media, Packet, RawFormat, Stream};
use crate::frame::{Frame, Pool};
use anyhow::Result;
use std::sync::Arc;
use std::time::Instant;

/// What passes from stage to stage: at most one frame, and the packets of other streams that were read before it.
#[derive(Default)]
pub struct Delivery {
    /// Packets of streams that are copied; their stream index and times are the input's.
    pub packets: Vec<Packet>,
    /// The next frame of the video.
    pub frame: Option<Frame>,
    /// Where the frame lies.
    pub place: PartPosition,
    /// When the frame's last byte was read, before it was decoded: of live inputs.
    pub read_at: Option<Instant>,
}

/// Where a frame lies, beside the part of the video that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartPosition {
    /// In it.
    #[default]
    Within,
    /// Before it: the equalizer is to see the frame, and nobody else. It comes without packets.
    Before,
    /// Behind it, for the sake of frames in it: likewise.
    Behind,
}

impl Delivery {
    /// A frame for the equalizer alone.
    pub fn beside(place: PartPosition, frame: Frame) -> Self {
        Delivery { frame: Some(frame), place, ..Delivery::default() }
    }
}

/// Where frames come from.
pub trait Source: Send {
    /// What comes next, `None` at the end.
    ///
    /// # Errors
    /// When the input cannot be read further and what has been read is not worth keeping.
    fn next(&mut self) -> Result<Option<Delivery>>;

    /// Delivers so many of the frames before the part that was asked for, too, or more, and so many of those behind it,
    /// where there are any. To be called before the first [`next`](Source::next).
    fn look_around(&mut self, _before: u32, _behind: u32) {}

    /// Puts frames into this memory from now on, if it is free to choose.
    fn use_pool(&mut self, _pool: Arc<dyn Pool>) {}
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At the end of the input.
    Complete,
    /// Because somebody asked for it.
    Interrupted,
}

/// Where frames go.
pub trait Sink: Send {
    /// Takes what comes next.
    ///
    /// # Errors
    /// When it cannot be encoded or written.
    fn write(&mut self, delivery: Delivery) -> Result<()>;

    /// How many of the frames that it took were lost because there was no connection to the server.
    fn missed(&self) -> u64 {
        0
    }

    /// Finishes the output: everything that was written is in it, and it is whole. Answers with the name that it got,
    /// `None` when there was nothing to keep. A sink that is dropped without this call leaves nothing behind.
    ///
    /// # Errors
    /// When the rest cannot be encoded or written.
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<String>>;
}

/// What kind of pictures an input has, as far as it matters for how they look best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// One still image.
    Image,
    /// Gray of more than 8 bits: thermal cameras, medical pictures.
    DeepGray,
    /// Everything else.
    Video,
}

/// What a source says of itself before its first frame.
#[derive(Clone)]
pub struct Input {
    /// How messages name it.
    pub name: String,
    /// All that the container says.
    pub media: Media,
    /// Which of its streams is equalized.
    pub video: usize,
    /// Pixel format and size of its pictures, if that can be told.
    pub picture: Option<(RawFormat, (usize, usize))>,
    /// Microseconds to add to every time, so that the part that was asked for begins at zero.
    pub shift: i64,
    /// Length of the part that was asked for, in microseconds, if not all.
    pub length: Option<i64>,
    /// How many frames there will be, if that can be told.
    pub frames: Option<u64>,
    /// How long the video will be in microseconds, if that can be told.
    pub duration: Option<i64>,
}

impl Input {
    /// The stream that is equalized.
    pub fn video_stream(&self) -> &Stream {
        &self.media.streams[self.video]
    }

    /// Average frames a second, if known.
    pub fn rate(&self) -> Option<f64> {
        self.video_stream().frame_rate.map(f64::from).filter(|rate| rate.is_finite() && *rate > 0.0)
    }

    /// How many frames lie before the part that was asked for.
    pub fn skipped_frames(&self) -> i32 {
        if self.shift == 0 {
            return 0;
        }
        let before = -self.shift - self.media.start.unwrap_or(0);
        // A frame that begins a rounding error before it is the first of that part.
        (before as f64 / 1e6 * self.rate().unwrap_or(0.0) - 0.01).ceil().max(0.0) as i32
    }

    /// Bytes of a frame, as far as that can be told: of 4:4:4 for every kind of chroma.
    pub fn frame_bytes(&self) -> Option<usize> {
        let (format, (width, height)) = self.picture?;
        let components = if format.is_gray() { 1 } else { 3 };
        Some(width * height * components * usize::from(format.depth().div_ceil(8)))
    }

    /// What kind of pictures it has.
    pub fn kind(&self) -> InputKind {
        // FFmpeg reads one image by its format's `_pipe` demuxer; a sequence, or images on stdin, can be many.
        let is_image = self.media.demuxer.ends_with("_pipe") && self.name != "stdin";
        // All of them count: a part of a sequence is to look as it does in the whole.
        let all = self.media.duration.zip(self.rate()).map(|(duration, rate)| (duration as f64 / 1e6 * rate).round());
        if is_image || self.media.is_images() && all == Some(1.0) {
            return InputKind::Image;
        }
        match self.picture {
            Some((format, _)) if format.is_gray() && format.depth() > 8 => InputKind::DeepGray,
            _ => InputKind::Video,
        }
    }
}

/// Whoever read the output has gone away, which is no failure: `histeq-video ... - | head` ends like this.
#[derive(Debug, thiserror::Error)]
#[error("the output was closed by its reader")]
pub struct ReaderGone;
