//! The way from a frame's histogram to its curve, in the order of the specification.

use super::clahe::{TileHistograms, Tiles};
use super::modifiers::{cap, in_bins, limited};
use super::{Curve, Histogram, Method, Scenes, Settings, Window, WindowUpdate};

/// Turns the histograms of a video, frame by frame and in order, into curves.
#[derive(Clone, Debug)]
pub struct Equalization {
    settings: Settings,
    scenes: Scenes,
    window: Window,
    /// The grid of the frames at hand, if they have one.
    tiles: Option<Tiles>,
}

/// What a frame's histogram led to.
#[derive(Clone, Debug)]
pub struct Step {
    /// What to send the frame through.
    pub curve: Curve,
    /// Where it belongs.
    pub update: WindowUpdate,
}

/// What the histograms of a frame's tiles led to.
#[derive(Clone, Debug)]
pub struct TileStep {
    /// The sums over the window, which [`TileCurves`](super::clahe::TileCurves) are made of. That is most of the work,
    /// and needs no frame before: it can be done out of order.
    pub window: TileHistograms,
    /// Where the frame belongs.
    pub update: WindowUpdate,
}

impl Equalization {
    /// Nothing seen so far.
    pub fn new(settings: Settings) -> Self {
        Equalization { settings, scenes: Scenes::new(&settings), window: Window::default(), tiles: None }
    }

    /// The settings at hand.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Other settings from the next frame on. What has been seen still counts, unless the method, the length of the
    /// window, the scene threshold or the region is another one, or with tiles the number of bins: then everything begins
    /// anew.
    pub fn set(&mut self, settings: Settings) {
        if settings == self.settings {
            return;
        }
        let remembers = |settings: &Settings| {
            let Settings { method, smoothing, scene_threshold, region, .. } = *settings;
            // The window of a frame has all levels, that of its tiles has only bins.
            let bins = if method == Method::Global { None } else { settings.bins };
            (method, smoothing, scene_threshold, region, bins)
        };
        if remembers(&settings) == remembers(&self.settings) {
            self.settings = settings;
        } else {
            self.begin_anew(settings);
        }
    }

    /// Forgets everything. Frames that still wait for others must not take the next ones for those of their scene.
    fn begin_anew(&mut self, settings: Settings) {
        *self = Equalization { scenes: Scenes::after(&settings, &self.scenes), ..Equalization::new(settings) };
    }

    /// The curve of the next frame, which has this size and this histogram, where the method is [`Method::Global`]. A frame
    /// of another size or of other levels than the one before begins everything anew.
    pub fn next(&mut self, histogram: &Histogram, size: (usize, usize)) -> Step {
        let update = self.scenes.next(histogram, size);
        let sum = self.window.next(&update, histogram.counts());
        let window = Histogram::from_counts(histogram.levels(), sum.to_vec());
        Step { curve: curve(&self.settings, &window, histogram.total(), update.frames), update }
    }

    /// The sums of the next frame, which has these histograms, over its window, where the method is [`Method::Clahe`].
    /// `frame` is the histogram of all of its visible samples. A frame with another grid than the one before begins
    /// everything anew.
    pub fn next_tiles(&mut self, frame: &Histogram, tiles: &TileHistograms) -> TileStep {
        if self.tiles != Some(tiles.tiles()) {
            self.begin_anew(self.settings);
            self.tiles = Some(tiles.tiles());
        }
        let update = self.scenes.next(frame, tiles.tiles().picture);
        // One window over the bins of all tiles, as if they were one histogram.
        let sums = self.window.next(&update, tiles.counts()).to_vec();
        TileStep { window: TileHistograms::from_counts(tiles.tiles(), tiles.bins(), sums), update }
    }

    /// Gives the scene of the last frame the number that another backend gave it, as of `begun` scenes so far.
    pub fn name_scene(&mut self, number: u64, begun: u64) {
        self.scenes.name_current(number, begun);
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
