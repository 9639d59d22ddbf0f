//! Converts presentation times from the input's to the encoder's time base, and schedules key frames.

use crate::ffmpeg::encode::Encoder;
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::mux::Container;
use crate::ffmpeg::{Packet, Rational, microseconds, rescale};
use crate::pipeline::{Input, Notices};
use anyhow::Result;
use ffmpeg_next::codec::Id;
use std::collections::VecDeque;

/// The smallest timing error that is reported, in microseconds. Smaller ones are normal: in joined recordings, audio
/// overlaps by up to one packet.
pub const NOTICED: i64 = 100_000;

/// The highest frame rate for a container without timestamps, in frames a second.
const HIGHEST_RATE: f64 = 240.0;

/// The frame rates of MPEG-1 and MPEG-2, in frames a second.
const MPEG_RATES: [(i32, i32); 8] =
    [(24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (50, 1), (60_000, 1001), (60, 1)];

/// Gives frames their times in the encoder's time base, each later than the one before it.
pub struct EncoderClock {
    source_base: Rational,
    /// The encoder's time base, in seconds.
    pub time_base: Rational,
    /// The encoder's frame rate, in frames a second.
    pub rate: Rational,
    /// Subtracted from all presentation times, in units of `source_base`.
    earlier: i64,
    last: Option<i64>,
    /// The least time from one frame to the next, in units of `time_base`.
    step: i64,
    /// Time and duration of each frame in the encoder, as some encoders do not return the duration.
    durations: VecDeque<(i64, i64)>,
    warned_late: bool,
    /// The name of a container that [loses gaps](Container::loses_gaps); `None` once the user has been warned.
    loses_gaps: Option<String>,
    /// Whether to warn about frames that are shorter than [`FASTEST_GIF`], which players slow down.
    slows_down: bool,
}

/// The shortest frame duration that GIF players respect, in microseconds. Most players show shorter frames for 0.1 s.
const FASTEST_GIF: i64 = 20_000;

impl EncoderClock {
    /// Times stay in the input's time base, unless the container or the codec has a constant frame rate.
    pub fn new(input: &Input, container: Container, candidates: &[Encoder]) -> Self {
        let stream = input.video_stream();
        let source = stream.time_base;
        let rate = stream.frame_rate.unwrap_or(Rational::new(25, 1));
        let codec = candidates.first().map(|encoder| encoder.codec());
        let is_mpeg = matches!(codec, Some(Id::MPEG1VIDEO | Id::MPEG2VIDEO));
        let rate = if is_mpeg || !container.has_timestamps() { constant_rate(rate, stream.base_rate) } else { rate };
        let rate = match codec {
            Some(Id::MPEG1VIDEO) => mpeg_rate(rate),
            Some(Id::MPEG2VIDEO) if !is_fraction_of_mpeg_rate(rate) => mpeg_rate(rate),
            _ => rate,
        };
        // The time base of MPEG-4 part 2 is at most 1/65535 s. In 1/60000 s, common frame rates are exact.
        let too_fine = codec == Some(Id::MPEG4) && source.denominator() > 65535;
        let time_base = match container.has_timestamps() && !is_mpeg {
            false => rate.invert(),
            true if too_fine => Rational::new(1, 60_000),
            true => source,
        };
        let loses_gaps = container.loses_gaps().then(|| container.name());
        let slows_down = container.name() == "gif";
        // AVI stores frame positions, no timestamps: FFmpeg shows frames late by the reordering delay of their codec.
        let is_placed = input.media.demuxer == "avi" && container.name() == "avi" && input.shift == 0;
        EncoderClock {
            source_base: source,
            time_base,
            rate,
            earlier: if is_placed { stream.video_delay() } else { 0 },
            last: None,
            step: 1,
            durations: VecDeque::new(),
            warned_late: false,
            loses_gaps,
            slows_down,
        }
    }

    /// Returns this clock with at least `least` microseconds between frames. A camera that stalled delivers several
    /// frames at once, and a container with millisecond timestamps would give them the same time.
    pub fn apart_by(mut self, least: i64) -> Self {
        let unit = f64::from(self.time_base) * 1e6;
        self.step = ((least as f64 / unit).ceil() as i64).max(1);
        self
    }

    /// Sets time and duration of `picture` in the encoder's time base.
    ///
    /// # Errors
    /// The warning that frames are late, with `--strict`.
    pub fn set(&mut self, picture: &mut Picture, notices: &Notices) -> Result<()> {
        if let (Some(first), None) = (picture.time(), self.last) {
            self.earlier = self.earlier.min(first.max(0));
        }
        let due = picture.time().map(|time| rescale(time - self.earlier, self.source_base, self.time_base));
        let next = self.last.map_or(i64::MIN, |last| last + self.step);
        let time = due.unwrap_or(next.max(0)).max(next);
        let gap = self.last.filter(|&last| time > last + 1);
        // Containers with millisecond timestamps round times by up to 0.5 ms.
        let is_fast = |last: i64| rescale(time - last, self.time_base, microseconds()) < FASTEST_GIF - 500;
        if self.slows_down && self.last.is_some_and(is_fast) {
            self.slows_down = false;
            notices.warn(
                "frames are less than 1/50 s apart: players of GIF show each of them for 0.1 s, or leave some out \
                 (--filter-after fps=50 has none that are too short)",
            )?;
        }
        self.last = Some(time);
        if let Some(name) = self.loses_gaps.take_if(|_| gap.is_some()) {
            let seconds = rescale(time, self.time_base, microseconds()) as f64 / 1e6;
            notices.warn(&format!(
                "frames at {seconds:.1} s are further apart than {name} can say: they come too early from there on (.mkv \
                 and .mp4 files store timestamps)"
            ))?;
        }
        let duration = rescale(picture.duration(), self.source_base, self.time_base);
        if picture.duration() > 0 {
            self.durations.push_back((time, duration));
        }
        picture.set_time(Some(time));
        picture.set_duration(duration);
        let delay = rescale(time - due.unwrap_or(time), self.time_base, microseconds());
        if delay > NOTICED && !std::mem::replace(&mut self.warned_late, true) {
            let seconds = rescale(time, self.time_base, microseconds()) as f64 / 1e6;
            notices.warn(&format!(
                "frames at {seconds:.1} s come late: timestamps are closer than the output can represent, or decrease \
                 (.mkv and .mp4 files store timestamps)"
            ))?;
        }
        Ok(())
    }

    /// Sets the duration of an encoded packet to the duration of its frame.
    pub fn set_duration(&mut self, packet: &mut Packet) {
        let Some(index) = self.durations.iter().position(|(time, _)| Some(*time) == packet.pts()) else { return };
        if let Some((_, duration)) = self.durations.remove(index) {
            packet.set_duration(duration);
        }
    }
}

/// The longest distance between key frames of a live stream, in microseconds. A new viewer waits for a key frame.
pub const KEY_DISTANCE: i64 = 2_000_000;

/// Schedules the key frames of a live stream by time. Encoders count frames, but a camera's frame rate varies.
pub struct KeyFrames {
    /// The longest distance, in microseconds.
    pub distance: i64,
    /// Time of the last key frame, in microseconds.
    key: Option<i64>,
    last: i64,
}

impl KeyFrames {
    /// Key frames that are at most `distance` microseconds apart.
    pub fn every(distance: i64) -> Self {
        KeyFrames { distance, key: None, last: 0 }
    }

    /// Whether the frame at `time` (microseconds) must be a key frame, because the next one would be too late.
    pub fn is_due(&mut self, time: i64) -> bool {
        let next = time + (time - std::mem::replace(&mut self.last, time));
        let is_due = self.key.is_none_or(|key| next > key + self.distance);
        if is_due {
            self.key = Some(time);
        }
        is_due
    }
}

/// The frame rate for a container without timestamps: `base`, the lowest rate that represents all timestamps, if it is
/// higher than the average rate. A multiple of the average rate is ignored: twice the average is the field rate.
fn constant_rate(average: Rational, base: Option<Rational>) -> Rational {
    let higher = |base: &Rational| {
        let times = f64::from(*base) / f64::from(average);
        f64::from(*base) <= HIGHEST_RATE && times > 1.01 && (times - times.round()).abs() > 0.01
    };
    base.filter(higher).unwrap_or(average)
}

/// The lowest MPEG frame rate that is not below this one, or the highest.
fn mpeg_rate(rate: Rational) -> Rational {
    let rates = MPEG_RATES.map(|(numerator, denominator)| Rational::new(numerator, denominator));
    let enough = |known: &Rational| f64::from(*known) > f64::from(rate) * 0.9999;
    rates.into_iter().find(enough).unwrap_or(rates[rates.len() - 1])
}

/// Whether MPEG-2 can signal `rate`: one of [`MPEG_RATES`] times 1 to 4, divided by 1 to 32.
fn is_fraction_of_mpeg_rate(rate: Rational) -> bool {
    let same = |numerator: i64, denominator: i64| {
        i64::from(rate.numerator()) * denominator == i64::from(rate.denominator()) * numerator
    };
    MPEG_RATES.iter().any(|&(numerator, denominator)| {
        (1..=4).any(|times| (1..=32).any(|over| same(i64::from(numerator) * times, i64::from(denominator) * over)))
    })
}
