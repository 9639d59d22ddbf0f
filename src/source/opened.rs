//! A live input that is open: its packets, read with patience, and the decoder of its pictures.

use super::live_input::LiveInput;
use super::sound::{Hearing, Sounds};
use super::video_reader::{ReadPackets, VideoReader};
use crate::camera::explain;
use crate::ffmpeg::{DecodeOn, Delay, Demuxer, Error, Interrupt, OpenError, Packet, Stream, last_message};
use crate::io::Reader;
use crate::pipeline::Cancel;
use anyhow::{Context, Result, anyhow, ensure};
use std::io::Read;
use std::time::{Duration, Instant};

/// How long opening may take: a network stream shows what it is with its next key frame.
const OPENING: Duration = Duration::from_secs(10);

/// A live input that sends nothing for this long is lost.
pub const SILENCE: Duration = Duration::from_secs(3);

/// A faster read came from a buffer.
const AT_ONCE: Duration = Duration::from_millis(5);

/// Pictures that are left out at most, of those that came while the stream was being opened.
const STALE: u32 = 100;

/// A live input that is open.
pub struct Opened {
    pub video: VideoReader<LivePackets>,
    /// The streams of sound that are passed on.
    pub hearings: Vec<Hearing>,
    /// Has there been a picture?
    pub begun: bool,
}

impl Opened {
    /// Opens the input.
    ///
    /// # Errors
    /// When it does not open, holds no video, or none that can be decoded.
    pub fn new(place: &LiveInput, cancel: &Cancel) -> Result<Self> {
        let interrupt = Interrupt::from(cancel.flag());
        let reader = place.is_pipe.then(|| open_pipe(place, cancel)).transpose()?;
        let reader = reader.map(|reader| Box::new(reader) as Box<dyn Read + Send>);
        interrupt.set_timeout(OPENING);
        let format = place.format.as_deref();
        let demuxer =
            Demuxer::open(&place.url, reader, format, &place.options, interrupt.clone()).map_err(|error| {
                // FFmpeg has other names for a read that was cut short.
                let error = if interrupt.is_due() { OpenError::Ffmpeg(Error::Exit) } else { error };
                match error {
                    OpenError::Ffmpeg(error) => anyhow!("{}", explain(&place.name, format, error)),
                    refused => anyhow!("{}: {refused}", place.name),
                }
            })?;
        last_message();
        let video = demuxer.best_video().with_context(|| format!("{}: no video in it", place.name))?;
        let described = demuxer.media().streams[video].describe();
        let packets = LivePackets {
            demuxer,
            video,
            interrupt: interrupt.clone(),
            patience: place.comes_back.then_some(SILENCE),
            read_at: Instant::now(),
            stale: if place.comes_back { STALE } else { 0 },
            silent: false,
        };
        let video = VideoReader::open(packets, video, Delay::Lowest, DecodeOn::Cpu)
            .with_context(|| format!("{}: no decoder for {described}", place.name))?;
        interrupt.clear_timeout();
        Ok(Opened { video, hearings: Vec::new(), begun: false })
    }

    /// All its streams.
    pub fn streams(&self) -> &[Stream] {
        &self.video.packets.demuxer.media().streams
    }

    /// The stream of its pictures.
    pub fn video_stream(&self) -> &Stream {
        &self.streams()[self.video.packets.video]
    }

    /// From now on, packets of these streams are read, and of no others but the video.
    pub fn listen(&mut self, sounds: &Sounds) {
        self.hearings = sounds.found_in(self.streams(), 1);
        let LivePackets { demuxer, video, .. } = &mut self.video.packets;
        let is_wanted = |index| index == *video || self.hearings.iter().any(|hearing| hearing.stream == index);
        for index in (0..demuxer.media().streams.len()).filter(|&index| !is_wanted(index)) {
            demuxer.discard(index);
        }
    }
}

/// The packets of a live input.
pub struct LivePackets {
    demuxer: Demuxer,
    /// Index of the video.
    video: usize,
    interrupt: Interrupt,
    /// How long it may send nothing, if that means anything.
    patience: Option<Duration>,
    /// When the last packet of the video was read.
    pub read_at: Instant,
    /// How many more pictures may be old ones, which are decoded for the sake of those after them.
    pub stale: u32,
    /// Has it sent nothing for too long?
    silent: bool,
}

impl ReadPackets for LivePackets {
    fn demuxer(&mut self) -> &mut Demuxer {
        &mut self.demuxer
    }

    fn read(&mut self) -> Result<Option<Packet>, Error> {
        if let Some(patience) = self.patience.filter(|_| !self.silent) {
            self.interrupt.set_timeout(patience);
        }
        let asked = Instant::now();
        let packet = self.demuxer.read()?;
        if asked.elapsed() > AT_ONCE {
            self.stale = 0;
        }
        // After a time-out, the demuxer first gives what it still had from before.
        self.silent |= self.interrupt.is_due();
        if !self.silent && packet.as_ref().is_none_or(|packet| packet.stream() == self.video) {
            self.read_at = Instant::now();
        }
        Ok(packet)
    }
}

/// Waits for the first byte, without a time-out.
fn open_pipe(place: &LiveInput, cancel: &Cancel) -> Result<Reader> {
    let mut reader = Reader::open(&place.url, cancel.flag()).with_context(|| place.name.clone())?;
    let anything = !reader.peek(1).with_context(|| place.name.clone())?.is_empty();
    ensure!(anything, "{}: no data received", place.name);
    Ok(reader)
}
