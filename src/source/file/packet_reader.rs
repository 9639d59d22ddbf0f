//! Reads the packets of an input, at times that follow each other, and notices when some are missing.

use super::continuity::Continuity;
use crate::ffmpeg::{Demuxer, Error, Media, Packet, microseconds, rescale};
use crate::pipeline::{Input, Notices};

/// An input that is shorter by more than this, and by more than a hundredth, was cut off (microseconds).
const SHORT_BY: i64 = 500_000;

/// What writers of AVI that cannot go back give as the number of frames, and more than any file has.
const UNKNOWN: u64 = 1 << 30;

/// A demuxer, and how far it has come.
pub struct PacketReader {
    pub(super) demuxer: Demuxer,
    /// Keeps times together where the container's clock may jump.
    continuity: Option<Continuity>,
    /// End of the last packet of any stream, in microseconds of the container's clock.
    furthest: i64,
    /// When the last packet of the video is decoded, and its end, in units of its stream.
    last_of_video: Option<(i64, i64)>,
    /// How often that clock has jumped.
    jumps: u32,
}

impl PacketReader {
    /// Reads what `demuxer` has opened.
    pub fn new(demuxer: Demuxer) -> Self {
        let continuity = demuxer.media().may_jump.then(Continuity::default);
        PacketReader { demuxer, continuity, furthest: i64::MIN / 2, last_of_video: None, jumps: 0 }
    }

    /// The next packet, at a time that follows those of the packets before it; `None` at the end.
    ///
    /// # Errors
    /// When reading fails before the end.
    pub fn read(&mut self, input: &Input, notices: &Notices) -> Result<Option<Packet>, Error> {
        let Some(mut packet) = self.demuxer.read()? else { return Ok(None) };
        let stream = &input.media.streams[packet.stream()];
        if let Some(time) = packet.time() {
            let end = rescale(time + packet.duration(), stream.time_base, microseconds());
            self.furthest = self.furthest.max(end);
        }
        if let Some(dts) = packet.dts().filter(|_| packet.stream() == input.video) {
            let (last, end) = self.last_of_video.unwrap_or((dts, dts));
            self.last_of_video = Some((last.max(dts), end.max(dts + packet.duration().max(1))));
        }
        if let Some(jump) = self.continuity.as_mut().and_then(|continuity| continuity.follow(&mut packet, stream)) {
            let (name, stream) = (&input.name, stream.describe());
            let seconds = jump as f64 / 1e6;
            let message = format!("{name}: the clock of {stream} jumps by {seconds:+.3} s; times go on from there");
            self.jumps += 1;
            // Streams that cross the seam at different places find it several times.
            if self.jumps == 1 { notices.note(&message) } else { notices.detail(&message) }
        }
        Ok(Some(packet))
    }

    /// How many frames of the video there are, and how many there should be, at the end of an input that was read from
    /// its beginning; `None` where none are missing, or the container does not count them.
    pub fn too_few_frames(&self, input: &Input) -> Option<(u64, u64)> {
        let (last, end) = self.last_of_video?;
        match input.media.demuxer.as_str() {
            // Its index lists every frame that is to be shown, in front of them or behind.
            name if name.starts_with("mov,") => {
                let (behind, all) = self.demuxer.indexed_behind(input.video, last);
                (behind > 0).then_some((all - behind, all))
            }
            // Its clock counts frames, those too that were dropped while filming and are not there. They may be the last.
            "avi" => {
                let (there, all) =
                    (u64::try_from(end).ok()?, input.video_stream().frames.filter(|&all| all < UNKNOWN)?);
                (all.saturating_sub(there) > (all / 100).max(1)).then_some((there, all))
            }
            _ => None,
        }
    }

    /// What is missing at the end of the input, which demuxers take for a normal end where a file was cut off.
    pub fn missing(&self, media: &Media) -> Option<String> {
        let duration = media.duration?;
        // Matroska counts its length from zero, other containers from their first timestamp.
        let read = self.furthest.max(media.start.unwrap_or(0)) - media.start.unwrap_or(0).min(0);
        let is_short = duration - read > SHORT_BY.max(duration / 100);
        let (read, duration) = (read as f64 / 1e6, duration as f64 / 1e6);
        is_short.then(|| format!("the input ends at {read:.1} s, but should be {duration:.1} s long (cut off?)"))
    }
}
