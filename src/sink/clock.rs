//! From the times of the input to those of the encoder.

use crate::ffmpeg::{Container, Encoder, Packet, Picture, Rational, microseconds, rescale};
use crate::pipeline::{Input, Notices};
use anyhow::Result;
use ffmpeg_next::codec::Id;
use std::collections::VecDeque;

/// A delay of which the user is told, in microseconds; where recordings were joined, sound overlaps by a packet.
pub const NOTICED: i64 = 100_000;

/// The finest grid that a container which counts frames is given, in frames a second.
const FINEST: f64 = 240.0;

/// The rates that MPEG-1 and MPEG-2 know, in frames a second.
const MPEG_RATES: [(i32, i32); 8] =
    [(24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (50, 1), (60_000, 1001), (60, 1)];

/// Gives frames their times in the encoder's units: each later than the one before it.
pub struct Clock {
    from: Rational,
    to: Rational,
    rate: Rational,
    last: Option<i64>,
    /// How long each frame is shown that is still inside the encoder: some encoders forget it.
    durations: VecDeque<(i64, i64)>,
    /// Has it been said that frames come late?
    told: bool,
    /// The container's name, if it loses the time between frames that are further apart than its rate, and that has not been
    /// said.
    loses_gaps: Option<String>,
}

impl Clock {
    /// Times stay in the input's units, unless the container or the codec counts in frames.
    pub fn new(input: &Input, container: Container, candidates: &[Encoder]) -> Self {
        let stream = input.video_stream();
        let from = stream.time_base;
        let rate = stream.frame_rate.unwrap_or(Rational::new(25, 1));
        let codec = candidates.first().map(|encoder| encoder.codec());
        let is_mpeg = matches!(codec, Some(Id::MPEG1VIDEO | Id::MPEG2VIDEO));
        let rate = if is_mpeg || !container.has_timestamps() { grid(rate, stream.base_rate) } else { rate };
        let rate = match codec {
            Some(Id::MPEG1VIDEO) => mpeg_rate(rate),
            Some(Id::MPEG2VIDEO) if !is_fraction_of_mpeg_rate(rate) => mpeg_rate(rate),
            _ => rate,
        };
        // MPEG-4 part 2 counts in at most 65535ths of a second; in 60000ths, the usual rates come out even.
        let too_fine = codec == Some(Id::MPEG4) && from.denominator() > 65535;
        let to = match container.has_timestamps() && !is_mpeg {
            false => rate.invert(),
            true if too_fine => Rational::new(1, 60_000),
            true => from,
        };
        let loses_gaps = container.loses_gaps().then(|| container.name());
        Clock { from, to, rate, last: None, durations: VecDeque::new(), told: false, loses_gaps }
    }

    /// The encoder's unit, in seconds.
    pub fn unit(&self) -> Rational {
        self.to
    }

    /// Frames a second that the encoder is told.
    pub fn rate(&self) -> Rational {
        self.rate
    }

    /// Puts `picture` at its time in the encoder's units.
    ///
    /// # Errors
    /// A warning that frames come late, with `--strict`.
    pub fn set(&mut self, picture: &mut Picture, notices: &Notices) -> Result<()> {
        let due = picture.time().map(|time| rescale(time, self.from, self.to));
        let next = self.last.map_or(i64::MIN, |last| last + 1);
        let time = due.unwrap_or(next.max(0)).max(next);
        let gap = self.last.filter(|&last| time > last + 1);
        self.last = Some(time);
        if let Some(name) = self.loses_gaps.take_if(|_| gap.is_some()) {
            let at = rescale(time, self.to, microseconds()) as f64 / 1e6;
            notices.warn(&format!(
                "frames at {at:.1} s are further apart than {name} can say: they come too early from there on (.mkv and .mp4 \
                 files store timestamps)"
            ))?;
        }
        let duration = rescale(picture.duration(), self.from, self.to);
        if picture.duration() > 0 {
            self.durations.push_back((time, duration));
        }
        picture.set_time(Some(time));
        picture.set_duration(duration);
        let delay = rescale(time - due.unwrap_or(time), self.to, microseconds());
        if delay > NOTICED && !std::mem::replace(&mut self.told, true) {
            let at = rescale(time, self.to, microseconds()) as f64 / 1e6;
            notices.warn(&format!(
                "frames at {at:.1} s come late: timestamps are closer than the output can represent, or decrease \
                 (.mkv and .mp4 files store timestamps)"
            ))?;
        }
        Ok(())
    }

    /// Gives `packet`, which the encoder has made of a picture, the duration of that picture.
    pub fn set_duration(&mut self, packet: &mut Packet) {
        let Some(index) = self.durations.iter().position(|(time, _)| Some(*time) == packet.pts()) else { return };
        if let Some((_, duration)) = self.durations.remove(index) {
            packet.set_duration(duration);
        }
    }
}

/// How far apart key frames of a live stream are at most, in microseconds: so long waits who begins to watch.
pub const KEY_DISTANCE: i64 = 2_000_000;

/// Tells when a live stream needs a key frame. Encoders count frames, and those of a camera come as they like.
#[derive(Default)]
pub struct KeyFrames {
    key: Option<i64>,
    last: i64,
}

impl KeyFrames {
    /// Has the frame at `time` (microseconds) to be one, because the next would be too late?
    pub fn is_due(&mut self, time: i64) -> bool {
        let next = time + (time - std::mem::replace(&mut self.last, time));
        let is_due = self.key.is_none_or(|key| next > key + KEY_DISTANCE);
        if is_due {
            self.key = Some(time);
        }
        is_due
    }
}

/// The rate in which a container counts frames of this average rate: that of the grid on which they lie, if it is a finer
/// one. A grid of twice the rate is that of fields.
fn grid(average: Rational, base: Option<Rational>) -> Rational {
    let finer = |base: &Rational| {
        let times = f64::from(*base) / f64::from(average);
        f64::from(*base) <= FINEST && times > 1.01 && (times - times.round()).abs() > 0.01
    };
    base.filter(finer).unwrap_or(average)
}

/// The lowest rate of MPEG's that is no lower than this one, or its highest.
fn mpeg_rate(rate: Rational) -> Rational {
    let rates = MPEG_RATES.map(|(numerator, denominator)| Rational::new(numerator, denominator));
    let enough = |known: &Rational| f64::from(*known) > f64::from(rate) * 0.9999;
    rates.into_iter().find(enough).unwrap_or(rates[rates.len() - 1])
}

/// Is it one of MPEG's rates times 1 to 4, over 1 to 32, which MPEG-2 can say?
fn is_fraction_of_mpeg_rate(rate: Rational) -> bool {
    let same = |numerator: i64, denominator: i64| {
        i64::from(rate.numerator()) * denominator == i64::from(rate.denominator()) * numerator
    };
    MPEG_RATES.iter().any(|&(numerator, denominator)| {
        (1..=4).any(|times| (1..=32).any(|over| same(i64::from(numerator) * times, i64::from(denominator) * over)))
    })
}
