//! From the histogram of a frame to its curve: scene, window, modifiers, curve.

use super::modifiers::{capped, in_bins, limited};
use super::{Curve, Histogram, Levels, Tone};
use crate::spec::Guide;
use crate::spec::clahe::{TileHistograms, Tiles};
use crate::spec::parameters::Settings;
use crate::spec::time::{SceneWindows, WindowSums, WindowUpdate};

/// Computes the curve of each frame of a video from the histograms of the frames, in order.
#[derive(Clone, Debug)]
pub struct Equalization {
    settings: Settings,
    scenes: SceneWindows,
    window: WindowSums,
    /// The grid of tiles of the last frame; `None` before the first frame, and for methods without tiles.
    tiles: Option<Tiles>,
}

/// The curve of a frame.
#[derive(Clone, Debug)]
pub struct CurveStep {
    /// The curve.
    pub curve: Curve,
    /// The scene and window of the frame.
    pub update: WindowUpdate,
}

/// The tile histograms of a frame, summed up over its window.
#[derive(Clone, Debug)]
pub struct TileStep {
    /// The sums. [`TileCurves`](crate::spec::clahe::TileCurves) are computed from them later: that takes most of the time,
    /// needs no other frame, and can be done for several frames in parallel.
    pub window: TileHistograms,
    /// The scene and window of the frame.
    pub update: WindowUpdate,
}

impl Equalization {
    /// The state before the first frame.
    pub fn new(settings: Settings) -> Self {
        Equalization {
            settings,
            scenes: SceneWindows::new(settings.smoothing),
            window: WindowSums::default(),
            tiles: None,
        }
    }

    /// The settings of the next frame.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings, from the next frame on. Frames before stay in the window, unless the method, the length of
    /// the window, the region or the plateau changes, or with tiles the number of bins: these reset the window.
    pub fn set(&mut self, settings: Settings) {
        if settings == self.settings {
            return;
        }
        if settings.window_kind() == self.settings.window_kind() {
            self.settings = settings;
        } else {
            self.reset(settings);
        }
    }

    /// Forgets all frames. The numbers of scenes go on, so that frames in the look-ahead do not share a scene with new
    /// ones.
    pub fn reset(&mut self, settings: Settings) {
        *self = Equalization {
            scenes: SceneWindows::after(settings.smoothing, &self.scenes),
            ..Equalization::new(settings)
        };
    }

    /// The curve of the next frame, with this histogram, this size (columns, rows) and this guide; for
    /// [`Method::Global`](crate::spec::parameters::Method::Global). A frame with another size or other levels than the one before resets
    /// the window.
    pub fn next(&mut self, histogram: &Histogram, size: (usize, usize), guide: &Guide) -> CurveStep {
        let levels = histogram.levels();
        let update = self.scenes.next(guide.change, levels, size);
        let counts = capped(histogram.counts(), self.settings.plateau.cap(histogram.total()));
        let sum = self.window.next(&update, &counts);
        let window = Histogram::from_counts(levels, sum.to_vec());
        let tone = guide.tone.unwrap_or(Tone::plain(levels, &self.settings));
        CurveStep { curve: curve(&self.settings, &tone, &window), update }
    }

    /// The window of the next frame, whose samples are not counted. Levels of 8 bits count as those of 10, so that
    /// denoised frames, which have 10 bits, stay in the window of frames with 8.
    pub fn next_uncounted(&mut self, levels: Levels, size: (usize, usize), guide: &Guide) -> WindowUpdate {
        self.scenes.next(guide.change, levels.with_two_bits_more().unwrap_or(levels), size)
    }

    /// The tile histograms of the next frame, summed up over its window; for [`Method::Clahe`](crate::spec::parameters::Method::Clahe). A
    /// frame with another grid than the one before resets the window.
    pub fn next_tiles(&mut self, tiles: &TileHistograms, guide: &Guide) -> TileStep {
        if self.tiles != Some(tiles.tiles()) {
            self.reset(self.settings);
            self.tiles = Some(tiles.tiles());
        }
        let update = self.scenes.next(guide.change, tiles.bins().levels(), tiles.tiles().picture);
        // The bins of all tiles are summed up as one long histogram.
        let sums = self.window.next(&update, tiles.counts()).to_vec();
        TileStep { window: TileHistograms::from_counts(tiles.tiles(), tiles.bins(), sums), update }
    }

    /// Sets the number of the scene of the last frame, and the number of scenes so far, to those of another backend.
    pub fn set_scene_number(&mut self, number: u64, begun: u64) {
        self.scenes.set_current_number(number, begun);
    }
}

/// The curve of a window with this histogram.
pub(crate) fn curve(settings: &Settings, tone: &Tone, window: &Histogram) -> Curve {
    let levels = window.levels();
    let curve = if window.is_flat() {
        Curve::identity(levels)
    } else {
        let binned = in_bins(window, settings.bins);
        Curve::equalizing_up_to(&limited(&binned, tone.max_gain, tone.range), tone.ceiling)
    };
    curve.blended(levels, &tone.line, tone.strength).kept_under(levels, tone.ceiling)
}
