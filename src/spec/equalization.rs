//! The way from a frame's histogram to its curve, in the order of the specification.

use super::modifiers::{cap, in_bins, limited};
use super::{Curve, Histogram, Scenes, Settings, Turn, Window};

/// Turns the histograms of a video, frame by frame and in order, into curves.
#[derive(Clone, Debug)]
pub struct Equalization {
    settings: Settings,
    scenes: Scenes,
    window: Window,
}

/// What a frame's histogram led to.
#[derive(Clone, Debug)]
pub struct Step {
    /// What to send the frame through.
    pub curve: Curve,
    /// Where it belongs.
    pub turn: Turn,
}

impl Equalization {
    /// Nothing seen so far.
    pub fn new(settings: Settings) -> Self {
        Equalization { settings, scenes: Scenes::new(&settings), window: Window::default() }
    }

    /// The settings at hand.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Other settings from the next frame on. What has been seen still counts, unless the length of the window or the
    /// scene threshold is another one: then everything begins anew.
    pub fn set(&mut self, settings: Settings) {
        let remembers = |settings: &Settings| (settings.smoothing, settings.scene_threshold, settings.region);
        if remembers(&settings) == remembers(&self.settings) {
            self.settings = settings;
        } else {
            *self = Equalization::new(settings);
        }
    }

    /// The curve of the next frame, which has this histogram.
    pub fn next(&mut self, histogram: &Histogram) -> Step {
        let turn = self.scenes.next(histogram);
        let sum = self.window.next(&turn, histogram.counts());
        let window = Histogram::from_counts(histogram.levels(), sum.to_vec());
        Step { curve: curve(&self.settings, &window, histogram.total(), turn.frames), turn }
    }
}

/// The curve of a window of `frames` frames of `samples` samples each.
fn curve(settings: &Settings, window: &Histogram, samples: u64, frames: u32) -> Curve {
    if window.is_flat() {
        return Curve::identity(window.levels());
    }
    let binned = in_bins(window, settings.bins, cap(settings.plateau, samples, frames));
    Curve::equalizing(&limited(&binned, settings.max_gain)).blended(settings.strength)
}
