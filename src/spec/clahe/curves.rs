//! The curves of all tiles, and what a pixel between them becomes.

use super::{TileHistograms, Tiles, clip};
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
        let mut by_level = vec![0; levels.count()];
        for held in window.counts().chunks_exact(bins.count()) {
            let mut held = held.to_vec();
            clip(&mut held, settings.max_gain);
            let total: u64 = held.iter().sum();
            let mut below = 0;
            for (bin, &held) in held.iter().enumerate() {
                let of_bin = &mut by_level[bins.levels_of(bin)];
                let width = of_bin.len() as u64;
                for (level, index) in of_bin.iter_mut().zip(0..) {
                    let cumulative = below + held * (index + 1) / width;
                    *level = levels.lo() + half_even(cumulative * (levels.count() as u64 - 1), total) as u16;
                }
                below += held;
            }
            luts.extend((0..levels.codes()).map(|code| by_level[levels.level_of(code as u16)]));
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
        let blended = half_even(sum, (width * height) as u64);
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

/// `part / whole`, rounded to the nearest integer, halves to the even one.
fn half_even(part: u64, whole: u64) -> u64 {
    let (down, rest) = (part / whole, part % whole);
    let up = 2 * rest > whole || 2 * rest == whole && down % 2 == 1;
    down + u64::from(up)
}
