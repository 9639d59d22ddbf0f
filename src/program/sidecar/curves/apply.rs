//! Applies the curves of a file instead of computed ones (`--load-curves`), with their strength
//! ([`Mapping::with_strength`]).

use super::{CurveFile, CurveFormat};
use anyhow::{Result, ensure};
use histeq::CallerError;
use histeq::internal::equalize::{Given, MappingSource};
use histeq::internal::frame::Frame;
use histeq::internal::spec::curves::Mapping;
use histeq::internal::spec::parameters::{Settings, Strength};
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
        let (name, expected, format) = (&self.file.name, self.file.format, CurveFormat::for_frame(frame));
        ensure!(
            format == expected,
            "{name}: curves for {expected}, but frame {number} of the video has {format} (save curves of such \
             a video, or with the same --output-depth)"
        );
        let (index, strength) = (self.file.index_at(number), settings.strength);
        if let Some((_, _, mapping)) =
            self.last.as_ref().filter(|(place, with, _)| (*place, *with) == (index, strength))
        {
            return Ok(Given { mapping: mapping.clone(), scene: None });
        }
        let mapping = self.file.mapping(index).with_strength(frame.levels(), strength);
        self.last = Some((index, strength, mapping.clone()));
        Ok(Given { mapping, scene: None })
    }
}
