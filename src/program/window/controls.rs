//! State of the preview that keys and mouse change.

/// Change of divider and strength by one key press, as a share of their range.
pub const KEY_STEP: f64 = 0.05;

/// Which picture the preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewMode {
    /// The equalized picture.
    Equalized,
    /// The original picture.
    Original,
    /// The original left of the divider, the equalized picture right of it.
    Split,
}

/// State of the preview.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// Which picture is shown.
    pub mode: PreviewMode,
    /// Position of the divider, from 0 (left edge of the picture) to 1.
    pub divider: f64,
    /// Whether histogram and curve are shown.
    pub chart: bool,
    /// Whether the list of keys is shown.
    pub help: bool,
    /// Whether the picture is paused.
    pub paused: bool,
}

impl Default for Controls {
    fn default() -> Self {
        Controls { mode: PreviewMode::Equalized, divider: 0.5, chart: false, help: false, paused: false }
    }
}

impl Controls {
    /// Puts the divider at `share` of the picture's width, clamped to 0 to 1.
    pub fn set_divider(&mut self, share: f64) {
        self.divider = share.clamp(0.0, 1.0);
    }

    /// Number of columns, from the left, that show the original.
    pub fn original_columns(&self, width: usize) -> usize {
        match self.mode {
            PreviewMode::Equalized => 0,
            PreviewMode::Original => width,
            PreviewMode::Split => ((width as f64 * self.divider).round() as usize).min(width),
        }
    }
}
