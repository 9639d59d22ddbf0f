//! What the user has chosen to see.

/// How far a key moves the divider, and the strength.
pub const STEP: f64 = 0.05;

/// What is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The equalized picture.
    Equalized,
    /// The picture as the camera filmed it.
    Original,
    /// The original on the left of the divider, the equalized one on the right.
    Split,
}

/// What the keys and the mouse have set.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// What is seen.
    pub view: View,
    /// Where the divider stands, 0 (the left edge of the picture) to 1.
    pub divider: f64,
    /// Whether histogram and curve are seen.
    pub chart: bool,
    /// Whether the keys are.
    pub help: bool,
    /// Whether the picture stands still.
    pub paused: bool,
}

impl Default for Controls {
    fn default() -> Self {
        Controls { view: View::Equalized, divider: 0.5, chart: false, help: false, paused: false }
    }
}

impl Controls {
    /// Moves the divider to this share of the picture's width, or as far as it goes.
    pub fn divide_at(&mut self, share: f64) {
        self.divider = share.clamp(0.0, 1.0);
    }

    /// How many of the picture's columns show the original.
    pub fn original_columns(&self, width: usize) -> usize {
        match self.view {
            View::Equalized => 0,
            View::Original => width,
            View::Split => ((width as f64 * self.divider).round() as usize).min(width),
        }
    }
}
