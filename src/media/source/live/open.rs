//! An open live input: its packets, read with a time-out, and the decoder of its video.

use super::input::LiveInput;
use super::sound::{SoundRoute, SoundStreams};
use crate::camera::NotOpened;
use crate::ffmpeg::decode::Delay;
use crate::ffmpeg::demux::{Demuxer, Interrupt, OpenError, ReadFrom, Stream};
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::{Error, Packet, Rational, last_message};
use crate::pipeline::{Cancel, FailureKind, Notices};
use crate::source::file::{FileInput, no_decoder};
use crate::source::video_reader::{ReadPackets, VideoReader};
use crate::sys::io::Reader;
use anyhow::{Context, Result};
use histeq::Limits;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time-out for opening: a network stream is recognized by its next key frame.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// A live input that sends no data for this long is lost.
pub const TIMEOUT: Duration = Duration::from_secs(3);

/// If more packets of the video than this give no picture for `LONG_IN_VAIN`, that is reported.
const MANY_IN_VAIN: u32 = 32;
const LONG_IN_VAIN: Duration = Duration::from_secs(5);

/// Why packets may give no picture.
pub const NO_PICTURE: &str = "no key frame is in it, or it is damaged";

/// A read that is faster than this came from a buffer.
const BUFFERED: Duration = Duration::from_millis(5);

/// The most bytes of packets of a pipe that are taken for packets that were read while probing.
const MAX_PROBED: usize = 16 << 20;

/// The most buffered pictures that are skipped after opening.
const MAX_STALE: u32 = 100;

/// An open live input.
pub struct OpenInput {
    pub video: VideoReader<LivePackets>,
    /// The audio streams that are passed on.
    pub sound_routes: Vec<SoundRoute>,
    /// Whether a picture was decoded.
    pub begun: bool,
    /// The newest of the skipped pictures. It is delivered if nothing comes after it.
    pub newest: Option<TimedPicture>,
}

/// A picture that is to be delivered.
pub struct TimedPicture {
    pub picture: Picture,
    /// When it was read, as far as is known.
    pub read_at: Instant,
    /// The time base of its timestamp; `None` if that is assumed.
    pub time_base: Option<Rational>,
}

impl OpenInput {
    /// Opens the input, from `source` if that is open already, in `OPEN_TIMEOUT`, or `within` if that is shorter.
    ///
    /// # Errors
    /// When it does not open, or holds no video that can be decoded.
    pub fn open(
        input: &LiveInput,
        source: Option<FileInput>,
        cancel: &Cancel,
        notices: &Notices,
        (within, limits): (Duration, &Limits),
    ) -> Result<Self> {
        let interrupt = Interrupt::from(cancel.flag());
        let source = match source {
            Some(FileInput::File(file)) => ReadFrom::File(file),
            Some(FileInput::Pipe(reader)) => ReadFrom::Reader(Box::new(with_first_byte(reader, input)?)),
            _ if input.is_pipe => {
                let reader = Reader::open(&input.url, cancel.flag()).with_context(|| input.name.clone())?;
                ReadFrom::Reader(Box::new(with_first_byte(reader, input)?))
            }
            _ => ReadFrom::Url,
        };
        let begin = Instant::now();
        interrupt.set_timeout(OPEN_TIMEOUT.min(within));
        let format = input.format.as_deref();
        let demuxer =
            Demuxer::open(&input.url, source, format, &input.options, interrupt.clone(), limits).map_err(|error| {
                // FFmpeg reports various errors for an interrupted read.
                let error = if interrupt.is_due() { OpenError::Ffmpeg(Error::Exit) } else { error };
                match error {
                    OpenError::Ffmpeg(error) => NotOpened::new(&input.name, format, error),
                    refused => NotOpened::for_good(format!("{}: {refused}", input.name)),
                }
            })?;
        last_message();
        let video = demuxer.best_video();
        let video = video.ok_or_else(|| FailureKind::Damage.error(format!("{}: no video in it", input.name)))?;
        let stream = demuxer.media.streams[video].clone();
        let packets = LivePackets {
            demuxer,
            video,
            interrupt: interrupt.clone(),
            timeout: input.comes_back.then_some(TIMEOUT),
            read_at: Instant::now(),
            probed: VecDeque::new(),
            in_vain: None,
            is_reported: false,
            report: notices.named(&input.name),
            stale: if input.comes_back { MAX_STALE } else { 0 },
            timed_out: false,
        };
        let mut video = VideoReader::open(packets, video, Delay::Lowest, input.decode_on)
            .map_err(|error| no_decoder(error, &input.name, &stream, input.decode_on))?;
        interrupt.clear_timeout();
        let has_rate = input.options.iter().any(|(option, _)| option == "framerate");
        if input.is_pipe && !has_rate && video.packets.demuxer.assumes_times() {
            video.packets.take_probed(begin);
        }
        Ok(OpenInput { video, sound_routes: Vec::new(), begun: false, newest: None })
    }

    /// All streams of the input.
    pub fn streams(&self) -> &[Stream] {
        &self.video.packets.demuxer.media.streams
    }

    /// Whether FFmpeg assumes the times of its pictures: the format stores none, and the stream's frame rate is not the
    /// requested `rate`.
    pub fn assumes_times(&self, rate: Option<Rational>) -> bool {
        self.video.packets.demuxer.assumes_times() && (rate.is_none() || self.video_stream().frame_rate != rate)
    }

    /// The video stream that is decoded.
    pub fn video_stream(&self) -> &Stream {
        &self.streams()[self.video.packets.video]
    }

    /// Selects the video and these audio streams; packets of all others are discarded from now on.
    pub fn select(&mut self, sounds: &SoundStreams) {
        self.sound_routes = sounds.found_in(self.streams(), 1);
        let LivePackets { demuxer, video, .. } = &mut self.video.packets;
        let is_selected = |index| index == *video || self.sound_routes.iter().any(|route| route.stream == index);
        for index in (0..demuxer.media.streams.len()).filter(|&index| !is_selected(index)) {
            demuxer.discard(index);
        }
    }
}

/// The packets of a live input.
pub struct LivePackets {
    demuxer: Demuxer,
    /// Index of the video stream.
    video: usize,
    interrupt: Interrupt,
    /// The time-out for a read, if there is one.
    timeout: Option<Duration>,
    /// When the last packet of the video was read, as far as is known.
    pub read_at: Instant,
    /// The packets of a pipe that were read while probing, and about when each arrived.
    probed: VecDeque<(Packet, Instant)>,
    /// Since when packets have given no picture, and how many there are.
    pub in_vain: Option<(Instant, u32)>,
    /// Whether packets without a picture were reported since the input was opened.
    is_reported: bool,
    report: Notices,
    /// How many of the next pictures may be buffered ones, which are decoded, but not delivered.
    pub stale: u32,
    /// Whether a read has timed out.
    timed_out: bool,
}

impl LivePackets {
    /// Takes the packets that were read since `begin` while probing. Their arrivals are assumed to be evenly spaced:
    /// only that of the last one, which is now, is known.
    fn take_probed(&mut self, begin: Instant) {
        let (mut packets, mut bytes, mut end) = (Vec::new(), 0, Instant::now());
        while packets.len() < MAX_STALE as usize
            && bytes < MAX_PROBED
            && let Ok(Some(packet)) = self.demuxer.read()
        {
            bytes += packet.len();
            packets.push(packet);
            let now = Instant::now();
            if now - std::mem::replace(&mut end, now) > BUFFERED {
                break;
            }
        }
        let count = packets.len() as u32;
        let came = |number: u32| begin + (end - begin) * number / count;
        self.probed = (1..).zip(packets).map(|(number, packet)| (packet, came(number))).collect();
    }

    /// Reports, once, that packets have given no picture for long.
    fn note_in_vain(&mut self) {
        let (since, packets) = self.in_vain.get_or_insert((self.read_at, 0));
        *packets = packets.saturating_add(1);
        // Only many packets count, because a decoder always holds some.
        let (many, is_long) = (*packets > MANY_IN_VAIN, since.elapsed() > LONG_IN_VAIN);
        if many && is_long && !std::mem::replace(&mut self.is_reported, true) {
            self.report.note(&format!("data comes, but no frame of it can be decoded ({NO_PICTURE})"));
        }
    }
}

impl ReadPackets for LivePackets {
    fn demuxer(&mut self) -> &mut Demuxer {
        &mut self.demuxer
    }

    fn read(&mut self) -> Result<Option<Packet>, Error> {
        if let Some((packet, came)) = self.probed.pop_front() {
            self.read_at = came;
            return Ok(Some(packet));
        }
        if let Some(timeout) = self.timeout.filter(|_| !self.timed_out) {
            self.interrupt.set_timeout(timeout);
        }
        let begin = Instant::now();
        let packet = self.demuxer.read()?;
        if begin.elapsed() > BUFFERED {
            self.stale = 0;
        }
        // After a time-out, the demuxer first returns buffered packets, which are not read now.
        self.timed_out |= self.interrupt.is_due();
        if !self.timed_out && packet.as_ref().is_none_or(|packet| packet.stream() == self.video) {
            self.read_at = Instant::now();
            self.note_in_vain();
        }
        Ok(packet)
    }
}

/// Waits for the first byte, without a time-out.
fn with_first_byte(mut reader: Reader, input: &LiveInput) -> Result<Reader> {
    let anything = !reader.peek(1).with_context(|| input.name.clone())?.is_empty();
    match anything {
        true => Ok(reader),
        false => Err(FailureKind::Missing.error(format!("{}: no data received", input.name))),
    }
}
