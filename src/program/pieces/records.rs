//! Joins measurements and curves of pieces to the files that a run without pieces would write.

use super::{PieceFolder, files_of_records};
use crate::sidecar::curves::{CurveFile, CurveWriter, FramePlace};
use crate::sidecar::records::Records;
use crate::sidecar::statistics::{PieceRecord, Recording};
use anyhow::{Context, Result, ensure};
use histeq::Limits;
use std::io::{BufRead, BufReader};

/// Writes the measurements and the curves of the first `pieces` pieces, as far as they are asked for.
///
/// # Errors
/// When they cannot be read or written, or some are missing.
pub fn join_records(folder: &PieceFolder<'_>, pieces: usize, records: &Records, limits: &Limits) -> Result<()> {
    records.recording.as_ref().map_or(Ok(()), |recording| join_stats(folder, pieces, recording))?;
    records.curves.as_ref().map_or(Ok(()), |curves| join_curves(folder, pieces, curves, limits))
}

/// Writes the measurements of the first `pieces` pieces to `recording`. Frames and scenes are numbered across pieces.
///
/// # Errors
/// When they cannot be read or written, or some are missing.
fn join_stats(folder: &PieceFolder<'_>, pieces: usize, recording: &Recording) -> Result<()> {
    let plan = folder.plan;
    let mut scenes = SceneNumbers::default();
    for piece in 0..pieces {
        let [stats, _] = files_of_records(piece);
        let name = folder.name(&stats);
        let file = BufReader::new(folder.read(&stats)?.with_context(|| format!("{name}: missing"))?);
        let first = (plan.pieces[piece].0 - plan.first()) as u64;
        let mut next = first;
        for line in file.lines() {
            let line: PieceRecord = serde_json::from_str(&line?).with_context(|| name.clone())?;
            let mut record = line.record;
            if record.frame < first {
                continue;
            }
            ensure!(record.frame == next, "{name}: frame {next} is missing (run piece {piece} again)");
            next += 1;
            record.scene = scenes.next(record.cut, record.after_flash);
            let levels = || line.levels.unwrap_or_default();
            recording.write(&record, levels, || line.pictures.unwrap_or_default().map(|jpeg| jpeg.0))?;
        }
        let end = first + plan.pieces[piece].1 as u64;
        ensure!(next == end, "{name}: frame {next} is missing (run piece {piece} again)");
    }
    Ok(())
}

/// Writes the curves of the first `pieces` pieces to `writer`.
fn join_curves(folder: &PieceFolder<'_>, pieces: usize, writer: &CurveWriter, limits: &Limits) -> Result<()> {
    let plan = folder.plan;
    for piece in 0..pieces {
        let [_, curves] = files_of_records(piece);
        // A missing file means that no frame has a curve: `check_records` has verified that.
        let Some(open) = folder.read(&curves)? else { continue };
        let file = CurveFile::from_file(open, &folder.name(&curves), limits)?;
        let first = (plan.pieces[piece].0 - plan.first()) as u64;
        for frame in first.max(file.begins_at())..first + plan.pieces[piece].1 as u64 {
            let place = FramePlace { frame, seconds: (0.0, 0.0), scene: 0, matrix: None };
            writer.write(place, file.format, file.mapping(file.index_at(frame)))?;
        }
    }
    Ok(())
}

/// Numbers scenes as a single run does: a cut begins a scene; after a flash that was taken for a scene, the scene
/// before it continues.
#[derive(Default)]
struct SceneNumbers {
    current: u64,
    other: u64,
    last: u64,
}

impl SceneNumbers {
    fn next(&mut self, cut: bool, after_flash: bool) -> u64 {
        if cut {
            self.last += 1;
            (self.other, self.current) = (self.current, self.last);
        } else if after_flash {
            std::mem::swap(&mut self.current, &mut self.other);
        }
        self.current
    }
}
