//! The curves of all tiles, and their blend at each pixel.

use super::{TileBins, TileHistograms, Tiles, clip};
use crate::spec::curves::detail::Detail;
use crate::spec::curves::{Levels, Line};
use crate::spec::parameters::{Gain, Settings, Strength};

/// How the curves of tiles are computed from their counts; see [`Tone::tile_levels`](crate::spec::curves::Tone::tile_levels).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLevels {
    /// With `detail`, the line that maps the base.
    pub line: Line,
    /// The first and the last level over which equalization spreads the counts above the contrast limit.
    pub range: (u32, u32),
    /// The peak to preserve (HDR): higher levels are kept, lower ones stay at or below it.
    pub ceiling: u32,
    /// Whether black stays black.
    pub keeps_black: bool,
    /// The contrast limit.
    pub max_gain: Gain,
    /// How detail is amplified; `None` is equalization.
    pub detail: Option<Detail>,
}

/// A curve for each tile. [`value`](TileCurves::value) defines the output at each pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileCurves {
    tiles: Tiles,
    levels: Levels,
    /// The strength, which is applied to the blended values.
    pub(crate) strength: Strength,
    luts: Vec<u16>,
}

impl TileCurves {
    /// The curves for the counts of a window. Of `settings`, only the strength is used.
    pub fn equalizing(window: &TileHistograms, settings: &Settings, beside: &TileLevels) -> Self {
        let (tiles, bins) = (window.tiles(), window.bins());
        let levels = bins.levels();
        let mut luts = Vec::with_capacity(tiles.count() * levels.codes());
        let mut clipped = vec![0; bins.count()];
        for counts in window.counts().chunks_exact(bins.count()) {
            clipped.copy_from_slice(counts);
            let total = match beside.detail {
                Some(detail) => detail.steps(&mut clipped, bins, &beside.line, beside.ceiling),
                None => {
                    clip(&mut clipped, beside.max_gain, bins.bin_range(beside.range));
                    clipped.iter().sum()
                }
            };
            push_lut(&mut luts, (&clipped, total), bins, beside);
        }
        TileCurves { tiles, levels, strength: settings.strength, luts }
    }

    /// Curves with these lookup tables, [`Levels::codes`] entries for each tile, tiles row by row.
    ///
    /// # Panics
    /// When there are more or fewer entries.
    pub fn given(tiles: Tiles, levels: Levels, luts: Vec<u16>) -> Self {
        assert_eq!(luts.len(), tiles.count() * levels.codes());
        TileCurves { tiles, levels, strength: Strength::FULL, luts }
    }

    /// The output for `code` at pixel (x, y); a code above the depth is read as the highest one.
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
        let blended = Share::new(sum, (width * height) as u64).half_even();
        let k = u64::from(self.strength.to_256ths());
        ((code as u64 * (256 - k) + blended * k + 128) >> 8) as u16
    }

    /// The grid of tiles.
    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// The levels of the picture.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The lookup table of a tile, before strength.
    pub fn lut(&self, tile: usize) -> &[u16] {
        &self.luts[tile * self.levels.codes()..][..self.levels.codes()]
    }

    /// The lookup tables of all tiles, row by row, [`Levels::codes`] entries each.
    pub fn luts(&self) -> &[u16] {
        &self.luts
    }
}

/// Appends the lookup table of a tile with these counts; the cumulative count `total` becomes the highest level.
fn push_lut(luts: &mut Vec<u16>, (counts, total): (&[u64], u64), bins: TileBins, beside: &TileLevels) {
    let levels = bins.levels();
    let steps = u64::from(beside.ceiling);
    // The output c*(L-1) / N is updated by additions: a division for each level would take most of the time at 16 bits.
    let mut share = Share::new(0, total);
    let one = Share::new(steps, total);
    let start = luts.len();
    luts.resize(start + usize::from(levels.lo()), 0);
    for (bin, &count) in counts.iter().enumerate() {
        let width = bins.levels_of(bin).len() as u64;
        // The count h*(j+1)/w is updated likewise: each level adds h/w, and one more when the remainders add up to w.
        let (each, rest) = if width == 1 { (count, 0) } else { (count / width, count % width) };
        let each = Share::new(each * steps, total);
        let mut remainders = 0;
        for _ in 0..width {
            share.add(each);
            remainders += rest;
            if remainders >= width {
                remainders -= width;
                share.add(one);
            }
            luts.push(levels.lo() + share.half_even() as u16);
        }
    }
    if beside.keeps_black {
        luts[start + usize::from(levels.lo())] = levels.lo();
    }
    if (beside.ceiling as usize) < levels.count() - 1 {
        let lut = &mut luts[start..];
        let highest = usize::from(levels.lo()) + beside.ceiling as usize;
        (highest + 1..lut.len()).for_each(|code| lut[code] = code as u16);
    }
    let (darkest, brightest) = (luts[start + usize::from(levels.lo())], luts[luts.len() - 1]);
    luts[start..start + usize::from(levels.lo())].fill(darkest);
    luts.resize(start + levels.codes(), brightest);
}

/// A fraction with the denominator `whole`, as quotient and remainder.
#[derive(Clone, Copy)]
struct Share {
    quotient: u64,
    rest: u64,
    whole: u64,
}

impl Share {
    /// `part / whole`.
    fn new(part: u64, whole: u64) -> Self {
        Share { quotient: part / whole, rest: part % whole, whole }
    }

    /// Adds a fraction with the same denominator.
    fn add(&mut self, other: Share) {
        self.quotient += other.quotient;
        self.rest += other.rest;
        if self.rest >= self.whole {
            self.rest -= self.whole;
            self.quotient += 1;
        }
    }

    /// The nearest integer; halves are rounded to even.
    fn half_even(self) -> u64 {
        self.quotient + u64::from(2 * self.rest + self.quotient % 2 > self.whole)
    }
}
