//! The temporal rule, which every backend uses: from the counts of the frames of a video, in order, to the curve of
//! each frame.
//!
//! ```text
//! Counts, Guide -> Equalization: Scenes -> WindowSums -> Curve -> LookAhead (waits for later frames) -> Decision
//! ```

use super::LookAhead;
use crate::spec::Guide;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::clahe::TileHistograms;
use crate::spec::curves::tone::{Balance, Tone};
use crate::spec::curves::{Equalization, Histogram, Levels, Mapping};
use crate::spec::parameters::Settings;
use std::sync::Arc;

/// The counts of a frame: everything that its curve and the curves of later frames depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// The counts for [`Method::Global`](crate::spec::parameters::Method::Global).
    Frame {
        /// Columns and rows of the frame, in pixels.
        size: (usize, usize),
        /// The histogram of the counted region.
        histogram: Histogram,
    },
    /// The counts for methods with tiles, such as [`Method::Clahe`](crate::spec::parameters::Method::Clahe).
    Tiles {
        /// The histogram of the whole frame, if it was requested.
        frame: Option<Histogram>,
        /// The histograms of its tiles.
        tiles: TileHistograms,
    },
    /// The counts for methods that count no samples.
    Nothing {
        /// Columns and rows of the frame, in pixels.
        size: (usize, usize),
        /// The levels of the frame.
        levels: Levels,
    },
}

impl Counts {
    /// Columns and rows of the frame, in pixels.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Counts::Frame { size, .. } | Counts::Nothing { size, .. } => *size,
            Counts::Tiles { tiles, .. } => tiles.tiles().picture,
        }
    }

    /// The histogram of the frame (of its counted region), if it was counted.
    pub fn histogram(&self) -> Option<&Histogram> {
        match self {
            Counts::Frame { histogram, .. } => Some(histogram),
            Counts::Tiles { frame, .. } => frame.as_ref(),
            Counts::Nothing { .. } => None,
        }
    }
}

/// The temporal state of a frame that another backend has equalized: later frames can have it in their window.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// The counts of the frame.
    pub counts: Arc<Counts>,
    /// The settings it was equalized with.
    pub settings: Settings,
    /// The guide it was equalized with.
    pub guide: Guide,
    /// The scene of the frame, if the other backend reported it.
    pub scene: Option<Scene>,
}

/// The scene that a frame belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Number of the scene, from 0.
    pub number: u64,
    /// Number of scenes so far.
    pub begun: u64,
    /// The frame is the first after a cut.
    pub cut: bool,
    /// The frame is the first after a flash.
    pub after_flash: bool,
}

/// The result for a frame.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The scene of the frame.
    pub scene: Scene,
    /// The mapping of the frame.
    pub mapping: Mapping,
}

/// The temporal state of a video. `F` is the type of a frame while it waits for later ones.
#[derive(Clone, Debug)]
pub struct Temporal<F> {
    equalization: Equalization,
    look_ahead: LookAhead<(F, Scene), Mapping>,
}

impl<F> Default for Temporal<F> {
    fn default() -> Self {
        Temporal { equalization: Equalization::new(Settings::default()), look_ahead: LookAhead::default() }
    }
}

impl<F> Temporal<F> {
    /// Adds the next frame of the video. Returns the frame that has no more frames to wait for: without a look-ahead,
    /// this one. No more frames may [wait](Temporal::waiting) than the look-ahead of `settings` has.
    pub fn next(&mut self, settings: &Settings, guide: &Guide, counts: &Counts, frame: F) -> Option<(F, Decision)> {
        let Decision { scene, mapping } = self.decide(settings, guide, counts);
        let ready = self.look_ahead.push(settings.backend_look_ahead(), scene.number, (frame, scene), mapping);
        ready.map(Decision::ready)
    }

    /// How many frames wait for later ones.
    pub fn waiting(&self) -> usize {
        self.look_ahead.len()
    }

    /// Removes the oldest frame that waits, and returns it with its result: for the end of the video, when no frame
    /// follows.
    pub fn pop_waiting(&mut self) -> Option<(F, Decision)> {
        self.look_ahead.pop().map(Decision::ready)
    }

    /// Adds a frame without the look-ahead and returns its result, as for frames before the requested part of the
    /// video.
    pub fn decide(&mut self, settings: &Settings, guide: &Guide, counts: &Counts) -> Decision {
        self.equalization.set(*settings);
        match counts {
            Counts::Frame { size, histogram } => {
                let step = self.equalization.next(histogram, *size, guide);
                let chroma_gain = guide.tone.map_or(UNIT_GAIN, |tone| tone.chroma_gain);
                Decision { scene: step.update.scene, mapping: Mapping::Curve { curve: step.curve.into(), chroma_gain } }
            }
            Counts::Tiles { tiles, .. } => {
                let step = self.equalization.next_tiles(tiles, guide);
                let tone = guide.tone.unwrap_or(Tone::plain(tiles.bins().levels(), settings));
                Decision { scene: step.update.scene, mapping: Mapping::Tiles { window: step.window.into(), tone } }
            }
            Counts::Nothing { size, levels } => {
                let update = self.equalization.next_uncounted(*levels, *size, guide);
                let mapping = guide.mapping.clone().unwrap_or(Mapping::Balance(Balance::IDENTITY));
                Decision { scene: update.scene, mapping }
            }
        }
    }

    /// Adds a frame that another backend has equalized.
    pub fn remember(&mut self, seen: &Remembered) {
        self.decide(&seen.settings, &seen.guide, &seen.counts);
        if let Some(scene) = seen.scene {
            self.equalization.set_scene_number(scene.number, scene.begun);
        }
    }
}

impl Decision {
    fn ready<F>(((frame, scene), mapping): ((F, Scene), Mapping)) -> (F, Decision) {
        (frame, Decision { scene, mapping })
    }
}
