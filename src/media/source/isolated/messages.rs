//! The messages between the two processes. Orders come from this program and are trusted; events of the decoding
//! process are untrusted until they are `checked`.

use super::said::about;
use crate::ffmpeg;
use crate::ffmpeg::demux::{
    Lie, Media, Metadata, Programme, Sequence, Unshown, WireChapter, WirePacket, WireProperties, WireStream,
};
use crate::ffmpeg::encode::TranscodeTo;
use crate::ffmpeg::frame::RawFormat;
use crate::pipeline::{Failure, FailureKind, Input, Level, PartPosition, said};
use crate::source::failure::kind_of_cause;
use crate::source::live::input::{CameraOptions, LiveInput};
use crate::source::options::InputOptions;
use crate::source::packets::{InputChanged, PacketSurvey};
use crate::sys::files::Name;
use crate::sys::io::at_most;
use crate::sys::without_middle;
use histeq::Limits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a new process decodes, and within which limits.
#[derive(Deserialize, Serialize)]
pub struct Start {
    pub what: What,
    pub limits: ProcessLimits,
    /// Whether warnings are errors.
    pub is_strict: bool,
    /// Whether the process refuses to decode without the kernel's sandbox.
    pub needs_walls: bool,
}

/// The limits of a decoding process. A message has them, because the template may have been forked before they were
/// set.
#[derive(Clone, Deserialize, Serialize)]
pub struct ProcessLimits {
    pub pixels: u64,
    pub memory: usize,
    /// The number of threads that the user has set, if any; and how many threads each part of a process has.
    pub given_threads: Option<usize>,
    pub threads: usize,
    /// The most bytes that FFmpeg allocates at once.
    pub allocation: Option<usize>,
    pub is_verbose: bool,
    /// Bytes of memory that the process may have in addition to those at its start.
    pub own_memory: u64,
}

/// Bytes of memory that a process may use beside that for frames.
const OWN_MEMORY: u64 = 256 << 20;

impl ProcessLimits {
    /// The limits of a process that decodes within these limits.
    pub fn new(limits: &Limits) -> Self {
        ProcessLimits {
            pixels: limits.pixels(),
            memory: limits.memory(),
            given_threads: limits.given_threads(),
            threads: limits.threads(),
            allocation: ffmpeg::allocation_limit(),
            is_verbose: ffmpeg::is_verbose(),
            own_memory: (limits.memory() as u64).saturating_add(OWN_MEMORY),
        }
    }

    /// These limits, lowered to those of `most`.
    pub fn limited_by(self, most: &ProcessLimits) -> Self {
        ProcessLimits {
            pixels: self.pixels.min(most.pixels),
            memory: self.memory.min(most.memory),
            threads: self.threads.min(most.threads),
            allocation: self.allocation.into_iter().chain(most.allocation).min(),
            own_memory: self.own_memory.min(most.own_memory),
            ..self
        }
    }

    /// The limits of frames and threads.
    pub fn frames(&self) -> Limits {
        let limits = Limits::default().with_pixels(self.pixels).with_memory(self.memory);
        self.given_threads.into_iter().fold(limits, Limits::with_threads)
    }
}

/// What a process works on.
#[derive(Deserialize, Serialize)]
pub enum What {
    File {
        options: Box<InputOptions>,
        name: String,
        from: WireFrom,
    },
    /// `is_open` if the descriptor of a pipe or file is sent with it.
    Live {
        input: LiveInput,
        options: Box<CameraOptions>,
        is_open: bool,
    },
    /// Streams of an input that are converted.
    Transcoders(Vec<(WireStream, TranscodeTo)>),
}

/// What an input is read from; its descriptor is sent with the message.
#[derive(Deserialize, Serialize)]
pub enum WireFrom {
    Url,
    Pipe,
    File,
    Images(Sequence),
}

/// An order for a decoding process.
#[derive(Deserialize, Serialize)]
pub enum Order {
    /// Requests the next delivery. The first `copied` deliveries have been copied, and their memory is free.
    Next { copied: u64 },
    /// Calls [`Source::look_around`](crate::pipeline::Source::look_around).
    LookAround(u32, u32),
    /// The most bytes that waiting frames may occupy.
    Room(usize),
    /// Convert a packet by the transcoder with this index; `None` is the end of its stream.
    Transcode(u32, Option<WirePacket>),
    /// The process is to stop waiting for input. `is_request` if a clean end of the run was requested.
    Cancel { is_request: bool },
}

/// An event from a decoding process.
#[derive(Deserialize, Serialize)]
pub enum Event {
    Message(Level, String),
    /// The process makes progress, but has nothing to deliver yet.
    Works,
    Opened(Box<WireInput>),
    Delivery(Box<WireDelivery>),
    /// The end of the input, and the survey of its packets, if requested.
    End(Option<PacketSurvey>),
    Failed(WireError),
    /// The converted streams, or why they cannot be converted.
    Transcoders(#[serde(deserialize_with = "at_most::<_, _, MAX_STREAMS>")] Vec<Result<WireStream, String>>),
    /// The converted packet, or why it could not be decoded.
    Transcoded(#[serde(deserialize_with = "at_most::<_, _, MAX_PACKETS>")] Vec<WirePacket>, Option<String>),
}

/// A request of the decoding process, on a separate connection. The answer is an error number, or none and a
/// descriptor.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Wants {
    /// The image with this number.
    Image(u64),
    /// A block of memory for frames, of this many bytes. Blocks are numbered from 0 in the order of requests.
    Memory(u64),
}

/// An [`Input`], in a message.
#[derive(Deserialize, Serialize)]
pub struct WireInput {
    demuxer: String,
    #[serde(deserialize_with = "at_most::<_, _, MAX_STREAMS>")]
    streams: Vec<WireStream>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_CHAPTERS>")]
    chapters: Vec<WireChapter>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_KEYS>")]
    metadata: Metadata,
    start: Option<i64>,
    length_of_media: Option<i64>,
    may_jump: bool,
    samples: Option<(f64, f64)>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_STREAMS>")]
    programmes: Vec<Programme>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_UNSHOWN>")]
    unshown: Vec<Unshown>,
    video: usize,
    picture: Option<(String, (usize, usize))>,
    shift: i64,
    length: Option<i64>,
    frames: Option<u64>,
    duration: Option<i64>,
}

/// The most entries in the lists of an input: more than demuxers may have.
const MAX_STREAMS: usize = 1001;
const MAX_CHAPTERS: usize = 10_000;
const MAX_KEYS: usize = 100_000;
const MAX_UNSHOWN: usize = 64;

/// The most packets of a delivery, and planes of a frame.
const MAX_PACKETS: usize = 100_000;
const MAX_PLANES: usize = 8;

/// The largest time, in microseconds, and the largest number of frames that are accepted, so that sums of them do not
/// overflow.
pub const MAX_BELIEVED: u64 = 1 << 60;

impl WireInput {
    pub fn new(input: &Input) -> Self {
        let Media { demuxer, streams, chapters, metadata, start, duration, may_jump, samples, programmes, unshown } =
            &input.media;
        WireInput {
            demuxer: demuxer.clone(),
            streams: streams.iter().map(WireStream::new).collect(),
            chapters: chapters.iter().map(WireChapter::new).collect(),
            metadata: metadata.clone(),
            start: *start,
            length_of_media: *duration,
            may_jump: *may_jump,
            samples: *samples,
            programmes: programmes.clone(),
            unshown: unshown.clone(),
            video: input.video,
            picture: input.picture.map(|(format, size)| (format.name(), size)),
            shift: input.shift,
            length: input.length,
            frames: input.frames,
            duration: input.duration,
        }
    }

    /// The input, which is called `name` in messages, and is read within these limits.
    ///
    /// # Errors
    /// When the description cannot be true.
    pub fn checked(self, name: &str, limits: &Limits) -> Result<Input, Lie> {
        let picture = match self.picture {
            None => None,
            Some((format, size)) => {
                Some((RawFormat::from_name(&format).ok_or(Lie("a format"))?, checked_size(size, limits)?))
            }
        };
        let streams = self.streams.into_iter().enumerate();
        let media = Media {
            demuxer: self.demuxer,
            streams: streams.map(|(index, stream)| stream.checked(index)).collect::<Result<_, _>>()?,
            chapters: self.chapters.into_iter().map(WireChapter::checked).collect::<Result<_, _>>()?,
            metadata: self.metadata,
            start: self.start,
            duration: self.length_of_media,
            may_jump: self.may_jump,
            samples: self.samples,
            programmes: self.programmes,
            unshown: self.unshown,
        };
        let times = [media.start, media.duration, Some(self.shift), self.length, self.duration];
        let mut numbers = times.into_iter().flatten().map(i64::unsigned_abs).chain(self.frames);
        if self.video >= media.streams.len()
            || numbers.any(|number| number > MAX_BELIEVED)
            || media.check_bounds().is_err()
        {
            return Err(Lie("an input"));
        }
        if media.samples.is_some_and(|(least, most)| !(least.is_finite() && most.is_finite())) {
            return Err(Lie("samples"));
        }
        let mut named = media.programmes.iter().flat_map(|programme| &programme.streams);
        if named.any(|&stream| stream >= media.streams.len()) {
            return Err(Lie("a programme"));
        }
        Ok(Input {
            video: self.video,
            picture,
            shift: self.shift,
            length: self.length,
            frames: self.frames,
            duration: self.duration,
            limits: limits.clone(),
            ..Input::new(name, media)
        })
    }
}

/// A size in pixels, columns and rows, if `--max-pixels` allows for it.
///
/// # Errors
/// When it does not.
pub fn checked_size((width, height): (usize, usize), limits: &Limits) -> Result<(usize, usize), Lie> {
    let pixels = (width as u64).checked_mul(height as u64);
    let is_allowed = pixels.is_some_and(|pixels| (1..=limits.pixels()).contains(&pixels));
    if is_allowed && width.max(height) <= i32::MAX as usize { Ok((width, height)) } else { Err(Lie("a size")) }
}

/// A [`Delivery`](crate::pipeline::Delivery).
#[derive(Deserialize, Serialize)]
pub struct WireDelivery {
    #[serde(deserialize_with = "at_most::<_, _, MAX_PACKETS>")]
    pub packets: Vec<WirePacket>,
    pub frame: Option<WireFrame>,
    pub position: PartPosition,
    /// How long ago the last byte of the frame was read.
    pub age: Option<Duration>,
    /// Frames decoded so far, the time of the last one, and damaged frames and packets.
    pub progress: (u64, i64, u64),
}

/// Where the rows of a plane are: the number of the block of memory, the offset of the first row in it, and the stride,
/// in bytes.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct RowPlace {
    pub slot: u32,
    pub start: u64,
    pub stride: i64,
}

/// A [`Frame`](histeq::internal::frame::Frame). Matrix and transfer are indices into the lists of
/// [`frames`](super::memory::frames).
#[derive(Deserialize, Serialize)]
pub struct WireFrame {
    /// The name of its pixel format.
    pub format: String,
    pub size: (usize, usize),
    pub is_full_range: bool,
    pub matrix: u8,
    pub transfer: u8,
    pub is_interlaced: bool,
    pub time: Option<i64>,
    pub properties: Option<WireProperties>,
    pub planes: Planes,
}

/// Where the samples of a frame are.
#[derive(Deserialize, Serialize)]
pub enum Planes {
    Shared(#[serde(deserialize_with = "at_most::<_, _, MAX_PLANES>")] Vec<RowPlace>),
    /// The rows of all planes, one after the other: if the system has no memory to share, as under a limit for the size
    /// of files.
    Sent(#[serde(with = "serde_bytes")] Vec<u8>),
}

#[derive(Deserialize, Serialize)]
pub enum WireError {
    /// The kind and the text of an error.
    Failure(FailureKind, String),
    /// [`InputChanged`].
    Changed(Name, String),
}

/// Kinds of errors that reading an input can have, beside damage and limits.
#[derive(Clone, Copy, Default)]
pub struct MayFail {
    /// Wrong options for the content of the input, such as the number of a stream.
    pub of_usage: bool,
    /// Access errors: the input is opened by its name.
    pub of_access: bool,
    /// [`InputChanged`], because the input was planned before.
    pub of_change: bool,
}

impl WireError {
    pub fn new(error: &anyhow::Error) -> Self {
        if let Some(InputChanged(name, how)) = error.downcast_ref() {
            return WireError::Changed(name.clone(), how.clone().into_owned());
        }
        let kind = error.chain().map(kind_of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default();
        WireError::Failure(kind, said(error))
    }

    /// The error of the input `name`. A kind that reading it cannot have becomes [`FailureKind::Failed`]: the process
    /// is untrusted.
    pub fn checked(self, name: &str, may: MayFail) -> anyhow::Error {
        match self {
            WireError::Failure(kind, message) => {
                let is_possible = match kind {
                    FailureKind::Failed | FailureKind::Damage | FailureKind::Limit | FailureKind::Unsupported => true,
                    FailureKind::Usage => may.of_usage,
                    FailureKind::Missing | FailureKind::Refused | FailureKind::Device => may.of_access,
                    FailureKind::Disk | FailureKind::Exists => false,
                };
                let kind = if is_possible { kind } else { FailureKind::Failed };
                Failure { kind, message: about(name, &message) }.into()
            }
            WireError::Changed(_, how) if may.of_change => {
                InputChanged(name.into(), without_middle(&how).into_owned().into()).into()
            }
            WireError::Changed(_, how) => FailureKind::Damage.error(about(name, &how)),
        }
    }
}
