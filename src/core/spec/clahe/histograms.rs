//! The histograms of all tiles.

use super::{TileBins, Tiles};

/// A histogram for each tile, of a frame or of the sum over a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileHistograms {
    tiles: Tiles,
    bins: TileBins,
    counts: Vec<u64>,
}

impl TileHistograms {
    /// Histograms without samples.
    pub fn new(tiles: Tiles, bins: TileBins) -> Self {
        TileHistograms { tiles, bins, counts: vec![0; tiles.count() * bins.count()] }
    }

    /// Histograms with these counts: all bins of the first tile, then of the second, and so on, row by row.
    ///
    /// # Panics
    /// When the number of counts is not the number of bins of all tiles.
    pub fn from_counts(tiles: Tiles, bins: TileBins, counts: Vec<u64>) -> Self {
        assert_eq!(counts.len(), tiles.count() * bins.count());
        TileHistograms { tiles, bins, counts }
    }

    /// Counts the sample at pixel (x, y) of the padded picture.
    pub fn add(&mut self, x: usize, y: usize, code: u16) {
        self.counts[self.tiles.at(x, y) * self.bins.count() + self.bins.bin(code)] += 1;
    }

    /// The grid.
    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// The bins of each tile.
    pub fn bins(&self) -> TileBins {
        self.bins
    }

    /// The bytes of all counts.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.counts[..])
    }

    /// The counts: all bins of the first tile, then of the second, and so on, row by row.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}
