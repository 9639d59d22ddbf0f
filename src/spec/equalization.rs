//! The way from a frame's histogram to its curve, in the order of the specification.

use super::{Curve, Histogram, Strength};

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How far the picture goes from the input to the equalized one.
    pub strength: Strength,
}

/// Turns the histograms of a video, frame by frame and in order, into curves.
#[derive(Clone, Debug)]
pub struct Equalization {
    settings: Settings,
}

impl Equalization {
    /// Nothing seen so far.
    pub fn new(settings: Settings) -> Self {
        Equalization { settings }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The curve of the next frame, which has this histogram.
    pub fn next(&mut self, histogram: &Histogram) -> Curve {
        Curve::equalizing(histogram).blended(self.settings.strength)
    }
}
