//! The temporal rule, written once and driven by every backend: from what is counted of the frames of a video, in order,
//! to what each of them is sent through, and when.
//!
//! ```text
//! counts -> scene (Scenes) -> window (Window) -> curve (Equalization) -> wait for later frames (LookAhead) -> frame
//! ```

use super::clahe::TileHistograms;
use super::{Curve, Equalization, Histogram, LookAhead, Settings, WindowUpdate};
use std::sync::Arc;

/// What is counted of a frame: its own curve and those of later frames depend on this and on nothing else of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// For [`Method::Global`](super::Method::Global).
    Frame {
        /// Pixels in a row, and rows.
        size: (usize, usize),
        /// The histogram of the counted region.
        histogram: Histogram,
    },
    /// For [`Method::Clahe`](super::Method::Clahe).
    Tiles {
        /// The histogram of the whole frame, which tells its scene; a window of one frame does without it.
        frame: Option<Histogram>,
        /// Those of its tiles.
        tiles: TileHistograms,
    },
}

impl Counts {
    /// Pixels in a row of the frame, and rows.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Counts::Frame { size, .. } => *size,
            Counts::Tiles { tiles, .. } => tiles.tiles().picture,
        }
    }

    /// The histogram of the frame (of its counted region), if it was counted.
    pub fn histogram(&self) -> Option<&Histogram> {
        match self {
            Counts::Frame { histogram, .. } => Some(histogram),
            Counts::Tiles { frame, .. } => frame.as_ref(),
        }
    }
}

/// What a backend has to know of a frame that another backend has equalized: later frames may share a window with it.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// What was counted of it.
    pub counts: Arc<Counts>,
    /// How it was equalized.
    pub settings: Settings,
    /// Its scene, where the other backend knew it.
    pub scene: Option<Scene>,
}

/// The scene that a frame belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Counted from 0.
    pub number: u64,
    /// How many scenes have begun so far.
    pub begun: u64,
    /// The frame is the first after a cut.
    pub cut: bool,
    /// The frame is the first after a flash.
    pub after_flash: bool,
}

impl From<&WindowUpdate> for Scene {
    fn from(update: &WindowUpdate) -> Self {
        Scene { number: update.scene, begun: update.begun, cut: update.cut, after_flash: update.after_flash }
    }
}

/// What a frame is sent through; frames of a scene may share it.
#[derive(Clone, Debug)]
pub enum Mapping {
    /// One curve for all of its samples.
    Curve(Arc<Curve>),
    /// The counts of its tiles over the window. [`TileCurves`](super::clahe::TileCurves) are made of them, which needs no
    /// other frame and takes most of the time.
    Tiles(Arc<TileHistograms>),
}

/// What becomes of a frame.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Where the frame belongs.
    pub scene: Scene,
    /// What it is sent through.
    pub mapping: Mapping,
}

/// The frames of a video, in order. `F` is what stands for a frame while it waits.
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
    /// Takes in the next frame of the video. Gives the frame that has waited long enough for those behind it: this one,
    /// without a look-ahead.
    pub fn next(&mut self, settings: &Settings, counts: &Counts, frame: F) -> Option<(F, Decision)> {
        let Decision { scene, mapping } = self.decide(settings, counts);
        let ready = self.look_ahead.push(settings.smoothing.ahead(), scene.number, (frame, scene), mapping);
        ready.map(Decision::of_ready)
    }

    /// The oldest frame that waits, when no more frames will come.
    pub fn rest(&mut self) -> Option<(F, Decision)> {
        self.look_ahead.pop().map(Decision::of_ready)
    }

    /// Takes in a frame that waits for no other and that no other waits for: one from before those that are wanted.
    pub fn decide(&mut self, settings: &Settings, counts: &Counts) -> Decision {
        self.equalization.set(*settings);
        match counts {
            Counts::Frame { size, histogram } => {
                let step = self.equalization.next(histogram, *size);
                Decision { scene: (&step.update).into(), mapping: Mapping::Curve(step.curve.into()) }
            }
            Counts::Tiles { frame: Some(frame), tiles } => {
                let step = self.equalization.next_tiles(frame, tiles);
                Decision { scene: (&step.update).into(), mapping: Mapping::Tiles(step.window.into()) }
            }
            // A window of one frame holds that frame, wherever scenes are cut.
            Counts::Tiles { frame: None, tiles } => {
                Decision { scene: Scene::default(), mapping: Mapping::Tiles(Arc::new(tiles.clone())) }
            }
        }
    }

    /// Takes in a frame that another backend has equalized.
    pub fn remember(&mut self, seen: &Remembered) {
        self.decide(&seen.settings, &seen.counts);
        if let Some(scene) = seen.scene {
            self.equalization.name_scene(scene.number, scene.begun);
        }
    }
}

impl Decision {
    fn of_ready<F>(((frame, scene), mapping): ((F, Scene), Mapping)) -> (F, Decision) {
        (frame, Decision { scene, mapping })
    }
}
