//! The first of two passes over a video (`--smooth scene`): finds its scenes, and makes one mapping for each. The
//! second pass gives them to its frames.
//!
//! ```text
//! first   frame -> Gray, Depth, CountedRegion, Mask -> Measure, Histogram -> WholeScenes -> MappedScenes
//! second  frame -> EqualizeStage: SceneMappings (a MappingSource) -> Work -> Executor
//! ```

use super::counting::{CountedRegion, Gray, Mask, measure};
use super::cpu::Engine;
use super::stage::weights;
use super::{Depth, Given, MappingSource, OutputDepth};
use crate::error::{CallerError, Error, Result};
use crate::frame::{Frame, Limits};
use crate::spec::parameters::Settings;
use crate::spec::time::{MappedScenes, WholeScenes};
use std::sync::Arc;

/// Measures and counts all frames of a video.
pub struct Survey {
    settings: Settings,
    gray: Option<Gray>,
    depth: Depth,
    region: CountedRegion,
    mask: Option<Arc<Mask>>,
    engine: Engine,
    /// `None` before the first frame.
    scenes: Option<WholeScenes>,
    frames: u64,
}

impl Survey {
    /// The state before the first frame of a video. The second pass has to have the same settings, colour (none if
    /// `gray`), output depth and mask.
    ///
    /// # Panics
    /// When the method is one that does not have a mapping for a whole scene: local equalization, deflicker.
    pub fn new(settings: Settings, gray: bool, output: OutputDepth, mask: Option<Arc<Mask>>, limits: &Limits) -> Self {
        use crate::spec::parameters::Method::{Deflicker, Faint};
        let is_of_frames = settings.method.grid().is_some() || matches!(settings.method, Deflicker | Faint(_));
        assert!(!is_of_frames, "no method for whole scenes");
        let (gray, depth, region) =
            (gray.then(|| Gray::new(limits)), Depth::new(output, limits), CountedRegion::default());
        Survey { settings, gray, depth, region, mask, engine: Engine::best(), scenes: None, frames: 0 }
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// When the mask has another size, or the GPU that the frame is on fails.
    pub fn add(&mut self, frame: &Frame) -> Result<()> {
        let mask = weights(frame, self.mask.as_ref(), self.frames)?;
        let mask = mask.as_deref();
        let gray = self.gray.as_mut().map(|gray| gray.without_colour(frame)).transpose()?;
        let (frame, settings) = self.depth.lift(gray.unwrap_or_else(|| frame.clone()), self.settings)?;
        self.depth.drop_lifted();
        let frame = &frame;
        let mut counted = self.region.next(frame, &settings)?;
        if let Some(mask) = mask {
            counted = mask.around(counted);
        }
        let measure = measure(frame, counted, mask)?;
        let mut histogram = None;
        if settings.method.counts() {
            frame.bring_down()?;
            histogram = Some(match mask {
                Some(mask) => mask.histogram(frame, counted),
                None => self.engine.histogram(frame, counted),
            });
        }
        let settings = mask.map_or(settings, |mask| mask.settings(&settings));
        self.scenes.get_or_insert_with(|| WholeScenes::new(settings)).push(measure, histogram);
        self.frames += 1;
        Ok(())
    }

    /// Ends the video.
    pub fn finish(self) -> MappedScenes {
        self.scenes.unwrap_or_else(|| WholeScenes::new(self.settings)).finish()
    }
}

/// Gives each frame of the second pass the mapping of its scene.
pub struct SceneMappings(pub Arc<MappedScenes>);

impl MappingSource for SceneMappings {
    fn mapping(&mut self, number: u64, frame: &Frame, _settings: &Settings) -> Result<Given, CallerError> {
        let given = self.0.at(number).filter(|(mapping, _)| mapping.suits(frame.levels()));
        let (mapping, scene) = given.ok_or(Error::NotSurveyed { frame: number })?;
        Ok(Given { mapping: mapping.clone(), scene: Some(scene) })
    }
}
