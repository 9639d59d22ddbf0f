//! Reads a camera, a network stream or a pipe as it films, and waits for it when it is gone.

use super::clock::{Beginning, LiveClock};
use super::live_input::{CameraOptions, LiveInput};
use super::native::ToNative;
use super::sound::{Hearing, Sounds};
use crate::camera::explain;
use crate::ffmpeg::{
    AutoRotate, DecodeOn, Decoded, Decoder, Delay, Demuxer, Error, Interrupt, Media, OpenError, Packet, Picture,
    Rational, last_message, microseconds, rescale,
};
use crate::frame::Pool;
use crate::io::Reader;
use crate::pipeline::live::{Camera, Capture, Captured};
use crate::pipeline::{Cancel, Input, Notices, Pauses, Progress};
use anyhow::{Context, Result, anyhow, ensure};
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long opening may take: a network stream shows what it is with its next key frame.
const OPENING: Duration = Duration::from_secs(10);

/// A camera that sends nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(3);

/// A packet that had not to be waited for this long had come before.
const AT_ONCE: Duration = Duration::from_millis(5);

/// Pictures that are left out at most, of those that came while the stream was being opened.
const STALE: u32 = 100;

/// How often the wait for a file's next frame checks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// The longest that a file is waited for between two frames.
const LONGEST: Duration = Duration::from_secs(10);

/// A camera that is being filmed with.
pub struct LiveSource {
    place: LiveInput,
    open: Option<Open>,
    /// Where its decoder puts frames, whenever it is open, if anybody has said so.
    pool: Option<Arc<dyn Pool>>,
    clock: LiveClock,
    sounds: Sounds,
    /// When the last frame of a file was due, and its time in microseconds.
    shown: Option<(Instant, i64)>,
    to_native: ToNative,
    /// Turns what a phone has filmed: neither preview nor virtual camera could say it.
    upright: AutoRotate,
    input: Input,
    options: CameraOptions,
    cancel: Cancel,
    notices: Notices,
    progress: Arc<Progress>,
    delivered: u64,
}

impl LiveSource {
    /// Opens the camera, which tells `begin` when its first frame was taken.
    ///
    /// # Errors
    /// When there is none, or it does not open.
    pub fn open(
        options: CameraOptions,
        begin: Beginning,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Result<(Self, Input)> {
        let (place, mut open) = first_opening(&options, cancel, &notices).map_err(|error| {
            // Everything looks broken that ends before it has begun.
            let name = options.camera.as_deref().unwrap_or("camera");
            if cancel.is_cancelled() { anyhow!("{name}: interrupted before the first frame") } else { error }
        })?;
        let stream = &open.demuxer.media().streams[open.video];
        let (picture, upright) = (stream.picture(), AutoRotate::new(stream, false));
        // A transport stream can take its clock for its rate.
        let plausible = stream.frame_rate.filter(|&rate| f64::from(rate) <= 1000.0);
        let rate = plausible.or(options.rate).unwrap_or(Rational::new(30, 1));
        let mut media = Media::of_raw_video("rawvideo", rate, stream.sample_aspect_ratio);
        media.streams[0].time_base = microseconds();
        let sounds = if options.with_sound { Sounds::of(&open.demuxer.media().streams) } else { Sounds::default() };
        media.streams.extend(sounds.streams(media.streams.len()));
        open.listen(&sounds);
        let name = place.name.clone();
        let (frames, duration) = (options.frames, options.duration);
        let input = Input { name, media, video: 0, picture, shift: 0, length: None, frames, duration };
        let source = LiveSource {
            place,
            open: Some(open),
            pool: None,
            clock: LiveClock::telling(begin),
            sounds,
            shown: None,
            to_native: ToNative::new(notices.clone()),
            upright,
            input: input.clone(),
            options,
            cancel: cancel.clone(),
            notices,
            progress,
            delivered: 0,
        };
        Ok((source, input))
    }

    /// A picture becomes a frame with a time of ours; `None` when that lies behind the part that was asked for.
    fn take(&mut self, mut picture: Picture, at: Instant, time_base: Rational) -> Result<Option<Captured>> {
        let in_microseconds = |time: i64| rescale(time, time_base, microseconds());
        let stamp = picture.time().map(in_microseconds);
        let at = stamp.filter(|_| self.place.is_paced).map_or(at, |stamp| self.wait_for(stamp));
        let time = self.clock.time(stamp, at);
        if self.options.duration.is_some_and(|duration| time >= duration) {
            return Ok(None);
        }
        picture.set_time(Some(time));
        picture.set_duration(in_microseconds(picture.duration()));
        let name = || self.input.name.clone();
        let picture = self.upright.picture(picture).with_context(name)?;
        let frame = self.to_native.frame(&picture).with_context(name)?;
        self.delivered += 1;
        self.progress.count_decoded(time);
        Ok(Some(Captured { frame, at }))
    }

    /// Waits until a frame of a file with this time is due, as if it was filmed just now. Answers with when that is.
    fn wait_for(&mut self, stamp: i64) -> Instant {
        let (last, last_stamp) = self.shown.unwrap_or((Instant::now(), stamp));
        let step = u64::try_from(stamp.saturating_sub(last_stamp)).map_or(Duration::ZERO, Duration::from_micros);
        // A longer one is a jump of the clock.
        let due = last + if step > LONGEST { Duration::ZERO } else { step };
        self.shown = Some((due, stamp));
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() || self.cancel.is_cancelled() {
                return Instant::now();
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// The camera is gone. Is it one that comes back?
    fn lose(&mut self, reason: &str) -> bool {
        self.open = None;
        self.clock.lost();
        self.sounds.lost();
        if self.place.comes_back {
            self.notices.note(&format!("{}: {reason}; waiting for it to come back", self.place.name));
        }
        self.place.comes_back
    }

    fn open_again(&mut self) -> Result<Open> {
        if self.place.is_camera {
            // What is plugged in now may be another camera.
            self.place = LiveInput::find(&self.options, &self.notices)?;
        }
        Open::new(&self.place, &self.cancel)
    }

    /// Tries to open it again until it is back; false when nobody wants to wait any longer.
    fn wait_for_return(&mut self) -> bool {
        let gone = Instant::now();
        let mut pauses = Pauses::default();
        while pauses.wait(&self.cancel) {
            match self.open_again() {
                Ok(mut open) => {
                    self.pool.iter().for_each(|pool| open.use_pool(pool));
                    open.listen(&self.sounds);
                    let away = gone.elapsed().as_secs_f64();
                    self.notices.note(&format!("{}: back after {away:.1} s", self.place.name));
                    self.open = Some(open);
                    return true;
                }
                Err(error) => self.notices.detail(&format!("{error:#}")),
            }
        }
        false
    }
}

/// Finds and opens the input, and waits for it if that is wanted.
fn first_opening(options: &CameraOptions, cancel: &Cancel, notices: &Notices) -> Result<(LiveInput, Open)> {
    let (mut pauses, mut told) = (Pauses::default(), false);
    loop {
        let place = LiveInput::find(options, notices);
        match place.and_then(|place| Open::new(&place, cancel).map(|open| (place, open))) {
            Err(error) if options.wait && !cancel.is_cancelled() => {
                if !std::mem::replace(&mut told, true) {
                    notices.note(&format!("{error:#}; waiting for it"));
                }
                if !pauses.wait(cancel) {
                    return Err(error);
                }
            }
            opened => return opened,
        }
    }
}

impl Camera for LiveSource {
    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.open.iter_mut().for_each(|open| open.use_pool(&pool));
        self.pool = Some(pool);
    }

    fn next(&mut self) -> Result<Option<Capture>> {
        while !self.cancel.is_cancelled() {
            if let Some(packet) = self.sounds.next(&self.clock) {
                return Ok(Some(Capture::Sound(packet)));
            }
            if self.options.frames.is_some_and(|frames| self.delivered >= frames) {
                break;
            }
            let Some(open) = &mut self.open else {
                if !self.wait_for_return() {
                    break;
                }
                continue;
            };
            match open.next() {
                Ok(Next::Picture(picture, at)) => {
                    open.begun = true;
                    let time_base = open.time_base;
                    return Ok(self.take(picture, at, time_base)?.map(Capture::Frame));
                }
                Ok(Next::Sound(packet)) => {
                    let to = open.hearings.iter().find(|hearing| hearing.stream == packet.stream());
                    to.into_iter().for_each(|hearing| self.sounds.keep(packet.clone(), hearing));
                }
                Ok(Next::Damaged(error)) => {
                    // Before the first key frame, nothing makes sense, and nothing is damaged.
                    if open.begun {
                        self.progress.count_damaged();
                    }
                    self.notices.detail(&format!("{}: decode failed: {error}", self.place.name));
                }
                Ok(Next::End) if self.lose("the stream has ended") => {}
                Ok(Next::End) => break,
                Err(_) if self.cancel.is_cancelled() => break,
                Err(error) => {
                    let reason = match error {
                        Error::Exit => format!("no data for {} s", SILENCE.as_secs()),
                        error => format!("lost ({error})"),
                    };
                    if !self.lose(&reason) {
                        return Err(anyhow!("{}: {reason}", self.place.name));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// What reading gives.
enum Next {
    /// A picture, and when its packet was read.
    Picture(Picture, Instant),
    /// A packet of sound.
    Sound(Packet),
    /// A packet made no sense.
    Damaged(Error),
    /// Nothing any more.
    End,
}

/// A camera that is open.
struct Open {
    demuxer: Demuxer,
    decoder: Decoder,
    video: usize,
    time_base: Rational,
    /// The streams of sound that are passed on.
    hearings: Vec<Hearing>,
    interrupt: Interrupt,
    /// How long it may send nothing, if that means anything.
    patience: Option<Duration>,
    /// When the last packet was read.
    read: Instant,
    /// How many more pictures may be old ones, which are decoded for the sake of those after them.
    stale: u32,
    /// Has there been a picture?
    begun: bool,
    /// Has it kept silent for too long?
    silent: bool,
    ended: bool,
}

impl Open {
    fn new(place: &LiveInput, cancel: &Cancel) -> Result<Self> {
        let interrupt = Interrupt::from(cancel.flag());
        let reader = place.is_pipe.then(|| open_pipe(place, cancel)).transpose()?;
        let reader = reader.map(|reader| Box::new(reader) as Box<dyn Read + Send>);
        interrupt.allow(OPENING);
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
        let stream = &demuxer.media().streams[video];
        let decoder = Decoder::open(stream, Delay::Lowest, DecodeOn::Cpu)
            .with_context(|| format!("{}: no decoder for {}", place.name, stream.describe()))?;
        let (time_base, read) = (stream.time_base, Instant::now());
        interrupt.allow_any();
        let patience = place.comes_back.then_some(SILENCE);
        Ok(Open {
            demuxer,
            decoder,
            video,
            time_base,
            hearings: Vec::new(),
            interrupt,
            patience,
            read,
            stale: if place.comes_back { STALE } else { 0 },
            begun: false,
            silent: false,
            ended: false,
        })
    }

    /// From now on, packets of these streams are read, and of none but them and the pictures.
    fn listen(&mut self, sounds: &Sounds) {
        self.hearings = sounds.found_in(&self.demuxer.media().streams, 1);
        let is_wanted = |index| index == self.video || self.hearings.iter().any(|hearing| hearing.stream == index);
        let unwanted = (0..self.demuxer.media().streams.len()).filter(|&index| !is_wanted(index));
        for index in unwanted.collect::<Vec<_>>() {
            self.demuxer.discard(index);
        }
    }

    /// Puts raw packets and decoded pictures into this memory from now on.
    fn use_pool(&mut self, pool: &Arc<dyn Pool>) {
        self.demuxer.use_pool(pool.clone());
        self.decoder.use_pool(pool.clone());
    }

    fn next(&mut self) -> Result<Next, Error> {
        loop {
            match self.decoder.receive() {
                Ok(Decoded::Picture(_)) if self.stale > 0 => {
                    self.stale -= 1;
                    continue;
                }
                Ok(Decoded::Picture(picture)) => return Ok(Next::Picture(picture, self.read)),
                Ok(Decoded::End) => return Ok(Next::End),
                Ok(Decoded::NeedsInput) if self.ended => return Ok(Next::End),
                Ok(Decoded::NeedsInput) => {}
                Err(error) => return Ok(Next::Damaged(error)),
            }
            if let Some(patience) = self.patience.filter(|_| !self.silent) {
                self.interrupt.allow(patience);
            }
            let asked = Instant::now();
            let packet = self.demuxer.read()?;
            if asked.elapsed() > AT_ONCE {
                self.stale = 0;
            }
            // After a time-out, the demuxer first gives what it still had from before.
            self.silent |= self.interrupt.is_due();
            let packet = match packet {
                Some(packet) if packet.stream() != self.video => return Ok(Next::Sound(packet)),
                packet => packet,
            };
            if !self.silent {
                self.read = Instant::now();
            }
            self.ended = packet.is_none();
            if let Err(error) = self.decoder.send(packet.as_ref()) {
                return Ok(Next::Damaged(error));
            }
        }
    }
}

/// Waits for the first byte, for which nobody is in a hurry.
fn open_pipe(place: &LiveInput, cancel: &Cancel) -> Result<Reader> {
    let mut reader = Reader::open(&place.url, cancel.flag()).with_context(|| place.name.clone())?;
    let anything = !reader.peek(1).with_context(|| place.name.clone())?.is_empty();
    ensure!(anything, "{}: no data received", place.name);
    Ok(reader)
}
