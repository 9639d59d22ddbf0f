//! A recording in segments: consecutive files, each complete, named by their start time.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | begins and ends segments, and resumes after the disk was full or missing |
//! | `schedule.rs` | when segments end |
//! | `names.rs` | the file names of segments |
//! | `kept.rs` | how long segments are kept |
//! | `room.rs` | disk space, reserved before it is needed |
//!
//! Each segment has a new encoder, so it begins with a key frame and does not depend on another segment. Audio packets
//! are written to the segment that covers their time: they wait until a frame of that time has arrived.

mod kept;
mod names;
mod room;
mod schedule;
pub(super) mod segmentation;

pub use kept::{Recorded, Retention, Shelf, recordings};
pub(super) use room::DiskRoom;
pub use room::free_bytes;

use self::kept::{LOOK, Recordings};
use self::names::NamePattern;
use super::file::{FileSink, OutputOptions};
use super::files::target::Target;
use crate::ffmpeg::{Error, MediaType, Packet, microseconds, rescale};
use crate::pipeline::{
    Cancel, Delivery, Encoding, Failure, FailureKind, Input, Notices, Outcome, Pauses, Sink, reason,
};
use crate::sys::files::Name;
use crate::sys::{local_time, wall_time, zone_fault};
use anyhow::{Result, ensure};
use histeq::internal::frame::Frame;
use jiff::{Timestamp, ZonedDateTime};
pub use segmentation::{Segment, Segmentation};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest time by which audio may be ahead of the frames, or behind them, in microseconds.
const SOUND_APART: i64 = 1_000_000;

/// The most bytes per pixel that an encoder for cameras needs for a frame.
const BYTES_OF_PIXEL: f64 = 0.1;

/// The frame rate that is assumed for a source without one.
const USUAL_RATE: f64 = 30.0;

/// A sink that writes segments.
pub struct Recorder {
    input: Input,
    options: OutputOptions,
    on_gpu: bool,
    cancel: Cancel,
    notices: Notices,
    pattern: NamePattern,
    segmentation: Segmentation,
    recordings: Recordings,
    encoding: Option<Encoding>,
    /// Whether the input has audio, whose packets may arrive after the frames of the same time.
    has_sound: bool,
    /// Audio packets that wait for a frame of their time.
    sound: VecDeque<Packet>,
    current: Option<OpenSegment>,
    /// The segment before `current`, which stays open for late audio packets.
    ending: Option<OpenSegment>,
    /// The estimated data rate, in bytes per second.
    guess: f64,
    /// Time of the newest frame, in microseconds.
    time: i64,
    /// Number of segments begun so far.
    begun: u64,
    /// Returns the time by the system clock and by the monotonic clock.
    clock: Box<dyn Fn() -> (ZonedDateTime, Instant) + Send>,
    lost_at: Option<Instant>,
    pauses: Pauses,
    /// When the next attempt to open a segment is due.
    next: Instant,
    next_look: Instant,
    missed: u64,
}

/// A segment that is being written.
struct OpenSegment {
    sink: Box<FileSink>,
    file: PathBuf,
    room: Option<DiskRoom>,
    begin: ZonedDateTime,
    ends: Timestamp,
    /// Time of the first frame, in microseconds.
    first: i64,
    /// The longest duration of the segment, in microseconds, even if the system clock is set back.
    most: i64,
    frames: u64,
}

/// Checks that `name` can name segments.
///
/// # Errors
/// When it contains no time, or its folder does not exist.
pub fn check_segment_names(name: &Name) -> Result<()> {
    NamePattern::new(name).map(drop)
}

impl Recorder {
    /// Checks everything that can be checked before the first frame.
    ///
    /// # Errors
    /// When the name is no valid pattern, its folder does not exist or lacks the extended attributes that are needed,
    /// this FFmpeg lacks container or encoder, or the container cannot hold the codec.
    pub fn create(
        input: Input,
        (name, cancel): (&Name, Cancel),
        (options, segmentation): (OutputOptions, Segmentation),
        on_gpu: bool,
        notices: Notices,
    ) -> Result<Self> {
        let pattern = NamePattern::new(name)?;
        zone_fault().map_or(Ok(()), |fault| notices.warn(fault))?;
        let options = OutputOptions { from_zero: true, ..options };
        let checked = FileSink::prepare(
            input.clone(),
            Target::nowhere(name),
            options.clone(),
            None,
            &mut || on_gpu,
            notices.clone(),
        )?;
        let now = Instant::now();
        Ok(Recorder {
            encoding: checked.encoding(),
            has_sound: input.media.streams.iter().any(|stream| stream.kind == MediaType::Audio),
            recordings: Recordings::find(
                &pattern,
                segmentation.retention,
                segmentation.shelf.clone(),
                (wall_time(), now),
            )?,
            input,
            options,
            on_gpu,
            cancel,
            notices,
            pattern,
            segmentation,
            sound: VecDeque::new(),
            current: None,
            ending: None,
            guess: 0.0,
            time: 0,
            begun: 0,
            clock: Box::new(|| (local_time(), Instant::now())),
            lost_at: None,
            pauses: Pauses::default(),
            next: now,
            next_look: now,
            missed: 0,
        })
    }

    /// Opens a segment that begins now; `first` is the time of its first frame, in microseconds.
    fn open(&mut self, now: ZonedDateTime, first: i64) -> Result<OpenSegment> {
        while !DiskRoom::is_in(self.pattern.folder(), self.guess) {
            ensure!(self.free(), Error::Other { errno: libc::ENOSPC });
        }
        let target = Target::numbered_file(&self.pattern.first_name(&now)?)?.interruptible(&self.cancel);
        let file = target.name().path().to_owned();
        // Notes about the encoder are printed only for the first segment.
        let notices = match self.begun {
            0 => self.notices.clone(),
            _ => {
                let notices = self.notices.clone();
                Notices::new(false, move |_, message| notices.detail(message))
            }
        };
        let (input, options) = (self.input.clone(), self.options.clone());
        let sink = FileSink::prepare(input, target, options, None, &mut || self.on_gpu, notices);
        // Without an encoder, the new file stays empty: remove it.
        let sink = sink.inspect_err(|_| drop(std::fs::remove_file(&file)))?;
        let ends = schedule::end_of(&now, self.segmentation.length);
        // If the clock is set back by an hour, the segment must not become an hour longer.
        let length = Duration::try_from(ends.duration_since(now.timestamp())).unwrap_or(self.segmentation.length);
        let most = i64::try_from((length + Duration::from_secs(1)).as_micros()).unwrap_or(i64::MAX);
        Ok(OpenSegment { sink: Box::new(sink), file, room: None, begin: now, ends, first, most, frames: 0 })
    }

    /// Writes a frame, and the audio up to its time, into the segment for that time.
    fn write_frame(&mut self, frame: Frame) -> Result<()> {
        let time_base = self.input.video_stream().time_base;
        self.time = frame.pts.map_or(self.time, |time| rescale(time, time_base, microseconds()));
        self.turn(self.time);
        self.pass_late_sound();
        let packets = self.sound_until(self.time);
        let is_new = self.current.is_none();
        if is_new {
            let pixels = frame.width() as f64 * frame.height() as f64;
            self.guess = pixels * self.input.rate().unwrap_or(USUAL_RATE) * BYTES_OF_PIXEL;
            // After cancellation, queued frames are still written, but the recorder does not wait for a missing disk.
            if Instant::now() < self.next || self.lost_at.is_some() && self.cancel.is_cancelled() {
                self.missed += 1;
                return Ok(());
            }
            self.current = Some(self.open((self.clock)().0, self.time)?);
        }
        let Some(open) = &mut self.current else { return Ok(()) };
        open.frames += 1;
        open.sink.write(Delivery { packets, frame: Some(frame), ..Delivery::default() })?;
        if is_new {
            self.begin_recording();
        }
        self.look();
        self.make_room();
        Ok(())
    }

    /// Registers the current segment, after its first frame is written.
    fn begin_recording(&mut self) {
        let Some(open) = &mut self.current else { return };
        let name = Name::from(&open.file);
        open.room = DiskRoom::open(&open.file, self.guess).ok();
        let header = open.room.as_ref().filter(|_| open.sink.encoded() == Some(0)).map_or(0, DiskRoom::bytes);
        self.recordings.begin(&open.file, (open.begin.timestamp(), (self.clock)().1), header);
        self.begun += 1;
        match self.lost_at.take() {
            Some(lost_at) => {
                self.notices.back(&format!("{name}: recording again after {:.1} s", lost_at.elapsed().as_secs_f64()));
            }
            None => self.notices.detail(&format!("{name}: a new segment")),
        }
        self.pauses = Pauses::default();
    }

    /// Reserves disk space for the next frames. If the disk is full, removes the oldest recording; if there is none,
    /// completes the segment and waits.
    fn make_room(&mut self) {
        let Some(open) = &mut self.current else { return };
        let seconds = (self.time - open.first) as f64 / 1e6;
        let Some(Err(error)) = open.room.as_mut().map(|room| room.make(seconds)) else { return };
        if !self.free() {
            self.end_current();
            self.wait(&reason(&error.into()));
        }
    }

    /// Writes audio that still arrives, for example from a microphone, while the camera gives no frames.
    fn write_sound(&mut self) -> Result<()> {
        self.pass_late_sound();
        let newest = self.sound.back().map_or(i64::MIN, |packet| self.input.time_of(packet));
        let packets = self.sound_until(newest.saturating_sub(SOUND_APART));
        match &mut self.current {
            Some(open) if !packets.is_empty() => open.sink.write(Delivery { packets, ..Delivery::default() }),
            _ => Ok(()),
        }
    }

    /// Removes the packets from `self.sound` that begin at `time` (microseconds) or before, and returns them.
    fn sound_until(&mut self, time: i64) -> Vec<Packet> {
        let (due, later) =
            self.sound.drain(..).partition::<VecDeque<_>, _>(|packet| self.input.time_of(packet) <= time);
        self.sound = later;
        due.into()
    }

    /// Ends the current segment if it is over, before the frame at `time` is written.
    fn turn(&mut self, time: i64) {
        let now = (self.clock)().0.timestamp();
        let Some(mut open) = self.current.take_if(|open| now >= open.ends || time - open.first >= open.most) else {
            return;
        };
        self.end_ending();
        let packets = self.sound_until(time - 1);
        let ended = open.sink.write(Delivery { packets, ..Delivery::default() }).and_then(|()| {
            while open.sink.drain()? {}
            Ok(())
        });
        match ended {
            Ok(()) if self.has_sound => self.ending = Some(open),
            Ok(()) => self.end(open, time),
            Err(error) => self.lose(Some(open), &error),
        }
    }

    /// Writes late audio to the previous segment, and completes that once no more can arrive.
    fn pass_late_sound(&mut self) {
        let (Some(ending), Some(current)) = (&mut self.ending, &self.current) else { return };
        let first = current.first;
        let (late, rest) =
            self.sound.drain(..).partition::<VecDeque<_>, _>(|packet| self.input.time_of(packet) < first);
        self.sound = rest;
        let written = ending.sink.write(Delivery { packets: late.into(), ..Delivery::default() });
        if written.is_err() || self.time - first >= SOUND_APART {
            self.end_ending();
        }
    }

    fn end_ending(&mut self) {
        let until = self.current.as_ref().map_or(self.time, |current| current.first);
        if let Some(open) = self.ending.take() {
            self.end(open, until);
        }
    }

    fn end_current(&mut self) {
        if let Some(open) = self.current.take() {
            self.end(open, self.time);
        }
    }

    /// Completes a segment whose last frame ends at `until` (microseconds).
    fn end(&mut self, open: OpenSegment, until: i64) {
        let OpenSegment { sink, file, room, begin, first, frames, .. } = open;
        if let Err(error) = sink.finish(Outcome::Complete) {
            self.notices.note(&format!("{}: its last second may be missing ({error:#})", Name::from(&file)));
        }
        // Released only now, because completing the file also writes into the reserved space.
        drop(room);
        let bytes = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        self.recordings.set_bytes(&file, bytes, false);
        if frames > 0 {
            let seconds = (until - first) as f64 / 1e6;
            (self.segmentation.ended)(Segment { file, begin, seconds, frames, bytes });
        }
        self.remove_old();
    }

    /// Removes old recordings, at most once a second.
    fn look(&mut self) {
        if Instant::now() >= self.next_look {
            self.next_look = Instant::now() + LOOK;
            self.remove_old();
        }
    }

    /// Removes the recordings that the rules do not keep.
    fn remove_old(&self) {
        if let Some(OpenSegment { file, room: Some(room), .. }) = &self.current {
            self.recordings.set_bytes(file, room.bytes(), true);
        }
        let (wall, now) = (self.clock)();
        for file in self.recordings.remove_old((wall.timestamp(), now)) {
            self.notices.detail(&format!("{}: removed", Name::from(&file)));
        }
    }

    /// Frees disk space by removing the oldest recording. Returns whether there was one.
    fn free(&mut self) -> bool {
        let removed = self.segmentation.retention.removes().then(|| self.recordings.remove_oldest()).flatten();
        if let Some(file) = &removed {
            self.notices.note(&format!("{}: removed, because the disk is full", Name::from(file)));
        }
        removed.is_some()
    }

    /// Ends a segment that cannot be written or opened. Waits, unless disk space could be freed.
    fn lose(&mut self, open: Option<OpenSegment>, error: &anyhow::Error) {
        match open {
            Some(open) => {
                let written = open.sink.encoded().unwrap_or(0).min(open.frames);
                self.missed += open.frames - written;
                self.end(OpenSegment { frames: written, ..open }, self.time);
            }
            None => self.missed += 1,
        }
        if !(is_full(error) && self.free()) {
            self.wait(&format!("{error:#}"));
        }
    }

    /// Reports that the recorder waits for the disk, and schedules the next attempt.
    fn wait(&mut self, reason: &str) {
        let reason = format!("{}: {reason}", self.pattern.file);
        match self.lost_at {
            None if !self.cancel.is_cancelled() => {
                self.notices.waiting(&format!("{reason}; waiting until the disk takes recordings again"));
            }
            _ => self.notices.detail(&reason),
        }
        let now = Instant::now();
        self.lost_at = self.lost_at.or(Some(now));
        self.next = now + self.pauses.longer();
    }
}

impl Sink for Recorder {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        let Delivery { packets, frame, .. } = delivery;
        self.sound.extend(packets);
        let written = match frame {
            Some(frame) => self.write_frame(frame),
            None => self.write_sound(),
        };
        match written {
            // A folder that is missing at the first segment is an error, not a reason to wait.
            Err(error) if is_of_disk(&error) && (self.begun > 0 || is_full(&error)) => {
                let open = self.current.take();
                self.lose(open, &error);
                Ok(())
            }
            written => written,
        }
    }

    fn encoding(&self) -> Option<Encoding> {
        self.encoding.clone()
    }

    fn missed(&self) -> u64 {
        self.missed
    }

    fn finish(mut self: Box<Self>, _: Outcome) -> Result<Option<Name>> {
        self.end_ending();
        let sound = self.sound_until(i64::MAX);
        if let Some(open) = &mut self.current {
            // Completing the segment reports this error again.
            let _ = open.sink.write(Delivery { packets: sound, ..Delivery::default() });
        }
        self.end_current();
        Ok((self.begun > 0).then(|| self.pattern.file.clone()))
    }
}

/// Whether the disk or the user's quota is full.
fn is_full(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Other { errno: libc::ENOSPC | libc::EDQUOT }))
}

/// Whether it is a disk error that can be temporary: the disk may be full or missing.
fn is_of_disk(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(Error::Other { errno }) => !matches!(*errno, libc::EINVAL | libc::ENOMEM | libc::ENOSYS),
        _ => matches!(
            error.downcast_ref(),
            Some(Failure { kind: FailureKind::Refused | FailureKind::Disk | FailureKind::Missing, .. })
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffmpeg::Rational;
    use crate::ffmpeg::demux::Media;
    use histeq::internal::frame::{HostPool, Matrix, PixelFormat, Range};
    use jiff::SignedDuration;
    use std::sync::{Arc, Mutex};

    /// Frame `number` of a source with five frames an hour. Its samples contain the number.
    fn frame(pool: &HostPool, number: i64) -> Frame {
        let mut plane = pool.plane(16, 16);
        (0..16).for_each(|row| plane.row_mut(row).fill((number % 251) as u8));
        let frame = Frame::new(PixelFormat::Gray, (16, 16), Range::Full, Matrix::Bt601, vec![plane.freeze()]);
        let mut frame = frame.expect("a frame");
        frame.pts = Some(number * 12 * 60);
        frame
    }

    #[test]
    fn a_thousand_seams_under_a_clock_that_is_set_lose_no_frame_and_no_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = Name::from(folder.path().join("cam-%Y%m%d-%H%M%S.mkv"));
        // Six weeks, in which daylight saving time ends. Once, the clock is set back by two hours.
        let begin: ZonedDateTime = "2026-10-24T22:10:00+02:00[Europe/Berlin]".parse().expect("a time");
        let (frames, set_back) = (5050, 2000);
        let now = Arc::new(Mutex::new(begin.clone()));
        let segments = Arc::new(Mutex::new(Vec::new()));
        let ended = {
            let segments = segments.clone();
            Arc::new(move |segment| segments.lock().expect("a list").push(segment))
        };
        let (length, retention) = (Duration::from_secs(3600), Retention::default());
        let segmentation = Segmentation { length, retention, shelf: Shelf::default(), ended };
        let choice = crate::sink::encoder::EncoderChoice { encoder: Some("ffv1".to_owned()), ..Default::default() };
        let options = OutputOptions { encoder: choice, live: true, ..OutputOptions::default() };
        // A time base of 1 s.
        let input = Input::new("a camera".to_owned(), Media::for_raw_video("rawvideo", Rational::new(1, 1), None));
        let cancel = Cancel::default();
        let place = (&name, cancel.clone());
        let mut recorder =
            Recorder::create(input, place, (options, segmentation), false, Notices::silent()).expect("a sink");
        let clock = now.clone();
        recorder.clock = Box::new(move || (clock.lock().expect("a time").clone(), Instant::now()));
        let pool = HostPool::default();
        for number in 0..frames {
            let passed = SignedDuration::from_mins(12 * number)
                - SignedDuration::from_hours(if number < set_back { 0 } else { 2 });
            *now.lock().expect("a time") = begin.checked_add(passed).expect("a time");
            // The last 50 frames are still queued when the run is cancelled; they last longer than a segment.
            if number == frames - 50 {
                cancel.cancel();
            }
            recorder.write(Delivery { frame: Some(frame(&pool, number)), ..Delivery::default() }).expect("a disk");
        }
        Box::new(recorder).finish(Outcome::Complete).expect("a disk");

        let segments = segments.lock().expect("a list");
        assert!(segments.len() > 1000, "{} segments", segments.len());
        assert_eq!(segments.iter().map(|segment| segment.frames).sum::<u64>(), frames as u64);
        let mut next = 0;
        let mut summer_time_ended = 0;
        for (index, segment) in segments.iter().enumerate() {
            let (time, name) =
                (&segment.begin, segment.file.file_name().expect("a name").to_string_lossy().into_owned());
            let plain = time.strftime("cam-%Y%m%d-%H%M%S").to_string();
            assert!(name.starts_with(&plain), "{name} begins at {time}");
            // After the clock is set back by two hours, file names of these two hours occur again.
            let is_again = time.timestamp()
                < segments[..index].iter().map(|before| before.begin.timestamp()).max().unwrap_or_default();
            summer_time_ended += usize::from(name.ends_with(".2.mkv") && !is_again);
            if index > 0 && index + 1 < segments.len() && !is_again {
                let minute = time.minute();
                assert!(minute < 12 || segments[index - 1].frames < 5, "{name} begins at minute {minute}");
            }
            let media = ffmpeg_next::format::input(&segment.file).expect("a file");
            assert!(media.streams().count() == 1 && segment.bytes > 0, "{name}");
            next += segment.frames;
        }
        assert_eq!(next, frames as u64);
        assert_eq!(summer_time_ended, 1, "from 2 to 3 o'clock twice in that night");
        let files = std::fs::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(files, segments.len(), "each has a file of its own");
    }
}
