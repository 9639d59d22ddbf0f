//! Reads any input that FFmpeg can open: decodes one video stream, and passes on the packets of all others.
//!
//! | file | what it is |
//! |---|---|
//! | `open.rs`, `sequence.rs`, `pages.rs` | opens the input; numbered images; the pages of a TIFF |
//! | `unshown.rs` | facts in files that FFmpeg does not report |
//! | `seek.rs` | seeks to the beginning of the requested part |
//! | `packets.rs`, `continuity.rs` | reads packets; jumps of the clock, and damage, in them |
//! | `parallel` | several decoders for one video; its groups of pictures |
//! | `planned` | packets that are surveyed first, and decoded as planned |
//! | `other_streams.rs` | the packets of the other streams |

mod continuity;
mod open;
mod other_streams;
mod packets;
mod pages;
pub mod parallel;
pub mod planned;
mod seek;
mod sequence;
mod unshown;

use super::native::ToNative;
use super::options::{InputOptions, check_size};
use super::part::{Bounds, Part};
use super::video_reader::{Damage, ReadPackets, ReaderEvent, VideoReader};
use crate::ffmpeg::decode::DecodeOn;
use crate::ffmpeg::frame::{Picture, is_to_be_turned};
use crate::ffmpeg::{
    Error, OUT_OF_MEMORY, Packet, Rational, has_ended_early, last_message, microseconds, refused_size, rescale,
};
use crate::image_file::ABOUT;
use crate::pipeline::{Delivery, FailureKind, Input, Notices, PartPosition, Progress, Source};
use anyhow::{Context, Result, bail};
use histeq::internal::frame::{Frame, Pool};
pub(super) use open::{FileInput, no_decoder};
use other_streams::OtherStreams;
use packets::FilePackets;
use parallel::decoders::Several;
use planned::chunks::{Planned, Survey};
pub(super) use sequence::images_by_name;
pub use sequence::sequence_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use unshown::Crop;

/// How much further the input is read after the last frame of the part, for packets of other streams that belong to it,
/// in microseconds. Containers interleave more tightly than this.
const INTERLEAVE: i64 = 10_000_000;

/// Reading fails after this many errors without a frame between them.
const ERRORS_IN_A_ROW: u32 = 1000;

/// A file, or anything else that FFmpeg can open.
pub struct FileSource {
    video: VideoReader<FilePackets>,
    /// Decodes `video` with several decoders, while that is possible.
    several: Option<Several>,
    pub(super) input: Input,
    options: InputOptions,
    to_native: ToNative,
    /// Whether the input is a pipe, which cannot seek.
    is_pipe: bool,
    /// Size of the file in bytes; `None` if the input is no file.
    size: Option<u64>,
    notices: Notices,
    progress: Arc<Progress>,
    /// Set on cancellation: an early end of the input is no error then.
    interrupt: Arc<AtomicBool>,
    /// The requested part, on the input's clock.
    bounds: Bounds,
    /// The number of frames before the part that the equalizer needs.
    warm_up: u32,
    /// The number of frames after the part that the equalizer needs, less those delivered.
    look_ahead: u32,
    /// The part of the picture that the container says to show.
    crop: Option<Crop>,
    state: FileState,
    others: OtherStreams,
    /// Present if packets are read but not decoded.
    survey: Option<Survey>,
    /// Present if the decoded part has known packets.
    planned: Option<Planned>,
    delivered: u64,
    /// End of the last frame, in the video's time base.
    next_time: Option<i64>,
    errors: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum FileState {
    /// Nothing has been read.
    Opened,
    /// Reading and decoding.
    Reading,
    /// The last frame is delivered; other streams may still have packets before the end.
    Trailing,
    /// All is delivered.
    Over,
}

impl FileSource {
    /// The next frame of the requested part, or packets that cannot wait for it.
    fn advance(&mut self) -> Result<Option<Delivery>> {
        loop {
            match self.state {
                FileState::Opened => {
                    match self.planned {
                        Some(_) => self.begin_planned()?,
                        None => self.seek_to_start()?,
                    }
                    self.state = FileState::Reading;
                }
                FileState::Over => return Ok(None),
                FileState::Trailing if self.planned.is_some() => {
                    self.end_planned()?;
                    return Ok(None);
                }
                FileState::Trailing => {
                    self.read_trailing()?;
                    return Ok(Some(self.delivery(None)));
                }
                FileState::Reading => {}
            }
            let event = self.next_event();
            if let Some(format) = self.video.decoder.unsupported {
                let (name, stream) = (&self.input.name, self.input.video_stream().describe());
                bail!("{name}: NVDEC does not take this {stream} of {format} (use --decoder cpu)");
            }
            if let Some(no_room) = self.video.decoder.refused() {
                return Err(no_room).with_context(|| format!("{}: frame {}", self.input.name, self.delivered));
            }
            if let Some(size) = self.video.decoder.too_large {
                check_size(&self.input.name.to_string(), size, &self.input.limits)?;
            }
            self.check_chunks()?;
            match event {
                Ok(ReaderEvent::Picture(mut picture)) => {
                    self.errors = 0;
                    let cropped = self.crop.map_or(Ok(()), |crop| crop.apply(&mut picture));
                    cropped
                        .with_context(|| format!("{}: frame {}: cannot be cropped", self.input.name, self.delivered))?;
                    if let Some(delivery) = self.take(picture)? {
                        return Ok(Some(delivery));
                    }
                }
                Ok(ReaderEvent::Packet(_)) if self.planned.is_some() => {}
                // Damage before the first picture is ignored: pictures before the key frame may refer to pictures that
                // were not read.
                Ok(ReaderEvent::Damaged(_)) if self.planned.as_ref().is_some_and(|planned| planned.arrived == 0) => {}
                Ok(ReaderEvent::LastPacket) if self.planned.is_some() => {}
                Ok(ReaderEvent::End) if self.planned.is_some() && !self.is_cancelled() => {
                    return Err(self.planned_frames_are_missing());
                }
                Ok(ReaderEvent::Packet(packet)) => {
                    self.keep(packet);
                    if self.others.are_many() {
                        return Ok(Some(self.delivery(None)));
                    }
                }
                // Frames that are lost for lack of memory are no damage of the input.
                Ok(ReaderEvent::Damaged(Damage::Packet(OUT_OF_MEMORY) | Damage::Picture(OUT_OF_MEMORY)))
                | Err(OUT_OF_MEMORY) => {
                    let message = format!("{}: frame {}: {OUT_OF_MEMORY}", self.input.name, self.delivered);
                    return Err(FailureKind::Limit.error(message));
                }
                Ok(ReaderEvent::Damaged(damage)) => self.damaged(&damage.to_string())?,
                Ok(ReaderEvent::LastPacket) => self.check_end()?,
                Ok(ReaderEvent::End) => {
                    if self.delivered == 0 {
                        self.check_refused_size()?;
                        let is_past_end = self.options.part.start.is_some() && self.progress.damaged() == 0;
                        let kind = if is_past_end { FailureKind::Usage } else { FailureKind::Damage };
                        return Err(kind.error(format!("{}: {}", self.input.name, self.nothing_decoded())));
                    }
                    self.end()?;
                    return Ok(Some(self.delivery(None)));
                }
                // Reading was cancelled while it waited for the input.
                Err(Error::Exit) => self.video.finish(),
                Err(error) => {
                    self.damaged(&format!("read error: {error}"))?;
                    self.video.finish();
                }
            }
        }
    }

    fn next_event(&mut self) -> Result<ReaderEvent, Error> {
        if let Some(several) = &mut self.several {
            match several.next(&mut self.video)? {
                Some(event) => return Ok(event),
                None => self.several = None,
            }
        }
        self.video.next()
    }

    /// Checks that FFmpeg refused no frame for its size: it reports that as damage, and may be alone in knowing the
    /// size.
    ///
    /// # Errors
    /// When a frame was refused.
    fn check_refused_size(&self) -> Result<()> {
        refused_size().map_or(Ok(()), |size| check_size(&self.input.name.to_string(), size, &self.input.limits))
    }

    fn nothing_decoded(&self) -> String {
        let damaged = self.progress.damaged();
        if self.is_pipe && self.input.media.demuxer.starts_with("mov") {
            return "an mp4 in a pipe needs its index in front (ffmpeg -i IN -c copy -movflags +faststart OUT)"
                .to_owned();
        }
        match self.options.part.start {
            Some(_) if damaged == 0 => "no frame at or after --start".to_owned(),
            _ => {
                let why = last_message().unwrap_or_default();
                let way_out = match self.input.video_stream().codec.as_str() {
                    "webp" if why == "image data not found" => {
                        " (if it is animated, FFmpeg cannot read it: ImageMagick's `convert IN OUT.apng` makes a file \
                         that it can)"
                    }
                    "tiff" if self.is_pipe => " (FFmpeg reads no TIFF from a pipe: name the file)",
                    _ => "",
                };
                let why = if why.is_empty() { why } else { format!("; {why}") };
                format!("not a single frame could be decoded ({damaged} damaged packets{why}){way_out}")
            }
        }
    }

    /// Warns if the input ends too early, which demuxers do not report.
    fn check_end(&mut self) -> Result<()> {
        let Part { start, duration, frames } = self.options.part;
        let is_whole = start.is_none() && duration.is_none() && frames.is_none();
        if let Some((there, all)) = self.video.packets.too_few_frames().filter(|_| is_whole)
            && !self.is_cancelled()
        {
            self.progress.count_damaged();
            let name = &self.input.name;
            return self.notices.warn_of_damage(&format!(
                "{name} ends early: {there} of {all} frames are there, whole or in part (the file was cut short)"
            ));
        }
        if has_ended_early() && is_whole && !self.is_cancelled() {
            self.progress.count_damaged();
            return self.notices.warn_of_damage(&format!("{} ends early (the file was cut short)", self.input.name));
        }
        match self.video.packets.missing() {
            Some(missing) => self.damaged(&missing),
            None => Ok(()),
        }
    }

    /// The delivery of a decoded picture; `None` when it is before the requested part, and not needed for warm-up.
    fn take(&mut self, mut picture: Picture) -> Result<Option<Delivery>> {
        if self.planned.is_some() {
            return self.take_planned(&picture);
        }
        if let Some(mut about) = self.video.packets.about(picture.time()) {
            if is_to_be_turned(&picture) {
                about.set_upright();
            }
            picture.set_entry(ABOUT, Some(&about.to_text()));
        }
        let time = picture.time().unwrap_or_else(|| self.expected_time());
        picture.set_time(Some(time));
        let duration = Some(picture.duration()).filter(|&duration| duration > 0);
        self.next_time = Some(time + duration.unwrap_or_else(|| self.frame_duration()));
        let moment = rescale(time, self.video.time_base, microseconds());
        if self.bounds.begin.is_some_and(|begin| moment < begin) {
            if self.warm_up == 0 {
                return Ok(None);
            }
            let mut before = self
                .to_native
                .frame(&picture)
                .with_context(|| format!("{}: a frame before --start", self.input.name))?;
            before.pts = Some(time + self.shift());
            return Ok(Some(Delivery::beside(PartPosition::Before, before)));
        }
        if self.bounds.end.is_some_and(|end| moment >= end)
            || self.options.part.frames.is_some_and(|most| self.delivered >= most)
        {
            return self.take_after_end(&picture, moment);
        }
        if picture.is_damaged() {
            self.damaged("damaged, shown as far as it could be decoded")?;
        }
        let mut frame =
            self.to_native.frame(&picture).with_context(|| format!("{}: frame {}", self.input.name, self.delivered))?;
        frame.pts = Some(time + self.shift());
        if self.delivered == 0 {
            self.note_decoder(&frame);
        }
        self.delivered += 1;
        self.progress.count_decoded(moment - self.bounds.begin.or(self.input.media.start).unwrap_or(0));
        Ok(Some(self.delivery(Some(frame))))
    }

    /// Logs where frames are decoded, if that is a GPU.
    fn note_decoder(&self, frame: &Frame) {
        let DecodeOn::Nvdec(gpu) = self.options.decode_on else { return };
        let place = match frame.planes()[0].on_device() {
            Some(_) => "where its luma stays until it is equalized",
            None => "from where it comes down to be equalized",
        };
        self.notices.detail(&format!("{}: decoded on GPU {gpu}, {place}", self.input.name));
    }

    /// The delivery of a picture after the requested part; `None` when no look-ahead needs it.
    fn take_after_end(&mut self, picture: &Picture, moment: i64) -> Result<Option<Delivery>> {
        if self.delivered == 0 {
            let why = "no frame in this part (a longer --duration may have one)";
            return Err(FailureKind::Usage.error(format!("{}: {why}", self.input.name)));
        }
        let end = self.bounds.end.unwrap_or(moment).min(moment);
        self.bounds.end = Some(end);
        self.others.cut(&self.input.media.streams, end + self.input.shift);
        if self.look_ahead == 0 {
            self.state = FileState::Trailing;
            return Ok(None);
        }
        self.look_ahead -= 1;
        let mut frame = self
            .to_native
            .frame(picture)
            .with_context(|| format!("{}: a frame behind the last one", self.input.name))?;
        frame.pts = frame.pts.map(|time| time + self.shift());
        Ok(Some(Delivery::beside(PartPosition::Behind, frame)))
    }

    /// The time of a frame without a timestamp: the end of the frame before it.
    fn expected_time(&self) -> i64 {
        self.next_time.or(self.input.video_stream().start).unwrap_or(0)
    }

    /// The duration of a frame without one, in the video's time base.
    fn frame_duration(&self) -> i64 {
        let rate = self.input.video_stream().frame_rate.unwrap_or(Rational::new(25, 1));
        rescale(1, rate.invert(), self.video.time_base).max(1)
    }

    fn shift(&self) -> i64 {
        rescale(self.input.shift, microseconds(), self.video.time_base)
    }

    /// Keeps a packet of another stream, if it is in the requested part.
    fn keep(&mut self, packet: Packet) {
        let stream = &self.input.media.streams[packet.stream()];
        self.others.keep(packet, stream, self.bounds);
    }

    /// Reads further packets of other streams that are before the end of the requested part.
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
        // With a number of frames, the end is known only when the frame after the last one is decoded.
        let may_end = self.options.part.frames.is_some() && self.bounds.end.is_none() && self.state != FileState::Over;
        let over = self.next_time.map(|time| rescale(time, self.video.time_base, microseconds()) + self.input.shift);
        let until = over.filter(|_| may_end);
        Delivery { packets: self.others.take(&self.input.media.streams, until), frame, ..Delivery::default() }
    }

    /// Ends the input, and warns of streams without any usable packet.
    fn end(&mut self) -> Result<()> {
        self.state = FileState::Over;
        for index in self.others.never_begun() {
            let (name, stream) = (&self.input.name, self.input.media.streams[index].describe());
            self.notices.warn(&format!("{name}: {stream} is left out: no key frame of it at or after --start"))?;
        }
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn damaged(&mut self, what: &str) -> Result<()> {
        if self.is_cancelled() {
            return Ok(());
        }
        self.progress.count_damaged();
        self.errors += 1;
        let message = format!("{}: frame {}: {what}", self.input.name, self.delivered);
        if self.delivered == 0 && (self.errors >= ERRORS_IN_A_ROW || self.notices.is_strict()) {
            self.check_refused_size()?;
        }
        if self.errors >= ERRORS_IN_A_ROW {
            let message = format!("{message}; giving up after {ERRORS_IN_A_ROW} errors in a row");
            return Err(FailureKind::Damage.error(message));
        }
        // Only the first damage is a warning; the summary has the number.
        match self.progress.damaged() {
            1 => self.notices.warn_of_damage(&message),
            _ => {
                self.notices.detail(&message);
                Ok(())
            }
        }
    }
}

impl Source for FileSource {
    fn look_around(&mut self, before: u32, behind: u32) {
        (self.warm_up, self.look_ahead) = (before, behind);
        self.survey.iter().for_each(|survey| survey.look_around(before, behind));
        self.several.iter_mut().for_each(|several| several.look_ahead(behind));
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.several.iter_mut().for_each(|several| several.use_pool(pool.clone()));
        self.video.use_pool(pool);
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        if let Some(survey) = self.survey.take() {
            return self.next_surveyed(survey);
        }
        self.advance()
    }
}
