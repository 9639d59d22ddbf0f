//! The bins of a tile's histogram.

use crate::spec::curves::Levels;
use crate::spec::parameters::bins;
use std::ops::Range;

/// The assignment of levels to bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileBins {
    levels: Levels,
    count: usize,
}

impl TileBins {
    /// The largest number of bins of a tile: a tile has few samples, and there are many tiles.
    pub const MAX: usize = 4096;

    /// As many bins as `requested`, at most one for each level and [`MAX`](TileBins::MAX); `None` requests one for each
    /// level.
    pub fn new(levels: Levels, requested: Option<u32>) -> Self {
        TileBins { levels, count: bins(levels, requested).min(TileBins::MAX) }
    }

    /// Number of bins, 1 to [`MAX`](TileBins::MAX).
    pub fn count(&self) -> usize {
        self.count
    }

    /// The levels that fall into the bins.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The bin of a code.
    pub fn bin(&self, code: u16) -> usize {
        self.levels.level_of(code) * self.count / self.levels.count()
    }

    /// The first and the last bin of a range of levels (first and last), counted from lo.
    pub fn bin_range(&self, (first, last): (u32, u32)) -> (usize, usize) {
        let bin = |level: u32| level as usize * self.count / self.levels.count();
        (bin(first), bin(last))
    }

    /// The levels, counted from lo, that fall into `bin`; at least one.
    pub fn levels_of(&self, bin: usize) -> Range<usize> {
        let first = |bin: usize| (bin * self.levels.count()).div_ceil(self.count);
        first(bin)..first(bin + 1)
    }
}
