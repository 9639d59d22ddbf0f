//! The histograms of all tiles, one after the other.

use super::{TileBins, Tiles};

/// What the samples of a frame, or of a window of frames, count in each tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileHistograms {
    tiles: Tiles,
    bins: TileBins,
    counts: Vec<u64>,
}

impl TileHistograms {
    /// Nothing counted.
    pub fn new(tiles: Tiles, bins: TileBins) -> Self {
        TileHistograms { tiles, bins, counts: vec![0; tiles.count() * bins.count()] }
    }

    /// These counts: those of all bins of the first tile, then those of the second, row by row.
    ///
    /// # Panics
    /// When there are more or fewer counts than bins of all tiles.
    pub fn from_counts(tiles: Tiles, bins: TileBins, counts: Vec<u64>) -> Self {
        assert_eq!(counts.len(), tiles.count() * bins.count());
        TileHistograms { tiles, bins, counts }
    }

    /// Counts the sample that is seen at pixel (x, y) of the padded picture.
    pub fn add(&mut self, x: usize, y: usize, code: u16) {
        self.counts[self.tiles.at(x, y) * self.bins.count() + self.bins.of_code(code)] += 1;
    }

    /// The grid.
    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// The bins of each tile.
    pub fn bins(&self) -> TileBins {
        self.bins
    }

    /// Tile after tile, row by row.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}
