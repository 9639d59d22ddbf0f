//! Reads whatever FFmpeg can open: decodes one video stream, hands on the packets of all others.

mod continuity;
mod jpeg;
mod open;
mod other_streams;
mod packets;
mod seek;
mod sequence;

use super::native::ToNative;
use super::options::InputOptions;
use super::part::{Bounds, Part};
use super::video_reader::{ReadPackets, Step, VideoReader};
use crate::ffmpeg::{DecodeOn, Error, Packet, Picture, Rational, microseconds, rescale};
use crate::frame::{Frame, Pool};
use crate::pipeline::{Delivery, Input, Notices, PartPosition, Progress, Source};
use anyhow::{Context, Result, bail, ensure};
use other_streams::OtherStreams;
use packets::FilePackets;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// After the end of the part that was asked for, other streams are read this much further for packets that belong to
/// it; containers interleave more tightly than this.
const INTERLEAVE: i64 = 10_000_000;

/// A broken input is given up after this many errors with no frame between them.
const ERRORS_IN_A_ROW: u32 = 1000;

/// A file, or anything else that FFmpeg can open.
pub struct FileSource {
    video: VideoReader<FilePackets>,
    input: Input,
    options: InputOptions,
    to_native: ToNative,
    /// Is it a pipe, in which nothing can be looked up further on?
    in_order_only: bool,
    notices: Notices,
    progress: Arc<Progress>,
    /// Set when reading is to end, whatever is missing then.
    interrupt: Arc<AtomicBool>,
    /// The part that was asked for, on the input's clock.
    bounds: Bounds,
    /// How many frames before these bounds the equalizer is to see, and how many behind them.
    warm_up: u32,
    behind: u32,
    state: State,
    others: OtherStreams,
    delivered: u64,
    /// When the last frame was over.
    next_time: Option<i64>,
    errors: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing has been read.
    Opened,
    /// Reading and decoding.
    Reading,
    /// The last frame is out; other streams may still have packets before the end.
    Trailing,
    /// Nothing more.
    Over,
}

impl FileSource {
    /// What the input is.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The next frame that belongs to the part that was asked for, or packets that should not wait for it.
    fn advance(&mut self) -> Result<Option<Delivery>> {
        loop {
            match self.state {
                State::Opened => {
                    self.go_to_begin()?;
                    self.state = State::Reading;
                }
                State::Over => return Ok(None),
                State::Trailing => {
                    self.read_trailing()?;
                    return Ok(Some(self.delivery(None)));
                }
                State::Reading => {}
            }
            let step = self.video.next();
            if let Some(format) = self.video.unsupported() {
                let (name, stream) = (&self.input.name, self.input.video_stream().describe());
                bail!("{name}: NVDEC does not take this {stream} of {format} (use --decoder cpu)");
            }
            match step {
                Ok(Step::Picture(picture)) => {
                    self.errors = 0;
                    if let Some(delivery) = self.take(picture)? {
                        return Ok(Some(delivery));
                    }
                }
                Ok(Step::Packet(packet)) => {
                    self.keep(packet);
                    if self.others.are_many() {
                        return Ok(Some(self.delivery(None)));
                    }
                }
                Ok(Step::Damaged(damage)) => self.damaged(&damage.to_string())?,
                Ok(Step::LastPacket) => self.check_end()?,
                Ok(Step::End) => {
                    ensure!(self.delivered > 0, "{}: {}", self.input.name, self.nothing_decoded());
                    self.end()?;
                    return Ok(Some(self.delivery(None)));
                }
                // Cancelled while it waited for the input.
                Err(Error::Exit) => self.video.finish(),
                Err(error) => {
                    self.damaged(&format!("read error: {error}"))?;
                    self.video.finish();
                }
            }
        }
    }

    fn nothing_decoded(&self) -> String {
        let damaged = self.progress.damaged();
        if self.in_order_only && self.input.media.demuxer.starts_with("mov") {
            return "an mp4 in a pipe needs its index in front (ffmpeg -i IN -c copy -movflags +faststart OUT)"
                .to_owned();
        }
        match self.options.part.start {
            Some(_) if damaged == 0 => "no frame at or after --start".to_owned(),
            _ => format!("not a single frame could be decoded ({damaged} damaged packets)"),
        }
    }

    /// Warns if the input ends before it should: demuxers take that for a normal end.
    fn check_end(&mut self) -> Result<()> {
        let Part { start, duration, frames } = self.options.part;
        let is_whole = start.is_none() && duration.is_none() && frames.is_none();
        if let Some((there, all)) = self.video.packets.too_few_frames().filter(|_| is_whole)
            && !self.interrupt.load(Ordering::Relaxed)
        {
            self.progress.count_damaged();
            let name = &self.input.name;
            return self
                .notices
                .warn(&format!("{name} ends early: {there} of {all} frames are there (the file was cut short)"));
        }
        match self.video.packets.missing() {
            Some(missing) => self.damaged(&missing),
            None => Ok(()),
        }
    }

    /// The delivery of a decoded picture; `None` when it lies before the part that was asked for, and no warm-up needs it.
    fn take(&mut self, mut picture: Picture) -> Result<Option<Delivery>> {
        let time = picture.time().unwrap_or_else(|| self.expected_time());
        picture.set_time(Some(time));
        let duration = Some(picture.duration()).filter(|&duration| duration > 0);
        self.next_time = Some(time + duration.unwrap_or_else(|| self.frame_duration()));
        let moment = rescale(time, self.video.time_base(), microseconds());
        if self.bounds.begin.is_some_and(|begin| moment < begin) {
            if self.warm_up == 0 {
                return Ok(None);
            }
            let before = self
                .to_native
                .frame(&picture)
                .with_context(|| format!("{}: a frame before --start", self.input.name))?;
            return Ok(Some(Delivery::beside(PartPosition::Before, before)));
        }
        if self.bounds.end.is_some_and(|end| moment >= end)
            || self.options.part.frames.is_some_and(|most| self.delivered >= most)
        {
            return self.take_behind(&picture, moment);
        }
        if picture.is_damaged() {
            self.damaged("damaged, shown as far as it could be decoded")?;
        }
        let mut frame =
            self.to_native.frame(&picture).with_context(|| format!("{}: frame {}", self.input.name, self.delivered))?;
        frame.pts = Some(time + self.shift());
        if self.delivered == 0 {
            self.tell_where(&frame);
        }
        self.delivered += 1;
        self.progress.count_decoded(moment - self.bounds.begin.or(self.input.media.start).unwrap_or(0));
        Ok(Some(self.delivery(Some(frame))))
    }

    /// Says where frames like this one come from, if that is not a decoder on the CPU.
    fn tell_where(&self, frame: &Frame) {
        let DecodeOn::Nvdec(gpu) = self.options.decode_on else { return };
        let place = match frame.planes()[0].on_device() {
            Some(_) => "where its luma stays until it is equalized",
            None => "from where it comes down to be equalized",
        };
        self.notices.detail(&format!("{}: decoded on GPU {gpu}, {place}", self.input.name));
    }

    /// A picture from behind the part that was asked for; `None` when no look-ahead needs it.
    fn take_behind(&mut self, picture: &Picture, moment: i64) -> Result<Option<Delivery>> {
        let end = self.bounds.end.unwrap_or(moment).min(moment);
        self.bounds.end = Some(end);
        self.others.cut(&self.input.media.streams, end + self.input.shift);
        if self.behind == 0 {
            self.state = State::Trailing;
            return Ok(None);
        }
        self.behind -= 1;
        let behind = self
            .to_native
            .frame(picture)
            .with_context(|| format!("{}: a frame behind the last one", self.input.name))?;
        Ok(Some(Delivery::beside(PartPosition::Behind, behind)))
    }

    /// The time of a frame that carries none: right after the one before it.
    fn expected_time(&self) -> i64 {
        self.next_time.or(self.input.video_stream().start).unwrap_or(0)
    }

    /// How long a frame is shown that does not say so.
    fn frame_duration(&self) -> i64 {
        let rate = self.input.video_stream().frame_rate.unwrap_or(Rational::new(25, 1));
        rescale(1, rate.invert(), self.video.time_base()).max(1)
    }

    fn shift(&self) -> i64 {
        rescale(self.input.shift, microseconds(), self.video.time_base())
    }

    /// Keeps a packet of another stream, if it lies in the part that was asked for.
    fn keep(&mut self, packet: Packet) {
        let stream = &self.input.media.streams[packet.stream()];
        self.others.keep(packet, stream, self.bounds);
    }

    /// Reads on for packets of other streams that lie before the end of the part that was asked for.
    fn read_trailing(&mut self) -> Result<()> {
        let end = self.bounds.end.unwrap_or(i64::MAX);
        while !self.others.are_many() {
            let all_ended = self.others.sound_has_ended(&self.input.media.streams);
            let read = if all_ended { Ok(None) } else { self.video.packets.read() };
            let packet = match read {
                Ok(packet) => packet,
                Err(Error::Exit) => None,
                Err(error) => {
                    self.damaged(&format!("read error: {error}"))?;
                    None
                }
            };
            let Some(packet) = packet else { return self.end() };
            let time_base = self.input.media.streams[packet.stream()].time_base;
            let moment = packet.dts().map(|dts| rescale(dts, time_base, microseconds()));
            if moment.is_some_and(|moment| moment > end.saturating_add(INTERLEAVE)) {
                return self.end();
            }
            if packet.stream() != self.input.video {
                self.keep(packet);
            }
        }
        Ok(())
    }

    fn delivery(&mut self, frame: Option<Frame>) -> Delivery {
        // Only the frame behind the last one tells when that is over, and with it the sound.
        let may_end = self.options.part.frames.is_some() && self.bounds.end.is_none() && self.state != State::Over;
        let over = self.next_time.map(|time| rescale(time, self.video.time_base(), microseconds()) + self.input.shift);
        let until = over.filter(|_| may_end);
        Delivery { packets: self.others.take(&self.input.media.streams, until), frame, ..Delivery::default() }
    }

    /// Comes to the end, and says what has been left out.
    fn end(&mut self) -> Result<()> {
        self.state = State::Over;
        for index in self.others.never_begun() {
            let (name, stream) = (&self.input.name, self.input.media.streams[index].describe());
            self.notices.warn(&format!("{name}: {stream} is left out: no key frame of it at or after --start"))?;
        }
        Ok(())
    }

    fn damaged(&mut self, what: &str) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.progress.count_damaged();
        self.errors += 1;
        let message = format!("{}: frame {}: {what}", self.input.name, self.delivered);
        ensure!(self.errors < ERRORS_IN_A_ROW, "{message}; giving up after {ERRORS_IN_A_ROW} errors in a row");
        // Only the first is a warning; the summary has the count.
        match self.progress.damaged() {
            1 => self.notices.warn(&message),
            _ => {
                self.notices.detail(&message);
                Ok(())
            }
        }
    }
}

impl Source for FileSource {
    fn look_around(&mut self, before: u32, behind: u32) {
        (self.warm_up, self.behind) = (before, behind);
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.video.use_pool(pool);
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        self.advance()
    }
}
