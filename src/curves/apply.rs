//! Applies the curves of a file instead of computed ones (`--load-curves`). Strength is blended in as for any curve.

use super::{CurveFile, CurveFormat};
use crate::equalize::CurveSource;
use crate::frame::Frame;
use crate::spec::{Curve, Line, Settings, Strength};
use anyhow::{Result, ensure};
use std::sync::Arc;

/// A source of curves from a file.
pub struct LoadedCurves {
    file: Arc<CurveFile>,
    /// The last curve, with its index in the file and its strength.
    last: Option<(usize, Strength, Arc<Curve>)>,
}

impl LoadedCurves {
    /// The curves of `file`.
    pub fn new(file: Arc<CurveFile>) -> Self {
        LoadedCurves { file, last: None }
    }
}

impl CurveSource for LoadedCurves {
    fn curve(&mut self, number: u64, frame: &Frame, settings: &Settings) -> Result<Arc<Curve>> {
        let (name, expected, format) = (self.file.name(), self.file.format(), CurveFormat::of(frame));
        ensure!(
            format == expected,
            "{name}: curves for {expected}, but frame {number} of the video has {format} (save curves of such a video, or with the same --output-depth)"
        );
        let (index, strength) = (self.file.index_at(number), settings.strength);
        if let Some((_, _, curve)) = self.last.as_ref().filter(|(at, with, _)| (*at, *with) == (index, strength)) {
            return Ok(curve.clone());
        }
        let curve = Arc::new(self.file.curve(index).clone().blended(frame.levels(), &Line::IDENTITY, strength));
        self.last = Some((index, strength, curve.clone()));
        Ok(curve)
    }
}
