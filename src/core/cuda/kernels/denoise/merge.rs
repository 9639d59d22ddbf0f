//! Launches `kernels/denoise/merge.cu`: transforms, compares, merges and shrinks tiles.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::arguments::{NoiseFactors, NoisyPlane, ReferencePlane, ReferencePlanes};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::{grid, threads_for};
use crate::cuda::launch::Kernel;
use crate::cuda::memory::device_memory::DeviceMemory;
use crate::denoise::dct::SAMPLES;
use crate::denoise::noise::{CLASSES, SIZES};
use crate::frame::Memory;
use cudarc::driver::{CudaStream, LaunchConfig};
use std::sync::Arc;

/// Threads of a tile, tiles of a block, and samples from a tile to the next.
const THREADS: usize = 8;
const TILES: usize = 32;
const STEP: u32 = 4;

/// Bytes of shared memory of `merge_count`: room to exchange rows, counts of each coefficient in half words, and of
/// each class of brightness.
const COUNTING: usize = TILES * 8 * 9 * 2 + SAMPLES * SIZES * 2 + CLASSES * SIZES * 4;

launcher! {
    MergeLauncher from MERGE {
        steady: Kernel = "merge_steady",
        count: Kernel = "merge_count",
        tiles: Kernel = "merge_tiles",
        /// The variant of `tiles` for five and six other frames.
        six_tiles: Kernel = "merge_six_tiles",
        /// The variant of `tiles` for more than six other frames.
        more_tiles: Kernel = "merge_more_tiles",
        lay: Kernel = "merge_lay",
    }
}

impl MergeLauncher {
    /// The tiles of a plane, which overlap by half.
    pub fn tiles_of(plane: &NoisyPlane) -> usize {
        ((plane.width.div_ceil(STEP) + 1) * (plane.height.div_ceil(STEP) + 1)) as usize
    }

    /// Enqueues the histograms of the differences between tiles and the tiles of another frame to which the motion
    /// leads. `counts` are 0 from entry `first` on: this entry becomes the number of steady tiles, the entries after
    /// it are [`SIZES`] counts for each coefficient and for each class of brightness.
    pub fn count(
        &self,
        stream: &Arc<CudaStream>,
        plane: &NoisyPlane,
        moved: &ReferencePlane,
        (counts, first): (&DeviceMemory, usize),
        multiprocessors: u32,
    ) -> Result<(), Error> {
        let room = counts.size() / size_of::<u32>();
        assert!(first + 1 + (SAMPLES + CLASSES) * SIZES <= room);
        let steady = counts.address() + (first * size_of::<u32>()) as u64;
        let into = steady + size_of::<u32>() as u64;
        let tiles = (plane.width / 8 * (plane.height / 8).div_ceil(2)) as usize;
        if tiles == 0 {
            return Ok(());
        }
        let mut launch = self.steady.on(stream);
        launch.arg(plane).arg(moved).arg(&steady);
        // SAFETY: the arguments are those of the kernel: the addresses are those of sheets with margins, and of
        // a field with a word for each block, which are used on this stream alone; and of a count.
        unsafe { launch.launch(threads_for(tiles)) }.doing("launching merge_steady")?;
        let blocks = (tiles.div_ceil(TILES) as u32).min(2 * multiprocessors);
        let config = LaunchConfig { shared_mem_bytes: COUNTING as u32, ..grid(blocks, (TILES * THREADS) as u32) };
        // A block has counters of 16 bits.
        assert!(tiles.div_ceil(blocks as usize) < 1 << 16);
        let mut launch = self.count.on(stream);
        launch.arg(plane).arg(moved).arg(&steady).arg(&into);
        // SAFETY: as above, and there is a count for each coefficient and class, as was asserted.
        unsafe { launch.launch(config) }.doing("launching merge_count")
    }

    /// Enqueues the merging of all tiles of a plane with those of others into `tiles`.
    pub fn tiles(
        &self,
        stream: &Arc<CudaStream>,
        (plane, references, noise): (&NoisyPlane, &ReferencePlanes, &NoiseFactors),
        tiles: &DeviceMemory,
    ) -> Result<(), Error> {
        let count = MergeLauncher::tiles_of(plane);
        assert_eq!(tiles.size(), count * SAMPLES * size_of::<i16>());
        let into = tiles.address();
        let kernel = match references.count {
            0..=4 => &self.tiles,
            5..=6 => &self.six_tiles,
            _ => &self.more_tiles,
        };
        let mut launch = kernel.on(stream);
        launch.arg(plane).arg(references).arg(noise).arg(&into);
        // SAFETY: the arguments are those of the kernel: the addresses are those of sheets with margins, and of
        // fields with a word for each block, and there is room for all tiles. All are used on this stream alone.
        unsafe { launch.launch(threads_for(count * THREADS)) }.doing("launching merge_tiles")
    }

    /// Enqueues the sum of the overlapping `tiles` into `out`, from sample `first` on.
    pub fn lay(
        &self,
        stream: &Arc<CudaStream>,
        plane: &NoisyPlane,
        tiles: &DeviceMemory,
        (out, first): (&DeviceMemory, usize),
    ) -> Result<(), Error> {
        let samples = (plane.width * plane.height) as usize;
        assert!((first + samples) * size_of::<i16>() <= out.size());
        let (source, into) = (tiles.address(), out.address() + (first * size_of::<i16>()) as u64);
        let mut launch = self.lay.on(stream);
        launch.arg(&source).arg(&plane.width).arg(&plane.height).arg(&into);
        // SAFETY: the arguments are those of the kernel; `tiles` are those of this plane, and `out` has room for its
        // samples.
        unsafe { launch.launch(threads_for(samples.div_ceil(4))) }.doing("launching merge_lay")
    }
}
