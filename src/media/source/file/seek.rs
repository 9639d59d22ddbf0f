//! Seeks to the position where decoding begins, for a part that does not begin with the input.

use super::FileSource;
use super::continuity::Continuity;
use crate::ffmpeg::{microseconds, rescale};
use anyhow::{Context, Result};

/// Files up to this many bytes are read through in search of a jump of the clock.
const READ_THROUGH: u64 = 256 << 20;

impl FileSource {
    /// Seeks to the key frame before the requested part, or so much earlier that there are enough frames for the
    /// warm-up.
    pub(super) fn seek_to_start(&mut self) -> Result<()> {
        let origin = self.input.media.start.unwrap_or(0);
        // Seeking fails in pipes and in streams without timestamps: decode these from the beginning.
        let can_seek = !self.is_pipe && self.input.video_stream().start.is_some() && !self.is_after_jump();
        let Some(begin) = self.bounds.begin.filter(|&begin| begin > origin && can_seek) else { return Ok(()) };
        if self.clock_jumps()? {
            // After a jump, a timestamp may repeat, and a seek may find either: decode from the beginning.
            return Ok(());
        }
        let rate = self.input.rate().unwrap_or(25.0);
        let mut ahead = (f64::from(self.warm_up) / rate * 1e6).ceil() as i64;
        let mut untouched = true;
        loop {
            let start = begin - ahead;
            if ahead > 0 && start <= origin && untouched {
                return Ok(());
            }
            let sought = if ahead > 0 && start <= origin {
                self.video.packets.demuxer.rewind()
            } else {
                self.video.packets.demuxer.seek(start)
            };
            if let Err(error) = sought {
                // An input that cannot seek is decoded from the beginning instead.
                let name = &self.input.name;
                self.notices.detail(&format!("{name}: cannot seek ({error}); decoding from the beginning"));
                return if untouched {
                    Ok(())
                } else {
                    self.video.packets.demuxer.rewind().with_context(|| name.clone())
                };
            }
            if ahead == 0 || start <= origin {
                return Ok(());
            }
            // With a variable frame rate or distant key frames, the warm-up may be too short: count its frames.
            untouched = false;
            if self.frames_before(begin) >= self.warm_up && self.video.packets.demuxer.seek(start).is_ok() {
                return Ok(());
            }
            ahead = ahead.saturating_mul(2);
        }
    }

    /// Whether the part begins after the container's end time, and so after a jump of the clock.
    fn is_after_jump(&self) -> bool {
        let media = &self.input.media;
        let end = media.start.zip(media.duration).map(|(start, duration)| start + duration);
        media.may_jump && self.bounds.begin.zip(end).is_some_and(|(begin, end)| begin >= end)
    }

    /// Whether the input's clock jumps. Large files are not searched. Leaves the demuxer at the beginning.
    fn clock_jumps(&mut self) -> Result<bool> {
        if !self.input.media.may_jump || self.size.is_none_or(|size| size > READ_THROUGH) {
            return Ok(false);
        }
        let mut continuity = Continuity::default();
        let mut jumps = false;
        while let (false, Ok(Some(mut packet))) = (jumps, self.video.packets.demuxer.read()) {
            let stream = &self.input.media.streams[packet.stream()];
            jumps = continuity.follow(&mut packet, stream).is_some();
        }
        self.video.packets.demuxer.rewind().with_context(|| self.input.name.clone())?;
        Ok(jumps)
    }

    /// Counts decodable frames from here to `begin`, up to the number for the warm-up.
    fn frames_before(&mut self, begin: i64) -> u32 {
        let (video, time_base) = (self.input.video, self.video.time_base);
        let moment = |time| rescale(time, time_base, microseconds());
        let (mut first, mut count) = (None, 0);
        while let Ok(Some(packet)) = self.video.packets.demuxer.read() {
            let Some(time) = packet.time().filter(|_| packet.stream() == video) else { continue };
            if count >= self.warm_up || moment(packet.dts().unwrap_or(time)) >= begin {
                break;
            }
            if first.is_none() && packet.is_key() {
                first = Some(time);
            }
            // Frames that are shown before the first key frame do not count: they may depend on earlier ones.
            count += u32::from(first.is_some_and(|first| time >= first) && moment(time) < begin);
        }
        count
    }
}
