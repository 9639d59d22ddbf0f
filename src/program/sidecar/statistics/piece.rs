//! The data that a piece of a video stores of each frame, for a page of the whole video.

use super::FrameRecord;
use super::html::levels::FrameLevels;
use super::html::scenes::SETTLED;
use serde::{Deserialize, Serialize};

/// The record of a frame of a piece: a line of JSON.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PieceRecord {
    /// What is measured. Scenes are numbered from 0 in each piece.
    #[serde(flatten)]
    pub record: FrameRecord,
    /// The levels that a page draws, if a page is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<FrameLevels>,
    /// Small pictures before and after equalization as JPEG files, if it may be the frame that shows a scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<[Jpeg; 2]>,
}

/// A JPEG file; empty if it could not be made.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Jpeg(#[serde(with = "crate::sidecar::statistics::base64_bytes")] pub Vec<u8>);

/// Finds the frames of a piece that the page may show for a scene: the scene at the beginning of a piece may have begun
/// at any frame before.
#[derive(Default)]
pub struct SceneFrames {
    /// Frames since the last cut, or since the beginning.
    since: u64,
    has_cut: bool,
}

impl SceneFrames {
    /// Whether the page may show the next frame for its scene.
    pub fn next(&mut self, record: &FrameRecord) -> bool {
        if record.cut {
            (self.since, self.has_cut) = (0, true);
        }
        // `+ 1`: the frame before the piece may come first, to measure how the curve changes at the piece's first
        // frame.
        let may = self.since == 0 || self.since == SETTLED || !self.has_cut && self.since <= SETTLED + 1;
        self.since += 1;
        may
    }
}

#[cfg(test)]
mod tests {
    use super::super::html::scenes::PicturedScenes;
    use super::*;

    /// The records of `frames` frames, with cuts at the numbers in `cuts`.
    fn records(cuts: &[u64], frames: u64) -> Vec<FrameRecord> {
        let mut scene = 0;
        (0..frames)
            .map(|frame| {
                let cut = cuts.contains(&frame);
                scene += u64::from(cut);
                FrameRecord { frame, cut, scene, ..FrameRecord::default() }
            })
            .collect()
    }

    #[test]
    fn a_piece_keeps_each_frame_that_shows_a_scene_wherever_it_begins() {
        let records = records(&[40, 47, 80], 120);
        let mut shown = Vec::new();
        let mut scenes = PicturedScenes::default();
        for record in &records {
            scenes.add(record, || {
                shown.push(record.frame);
                Default::default()
            });
        }
        assert_eq!(shown, [0, SETTLED, 40, 47, 47 + SETTLED, 80, 80 + SETTLED]);
        for begin in 1..100 {
            let mut frames = SceneFrames::default();
            let kept: Vec<u64> =
                records[begin - 1..].iter().filter(|record| frames.next(record)).map(|record| record.frame).collect();
            let missing: Vec<_> =
                shown.iter().filter(|&&frame| frame >= begin as u64 && !kept.contains(&frame)).collect();
            assert!(missing.is_empty(), "{missing:?} of a piece that begins at {begin}");
            assert!(kept.len() < 24, "{kept:?}");
        }
    }
}
