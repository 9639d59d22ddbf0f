//! Counts the tiles that lie side by side in a row of tiles.
//!
//! Bytes are counted one by one here, each tile in four tables of 256 counters, used in turns. Counting pairs of bytes
//! as `word_histogram.rs` does would save less time than it takes to reset its 65,536 counters for each tile.

use crate::spec::clahe::{TileBins, TileHistograms, Tiles, mirrored};
use std::ops::Range;

/// Tables of counters for a tile, used in turns: a value that repeats does not wait for the last store to its counter.
const TURNS: usize = 4;

/// The counters of one row of tiles, and the counts of the rows of tiles that are done.
pub struct TileCounters {
    tiles: Tiles,
    bins: TileBins,
    /// Counters of bytes, by tile.
    bytes: Vec<[[u32; 256]; TURNS]>,
    /// Counters of words, by tile and bin; each bin has two that are used in turns.
    words: Vec<[u32; 2]>,
    /// The bin of each code of a word.
    bin_of: Vec<u16>,
    counts: Vec<u64>,
}

impl TileCounters {
    /// Counters that are zero, for samples of two bytes if `wide`, otherwise of one byte.
    pub fn new(tiles: Tiles, bins: TileBins, wide: bool) -> Self {
        let (mut bytes, mut words, mut bin_of) = (Vec::new(), Vec::new(), Vec::new());
        if wide {
            words = vec![[0; 2]; tiles.columns * bins.count()];
            bin_of = (0..bins.levels().codes()).map(|code| bins.bin(code as u16) as u16).collect();
        } else {
            bytes = vec![[[0; 256]; TURNS]; tiles.columns];
        }
        TileCounters { tiles, bins, bytes, words, bin_of, counts: Vec::with_capacity(tiles.count() * bins.count()) }
    }

    /// Counts a row of pixels of one byte, and the mirrored pixels that pad the tiles on the right.
    pub fn count_bytes(&mut self, row: &[u8]) {
        for (column, counters) in self.bytes.iter_mut().enumerate() {
            let (seen, beyond) = pixels(&self.tiles, column);
            count(&row[seen], counters);
            for x in beyond {
                counters[0][usize::from(row[mirrored(x, row.len())])] += 1;
            }
        }
    }

    /// Counts a row of codes, and the mirrored pixels that pad the tiles on the right.
    pub fn count_codes(&mut self, row: &[u16]) {
        for (column, counters) in self.words.chunks_exact_mut(self.bins.count()).enumerate() {
            let (seen, beyond) = pixels(&self.tiles, column);
            let bin = |code: u16| usize::from(self.bin_of[usize::from(code)]);
            let (pairs, rest) = row[seen].as_chunks::<2>();
            for [even, odd] in pairs {
                counters[bin(*even)][0] += 1;
                counters[bin(*odd)][1] += 1;
            }
            for code in rest.iter().copied().chain(beyond.map(|x| row[mirrored(x, row.len())])) {
                counters[bin(code)][0] += 1;
            }
        }
    }

    /// Ends a row of tiles; the counters are zero afterwards.
    pub fn end_row_of_tiles(&mut self) {
        for tile in &mut self.bytes {
            let start = self.counts.len();
            self.counts.resize(start + self.bins.count(), 0);
            for code in 0..256 {
                let count: u32 = tile.iter().map(|turn| turn[code]).sum();
                self.counts[start + self.bins.bin(code as u16)] += u64::from(count);
            }
            *tile = [[0; 256]; TURNS];
        }
        self.counts.extend(self.words.iter().map(|[even, odd]| u64::from(*even) + u64::from(*odd)));
        self.words.fill([0; 2]);
    }

    /// The counts, once all rows of tiles have ended.
    pub fn finish(self) -> TileHistograms {
        TileHistograms::from_counts(self.tiles, self.bins, self.counts)
    }
}

/// The pixel columns of a column of tiles: those inside the frame, and those of the padding.
fn pixels(tiles: &Tiles, column: usize) -> (Range<usize>, Range<usize>) {
    let (start, end) = (column * tiles.width, (column + 1) * tiles.width);
    let width = tiles.picture.0;
    (start.min(width)..end.min(width), start.max(width)..end.max(width))
}

fn count(row: &[u8], counters: &mut [[u32; 256]; TURNS]) {
    let (chunks, rest) = row.as_chunks::<8>();
    for chunk in chunks {
        // One load for eight samples: loads are what bounds a histogram.
        let chunk = u64::from_le_bytes(*chunk);
        for index in 0..8 {
            counters[index % TURNS][usize::from((chunk >> (8 * index)) as u8)] += 1;
        }
    }
    for byte in rest {
        counters[0][usize::from(*byte)] += 1;
    }
}
