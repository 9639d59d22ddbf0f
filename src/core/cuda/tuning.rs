//! Launch shapes as data. To tune a kernel, change its row here, and where the row says that the kernel has the same
//! constant, also that constant in `kernels`.
//!
//! The figures beside the rows are µs for one 3840x2160 plane of photo-like content on an NVIDIA H200, launched back to
//! back. `histeq-lab kernels` measures them; figures for alternatives come from other rows in the table.

/// The launch of `histogram` for samples of up to `depth` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistogramTuning {
    pub depth: u8,
    /// The most codes that one block counts, as a power of two. If a window has fewer codes than the samples, the plane
    /// is read once per window.
    log2_window: u32,
    /// Copies of each counter in shared memory, as a power of two, at most 5.
    pub log2_copies: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks per multiprocessor, of all windows together.
    pub blocks: u32,
    /// The fewest vectors per thread: with fewer, a further block costs more for adding its sums than it saves.
    pub vectors: u32,
}

impl HistogramTuning {
    /// Codes that one block counts, as a power of two, with `shared` bytes of shared memory.
    pub(super) fn log2_window_in(&self, shared: u32) -> u32 {
        self.log2_window.min((shared / 4).ilog2() - self.log2_copies)
    }
}

/// The launches of `histogram`, by depth. A block has `4 << (log2_window + log2_copies)` bytes of shared memory: up to
/// 14 bits at most 64 KiB, which all GPUs have.
const HISTOGRAM: [HistogramTuning; 6] = [
    // 6.5 µs; before launches overlapped 7.6, also with 4 or 16 copies; at that time 7.8 with 32 copies, 7.8 to 8.3
    // with 2 blocks, 8.3 to 8.7 with 512 threads.
    HistogramTuning { depth: 8, log2_window: 8, log2_copies: 3, threads: 1024, blocks: 1, vectors: 1 },
    HistogramTuning { depth: 9, log2_window: 9, log2_copies: 3, threads: 1024, blocks: 1, vectors: 1 },
    // 9.4 µs; before launches overlapped 10.4, with 2 blocks 11.1, with 512 threads 11.7 to 12.5.
    HistogramTuning { depth: 10, log2_window: 10, log2_copies: 3, threads: 1024, blocks: 1, vectors: 1 },
    // 9.9 µs; before launches overlapped 11.1, with 2 blocks 12.2, with 512 threads 13.2 to 14.8.
    HistogramTuning { depth: 12, log2_window: 12, log2_copies: 1, threads: 1024, blocks: 1, vectors: 1 },
    // 11.1 µs; before launches overlapped 13.7, with 2 blocks 15.9, with 512 threads 17.5 to 23.8.
    HistogramTuning { depth: 14, log2_window: 14, log2_copies: 0, threads: 1024, blocks: 1, vectors: 1 },
    // 20.7 µs; with half the window 31.7.
    HistogramTuning { depth: 16, log2_window: 15, log2_copies: 0, threads: 1024, blocks: 1, vectors: 1 },
];

/// The row for samples of `depth` bits.
pub(super) fn histogram(depth: u8) -> &'static HistogramTuning {
    HISTOGRAM.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// Threads of a block of the fused kernel, with one block per multiprocessor. 8 bits, 4K, before launches overlapped:
/// 10.2 µs; two blocks of 512 threads 15.7.
pub(super) const FUSED_THREADS: u32 = 1024;

/// The fused kernel for samples of up to `depth` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct FusedTuning {
    pub depth: u8,
    /// Copies of each entry of the table in shared memory, as a power of two; the kernel has the same constant.
    pub log2_copies: u32,
    /// The blocks with a temporal window where launches overlap. Of the two blocks per multiprocessor, one belongs to
    /// the next launch, which counts while this launch maps.
    pub window: BlockShape,
}

/// The fused kernel, by depth. At 4K, 8 bits take 8.1 µs, 10 bits 16.1. At 12 bits the table would fit too, but
/// separate kernels are mostly faster (µs, separate / fused): 1080p 12.9 / 13.5, with a window 13.9 / 18.0, with a
/// look-ahead 14.6 / 19.3; 4K 22.9 / 21.7, 24.2 / 22.9, 25.9 / 27.1.
pub(super) const FUSED: [FusedTuning; 2] = [
    FusedTuning { depth: 8, log2_copies: 5, window: BlockShape { threads: 512, blocks: 2 } },
    FusedTuning { depth: 10, log2_copies: 3, window: BlockShape { threads: 512, blocks: 2 } },
];

/// The distribution of a batch of planes over the blocks of the fused kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BatchGrid {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks a multiprocessor.
    pub blocks: u32,
    /// Blocks that process a plane together.
    pub team: u32,
    /// Planes that are processed at once.
    pub teams: u32,
}

/// Rows for planes of up to this many bytes: the shape of the blocks, and the most bytes of a plane per block, so that
/// all blocks of a multiprocessor fit its shared memory. 8 bits, per frame: 720p 0.86 µs, 1080p 1.7, 4K 5.7 (with the
/// blocks of 1080p 6.6).
const BATCH: [(u32, BlockShape, u32); 2] = [
    (4 << 20, BlockShape { threads: 512, blocks: 2 }, 64 << 10),
    (u32::MAX, BlockShape { threads: FUSED_THREADS, blocks: 1 }, 190 << 10),
];

/// Threads of a block, and blocks per multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BlockShape {
    pub threads: u32,
    pub blocks: u32,
}

/// The row for planes of `plane_bytes` bytes. All blocks share one plane if two planes do not fit in shared memory.
pub(super) fn batch(plane_bytes: u32, multiprocessors: u32) -> BatchGrid {
    let (_, BlockShape { threads, blocks }, share) =
        BATCH.iter().find(|row| plane_bytes <= row.0).expect("a row for any number");
    let (threads, blocks) = (*threads, *blocks);
    let places = multiprocessors * blocks;
    let teams = (places / plane_bytes.div_ceil(*share)).max(1);
    // The teams share all blocks, so that no multiprocessor is idle.
    BatchGrid { threads, blocks, team: places / teams, teams }
}

/// The launch of `map` for pictures of up to `depth` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct MapTuning {
    pub depth: u8,
    /// Whether each block copies the curve into shared memory; else it is read through the caches.
    pub shared: bool,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks a multiprocessor.
    pub blocks: u32,
}

/// The launch of `map` for stored luma, by depth.
const MAP: [MapTuning; 4] = [
    // 7.45 µs; with 4 blocks 8.1; with the curve not in shared memory 8.1 to 8.4.
    MapTuning { depth: 8, shared: true, threads: 256, blocks: 16 },
    // 12.0 µs; with 256 threads 12.7 to 14.2; with the curve not in shared memory 12.3 to 12.6.
    MapTuning { depth: 10, shared: true, threads: 1024, blocks: 2 },
    // 12 bits 11.8 µs, with the curve not in shared memory 12.2 (noise 14.5); 14 bits 12.2, not in shared memory 13.0
    // (noise 16.4).
    MapTuning { depth: 14, shared: true, threads: 1024, blocks: 2 },
    // 11.5 µs. Before launches overlapped 14.4, with the curve not in shared memory 16.5 (noise 18.8).
    MapTuning { depth: 16, shared: true, threads: 1024, blocks: 1 },
];

/// The launch of `map` for GPUs whose shared memory is too small for the curve.
pub(super) const MAP_THROUGH_CACHES: MapTuning = MapTuning { depth: 16, shared: false, threads: 256, blocks: 16 };

/// The launch of `map` for RGB, by depth; at most 256 threads.
const MAP_RGB: [MapTuning; 2] = [
    // bgra 28.8 µs, with 8 blocks 31.2; rgb24 20.2 to 20.7 with any number of blocks.
    MapTuning { depth: 8, shared: true, threads: 256, blocks: 32 },
    // gbrp10le 35.3 µs, with 32 blocks 35.8.
    MapTuning { depth: 16, shared: false, threads: 256, blocks: 8 },
];

/// The row for stored luma of `depth` bits.
pub(super) fn map(depth: u8) -> &'static MapTuning {
    MAP.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// The row for RGB of `depth` bits.
pub(super) fn map_rgb(depth: u8) -> &'static MapTuning {
    MAP_RGB.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// Threads of a block of the chroma kernels, at most 256, and blocks per multiprocessor; not measured yet.
pub(super) const CHROMA_THREADS: u32 = 256;
pub(super) const CHROMA_BLOCKS: u32 = 16;

/// Threads of a block of `veil_curves`, at most 256, and blocks per multiprocessor; not measured yet.
pub(super) const VEIL_CURVES_THREADS: u32 = 256;
pub(super) const VEIL_CURVES_BLOCKS: u32 = 8;

/// Threads of a block of the luminance kernels.
pub(super) const LUMINANCE_THREADS: u32 = 256;

/// Codes per thread in the kernels that make the curve.
const CODES_PER_THREAD: u32 = 4;

/// The most codes of a block of the scan. 16 bits: 2.7 µs, with `scan_sums`.
const SCAN_SHARE: u32 = 1024;

/// Blocks of the scan, and threads of each, for `codes` codes.
pub(super) fn scan(codes: usize) -> (u32, u32) {
    let blocks = (codes as u32).div_ceil(SCAN_SHARE);
    (blocks, codes as u32 / blocks / CODES_PER_THREAD)
}

/// The most blocks of the scan.
pub(super) const SCAN_BLOCKS: u32 = (1 << 16) / SCAN_SHARE;

/// Entries of the buffer for the segments of the scan: two per block.
pub(super) const SCAN_SEGMENTS: usize = 2 * SCAN_BLOCKS as usize;

/// The most codes for which `equalization` runs in one block.
const EQUALIZATION_ALONE: usize = 1024;

/// Threads of a block of `equalization_spread`; twice as many at 16 bits, because of `MAX_EQUALIZATION_BLOCKS`.
const SPREAD_THREADS: u32 = 256;

/// The most blocks of `equalization`.
const MAX_EQUALIZATION_BLOCKS: u32 = 64;

/// The launch of `equalization`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EqualizationTuning {
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Whether the kernel is `equalization_spread`, whose threads have two codes each and not four.
    pub spread: bool,
}

/// The launch of `equalization` for `codes` codes. 1080p of 14 bits with a window takes 14.6 µs in all; with blocks of
/// 512 threads 15.1, with four codes per thread 17.1. 12 bits take 12.6, 13.0 with blocks of 512 threads, and 18.2 in
/// one block of 1024 threads with four codes each.
pub(super) fn equalization(codes: usize, multiprocessors: u32) -> EqualizationTuning {
    if codes <= EQUALIZATION_ALONE {
        return EqualizationTuning { blocks: 1, threads: codes as u32 / CODES_PER_THREAD, spread: false };
    }
    let pairs = codes as u32 / 2;
    let blocks = (pairs / SPREAD_THREADS).min(MAX_EQUALIZATION_BLOCKS);
    // All blocks have to be resident at once, and blocks that share a multiprocessor may not all fit.
    if blocks <= multiprocessors {
        return EqualizationTuning { blocks, threads: pairs / blocks, spread: true };
    }
    let (blocks, threads) = scan(codes);
    EqualizationTuning { blocks, threads, spread: false }
}

/// The launch of `tile_histogram` for samples of up to `depth` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileHistogramTuning {
    pub depth: u8,
    /// Copies of each counter in shared memory, as a power of two, at most 5.
    pub log2_copies: u32,
}

/// The rows by depth. For 8 bits, the kernel has the same constant `LOG2_BYTE_COPIES`.
const TILE_HISTOGRAM: [TileHistogramTuning; 4] = [
    TileHistogramTuning { depth: 8, log2_copies: 5 },
    TileHistogramTuning { depth: 10, log2_copies: 3 },
    TileHistogramTuning { depth: 12, log2_copies: 1 },
    TileHistogramTuning { depth: 16, log2_copies: 0 },
];

/// The row for samples of `depth` bits.
pub(super) fn tile_histogram(depth: u8) -> &'static TileHistogramTuning {
    TILE_HISTOGRAM.iter().find(|row| depth <= row.depth).expect("a row up to 16 bits")
}

/// Threads of a block of `tile_histogram`, and blocks per multiprocessor at once, for `tiles` tiles on this many
/// multiprocessors. 64 tiles: 1080p 5.1 µs, 4K 9.0; with twice as many parts 7.4 and 11.4, with four times as many 12.5
/// and 15.2. With more tiles than multiprocessors, small blocks all run at once, where large ones would take several
/// rounds: all kernels of `Method::Detail` in 192 tiles at 1080p and 8 bits take 15.0 µs with small blocks, 19.6 with
/// large ones.
pub(super) fn tile_histogram_blocks(tiles: u32, multiprocessors: u32) -> (u32, u32) {
    if tiles <= multiprocessors { (1024, 1) } else { (384, 3) }
}

/// The most counters of one copy in shared memory: one for each code up to 12 bits, else one for each bin.
pub(super) const MAX_TILE_COUNTERS: usize = 4096;

/// The most rounds of blocks into which work is divided.
pub(super) const MAX_ROUNDS: u32 = 4;

/// The most rounds of `tile_map` for samples of two bytes, of which each block first fetches the curves of four tiles.
/// All kernels of `Method::Detail` in 192 tiles at 16 bits: 1080p 55.8 µs and 4K 102 in two rounds, 59.0 and 109 in
/// three.
pub(super) const TILE_MAP_ROUNDS_OF_DEEP: u32 = 2;

/// The number of parts into which each of `count` equal pieces of work is divided, with `blocks` blocks at once: it
/// keeps nearly all blocks busy in the fewest rounds, at most `most`.
pub(super) fn parts(count: u32, blocks: u32, most: u32) -> u32 {
    let busy = |rounds: u32| {
        let places = u64::from(blocks * rounds);
        places / u64::from(count) * u64::from(count) * 8 >= places * 7
    };
    let rounds = (1..most).find(|&rounds| busy(rounds)).unwrap_or(most);
    (blocks * rounds / count).max(1)
}

/// Threads of a block of `tile_curves`, for `codes` codes.
pub(super) fn tile_curves_threads(codes: usize) -> u32 {
    if codes <= 1024 { 256 } else { 1024 }
}

/// Blocks of `tile_map` per multiprocessor at once. All three tile kernels at 8 bits: 1080p 12.9 µs, 4K 21.5; with 40
/// registers per thread 12.3 and 25.2; with 4 blocks of half as many threads 13.5 and 22.8.
pub(super) const TILE_MAP_BLOCKS: u32 = 2;

/// Threads of a block of `tile_map` for `vectors` vectors (at least 1), at most `most`: the fewest that need no further
/// round. 1080p with 544 threads, which take one round: 12.9 µs; with 512, which leave 32 vectors for a second round:
/// 13.1.
pub(super) fn tile_map_threads(vectors: u32, most: u32) -> u32 {
    let rounds = vectors.div_ceil(most);
    vectors.div_ceil(rounds).next_multiple_of(32)
}

/// Copies of the curves of one-byte samples in shared memory, as a power of two; the kernel has the same constant. 8,
/// 16 or 32 copies differ by at most 0.1 µs.
pub(super) const TILE_MAP_LOG2_COPIES: u32 = 3;

/// The most codes for which `tile_map` has its curves in shared memory.
pub(super) const TILE_MAP_SHARED: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_histogram_fits_shared_memory_and_covers_its_codes() {
        for depth in 8..=16 {
            let row = histogram(depth);
            // Turing, Ada, Hopper.
            for shared in [64 << 10, 99 << 10, 227 << 10] {
                assert!(4 << (row.log2_window_in(shared) + row.log2_copies) <= shared);
            }
            assert_eq!(row.log2_window_in(64 << 10), row.log2_window.min(14));
            assert!(row.log2_copies <= 5 && row.threads <= 1024);
            assert!(row.log2_window <= u32::from(row.depth));
        }
    }

    #[test]
    fn every_scan_has_whole_warps_for_all_codes() {
        for depth in 8..=16 {
            let codes = 1usize << depth;
            let (blocks, threads) = scan(codes);
            let mut launches = vec![(blocks, threads, CODES_PER_THREAD)];
            for multiprocessors in [20, 132] {
                let row = equalization(codes, multiprocessors);
                launches.push((row.blocks, row.threads, if row.spread { 2 } else { CODES_PER_THREAD }));
            }
            for (blocks, threads, each) in launches {
                assert_eq!((blocks * threads * each) as usize, codes);
                assert!(blocks <= SCAN_BLOCKS && threads <= 1024 && threads % 32 == 0);
            }
        }
    }

    #[test]
    fn blocks_between_tiles_have_no_more_threads_than_they_need() {
        assert_eq!([1, 544, 576, 577].map(|vectors| tile_map_threads(vectors, 576)), [32, 544, 576, 320]);
        assert_eq!(tile_map_threads(544, 512), 288);
    }

    #[test]
    fn parts_keep_most_blocks_busy() {
        let parts = |count, blocks| parts(count, blocks, MAX_ROUNDS);
        assert_eq!((parts(64, 132), parts(64, 264)), (2, 4));
        // One part each would leave a quarter of the blocks without work.
        assert_eq!(parts(100, 132), 5);
        assert_eq!((parts(1, 132), parts(10_000, 132)), (132, 1));
    }
}
