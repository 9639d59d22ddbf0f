//! Applies the curves of a file instead of computed ones (`--load-curves`). Strength is blended in as for any curve: a gain
//! of chroma `g` becomes `(4096 * (256 - k) + g * k + 128) >> 8`, with the strength `k` in 256ths.

use super::{CurveFile, CurveFormat};
use anyhow::{Result, ensure};
use histeq::CallerError;
use histeq::equalize::{Given, MappingSource};
use histeq::frame::Frame;
use histeq::spec::chroma::UNIT_GAIN;
use histeq::spec::{Line, Mapping, Settings, Strength};
use histeq_media::pipeline::to_stage;
use std::sync::Arc;

/// A source of curves from a file.
pub struct LoadedCurves {
    file: Arc<CurveFile>,
    /// The last curve, with its index in the file and its strength.
    last: Option<(usize, Strength, Mapping)>,
}

impl LoadedCurves {
    /// The curves of `file`.
    pub fn new(file: Arc<CurveFile>) -> Self {
        LoadedCurves { file, last: None }
    }
}

impl MappingSource for LoadedCurves {
    fn mapping(&mut self, number: u64, frame: &Frame, settings: &Settings) -> Result<Given, CallerError> {
        self.curve_for(number, frame, settings).map_err(to_stage)
    }
}

impl LoadedCurves {
    fn curve_for(&mut self, number: u64, frame: &Frame, settings: &Settings) -> Result<Given> {
        let (name, expected, format) = (self.file.name(), self.file.format(), CurveFormat::of(frame));
        ensure!(
            format == expected,
            "{name}: curves for {expected}, but frame {number} of the video has {format} (save curves of such a video, or with the same --output-depth)"
        );
        let (index, strength) = (self.file.index_at(number), settings.strength);
        if let Some((_, _, mapping)) = self.last.as_ref().filter(|(at, with, _)| (*at, *with) == (index, strength)) {
            return Ok(Given { mapping: mapping.clone(), scene: None });
        }
        let (curve, chroma_gain) = self.file.curve(index);
        let curve = curve.clone().blended(frame.levels(), &Line::IDENTITY, strength);
        let (k, unit) = (u64::from(strength.of_256()), u64::from(UNIT_GAIN));
        let chroma_gain = ((unit * (256 - k) + u64::from(chroma_gain) * k + 128) >> 8) as u32;
        let mapping = Mapping::Curve { curve: curve.into(), chroma_gain };
        self.last = Some((index, strength, mapping.clone()));
        Ok(Given { mapping, scene: None })
    }
}
