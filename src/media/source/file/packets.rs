//! Reads the packets of an input with continuous times, and detects missing ones at the end.

use super::continuity::Continuity;
use super::pages::{self, TiffPages};
use super::planned::chunks::ChunkCheck;
use crate::ffmpeg::demux::Demuxer;
use crate::ffmpeg::{Error, Packet, microseconds, rescale};
use crate::image_file::{About, end_of_jpeg};
use crate::pipeline::Notices;
use crate::source::stack::Told;
use crate::source::video_reader::{Damage, ReadPackets};
use crossbeam_channel::Receiver;
use std::collections::VecDeque;

/// An input that is shorter than its duration by more than this, and by more than 1%, was cut off (microseconds).
const SHORT_BY: i64 = 500_000;

/// The most images whose metadata is kept: those that a decoder may work on at once.
const MAX_ABOUT: usize = 256;

/// Frame counts from here on are placeholders, which AVI writers store that cannot seek.
const UNKNOWN_COUNT: u64 = 1 << 30;

/// A demuxer with the positions of its packets.
pub struct FilePackets {
    pub(super) demuxer: Demuxer,
    /// Index of the video stream that is decoded.
    video: usize,
    /// The name of the input in messages.
    name: String,
    notices: Notices,
    /// Present where the container's clock may jump.
    continuity: Option<Continuity>,
    /// End of the last packet of any stream, in microseconds of the container's clock.
    furthest: i64,
    /// Decoding time and end of the last packet of the video, in its time base.
    last_of_video: Option<(i64, i64)>,
    /// How often the clock has jumped.
    jumps: u32,
    /// The expected packets of the video, if they are known.
    check: Option<ChunkCheck>,
    /// The first packet, if it was read before the others to find pages in it.
    first: Option<Packet>,
    /// The pages of the TIFF file that is read.
    pages: Option<TiffPages>,
    /// The metadata of the images that were read last, and when they are shown.
    about: VecDeque<(Option<i64>, About)>,
    /// Receives the metadata of a stack's pictures.
    told: Option<Told>,
}

impl ReadPackets for FilePackets {
    fn demuxer(&mut self) -> &mut Demuxer {
        &mut self.demuxer
    }

    fn read(&mut self) -> Result<Option<Packet>, Error> {
        let Some(mut packet) = self.read_page()? else { return Ok(None) };
        let stream = &self.demuxer.media.streams[packet.stream()];
        if let Some(time) = packet.time() {
            let end = rescale(time + packet.duration(), stream.time_base, microseconds());
            self.furthest = self.furthest.max(end);
        }
        if let Some(dts) = packet.dts().filter(|_| packet.stream() == self.video) {
            let (last, end) = self.last_of_video.unwrap_or((dts, dts));
            self.last_of_video = Some((last.max(dts), end.max(dts + packet.duration().max(1))));
        }
        if let Some(jump) = self.continuity.as_mut().and_then(|continuity| continuity.follow(&mut packet, stream)) {
            let (name, stream) = (&self.name, stream.describe());
            let seconds = jump as f64 / 1e6;
            let message = format!("{name}: the clock of {stream} jumps by {seconds:+.3} s; times go on from there");
            self.jumps += 1;
            // A jump is detected again where other streams reach it: only the first is a notice.
            if self.jumps == 1 { self.notices.note(&message) } else { self.notices.detail(&message) }
        }
        if packet.stream() == self.video {
            self.check.iter_mut().for_each(|check| check.add(&packet));
            let media = &self.demuxer.media;
            let is_file = media.is_images() && media.streams[self.video].codec != "rawvideo";
            let metadata = if is_file { About::read(packet.data()) } else { None };
            self.about.extend(metadata.map(|about| (packet.time(), about)));
            self.about.extend(self.told.iter().flat_map(Receiver::try_iter));
            self.about.drain(..self.about.len().saturating_sub(MAX_ABOUT));
        }
        Ok(Some(packet))
    }

    fn damage(&self, packet: &Packet) -> Option<Damage> {
        let media = &self.demuxer.media;
        let is_photo = media.is_images() && media.streams[self.video].codec == "mjpeg";
        // Decoders fill in the missing end of a JPEG image without an error.
        if is_photo && end_of_jpeg(packet.data()).is_none() {
            return Some(Damage::CutShort);
        }
        let is_numbered = media.is_images() && media.streams[self.video].codec == "tiff" && self.pages.is_none();
        if is_numbered && pages::are_several(packet.data()) {
            return Some(Damage::Pages);
        }
        packet.is_corrupt().then_some(Damage::Corrupt)
    }
}

impl FilePackets {
    /// Reads packets from `demuxer`, and the metadata of a stack's pictures from `told`; `video` is the index of the
    /// stream that is decoded.
    pub fn new((demuxer, told): (Demuxer, Option<Told>), video: usize, name: String, notices: Notices) -> Self {
        let continuity = demuxer.media.may_jump.then(Continuity::default);
        let (furthest, last_of_video, jumps) = (i64::MIN / 2, None, 0);
        FilePackets {
            demuxer,
            video,
            name,
            notices,
            continuity,
            furthest,
            last_of_video,
            jumps,
            check: None,
            first: None,
            pages: None,
            about: VecDeque::new(),
            told,
        }
    }

    /// The metadata of the image that is shown at this time.
    pub fn about(&mut self, time: Option<i64>) -> Option<About> {
        let index = self.about.iter().position(|(known, _)| *known == time)?;
        self.about.drain(..=index).next_back().map(|(_, about)| about)
    }

    /// Makes the input, a TIFF file, read all of its pages. Returns their number; 1 if it is unknown.
    pub fn read_pages(&mut self) -> usize {
        // An error is not lost: the next read returns it again.
        let Ok(Some(file)) = self.demuxer.read() else { return 1 };
        match TiffPages::open(file) {
            Ok(pages) => self.pages.insert(pages).count(),
            Err(single) => {
                self.first = Some(single);
                1
            }
        }
    }

    /// The next packet; of a file of several pages, the next page.
    fn read_page(&mut self) -> Result<Option<Packet>, Error> {
        match self.first.take().or_else(|| self.pages.as_mut().and_then(TiffPages::next)) {
            Some(page) => Ok(Some(page)),
            None => self.demuxer.read(),
        }
    }

    /// Resets the state that depends on earlier packets, after a seek.
    pub fn forget(&mut self) {
        self.continuity = self.continuity.is_some().then(Continuity::default);
        (self.furthest, self.last_of_video, self.jumps) = (i64::MIN / 2, None, 0);
    }

    /// Compares the next packets of the video with those of `check`.
    pub fn expect(&mut self, check: ChunkCheck) {
        self.check = Some(check);
    }

    /// Whether a packet was read that differs from the expected one.
    pub fn differs(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.differs)
    }

    /// Whether an expected chunk has been read in part.
    pub fn is_inside_chunk(&self) -> bool {
        self.check.as_ref().is_some_and(ChunkCheck::is_inside)
    }

    /// Whether the clock has jumped.
    pub fn has_jumped(&self) -> bool {
        self.jumps > 0
    }

    /// The actual and the stored number of frames of the video, at the end of an input that was read from its
    /// beginning; `None` where none are missing, or the container stores no number.
    pub fn too_few_frames(&self) -> Option<(u64, u64)> {
        let (last, end) = self.last_of_video?;
        let media = &self.demuxer.media;
        match media.demuxer.as_str() {
            // The index, at the beginning or the end of the file, also lists frames that are cut off.
            name if name.starts_with("mov,") => {
                let (missing, all) = self.demuxer.indexed_after(self.video, last);
                (missing > 0).then_some((all - missing, all))
            }
            // The clock also counts frames that were dropped while filming, even the last ones: tolerate some missing
            // frames.
            "avi" => {
                let all = media.streams[self.video].frames.filter(|&all| all < UNKNOWN_COUNT)?;
                let there = u64::try_from(end).ok()?;
                (all.saturating_sub(there) > (all / 100).max(1)).then_some((there, all))
            }
            _ => None,
        }
    }

    /// A message if the input is shorter than its duration. Demuxers report a normal end for a file that was cut off.
    pub fn missing(&self) -> Option<String> {
        let media = &self.demuxer.media;
        let duration = media.duration?;
        // Matroska stores the duration from zero, other containers from their first timestamp.
        let read = self.furthest.max(media.start.unwrap_or(0)) - media.start.unwrap_or(0).min(0);
        let is_short = duration - read > SHORT_BY.max(duration / 100);
        let (read, duration) = (read as f64 / 1e6, duration as f64 / 1e6);
        is_short.then(|| format!("the input ends at {read:.1} s, but should be {duration:.1} s long (cut off?)"))
    }
}
