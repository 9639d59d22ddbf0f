//! Reads the packets of an input, at times that follow each other, and notices when some are missing.

use super::continuity::Continuity;
use super::jpeg;
use crate::ffmpeg::{Demuxer, Error, Packet, microseconds, rescale};
use crate::pipeline::Notices;
use crate::source::video_reader::{Damage, ReadPackets};

/// An input that is shorter by more than this, and by more than a hundredth, was cut off (microseconds).
const SHORT_BY: i64 = 500_000;

/// What writers of AVI that cannot go back give as the number of frames, and more than any file has.
const UNKNOWN: u64 = 1 << 30;

/// A demuxer, and how far it has come.
pub struct FilePackets {
    pub(super) demuxer: Demuxer,
    /// Index of the video that is decoded.
    video: usize,
    /// What messages call the input.
    name: String,
    notices: Notices,
    /// Of images whose numbers have a gap, how many are still to be read before it.
    before_gap: Option<u64>,
    /// Keeps times together where the container's clock may jump.
    continuity: Option<Continuity>,
    /// End of the last packet of any stream, in microseconds of the container's clock.
    furthest: i64,
    /// When the last packet of the video is decoded, and its end, in units of its stream.
    last_of_video: Option<(i64, i64)>,
    /// How often that clock has jumped.
    jumps: u32,
}

impl ReadPackets for FilePackets {
    fn demuxer(&mut self) -> &mut Demuxer {
        &mut self.demuxer
    }

    /// The next packet, at a time that follows those of the packets before it.
    fn read(&mut self) -> Result<Option<Packet>, Error> {
        let read = match self.demuxer.read() {
            // FFmpeg looks for the last image in leaps, which may carry it over a gap.
            Err(error) if error != Error::Exit && self.is_before_gap() => None,
            read => read?,
        };
        let Some(mut packet) = read else { return Ok(None) };
        let stream = &self.demuxer.media().streams[packet.stream()];
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
            // Streams that cross the seam at different places find it several times.
            if self.jumps == 1 { self.notices.note(&message) } else { self.notices.detail(&message) }
        }
        if packet.stream() == self.video {
            self.before_gap = self.before_gap.map(|images| images.saturating_sub(1));
        }
        Ok(Some(packet))
    }

    fn damage(&self, packet: &Packet) -> Option<Damage> {
        let media = self.demuxer.media();
        let is_photo = media.is_images() && media.streams[self.video].codec == "mjpeg";
        if is_photo && !jpeg::is_whole(packet.data()) {
            return Some(Damage::CutShort);
        }
        packet.is_corrupt().then_some(Damage::Corrupt)
    }
}

impl FilePackets {
    /// Reads what `demuxer` has opened, to decode the stream with index `video`. `before_gap` is the number of images before
    /// the first one that is missing, if one is.
    pub fn new(demuxer: Demuxer, video: usize, name: String, notices: Notices, before_gap: Option<u64>) -> Self {
        let continuity = demuxer.media().may_jump.then(Continuity::default);
        let (furthest, last_of_video, jumps) = (i64::MIN / 2, None, 0);
        FilePackets { demuxer, video, name, notices, before_gap, continuity, furthest, last_of_video, jumps }
    }

    /// Has it read all images before the first one that is missing?
    fn is_before_gap(&self) -> bool {
        self.before_gap == Some(0)
    }

    /// How many frames of the video there are, and how many there should be, at the end of an input that was read from
    /// its beginning; `None` where none are missing, or the container does not count them.
    pub fn too_few_frames(&self) -> Option<(u64, u64)> {
        let (last, end) = self.last_of_video?;
        let media = self.demuxer.media();
        match media.demuxer.as_str() {
            // Its index lists every frame that is to be shown, in front of them or behind.
            name if name.starts_with("mov,") => {
                let (behind, all) = self.demuxer.indexed_after(self.video, last);
                (behind > 0).then_some((all - behind, all))
            }
            // Its clock counts frames, those too that were dropped while filming and are not there. They may be the last.
            "avi" => {
                let all = media.streams[self.video].frames.filter(|&all| all < UNKNOWN)?;
                let there = u64::try_from(end).ok()?;
                (all.saturating_sub(there) > (all / 100).max(1)).then_some((there, all))
            }
            _ => None,
        }
    }

    /// What is missing at the end of the input, which demuxers take for a normal end where a file was cut off.
    pub fn missing(&self) -> Option<String> {
        if self.is_before_gap() {
            return None;
        }
        let media = self.demuxer.media();
        let duration = media.duration?;
        // Matroska counts its length from zero, other containers from their first timestamp.
        let read = self.furthest.max(media.start.unwrap_or(0)) - media.start.unwrap_or(0).min(0);
        let is_short = duration - read > SHORT_BY.max(duration / 100);
        let (read, duration) = (read as f64 / 1e6, duration as f64 / 1e6);
        is_short.then(|| format!("the input ends at {read:.1} s, but should be {duration:.1} s long (cut off?)"))
    }
}
