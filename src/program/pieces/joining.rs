//! Which packet of which piece comes next, and with which times.
//!
//! An encoder gives the packet that it gives out as number `i` the decoding time of frame `i - d`, where `d` is its delay, and
//! the first `d` packets times before the first frame. Of pieces, that is made up for from the times of all frames, so that the
//! file has the times of one run.

use super::{FilePlan, hashes_of_records};
use anyhow::{Context, Result, bail, ensure};
use histeq_media::ffmpeg::{EncodedVideo, Packet};
use histeq_media::sink::{PieceDescription, PieceFile};
use histeq_media::sys::Hash;
use serde::Serialize;

/// The state of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PieceState {
    /// It is whole.
    Done,
    /// There is none.
    Missing,
    /// What is there is of another plan, or damaged.
    Wrong,
}

/// The state of a piece, and its description if it is whole.
pub fn state_of(file: &FilePlan, piece: usize) -> (PieceState, Option<PieceDescription>) {
    let path = file.piece_file(piece);
    match PieceFile::open(&path) {
        Ok(PieceFile { description, .. }) if is_of(&description, file, piece) => (PieceState::Done, Some(description)),
        Err(_) if !path.exists() => (PieceState::Missing, None),
        _ => (PieceState::Wrong, None),
    }
}

/// Whether all bytes of a piece, and of its measurements and curves, are those that were written.
pub fn is_intact(file: &FilePlan, piece: usize) -> bool {
    let open = PieceFile::open(&file.piece_file(piece));
    open.is_ok_and(|open| {
        let records = hashes_of_records(file, piece).is_ok_and(|hashes| hashes == open.description.records);
        records && is_of(&open.description, file, piece) && open.check().is_ok()
    })
}

fn is_of(description: &PieceDescription, file: &FilePlan, piece: usize) -> bool {
    (description.plan, description.piece) == (file.id(), piece) && description.packets.len() == file.pieces[piece].1
}

/// The packets of all pieces of a file, in the order of decoding.
pub struct Joining<'a> {
    plan: &'a FilePlan,
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
    /// Of all pieces; or of those up to the first gap, if `is_partial`.
    ///
    /// # Errors
    /// When pieces are missing, or do not go together.
    pub fn new(plan: &'a FilePlan, is_partial: bool) -> Result<Self> {
        let (mut times, mut missing) = (Vec::new(), Vec::new());
        let mut video: Option<EncodedVideo> = None;
        let (mut records, mut delay) = (Vec::new(), 0);
        for piece in 0..plan.pieces.len() {
            let (PieceState::Done, Some(description)) = state_of(plan, piece) else {
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
        Ok(Joining { plan, video, delay: delay.min(times.len() - 1), times, records, next: (0, 0), open: None })
    }

    /// How many pieces are joined.
    pub fn pieces(&self) -> usize {
        self.records.len()
    }

    /// Checks that the measurements and curves of the pieces are those that were written.
    pub fn check_records(&self) -> Result<()> {
        for (piece, written) in self.records.iter().enumerate() {
            let there = hashes_of_records(self.plan, piece)?;
            let differs = there.iter().zip(written).position(|(there, written)| there != written);
            if let Some(index) = differs {
                let (record, file) = (&self.plan.record_files(piece)[index], self.plan.piece_file(piece));
                let state = if there[index].is_none() { "missing" } else { "damaged" };
                let (record, file) = (record.display(), file.display());
                bail!("{record}: {state} (remove {file}, and run piece {piece} again)");
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
                return Ok(Some(Packet::of_bytes(&bytes, [packet.1, decoded], packet.2, packet.3)));
            }
            if self.next.0 == self.records.len() {
                return Ok(None);
            }
            let file = PieceFile::open(&self.plan.piece_file(self.next.0))?;
            ensure!(is_of(&file.description, self.plan, self.next.0), "piece {} has changed", self.next.0);
            self.open = Some(file);
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
