//! The scenes of a video, found in a first pass. Each frame then depends on itself alone, so frames may be requested in
//! any order.

use super::Input;
use super::builder::InputFormat;
use crate::Result;
use crate::equalize::Survey;
use crate::spec::time::MappedScenes;
use std::sync::Arc;

/// The first pass over a video: all frames, in order.
pub struct SceneSurvey {
    survey: Survey,
    picture: InputFormat,
}

/// The scenes of a video, and the mapping of each.
#[derive(Clone)]
pub struct Scenes {
    pub(super) mapped: Arc<MappedScenes>,
}

impl SceneSurvey {
    pub(super) fn new(survey: Survey, picture: InputFormat) -> Self {
        SceneSurvey { survey, picture }
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// When the input does not have the bytes of such a frame.
    pub fn push<'a>(&mut self, input: impl Into<Input<'a>>) -> Result<()> {
        let frame = self.picture.frame(&input.into(), None)?;
        self.survey.add(&frame)
    }

    /// Ends the video.
    pub fn finish(self) -> Scenes {
        Scenes { mapped: Arc::new(self.survey.finish()) }
    }
}

impl Scenes {
    /// The number of frames.
    pub fn frames(&self) -> u64 {
        self.mapped.frames()
    }

    /// The number of scenes.
    pub fn count(&self) -> usize {
        self.mapped.scenes().len()
    }
}
