//! The counts and the curves that are downloaded with a picture. They follow the samples in the same buffer, so that
//! one copy downloads all.
//!
//! ```text
//! samples (BufferLayout) | counts of codes, u32 | counts of tiles, u32 | curves, u16
//! ```

use super::history::History;
use super::task::{Readback, Task};
use crate::cuda::memory::layout::BufferLayout;
use crate::spec::clahe::{TileBins, TileHistograms, Tiles};
use crate::spec::curves::{Histogram, Levels};
use crate::spec::time::Counts;
use std::ops::Range;
use std::sync::Arc;

/// The byte ranges of the parts in the buffer. Parts that are not read back are empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadbackLayout {
    levels: Levels,
    size: (usize, usize),
    tiles: Option<(Tiles, TileBins)>,
    pub counts: Range<usize>,
    pub tile_counts: Range<usize>,
    pub curves: Range<usize>,
}

impl ReadbackLayout {
    /// The readback of `task` for a picture of this layout.
    pub fn new(layout: &BufferLayout, task: &Task) -> Self {
        let everything = task.parameters.method.counts() && task.readback == Readback::Everything;
        let is_windowed = task.parameters.method.counts() && History::slots_for(&task.parameters) > 0;
        let counted = task.counts.is_none() && (everything || is_windowed && task.readback == Readback::Window);
        let grid = task.tiles(layout).map(|(tiles, _)| (tiles, TileBins::new(task.levels, task.parameters.bins)));
        let codes = layout.codes();
        let start = layout.buffer_bytes();
        // With tiles, the codes of a frame are counted for the report alone.
        let counts_codes = if grid.is_some() { everything && counted } else { counted };
        let counts = start..start + if counts_codes { 4 * codes } else { 0 };
        let bins = grid.map_or(0, |(tiles, bins)| tiles.count() * bins.count());
        let tile_counts = counts.end..counts.end + if counted { 4 * bins } else { 0 };
        let curves = grid.map_or(1, |(tiles, _)| tiles.count());
        let curves = tile_counts.end..tile_counts.end + if everything { 2 * codes * curves } else { 0 };
        ReadbackLayout { levels: task.levels, size: layout.size, tiles: grid, counts, tile_counts, curves }
    }

    /// The bytes of the readback, which follow the samples.
    pub fn range(&self) -> Range<usize> {
        self.counts.start..self.curves.end
    }

    /// Bytes of a buffer for the samples and the readback.
    pub fn buffer_bytes(&self) -> usize {
        self.curves.end
    }

    /// The counts, from a downloaded buffer.
    pub fn read_counts(&self, buffer: &[u8]) -> Option<Arc<Counts>> {
        if self.counts.is_empty() && self.tile_counts.is_empty() {
            return None;
        }
        let words = |range: &Range<usize>| {
            buffer[range.clone()].chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        };
        let histogram = || Histogram::from_codes(self.levels, &words(&self.counts).collect::<Vec<u32>>());
        Some(Arc::new(match self.tiles {
            None => Counts::Frame { size: self.size, histogram: histogram() },
            Some((tiles, bins)) => {
                let counts = words(&self.tile_counts).map(u64::from).collect();
                let frame = (!self.counts.is_empty()).then(histogram);
                Counts::Tiles { frame, tiles: TileHistograms::from_counts(tiles, bins, counts) }
            }
        }))
    }

    /// The curves, from a downloaded buffer: an entry for each code, curve after curve.
    pub fn read_curves(&self, buffer: &[u8]) -> Option<Arc<[u16]>> {
        let codes = buffer[self.curves.clone()].chunks_exact(2).map(|code| u16::from_le_bytes([code[0], code[1]]));
        (!self.curves.is_empty()).then(|| codes.collect())
    }
}
