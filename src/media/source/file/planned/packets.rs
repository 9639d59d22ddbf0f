//! Reads a file as it was planned: packets without decoding, or a part whose packets are known.

use super::chunks::{ChunkCheck, Planned, Survey};
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::{Error, Packet, microseconds, rescale};
use crate::pipeline::{Delivery, Interrupted, PartPosition};
use crate::source::file::{FileSource, FileState};
use crate::source::packets::{Chunk, InputChanged, PlannedPart};
use crate::source::video_reader::ReadPackets;
use anyhow::{Context, Result, ensure};
use std::sync::PoisonError;

/// The most packets of the video between two deliveries of a survey. With a delivery for each packet, the threads of
/// both processes would mostly wake each other.
const GROUP: u32 = 100;

impl FileSource {
    /// The packets of the next second of the video, or of less; `None` at the end.
    pub(crate) fn next_surveyed(&mut self, mut survey: Survey) -> Result<Option<Delivery>> {
        if self.state == FileState::Over {
            return Ok(None);
        }
        let found = survey.found.clone();
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        let second = rescale(1_000_000, microseconds(), self.video.time_base);
        let (mut packets, mut first) = (0, None);
        loop {
            match self.video.packets.read() {
                Ok(Some(packet)) if packet.stream() == self.input.video => {
                    survey.surveyor.add(&packet, &mut found);
                    let time = packet.pts().unwrap_or(0);
                    self.progress.count_decoded(rescale(time, self.video.time_base, microseconds()));
                    packets += 1;
                    if packets == GROUP || time.abs_diff(*first.get_or_insert(time)) >= second.unsigned_abs() {
                        break;
                    }
                }
                Ok(Some(packet)) => {
                    survey.surveyor.add_other(&packet);
                    self.keep(packet);
                    if self.others.are_many() {
                        break;
                    }
                }
                read => {
                    if let Err(error) = read
                        && error != Error::Exit
                    {
                        found.obstacle = Some(format!("it cannot be read to its end: {error}"));
                    }
                    survey.surveyor.end(&mut found);
                    found.jumps = self.video.packets.has_jumped();
                    drop(found);
                    self.check_end()?;
                    self.end()?;
                    break;
                }
            }
        }
        let delivery = self.delivery(None);
        self.survey = Some(survey);
        Ok(Some(delivery))
    }

    /// Goes to the first packet of a planned part.
    pub(crate) fn begin_planned(&mut self) -> Result<()> {
        let Some(Planned { part, .. }) = &self.planned else { return Ok(()) };
        let part = part.clone();
        let first = *part.chunks.first().with_context(|| self.changed("it is empty"))?;
        let time = first.start.with_context(|| self.changed("it cannot be cut where it was"))?;
        let name = self.input.name.clone();
        if part.skipped > 0 && part.can_seek {
            let moment = rescale(time, self.video.time_base, microseconds());
            if self.video.packets.demuxer.seek(moment).is_ok() {
                let packets = self.first_chunk(&first, |packet| packet.is_key() && packet.pts() == Some(time))?;
                if let Some(packets) = packets {
                    return self.go_on(packets, &part);
                }
            }
            // The index is wrong, or times depend on earlier packets: read all packets before the part, without
            // decoding.
            self.notices
                .detail(&format!("{name}: read from its beginning: a seek does not lead to the planned packet"));
            self.video.packets.demuxer.rewind().with_context(|| name.clone())?;
            self.video.packets.forget();
        }
        let mut skipped = 0;
        let is_first = |_: &Packet| {
            skipped += 1;
            skipped > part.skipped
        };
        let packets = self.first_chunk(&first, is_first)?;
        let packets = packets.ok_or_else(|| self.changed("its packets are others"))?;
        self.go_on(packets, &part)
    }

    /// The packets of this chunk, from the first packet of the video on that `is_first` accepts; `None` if they differ
    /// from the planned ones.
    fn first_chunk(&mut self, chunk: &Chunk, mut is_first: impl FnMut(&Packet) -> bool) -> Result<Option<Vec<Packet>>> {
        let mut check = ChunkCheck::new(&[*chunk]);
        let mut packets = Vec::new();
        while !check.is_over() {
            ensure!(!self.is_cancelled(), Interrupted(self.input.name.clone()));
            let Ok(Some(packet)) = self.video.packets.read() else { return Ok(None) };
            if packet.stream() != self.input.video || packets.is_empty() && !is_first(&packet) {
                let is_behind = packet.stream() == self.input.video && packet.is_key() && packet.pts() > chunk.start;
                if is_behind && packets.is_empty() {
                    return Ok(None);
                }
                continue;
            }
            check.add(&packet);
            packets.push(packet);
        }
        Ok((!check.differs).then_some(packets))
    }

    /// Decodes these packets of the first chunk, and then those after them.
    fn go_on(&mut self, packets: Vec<Packet>, part: &PlannedPart) -> Result<()> {
        self.video.packets.expect(ChunkCheck::new(&part.chunks[1..]));
        self.video.put_back(packets.into_iter().map(|packet| Ok(Some(packet))));
        Ok(())
    }

    /// The delivery of a decoded picture of a planned part; `None` if the picture is not in the part.
    pub(crate) fn take_planned(&mut self, picture: &Picture) -> Result<Option<Delivery>> {
        let Some(Planned { part, arrived }) = &mut self.planned else { return Ok(None) };
        let time = picture.time();
        if part.times.first().is_none_or(|first| time < Some(*first)) {
            return Ok(None);
        }
        let Some(due) = part.times.get(*arrived) else {
            self.state = FileState::Trailing;
            return Ok(None);
        };
        let (name, number, begin) = (&self.input.name, *arrived, part.times.get(part.before).copied());
        ensure!(
            time == Some(*due),
            "{name}: frames do not come at the times of their packets ({} instead of {due}): it cannot be cut (leave \
             --jobs out)",
            time.map_or("none".to_owned(), |time| time.to_string())
        );
        *arrived += 1;
        if *arrived == part.times.len() {
            self.state = FileState::Trailing;
        }
        let position = match number {
            number if number < part.before => PartPosition::Before,
            number if number < part.before + part.within => PartPosition::Within,
            _ => PartPosition::Behind,
        };
        let is_within = position == PartPosition::Within;
        if picture.is_damaged() && is_within {
            self.damaged("damaged, shown as far as it could be decoded")?;
        }
        let mut frame =
            self.to_native.frame(picture).with_context(|| format!("{}: frame {}", self.input.name, self.delivered))?;
        frame.pts = time.map(|time| time + self.shift());
        if is_within {
            self.delivered += 1;
            let since = time.zip(begin).map_or(0, |(time, begin)| time - begin);
            self.progress.count_decoded(rescale(since, self.video.time_base, microseconds()));
        }
        Ok(Some(Delivery { frame: Some(frame), position, ..Delivery::default() }))
    }

    /// Reads the current chunk to its end, to check it, and ends the part.
    pub(crate) fn end_planned(&mut self) -> Result<()> {
        while self.video.packets.is_inside_chunk() {
            if self.is_cancelled() || !matches!(self.video.packets.read(), Ok(Some(_))) {
                break;
            }
        }
        ensure!(self.is_cancelled() || !self.video.packets.is_inside_chunk(), self.changed("it is shorter"));
        self.check_chunks()?;
        self.state = FileState::Over;
        Ok(())
    }

    /// Checks that all packets were as planned so far.
    ///
    /// # Errors
    /// When one was not.
    pub(crate) fn check_chunks(&self) -> Result<()> {
        if self.video.packets.differs() { Err(self.changed("its packets are others")) } else { Ok(()) }
    }

    /// The error for a decoder that is at its end before the last frame.
    pub(crate) fn planned_frames_are_missing(&self) -> anyhow::Error {
        let (name, number) = (&self.input.name, self.delivered);
        anyhow::anyhow!("{name}: frame {number} of this piece cannot be decoded: it cannot be cut (leave --jobs out)")
    }

    fn changed(&self, how: &'static str) -> anyhow::Error {
        InputChanged(self.input.name.clone(), how.into()).into()
    }
}
