//! The curves of all tiles, and what a pixel between them becomes.

use super::{TileBins, TileHistograms, Tiles, clip};
use crate::spec::{Levels, Settings, Strength};

/// A curve for each tile. [`value`](TileCurves::value) is the definition of what a pixel becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileCurves {
    tiles: Tiles,
    levels: Levels,
    strength: Strength,
    luts: Vec<u16>,
}

impl TileCurves {
    /// The curves of a window with these counts. Of the settings the contrast limit and the strength matter.
    pub fn equalizing(window: &TileHistograms, settings: &Settings) -> Self {
        let (tiles, bins) = (window.tiles(), window.bins());
        let levels = bins.levels();
        let mut luts = Vec::with_capacity(tiles.count() * levels.codes());
        let mut held = vec![0; bins.count()];
        for counts in window.counts().chunks_exact(bins.count()) {
            held.copy_from_slice(counts);
            clip(&mut held, settings.max_gain);
            push_lut(&mut luts, &held, bins);
        }
        TileCurves { tiles, levels, strength: settings.strength, luts }
    }

    /// What `code` becomes at pixel (x, y) of the picture; a code above the depth is the highest one.
    pub fn value(&self, x: usize, y: usize, code: u16) -> u16 {
        let code = usize::from(code).min(self.levels.codes() - 1);
        let (across, down) = (self.tiles.across(x), self.tiles.down(y));
        let (width, height) = (2 * self.tiles.width, 2 * self.tiles.height);
        let mut sum = 0;
        for (row, down_weight) in down.tiles.into_iter().zip([height - down.weight, down.weight]) {
            for (column, across_weight) in across.tiles.into_iter().zip([width - across.weight, across.weight]) {
                let lut = self.lut(row * self.tiles.columns + column);
                sum += u64::from(lut[code]) * (across_weight * down_weight) as u64;
            }
        }
        let blended = Share::of(sum, (width * height) as u64).half_even();
        let k = u64::from(self.strength.of_256());
        ((code as u64 * (256 - k) + blended * k + 128) >> 8) as u16
    }

    /// The grid.
    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// The levels of the picture.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// What is left to be done to a blended value.
    pub fn strength(&self) -> Strength {
        self.strength
    }

    /// What each code becomes at the centre of a tile, before strength.
    pub fn lut(&self, tile: usize) -> &[u16] {
        &self.luts[tile * self.levels.codes()..][..self.levels.codes()]
    }

    /// The lookup tables of all tiles, row by row, [`Levels::codes`] entries each.
    pub fn luts(&self) -> &[u16] {
        &self.luts
    }
}

/// Appends the lookup table of a tile whose bins hold so many samples.
fn push_lut(luts: &mut Vec<u16>, held: &[u64], bins: TileBins) {
    let levels = bins.levels();
    let steps = levels.count() as u64 - 1;
    let total: u64 = held.iter().sum();
    // c*(L-1) / N, carried along: a division a level would take most of the time that a frame of 16 bits takes.
    let mut share = Share::of(0, total);
    let one = Share::of(steps, total);
    let start = luts.len();
    luts.resize(start + usize::from(levels.lo()), 0);
    for (bin, &held) in held.iter().enumerate() {
        let width = bins.levels_of(bin).len() as u64;
        // h*(j+1)/w, too: each level gets h/w, and one more as often as the rest of that adds up to one.
        let (each, rest) = if width == 1 { (held, 0) } else { (held / width, held % width) };
        let each = Share::of(each * steps, total);
        let mut gathered = 0;
        for _ in 0..width {
            share.add(each);
            gathered += rest;
            if gathered >= width {
                gathered -= width;
                share.add(one);
            }
            luts.push(levels.lo() + share.half_even() as u16);
        }
    }
    let (darkest, brightest) = (luts[start + usize::from(levels.lo())], luts[luts.len() - 1]);
    luts[start..start + usize::from(levels.lo())].fill(darkest);
    luts.resize(start + levels.codes(), brightest);
}

/// A sum divided by `whole`, as quotient and rest.
#[derive(Clone, Copy)]
struct Share {
    quotient: u64,
    rest: u64,
    whole: u64,
}

impl Share {
    /// `part / whole`.
    fn of(part: u64, whole: u64) -> Self {
        Share { quotient: part / whole, rest: part % whole, whole }
    }

    /// Adds another sum that is divided by the same.
    fn add(&mut self, other: Share) {
        self.quotient += other.quotient;
        self.rest += other.rest;
        if self.rest >= self.whole {
            self.rest -= self.whole;
            self.quotient += 1;
        }
    }

    /// The nearest integer, of two the even one.
    fn half_even(self) -> u64 {
        self.quotient + u64::from(2 * self.rest + self.quotient % 2 > self.whole)
    }
}
