//! The expected content of timed frames: the reference's output for a still picture, frame after frame.
//!
//! The reference needs a second for a large frame. A still picture has the same histogram in every frame, and soon the
//! same curve; so this module counts the picture once, and maps it once per curve.

use anyhow::{Result, bail};
use histeq::internal::equalize::backend::reference::{histogram, map, tile_histograms};
use histeq::internal::frame::{Frame, HostPool};
use histeq::internal::spec::Guide;
use histeq::internal::spec::clahe::{TileBins, TileCurves, TileHistograms};
use histeq::internal::spec::curves::{Curve, Equalization, Histogram, Tone};
use histeq::internal::spec::parameters::{Gain, Method, Plateau, Settings, Smoothing, Threshold};

/// The expected frames of a still picture.
pub struct Expected<'a> {
    frame: &'a Frame,
    settings: Settings,
    equalization: Equalization,
    counts: Histogram,
    tile_counts: Option<TileHistograms>,
    mapped: Vec<(ExpectedMapping, Frame)>,
}

#[derive(PartialEq)]
enum ExpectedMapping {
    Curve(Curve),
    Tiles(TileCurves),
}

impl<'a> Expected<'a> {
    /// The state before the first frame.
    pub fn new(frame: &'a Frame, settings: Settings) -> Self {
        let bins = TileBins::new(frame.levels(), settings.bins);
        Expected {
            frame,
            settings,
            equalization: Equalization::new(settings),
            counts: histogram(frame, frame.whole()),
            tile_counts: frame.tiles(settings.method).map(|tiles| tile_histograms(frame, tiles, bins)),
            mapped: Vec::new(),
        }
    }

    /// Starts another run with an empty temporal window.
    pub fn begin(&mut self) {
        self.equalization = Equalization::new(self.settings);
    }

    /// Skips this number of frames.
    pub fn skip(&mut self, frames: usize) {
        (0..frames).for_each(|_| drop(self.next()));
    }

    /// The expected output of the last of `frames` further frames.
    ///
    /// # Panics
    /// When `frames` is 0.
    pub fn after(&mut self, frames: usize) -> &Frame {
        let mapping = (0..frames).map(|_| self.next()).last().expect("at least one frame");
        let found = self.mapped.iter().position(|(known, _)| *known == mapping);
        let place = found.unwrap_or_else(|| {
            let (pool, chroma) = (HostPool::default(), self.settings.chroma);
            let frame = match &mapping {
                ExpectedMapping::Curve(curve) => map(self.frame, chroma, &pool, |_, _, code| curve.apply(code)),
                ExpectedMapping::Tiles(curves) => map(self.frame, chroma, &pool, |x, y, code| curves.value(x, y, code)),
            };
            self.mapped.push((mapping, frame));
            self.mapped.len() - 1
        });
        &self.mapped[place].1
    }

    fn next(&mut self) -> ExpectedMapping {
        match &self.tile_counts {
            None => {
                let size = (self.frame.width(), self.frame.height());
                ExpectedMapping::Curve(self.equalization.next(&self.counts, size, &Guide::default()).curve)
            }
            Some(tiles) => {
                let step = self.equalization.next_tiles(tiles, &Guide::default());
                let tone = Tone::plain(tiles.bins().levels(), &self.settings);
                ExpectedMapping::Tiles(TileCurves::equalizing(&step.window, &self.settings, &tone.tile_levels()))
            }
        }
    }
}

/// Compares `found` with what is expected.
///
/// # Errors
/// When a byte differs: the message names the position of the first one.
pub fn check(what: &str, expected: &Frame, found: &Frame) -> Result<()> {
    for (index, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
        for y in 0..expected.rows() {
            if expected.row(y) != found.row(y) {
                let pairs = expected.row(y).iter().zip(found.row(y));
                let x = pairs.take_while(|(expected, found)| expected == found).count();
                bail!("{what}: byte {x} of row {y} of plane {index} is not what the reference says");
            }
        }
    }
    Ok(())
}

/// Compares `found` with what is expected.
///
/// # Errors
/// When a value differs: the message names the position of the first one.
pub fn check_values<T: PartialEq + std::fmt::Display>(what: &str, expected: &[T], found: &[T]) -> Result<()> {
    if expected.len() != found.len() {
        bail!("{what}: {} values, not {}", found.len(), expected.len());
    }
    // Slices of bytes are compared faster than one value after the other.
    if expected == found {
        return Ok(());
    }
    match expected.iter().zip(found).position(|(expected, found)| expected != found) {
        None => Ok(()),
        Some(index) => bail!("{what}: value {index} is {}, and {} by the reference", found[index], expected[index]),
    }
}

/// Settings with a window of a second at 25 frames per second, scene detection, plateau and contrast limit.
pub fn modified() -> Settings {
    Settings {
        smoothing: Smoothing::from_seconds(1.0, 25.0),
        scene_threshold: Threshold::from_share(0.2).expect("a share"),
        plateau: Plateau::Millionths(50_000),
        max_gain: Gain::from_slope(3.0).expect("a slope"),
        ..Settings::default()
    }
}

/// The settings of [`modified`] with a look-ahead of half a second.
pub fn ahead() -> Settings {
    Settings { smoothing: modified().smoothing.looking_ahead(12), ..modified() }
}

/// Settings of local equalization, with the same window.
pub fn local() -> Settings {
    Settings { method: Method::Clahe { columns: 8, rows: 8 }, plateau: Plateau::Off, ..modified() }
}

/// Settings that bring out detail, with the same window.
pub fn detail() -> Settings {
    Settings { method: Method::Detail { columns: 16, rows: 12 }, ..local() }
}
