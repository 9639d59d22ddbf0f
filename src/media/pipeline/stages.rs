//! The interfaces of the engine: a [`Source`], a [`Sink`], and the [`Delivery`] that passes between stages. The stage
//! between them is an [`EqualizeStage`](histeq::internal::equalize::EqualizeStage).

use super::transcoders::{InProcess, OpenTranscoders};
use crate::ffmpeg::demux::{Media, Sequence, Stream};
use crate::ffmpeg::frame::RawFormat;
use crate::ffmpeg::{Packet, Rational, microseconds, rescale};
use crate::sys::files::Name;
use anyhow::Result;
use histeq::Limits;
use histeq::internal::frame::{Frame, Pool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The unit that stages exchange: at most one frame, and the packets of other streams that were read before it.
#[derive(Default)]
pub struct Delivery {
    /// Packets of the other streams, with the stream index and times of the input.
    pub packets: Vec<Packet>,
    /// The next frame of the video, if any.
    pub frame: Option<Frame>,
    /// Position of the frame relative to the requested part.
    pub position: PartPosition,
    /// When the last byte of the frame was read, before decoding; for live inputs.
    pub read_at: Option<Instant>,
}

/// Position of a frame relative to the requested part of the video.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum PartPosition {
    /// Inside the requested part.
    #[default]
    Within,
    /// Before the requested part: the frame is only for the equalizer, and has no packets.
    Before,
    /// After the requested part, for the look-ahead of frames inside: also only for the equalizer.
    Behind,
}

impl Delivery {
    /// A frame outside the requested part, only for the equalizer.
    pub fn beside(position: PartPosition, frame: Frame) -> Self {
        Delivery { frame: Some(frame), position, ..Delivery::default() }
    }
}

/// A message in a channel between two stages. If the channel closes without an `End`, the sender has failed.
pub enum Message {
    /// A frame, packets, or both.
    Delivery(Delivery),
    /// The end of the stream; no more messages follow.
    End(Outcome),
}

/// A source of frames.
pub trait Source: Send {
    /// The next delivery; `None` at the end.
    ///
    /// # Errors
    /// When the input cannot be read further, and the output would be useless without the rest.
    fn next(&mut self) -> Result<Option<Delivery>>;

    /// Requests at least `before` frames before the requested part, and `behind` frames after it, as far as they exist.
    /// Call it before the first [`next`](Source::next).
    fn look_around(&mut self, _before: u32, _behind: u32) {}

    /// Allocates later frames from `pool`, if the source can choose its memory.
    fn use_pool(&mut self, _pool: Arc<dyn Pool>) {}
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It reached the end of the input.
    Complete,
    /// It was cancelled.
    Interrupted,
}

/// A sink for frames.
pub trait Sink: Send {
    /// Writes the next delivery.
    ///
    /// # Errors
    /// When it cannot be encoded or written.
    fn write(&mut self, delivery: Delivery) -> Result<()>;

    /// Number of frames that have left the encoder; `None` without an encoder.
    fn encoded(&self) -> Option<u64> {
        None
    }

    /// How the sink encodes, if known.
    fn encoding(&self) -> Option<Encoding> {
        None
    }

    /// Encodes one more frame of those in the encoder, after the last frame was written. Returns whether there was one.
    ///
    /// # Errors
    /// When it cannot be encoded or written.
    fn drain(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Drops the frames that are still in the encoder, after an interruption.
    fn abandon(&mut self) {}

    /// Number of frames that were lost because there was no connection to the server.
    fn missed(&self) -> u64 {
        0
    }

    /// Completes the output. Returns its name; `None` if nothing was written. A sink that is dropped without this call
    /// leaves no output.
    ///
    /// # Errors
    /// When the remaining frames cannot be encoded or written.
    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<Name>>;
}

/// How an output is encoded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Encoding {
    /// FFmpeg's name of the container.
    pub container: String,
    /// The encoder that is tried first, by FFmpeg's name; `None` for raw frames.
    pub encoder: Option<String>,
    /// The encoder's options, by its own names: those of the user, and those that the program sets.
    pub options: BTreeMap<String, String>,
    /// The user's options of the container.
    pub container_options: BTreeMap<String, String>,
}

/// Properties of an input, known before its first frame.
#[derive(Clone)]
pub struct Input {
    /// The name of the input in messages.
    pub name: Name,
    /// The streams and metadata of the container.
    pub media: Media,
    /// Index of the stream that is equalized.
    pub video: usize,
    /// Pixel format and size (columns, rows) of the equalized stream's frames, if known.
    pub picture: Option<(RawFormat, (usize, usize))>,
    /// Microseconds to add to all times, so that the requested part starts at zero.
    pub shift: i64,
    /// Length of the requested part, in microseconds; `None` for the whole video.
    pub length: Option<i64>,
    /// Number of frames, if known.
    pub frames: Option<u64>,
    /// Length of the video in microseconds, if known.
    pub duration: Option<i64>,
    /// The numbers of numbered images, including those before the requested part.
    pub sequence: Option<Arc<Sequence>>,
    /// Opens transcoders for the other streams.
    pub transcoders: Arc<dyn OpenTranscoders>,
    /// The limits within which it is read, filtered and encoded.
    pub limits: Limits,
}

impl Input {
    /// An input for a single image that the program draws, of any format and size.
    pub fn drawn(name: &str) -> Self {
        let media = Media::for_raw_video("rawvideo", Rational::new(1, 1), None);
        Input { frames: Some(1), ..Input::new(name, media) }
    }

    /// The whole of `media`, whose first stream is equalized.
    pub fn new(name: impl Into<Name>, media: Media) -> Self {
        Input {
            name: name.into(),
            media,
            video: 0,
            picture: None,
            shift: 0,
            length: None,
            frames: None,
            duration: None,
            sequence: None,
            transcoders: Arc::new(InProcess),
            limits: Limits::default(),
        }
    }

    /// The stream that is equalized.
    pub fn video_stream(&self) -> &Stream {
        &self.media.streams[self.video]
    }

    /// The time of a packet from one of the input's streams, in microseconds; 0 if it has no time.
    pub fn time_of(&self, packet: &Packet) -> i64 {
        let time_base = self.media.streams[packet.stream()].time_base;
        packet.time().map_or(0, |time| rescale(time, time_base, microseconds()))
    }

    /// Average frames a second, if known.
    pub fn rate(&self) -> Option<f64> {
        self.video_stream().frame_rate.map(f64::from).filter(|rate| rate.is_finite() && *rate > 0.0)
    }

    /// Number of frames before the requested part, which are skipped.
    pub fn skipped_frames(&self) -> i32 {
        self.skipped_frames_at(self.rate().unwrap_or(0.0))
    }

    /// Number of skipped frames for a video of `rate` frames a second.
    pub fn skipped_frames_at(&self, rate: f64) -> i32 {
        if self.shift == 0 {
            return 0;
        }
        let before = -self.shift - self.media.start.unwrap_or(0);
        // A frame that begins slightly earlier because of rounding belongs to the requested part.
        (before as f64 / 1e6 * rate - 0.01).ceil().max(0.0) as i32
    }

    /// Whether the input is a single still image.
    pub fn is_image(&self) -> bool {
        // FFmpeg reads a single image with the `_pipe` demuxer of its format, but stdin may carry several images.
        let is_one = self.video_stream().frames.is_none_or(|frames| frames == 1);
        let is_image = self.media.demuxer.ends_with("_pipe") && self.name != "stdin" && is_one;
        // The length of the whole sequence decides, so that a part of a sequence looks as it does in the whole.
        let all = self.media.duration.zip(self.rate()).map(|(duration, rate)| (duration as f64 / 1e6 * rate).round());
        is_image || self.media.is_images() && all == Some(1.0)
    }
}

/// The error when the reader has closed the output pipe. This is no failure: `histeq-video ... - | head` ends this way.
#[derive(Debug, thiserror::Error)]
#[error("the output was closed by its reader")]
pub struct ReaderGone;
