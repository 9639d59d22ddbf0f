//! Launch shapes as data, so that a measurement changes a row and nothing else.
//!
//! The figures beside the rows are µs for one 3840x2160 plane on an NVIDIA H200, by `cargo bench --bench cuda`.

/// How a plane of samples of up to `depth` bits is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Histogram {
    pub depth: u8,
    /// Codes that one block counts, as a power of two; with fewer than all of them the plane is read once per window.
    pub log2_window: u32,
    /// Copies of each counter in shared memory, as a power of two, at most 5.
    pub log2_copies: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks a multiprocessor, all windows together.
    pub blocks: u32,
    /// Vectors that a thread counts before another block is worth its sums.
    pub vectors: u32,
}

/// By depth. Shared memory is `4 << (log2_window + log2_copies)` bytes, at most 64 KiB (what Turing has).
const HISTOGRAM: [Histogram; 6] = [
    Histogram { depth: 8, log2_window: 8, log2_copies: 5, threads: 1024, blocks: 2, vectors: 1 },
    Histogram { depth: 9, log2_window: 9, log2_copies: 4, threads: 1024, blocks: 2, vectors: 2 },
    Histogram { depth: 10, log2_window: 10, log2_copies: 3, threads: 1024, blocks: 2, vectors: 2 },
    Histogram { depth: 12, log2_window: 12, log2_copies: 1, threads: 1024, blocks: 2, vectors: 2 },
    Histogram { depth: 14, log2_window: 14, log2_copies: 0, threads: 1024, blocks: 2, vectors: 4 },
    Histogram { depth: 16, log2_window: 14, log2_copies: 0, threads: 1024, blocks: 2, vectors: 4 },
];

/// The row for samples of `depth` bits.
pub(super) fn histogram(depth: u8) -> &'static Histogram {
    HISTOGRAM.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// The most dynamic shared memory that a row of the table asks for, in bytes.
pub(super) const HISTOGRAM_SHARED: u32 = 64 << 10;

/// How a plane of samples of up to `depth` bits is mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    pub depth: u8,
    /// Whether each block copies the curve into shared memory.
    pub shared: bool,
    /// Threads of a block, at most 256.
    pub threads: u32,
    /// Blocks a multiprocessor.
    pub blocks: u32,
}

/// By depth.
const MAP: [Map; 3] = [
    Map { depth: 8, shared: true, threads: 256, blocks: 8 },
    Map { depth: 12, shared: true, threads: 256, blocks: 8 },
    Map { depth: 16, shared: false, threads: 256, blocks: 16 },
];

/// The row for samples of `depth` bits.
pub(super) fn map(depth: u8) -> &'static Map {
    MAP.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// Threads of a block of the luminance kernels.
pub(super) const LUMINANCE_THREADS: u32 = 256;

/// Threads of the scan's only block, for this many codes: each takes four at a time.
pub(super) fn scan_threads(codes: usize) -> u32 {
    (codes / 4).clamp(32, 1024) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_histogram_fits_shared_memory_and_covers_its_codes() {
        for depth in 8..=16 {
            let row = histogram(depth);
            assert!(4 << (row.log2_window + row.log2_copies) <= HISTOGRAM_SHARED);
            assert!(row.log2_copies <= 5 && row.threads <= 1024);
            assert!(row.log2_window <= u32::from(row.depth));
        }
    }

    #[test]
    fn every_scan_gives_each_warp_whole_rounds() {
        for depth in 8..=16 {
            let codes = 1usize << depth;
            assert_eq!(codes % (scan_threads(codes) as usize * 4), 0);
        }
    }
}
