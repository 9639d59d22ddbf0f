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

    /// Fills up each tile to as many samples as it has pixels. The added samples are distributed over the bins as the
    /// samples of all tiles together are. If no tile has a sample, all stay empty.
    #[must_use]
    pub fn filled(mut self) -> Self {
        let bins = self.bins.count();
        let mut below = vec![0; bins];
        for counts in self.counts.chunks_exact(bins) {
            below.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let mut all = 0;
        for sum in &mut below {
            all += *sum;
            *sum = all;
        }
        if all == 0 {
            return self;
        }
        let pixels = (self.tiles.width * self.tiles.height) as u64;
        for counts in self.counts.chunks_exact_mut(bins) {
            let missing = pixels - counts.iter().sum::<u64>();
            let mut given = 0;
            for (count, below) in counts.iter_mut().zip(&below) {
                let share = (u128::from(missing) * u128::from(*below) / u128::from(all)) as u64;
                *count += share - given;
                given = share;
            }
        }
        self
    }

    /// The grid of tiles.
    pub fn tiles(&self) -> Tiles {
        self.tiles
    }

    /// The bins of each tile.
    pub fn bins(&self) -> TileBins {
        self.bins
    }

    /// The size of all counts in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.counts[..])
    }

    /// The counts: all bins of the first tile, then of the second, and so on, row by row.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}
