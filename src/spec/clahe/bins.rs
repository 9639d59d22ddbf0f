//! The bins of a tile's histogram.

use crate::spec::{Levels, bins};
use std::ops::Range;

/// Which level is counted in which bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileBins {
    levels: Levels,
    count: usize,
}

impl TileBins {
    /// The most bins that a tile has: a tile of a video has few samples, and there are many tiles.
    pub const MOST: usize = 4096;

    /// The bins for these levels, if so many are `asked` for.
    pub fn new(levels: Levels, asked: Option<u32>) -> Self {
        TileBins { levels, count: bins(levels, asked).min(TileBins::MOST) }
    }

    /// How many there are, 1 to [`MOST`](TileBins::MOST).
    pub fn count(&self) -> usize {
        self.count
    }

    /// The levels that fall into them.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// The bin of a code.
    pub fn of_code(&self, code: u16) -> usize {
        self.levels.level_of(code) * self.count / self.levels.count()
    }

    /// The levels, counted from lo, that fall into `bin`; at least one.
    pub fn levels_of(&self, bin: usize) -> Range<usize> {
        let first = |bin: usize| (bin * self.levels.count()).div_ceil(self.count);
        first(bin)..first(bin + 1)
    }
}
