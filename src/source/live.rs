//! Reads a camera, a network stream or a pipe as it films, and waits for it when it is gone.

use super::clock::{Beginning, LiveClock};
use super::live_input::{CameraOptions, LiveInput};
use super::native::ToNative;
use super::opened::{Opened, SILENCE};
use super::sound::Sounds;
use super::video_reader::{Damage, Step};
use crate::ffmpeg::{AutoRotate, Error, Media, Picture, Rational, microseconds, rescale};
use crate::frame::Pool;
use crate::pipeline::{Cancel, Delivery, Input, Notices, Pauses, Progress, Source};
use anyhow::{Context, Result, anyhow};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the wait for a file's next frame checks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// The longest that a file is waited for between two frames.
const LONGEST: Duration = Duration::from_secs(10);

/// A camera that is being filmed with.
pub struct LiveSource {
    place: LiveInput,
    open: Option<Opened>,
    /// Where its decoder puts frames, whenever it is open, if that was said.
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
            // An interrupted open fails with misleading errors: report the interrupt.
            let name = options.camera.as_deref().unwrap_or("camera");
            if cancel.is_cancelled() { anyhow!("{name}: interrupted before the first frame") } else { error }
        })?;
        let stream = open.video_stream();
        let (picture, upright) = (stream.picture(), AutoRotate::new(stream, false));
        // A transport stream can take its clock for its rate.
        let plausible = stream.frame_rate.filter(|&rate| f64::from(rate) <= 1000.0);
        let rate = plausible.or(options.rate).unwrap_or(Rational::new(30, 1));
        let mut media = Media::of_raw_video("rawvideo", rate, stream.sample_aspect_ratio);
        media.streams[0].time_base = microseconds();
        let sounds = if options.with_sound { Sounds::of(open.streams()) } else { Sounds::default() };
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

    /// The frame of a picture that was read at this moment, at its time in the run; `None` when that lies behind the part that
    /// was asked for.
    fn take(&mut self, mut picture: Picture, at: Instant, time_base: Rational) -> Result<Option<Delivery>> {
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
        Ok(Some(Delivery { frame: Some(frame), read_at: Some(at), ..Delivery::default() }))
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

    fn open_again(&mut self) -> Result<Opened> {
        if self.place.is_camera {
            // What is plugged in now may be another camera.
            self.place = LiveInput::find(&self.options, &self.notices)?;
        }
        Opened::new(&self.place, &self.cancel)
    }

    /// Tries to open it again until it is back; false when the run is cancelled.
    fn wait_for_return(&mut self) -> bool {
        let gone = Instant::now();
        let mut pauses = Pauses::default();
        while pauses.wait(&self.cancel) {
            match self.open_again() {
                Ok(mut open) => {
                    self.pool.iter().for_each(|pool| open.video.use_pool(pool.clone()));
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
fn first_opening(options: &CameraOptions, cancel: &Cancel, notices: &Notices) -> Result<(LiveInput, Opened)> {
    let (mut pauses, mut told) = (Pauses::default(), false);
    loop {
        let place = LiveInput::find(options, notices);
        match place.and_then(|place| Opened::new(&place, cancel).map(|open| (place, open))) {
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

impl Source for LiveSource {
    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.open.iter_mut().for_each(|open| open.video.use_pool(pool.clone()));
        self.pool = Some(pool);
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        while !self.cancel.is_cancelled() {
            if let Some(packet) = self.sounds.next(&self.clock) {
                return Ok(Some(Delivery { packets: vec![packet], ..Delivery::default() }));
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
            match open.video.next() {
                Ok(Step::Picture(_)) if open.video.packets.stale > 0 => open.video.packets.stale -= 1,
                Ok(Step::Picture(picture)) => {
                    open.begun = true;
                    let (at, time_base) = (open.video.packets.read_at, open.video.time_base());
                    return self.take(picture, at, time_base);
                }
                Ok(Step::Packet(packet)) => {
                    let to = open.hearings.iter().find(|hearing| hearing.stream == packet.stream());
                    to.into_iter().for_each(|hearing| self.sounds.keep(packet.clone(), hearing));
                }
                Ok(Step::Damaged(Damage::Packet(error) | Damage::Picture(error))) => {
                    // Before the first key frame, nothing makes sense, and nothing is damaged.
                    if open.begun {
                        self.progress.count_damaged();
                    }
                    self.notices.detail(&format!("{}: decode failed: {error}", self.place.name));
                }
                Ok(Step::Damaged(Damage::CutShort | Damage::Corrupt) | Step::LastPacket) => {}
                Ok(Step::End) if self.lose("the stream has ended") => {}
                Ok(Step::End) => break,
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
