//! Frames get kept curves in place of their own. Strength works on them as on any curve.

use super::{CurveFile, Kind};
use crate::equalize::CurveSource;
use crate::frame::Frame;
use crate::spec::{Curve, Settings, Strength};
use anyhow::{Result, ensure};
use std::sync::Arc;

/// The curves of a file, one for each frame.
pub struct KeptCurves {
    file: Arc<CurveFile>,
    /// The last curve, with its index in the file and the strength that it was blended with.
    last: Option<(usize, Strength, Arc<Curve>)>,
}

impl KeptCurves {
    /// Those of `file`.
    pub fn new(file: Arc<CurveFile>) -> Self {
        KeptCurves { file, last: None }
    }
}

impl CurveSource for KeptCurves {
    fn curve(&mut self, number: u64, frame: &Frame, settings: &Settings) -> Result<Arc<Curve>> {
        let (name, wanted, kind) = (self.file.name(), self.file.kind(), Kind::of(frame));
        ensure!(
            kind == wanted,
            "{name}: curves for {wanted}, but frame {number} of the video has {kind} (save curves of such a video)"
        );
        let (index, strength) = (self.file.index_at(number), settings.strength);
        if let Some((_, _, curve)) = self.last.as_ref().filter(|(at, with, _)| (*at, *with) == (index, strength)) {
            return Ok(curve.clone());
        }
        let curve = Arc::new(self.file.curve(index).clone().blended(strength));
        self.last = Some((index, strength, curve.clone()));
        Ok(curve)
    }
}
