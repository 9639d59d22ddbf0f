//! Reads a camera, a network stream or a pipe live, and waits for it when it is lost.

use super::clock::{LiveClock, StartTime};
use super::input::{CameraOptions, LiveInput};
use super::open::{NO_PICTURE, OpenInput, TIMEOUT, TimedPicture};
use super::sound::SoundStreams;
use crate::camera::NotOpened;
use crate::ffmpeg::demux::Media;
use crate::ffmpeg::frame::AutoRotate;
use crate::ffmpeg::{Error, Rational, microseconds, rescale};
use crate::pipeline::{
    Cancel, Delivery, FailureKind, Input, Interrupted, Notices, Outage, Pauses, Progress, Source, said,
};
use crate::source::file::FileInput;
use crate::source::isolated;
use crate::source::native::ToNative;
use crate::source::options::Isolation;
use crate::source::video_reader::{Damage, ReaderEvent};
use crate::sys::without_password;
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::internal::frame::Pool;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the wait for a file's next frame checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The longest wait between two frames of a file.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// How long a run that has a duration waits for its first frame, at least: a camera may be slow to begin.
const MAX_START: Duration = Duration::from_secs(10);

/// A source of live frames.
pub struct LiveSource {
    live_input: LiveInput,
    open: Option<OpenInput>,
    outage: Outage,
    /// When the first frame was asked for.
    asked_at: Option<Instant>,
    /// The pool for decoded frames, each time the input is opened.
    pool: Option<Arc<dyn Pool>>,
    clock: LiveClock,
    sounds: SoundStreams,
    /// When the last frame of a file was due, and its time in microseconds.
    last_due: Option<(Instant, i64)>,
    to_native: ToNative,
    /// Rotates recordings of phones: preview and virtual camera cannot store a rotation.
    rotate: AutoRotate,
    input: Input,
    options: CameraOptions,
    cancel: Cancel,
    notices: Notices,
    progress: Arc<Progress>,
    delivered: u64,
}

/// Whether a live input is still to be found.
pub(crate) enum FoundInput {
    /// The options say which input to find.
    Options,
    /// The input that was found, and its reader if it is a pipe or a file.
    Input(Box<LiveInput>, Option<FileInput>),
}

/// Opens a live input, in a process of its own if the options ask for one and it is not a device. Its first frame sets
/// `start`.
///
/// # Errors
/// When there is no camera, or the input does not open.
pub fn open_live(
    options: CameraOptions,
    start: StartTime,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    if options.isolation != Isolation::Off && isolated::is_ready() {
        // No notices yet: opening a camera, which may be later, finds it again and reports it.
        let found = LiveInput::find(&options, &Notices::silent());
        let is_required = options.isolation == Isolation::Required;
        let found = if is_required { Some(found?) } else { found.ok() };
        let name = found.as_ref().map(|input| input.name.clone()).unwrap_or_default();
        let isolated_input = found.filter(LiveInput::is_isolated);
        ensure!(
            isolated_input.is_some() || !is_required,
            "{name}: --sandbox on: the program itself opens cameras, generators of pictures and what names other files (use \
             --sandbox auto or off)"
        );
        if let Some(input) = isolated_input {
            let opened = isolated::open_live(input, options, start, cancel, notices, progress);
            return opened.map_err(|error| match cancel.is_cancelled() {
                true => Interrupted(name.into()).into(),
                false => error,
            });
        }
    }
    let (source, input) = LiveSource::open(options, FoundInput::Options, start, cancel, notices, progress)?;
    Ok((Box::new(source), input))
}

impl LiveSource {
    /// Opens the input. Its first frame sets `start`.
    ///
    /// # Errors
    /// When there is no camera, or the input does not open.
    pub(crate) fn open(
        options: CameraOptions,
        found: FoundInput,
        start: StartTime,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Result<(Self, Input)> {
        let (live_input, mut open) = open_first(&options, found, cancel, &notices).map_err(|error| {
            // An interrupted open fails with misleading errors: report the interrupt.
            let name = options.camera.as_ref().map_or("camera".into(), without_password);
            if cancel.is_cancelled() { Interrupted(name).into() } else { error }
        })?;
        let stream = open.video_stream();
        let (picture, rotate) = (stream.picture(), AutoRotate::new(stream, false, &options.limits));
        let to_native = ToNative::new(stream, notices.clone(), &options.limits);
        // Ignore the clock rate of a transport stream, which FFmpeg may guess as its frame rate.
        let plausible = stream.frame_rate.filter(|&rate| f64::from(rate) <= 1000.0);
        let rate = plausible.or(options.rate).unwrap_or(Rational::new(30, 1));
        let mut media = Media::for_raw_video("rawvideo", rate, stream.sample_aspect_ratio);
        media.streams[0].time_base = microseconds();
        let sounds = if options.with_sound { SoundStreams::new(open.streams()) } else { SoundStreams::default() };
        media.streams.extend(sounds.streams(media.streams.len()));
        open.select(&sounds);
        let name = live_input.name.clone();
        let (frames, duration) = (options.frames, options.duration);
        let limits = options.limits.clone();
        let input = Input { picture, frames, duration, limits, ..Input::new(name, media) };
        let source = LiveSource {
            live_input,
            open: Some(open),
            outage: Outage::default(),
            asked_at: None,
            pool: None,
            clock: LiveClock::setting(start),
            sounds,
            last_due: None,
            to_native,
            rotate,
            input: input.clone(),
            options,
            cancel: cancel.clone(),
            notices,
            progress,
            delivered: 0,
        };
        Ok((source, input))
    }

    /// The delivery of a picture, with its time in the run; `None` after the requested duration. Assumed timestamps are
    /// ignored.
    fn take(
        &mut self,
        TimedPicture { mut picture, read_at: moment, time_base }: TimedPicture,
    ) -> Result<Option<Delivery>> {
        let in_microseconds = |time: i64| time_base.map(|time_base| rescale(time, time_base, microseconds()));
        let stamp = picture.time().and_then(in_microseconds);
        let moment = stamp.filter(|_| self.live_input.is_paced).map_or(moment, |stamp| self.wait_for(stamp));
        let time = self.clock.time(stamp, moment);
        if self.options.duration.is_some_and(|duration| time >= duration) {
            return Ok(None);
        }
        picture.set_time(Some(time));
        picture.set_duration(in_microseconds(picture.duration()).unwrap_or(0));
        let name = || self.input.name.clone();
        let picture = self.rotate.picture(picture).with_context(name)?;
        if let Some(warning) = self.rotate.warning() {
            self.notices.warn(warning)?;
        }
        let frame = self.to_native.frame(&picture).with_context(name)?;
        self.delivered += 1;
        self.outage.end(&self.notices, &self.live_input.name);
        self.progress.count_decoded(time);
        Ok(Some(Delivery { frame: Some(frame), read_at: Some(moment), ..Delivery::default() }))
    }

    /// Waits until the frame of a file with this timestamp is due in real time. Returns that moment.
    fn wait_for(&mut self, stamp: i64) -> Instant {
        let (last, last_stamp) = self.last_due.unwrap_or((Instant::now(), stamp));
        let step = u64::try_from(stamp.saturating_sub(last_stamp)).map_or(Duration::ZERO, Duration::from_micros);
        // A longer step is a jump of the timestamps.
        let due = last + if step > MAX_WAIT { Duration::ZERO } else { step };
        self.last_due = Some((due, stamp));
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() || self.cancel.is_cancelled() {
                return Instant::now();
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    /// Closes the input after it was lost. Returns whether to wait for it to come back.
    fn close(&mut self, reason: &str) -> bool {
        self.open = None;
        self.clock.reset();
        self.sounds.clear();
        if self.live_input.comes_back {
            self.outage.begin(&self.notices, &format!("{}: {reason}", self.live_input.name));
        }
        self.live_input.comes_back
    }

    fn open_again(&mut self) -> Result<OpenInput> {
        if self.live_input.is_camera {
            // Find the camera again: a different one may be plugged in.
            self.live_input = LiveInput::find(&self.options, &self.notices)?;
        }
        let end = self.end();
        let within = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        OpenInput::open(&self.live_input, None, &self.cancel, &self.notices, (within, &self.options.limits))
    }

    /// Tries to open the input until it is back; `false` when the run is cancelled, or has lasted as long as asked.
    fn wait_for_return(&mut self) -> bool {
        let (cancel, notices, end) = (self.cancel.clone(), self.notices.clone(), self.end());
        let mut outage = std::mem::take(&mut self.outage);
        let opened = outage.until_open(&cancel, &notices, end, || self.open_again());
        self.outage = outage;
        let Some(mut open) = opened else { return false };
        self.pool.iter().for_each(|pool| open.video.use_pool(pool.clone()));
        open.select(&self.sounds);
        self.open = Some(open);
        true
    }

    /// When the run ends; `None` if it has no duration.
    fn end(&self) -> Option<Instant> {
        ends_at(&self.clock.start, self.asked_at?, &self.options)
    }
}

/// When a run with a duration ends, counted from `start`, the capture of its first frame. Before that frame, it counts
/// from `asked_at`, when the frame was requested, so that a run without frames ends, too.
pub(crate) fn ends_at(start: &StartTime, asked_at: Instant, options: &CameraOptions) -> Option<Instant> {
    let duration = Duration::from_micros(u64::try_from(options.duration?).ok()?);
    match start.get() {
        Some(start) => start.checked_add(duration),
        None => asked_at.checked_add(duration.max(MAX_START)),
    }
}

/// Finds and opens the input for the first time, and waits up to `options.wait` for it, unless no attempt can succeed.
fn open_first(
    options: &CameraOptions,
    found: FoundInput,
    cancel: &Cancel,
    notices: &Notices,
) -> Result<(LiveInput, OpenInput)> {
    let (known, mut source) = match found {
        FoundInput::Options => (None, None),
        FoundInput::Input(input, source) => (Some(*input), source),
    };
    let (mut pauses, mut has_waited, begin) = (Pauses::default(), false, Instant::now());
    // An attempt that is cut short by the end of the wait fails with a time-out: the previous error says more.
    let mut before: Option<anyhow::Error> = None;
    let left = || options.wait.map_or(Duration::MAX, |wait| wait.saturating_sub(begin.elapsed()));
    loop {
        let found = known.clone().map_or_else(|| LiveInput::find(options, notices), Ok);
        let name = found.as_ref().ok().map(|found| found.name.clone());
        match found.and_then(|found| {
            OpenInput::open(&found, source.take(), cancel, notices, (left(), &options.limits)).map(|open| (found, open))
        }) {
            Err(error) if options.wait.is_some() && !is_final(&error) && !cancel.is_cancelled() => {
                let is_cut_short =
                    error.downcast_ref::<NotOpened>().is_some_and(|error| error.error == Some(Error::Exit));
                let error = if is_cut_short { before.take().unwrap_or(error) } else { error };
                if left().is_zero() {
                    return Err(error.context(format!("waited for {:.0} s", begin.elapsed().as_secs_f64())));
                }
                if !std::mem::replace(&mut has_waited, true) {
                    notices.waiting(&format!("{}; waiting for it", said(&error)));
                }
                if !pauses.wait_at_most(left(), cancel) {
                    return Err(error);
                }
                before = Some(error);
            }
            opened => {
                if let Some(name) = name.filter(|_| has_waited && opened.is_ok()) {
                    notices.back(&format!("{name}: there after {:.1} s", begin.elapsed().as_secs_f64()));
                }
                return opened;
            }
        }
    }
}

fn is_final(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NotOpened>().is_some_and(|error| error.is_final)
}

impl Source for LiveSource {
    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.open.iter_mut().for_each(|open| open.video.use_pool(pool.clone()));
        self.pool = Some(pool);
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        self.asked_at.get_or_insert_with(Instant::now);
        while !self.cancel.is_cancelled() {
            if self.delivered == 0 && self.end().is_some_and(|end| Instant::now() >= end) {
                break;
            }
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
            let event = open.video.next();
            if let Some(format) = open.video.decoder.unsupported {
                let (name, stream) = (&self.live_input.name, open.video_stream().describe());
                bail!("{name}: NVDEC does not take this {stream} of {format} (use --decoder cpu)");
            }
            let is_over = match &event {
                Ok(ReaderEvent::End) => true,
                Err(error) => *error != Error::Exit,
                Ok(_) => false,
            };
            // The next read returns the end again.
            if is_over && let Some(timed) = open.newest.take() {
                return self.take(timed);
            }
            match event {
                Ok(ReaderEvent::Picture(picture)) => {
                    (open.begun, open.video.packets.in_vain) = (true, None);
                    // A file is paced by its timestamps, even by assumed ones.
                    let assumed = !self.live_input.is_paced && open.assumes_times(self.options.rate);
                    let time_base = (!assumed).then_some(open.video.time_base);
                    let timed = TimedPicture { picture, read_at: open.video.packets.read_at, time_base };
                    if open.video.packets.stale > 0 {
                        open.video.packets.stale -= 1;
                        open.newest = Some(timed);
                        continue;
                    }
                    open.newest = None;
                    return self.take(timed);
                }
                Ok(ReaderEvent::Packet(packet)) => {
                    let route = open.sound_routes.iter().find(|route| route.stream == packet.stream());
                    route.into_iter().for_each(|route| self.sounds.keep(packet.clone(), route));
                }
                Ok(ReaderEvent::Damaged(Damage::Packet(error) | Damage::Picture(error))) => {
                    // Before the first key frame, errors are normal and do not count.
                    if open.begun {
                        self.progress.count_damaged();
                    }
                    self.notices.detail(&format!("{}: decode failed: {error}", self.live_input.name));
                }
                Ok(
                    ReaderEvent::Damaged(Damage::CutShort | Damage::Pages | Damage::Corrupt) | ReaderEvent::LastPacket,
                ) => {}
                Ok(ReaderEvent::End) if self.close("the stream has ended") => {}
                Ok(ReaderEvent::End) if self.delivered == 0 && !self.cancel.is_cancelled() => {
                    let name = &self.live_input.name;
                    return Err(FailureKind::Damage
                        .error(format!("{name}: not a single frame could be decoded ({NO_PICTURE})")));
                }
                Ok(ReaderEvent::End) => break,
                Err(_) if self.cancel.is_cancelled() => break,
                Err(error) => {
                    let reason = match error {
                        Error::Exit => format!("no data for {} s", TIMEOUT.as_secs()),
                        error => format!("lost ({error})"),
                    };
                    if !self.close(&reason) {
                        return Err(anyhow!("{}: {reason}", self.live_input.name));
                    }
                }
            }
        }
        if self.delivered == 0 && !self.cancel.is_cancelled() {
            let waited = self.asked_at.map_or(0.0, |asked_at| asked_at.elapsed().as_secs_f64());
            return Err(FailureKind::Missing.error(format!(
                "{}: not a single frame came in {waited:.0} s (is the sender running?)",
                self.live_input.name
            )));
        }
        Ok(None)
    }
}
