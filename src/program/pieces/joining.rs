//! The order and the times of the packets of all pieces.
//!
//! The decoding time of packet `i` of an encoder with a delay of `d` frames is the time of frame `i - d`; the first `d`
//! packets have times before the first frame. The decoding times of joined pieces are computed like this from the times
//! of all frames, so that the file has the times of a single run.

use super::{PieceFolder, PieceState, file_of_piece, files_of_records};
use anyhow::{Context, Result, bail, ensure};
use histeq_media::ffmpeg::encode::EncodedVideo;
use histeq_media::ffmpeg::{Packet, microseconds, rescale};
use histeq_media::pipeline::Cancel;
use histeq_media::sink::pieces::PieceFile;
use histeq_media::sys::Hash;

/// The packets of all pieces of a file, in the order of decoding.
pub struct Joining<'a> {
    folder: &'a PieceFolder<'a>,
    /// How the video was encoded.
    pub video: EncodedVideo,
    /// The times of all frames.
    times: Vec<i64>,
    /// The delay of the encoder, in packets.
    delay: usize,
    /// The hashes of measurements and curves of the pieces that are joined.
    records: Vec<[Option<Hash>; 2]>,
    /// The number of the next piece, and of the next packet.
    next: (usize, usize),
    open: Option<PieceFile>,
}

impl<'a> Joining<'a> {
    /// The packets of all pieces or, if `is_partial`, of those before the first missing one.
    ///
    /// # Errors
    /// When pieces are missing, or were encoded differently.
    pub fn new(folder: &'a PieceFolder<'a>, is_partial: bool) -> Result<Self> {
        let plan = folder.plan;
        let (mut times, mut missing) = (Vec::new(), Vec::new());
        let mut video: Option<EncodedVideo> = None;
        let (mut records, mut delay) = (Vec::new(), 0);
        for piece in 0..plan.pieces.len() {
            let (PieceState::Done, Some(description)) = folder.state_of(piece) else {
                if is_partial {
                    break;
                }
                missing.push(piece.to_string());
                continue;
            };
            let mut shown: Vec<i64> = description.packets.iter().map(|packet| packet.1).collect();
            shown.sort_unstable();
            times.extend(shown);
            ensure!(
                video.get_or_insert_with(|| description.video.clone()) == &description.video,
                "{}: piece {piece} was encoded in another way than the first: the picture changes its kind, or another \
                 encoder was at work (leave --jobs out, or run all pieces again with the same libraries)",
                plan.input
            );
            delay = delay.max(description.delay);
            records.push(description.records);
        }
        if !missing.is_empty() {
            let (count, all, list) = (missing.len(), plan.pieces.len(), missing.join(", "));
            bail!("{}: {count} of {all} pieces are missing: {list} (run them first)", plan.input);
        }
        let video = video.with_context(|| format!("{}: no piece is done", plan.input))?;
        let increase = times.windows(2).all(|pair| pair[0] < pair[1]);
        ensure!(increase, "{}: the times of two pieces overlap (a bug: please report it)", plan.input);
        Ok(Joining { folder, video, delay: delay.min(times.len() - 1), times, records, next: (0, 0), open: None })
    }

    /// How many pieces are joined.
    pub fn pieces(&self) -> usize {
        self.records.len()
    }

    /// Checks that the measurements and curves of the pieces are those that were written.
    ///
    /// # Errors
    /// When they are not, or the run was interrupted.
    pub fn check_records(&self, cancel: &Cancel) -> Result<()> {
        for (piece, written) in self.records.iter().enumerate() {
            let there = self.folder.hashes_of_records(piece, cancel)?;
            let differs = there.iter().zip(written).position(|(there, written)| there != written);
            if let Some(index) = differs {
                let state = if there[index].is_none() { "missing" } else { "damaged" };
                let name = |file: &str| self.folder.name(file);
                let (record, file) = (name(&files_of_records(piece)[index]), name(&file_of_piece(piece)));
                bail!("{record}: {state} (remove {file}, and run piece {piece} again)");
            }
        }
        Ok(())
    }

    /// Checks that the frames of the pieces have the times that were planned. `shift` microseconds are added to the
    /// times of the input before encoding.
    ///
    /// # Errors
    /// When they have other times.
    pub fn check_times(&self, shift: i64) -> Result<()> {
        let (plan, base) = (self.folder.plan, self.video.time_base());
        let shift = rescale(shift, microseconds(), plan.time_base());
        let mut joined = self.times.iter();
        let mut planned = plan.times.from(plan.first());
        for (piece, (_, frames)) in plan.pieces.iter().enumerate().take(self.pieces()) {
            let mut last = None;
            for time in planned.by_ref().take(*frames) {
                // If the encoder's clock is coarser than the input's, equal times are moved on by 1.
                let time = rescale(time.saturating_add(shift), plan.time_base(), base);
                let time = last.map_or(time, |last: i64| time.max(last.saturating_add(1)));
                last = Some(time);
                let file = || self.folder.name(&file_of_piece(piece));
                let is_planned = joined.next() == Some(&time);
                ensure!(is_planned, "{}: other times than planned (remove it, and run piece {piece} again)", file());
            }
        }
        Ok(())
    }

    /// When the first frame is shown, in units of the video's time base.
    pub fn begin(&self) -> i64 {
        self.times[0]
    }

    /// The next packet.
    pub fn next_packet(&mut self) -> Result<Option<Packet>> {
        loop {
            if let Some(open) = &mut self.open
                && let Some((bytes, packet)) = open.next_packet()?
            {
                let decoded = self.decoded_at(self.next.1);
                self.next.1 += 1;
                return Ok(Some(Packet::from_bytes(&bytes, [packet.1, decoded], packet.2, packet.3)));
            }
            if self.next.0 == self.records.len() {
                return Ok(None);
            }
            let file = self.folder.piece(self.next.0)?;
            self.open = Some(file.with_context(|| format!("piece {} has been removed", self.next.0))?);
            self.next.0 += 1;
        }
    }

    /// When packet `number` is decoded.
    fn decoded_at(&self, number: usize) -> i64 {
        match number.checked_sub(self.delay) {
            Some(shown) => self.times[shown],
            None => self.times[number] - (self.times[self.delay] - self.times[0]),
        }
    }
}
