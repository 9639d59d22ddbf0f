//! The shape of a launch: its blocks and threads, and the elements of each thread.

use super::choice::{HistogramVariant, MapVariant, ScanVariant, Variants};
use histeq::internal::cuda::error::Error;
use histeq::named;

named! {
    /// The distribution of the elements over the threads.
    pub enum Walk {
        /// Neighbouring threads of a warp read neighbouring elements (a grid-stride loop).
        Interleaved = "interleaved", "Elements one grid apart";
        Consecutive = "consecutive", "A run of neighbours for each thread";
        Tiles = "tiles", "One pixel per thread, in a grid of blocks of 32 columns over the picture";
    }
}

/// The shape of the launches of a measurement, beside block size and elements per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// The distribution of the elements over the threads.
    pub walk: Walk,
    /// The number of blocks; `None` is as many as the elements need. Blocks without elements are not launched.
    pub blocks: Option<u32>,
    /// Threads of a block of the scan; `None` is the block size of the other kernels.
    pub scan_block_size: Option<u32>,
}

impl LaunchShape {
    /// Interleaved, in as many blocks as the elements need.
    pub const DEFAULT: LaunchShape = LaunchShape { walk: Walk::Interleaved, blocks: None, scan_block_size: None };
}

impl Default for LaunchShape {
    fn default() -> Self {
        LaunchShape::DEFAULT
    }
}

/// Columns of a block in [`Walk::Tiles`].
const TILE_COLUMNS: u32 = 32;

/// The most blocks of a grid in y and z.
const MAX_BLOCKS: u32 = 65535;

/// The dimensions of a launch over elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaunchDimensions {
    pub grid: (u32, u32, u32),
    pub block: (u32, u32, u32),
    /// The number of neighbouring elements of a thread; 0 if its elements lie one grid apart.
    pub run: u32,
}

/// The default launch shape of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefaultShape {
    pub block_size: u32,
    pub pixels_per_thread: u32,
    /// The number of blocks; `None` if it follows from the elements.
    pub blocks: Option<u32>,
}

impl DefaultShape {
    /// The defaults for a histogram kernel on a GPU with `multiprocessors` multiprocessors.
    pub fn for_histogram(variant: HistogramVariant, multiprocessors: u32) -> Self {
        let (block_size, pixels_per_thread) = match variant {
            HistogramVariant::Global | HistogramVariant::Privatized => (1024, 1),
            HistogramVariant::Coarsened => (1024, 128),
            HistogramVariant::Aggregated => (512, 4),
            HistogramVariant::Replicated => (1024, 1),
        };
        let blocks = (variant == HistogramVariant::Replicated).then_some(multiprocessors);
        DefaultShape { block_size, pixels_per_thread, blocks }
    }

    /// The defaults for a map kernel on a GPU with `multiprocessors` multiprocessors.
    pub fn for_map(variant: MapVariant, multiprocessors: u32) -> Self {
        let (block_size, pixels_per_thread) = match variant {
            MapVariant::Computed | MapVariant::GroupMin | MapVariant::Bytes => (1024, 1),
            MapVariant::Factored | MapVariant::Coarsened => (1024, 32),
            MapVariant::SharedLut => (512, 4),
            MapVariant::Wide => (256, 1),
        };
        let blocks = (variant == MapVariant::Wide).then_some(multiprocessors * 16);
        DefaultShape { block_size, pixels_per_thread, blocks }
    }
}

/// Refuses a block size or a number of pixels that is out of range.
pub(super) fn check(variants: &Variants) -> Result<(), Error> {
    if let Some(threads) = variants.block_size.filter(|threads| !Variants::BLOCK_SIZES.contains(threads)) {
        return Err(refused(format!("blocks have 64, 128, 256, 512 or 1024 threads, not {threads}")));
    }
    let most = Variants::MAX_PIXELS_PER_THREAD;
    if let Some(pixels) = variants.pixels_per_thread.filter(|pixels| !(1..=most).contains(pixels)) {
        return Err(refused(format!("a thread gets 1 to {most} elements, not {pixels}")));
    }
    Ok(())
}

pub(super) fn refused(reason: impl Into<String>) -> Error {
    Error::Refused { reason: reason.into() }
}

/// The launch of a kernel over `width` x `height` elements; elements in one row have height 1. A load reads
/// `at_once` neighbouring elements.
///
/// # Errors
/// When the launch is not possible.
pub(super) fn over(
    (width, height): (u32, u32),
    variants: &Variants,
    shape: &LaunchShape,
    defaults: DefaultShape,
    at_once: u32,
) -> Result<LaunchDimensions, Error> {
    check(variants)?;
    let threads = variants.block_size.unwrap_or(defaults.block_size);
    let elements = width.checked_mul(height).filter(|&elements| elements <= 1 << 31);
    let elements = elements.ok_or_else(|| refused("there are more than 2^31 elements"))?;
    if shape.walk == Walk::Tiles {
        return tiles((width, height), threads, variants, shape);
    }
    let loads = elements.div_ceil(at_once).max(1);
    let default_blocks = defaults.blocks.filter(|_| variants.pixels_per_thread.is_none());
    let asked = shape.blocks.or(default_blocks);
    let pixels = variants.pixels_per_thread.unwrap_or(defaults.pixels_per_thread);
    let wanted = asked.unwrap_or_else(|| loads.div_ceil(pixels.div_ceil(at_once)).div_ceil(threads));
    let blocks = wanted.clamp(1, loads.div_ceil(threads));
    let run = match shape.walk {
        Walk::Consecutive if at_once > 1 => {
            return Err(refused("loads of 16 bytes are dealt out in turn, not in runs"));
        }
        Walk::Consecutive if asked.is_none() => pixels,
        Walk::Consecutive => u64::from(elements).div_ceil(u64::from(blocks) * u64::from(threads)) as u32,
        _ => 0,
    };
    Ok(LaunchDimensions { grid: (blocks, 1, 1), block: (threads, 1, 1), run })
}

fn tiles(
    (width, height): (u32, u32),
    threads: u32,
    variants: &Variants,
    shape: &LaunchShape,
) -> Result<LaunchDimensions, Error> {
    if shape.blocks.is_some() || variants.pixels_per_thread.is_some_and(|pixels| pixels > 1) {
        return Err(refused("in tiles each thread has one pixel, and the picture says how many blocks there are"));
    }
    let rows = threads / TILE_COLUMNS;
    let grid = (width.div_ceil(TILE_COLUMNS), height.div_ceil(rows), 1);
    if grid.1 > MAX_BLOCKS {
        return Err(refused(format!("{height} rows are more than {MAX_BLOCKS} blocks of {rows}")));
    }
    Ok(LaunchDimensions { grid, block: (TILE_COLUMNS, rows, 1), run: 0 })
}

/// The threads of a block of the scan, and the elements that it scans.
pub(super) fn scan_block(variant: ScanVariant, variants: &Variants, bins: u32) -> Result<(u32, u32), Error> {
    check(variants)?;
    let each = match variant {
        ScanVariant::BrentKung | ScanVariant::Blelloch => 2,
        _ => 1,
    };
    let enough = bins.div_ceil(each).next_power_of_two().clamp(64, 1024);
    let threads = variants.block_size.unwrap_or(enough);
    Ok((threads, threads * each))
}

/// The bins that a block counts at a time in `bytes` bytes of shared memory: few windows, of nearly equal size.
pub(super) fn window(bins: u32, bytes: u32) -> u32 {
    let most = (bytes / 4).max(1);
    bins.div_ceil(bins.div_ceil(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: DefaultShape = DefaultShape { block_size: 256, pixels_per_thread: 4, blocks: None };

    fn launch(size: (u32, u32), variants: Variants, shape: LaunchShape) -> Result<LaunchDimensions, Error> {
        over(size, &variants, &shape, DEFAULT, 1)
    }

    #[test]
    fn blocks_follow_from_the_elements() {
        let launch = |variants, shape| launch((1000, 100), variants, shape).unwrap();
        let defaults = launch(Variants::default(), LaunchShape::default());
        assert_eq!(defaults, LaunchDimensions { grid: (98, 1, 1), block: (256, 1, 1), run: 0 });
        let asked = LaunchShape { blocks: Some(120), walk: Walk::Consecutive, ..LaunchShape::DEFAULT };
        let variants = Variants { block_size: Some(512), ..Variants::default() };
        assert_eq!(launch(variants, asked), LaunchDimensions { grid: (120, 1, 1), block: (512, 1, 1), run: 2 });
    }

    #[test]
    fn runs_cover_every_element() {
        for elements in [1, 2, 63, 64, 65, 1000, 8191, 8192, 8193, 1 << 20] {
            for pixels in [1, 3, 64, 256] {
                let variants = Variants { pixels_per_thread: Some(pixels), ..Variants::default() };
                let shape = LaunchShape { walk: Walk::Consecutive, ..LaunchShape::DEFAULT };
                let found = launch((elements, 1), variants, shape).unwrap();
                let covered = u64::from(found.grid.0) * u64::from(found.block.0) * u64::from(found.run);
                assert!(covered >= u64::from(elements) && found.run <= pixels, "{elements} {found:?}");
            }
        }
    }

    #[test]
    fn tiles_cover_the_picture() {
        let shape = LaunchShape { walk: Walk::Tiles, ..LaunchShape::DEFAULT };
        let variants = Variants { block_size: Some(1024), ..Variants::default() };
        let found = launch((1921, 1081), variants, shape).unwrap();
        assert_eq!(found, LaunchDimensions { grid: (61, 34, 1), block: (32, 32, 1), run: 0 });
        let coarse = Variants { pixels_per_thread: Some(2), ..variants };
        assert!(launch((64, 64), coarse, shape).is_err());
    }

    #[test]
    fn what_cannot_be_launched_is_refused_with_a_reason() {
        let odd = Variants { block_size: Some(100), ..Variants::default() };
        let error = launch((8, 8), odd, LaunchShape::default()).unwrap_err();
        assert_eq!(error.to_string(), "blocks have 64, 128, 256, 512 or 1024 threads, not 100");
        let many = Variants { pixels_per_thread: Some(257), ..Variants::default() };
        assert!(launch((8, 8), many, LaunchShape::default()).is_err());
        assert!(launch((1 << 16, (1 << 15) + 1), Variants::default(), LaunchShape::default()).is_err());
    }

    #[test]
    fn windows_are_even_and_cover_the_bins() {
        assert_eq!(window(256, 48 << 10), 256);
        assert_eq!(window(65536, 64 << 10), 16384);
        assert_eq!(window(65536, 227 << 10), 32768);
        assert_eq!(window(50000, 64 << 10), 12500);
    }

    #[test]
    fn a_block_is_wide_enough_for_the_bins_unless_its_width_is_given() {
        let block = |variant, bins| scan_block(variant, &Variants::default(), bins).unwrap();
        assert_eq!(block(ScanVariant::KoggeStone, 256), (256, 256));
        assert_eq!(block(ScanVariant::BrentKung, 256), (128, 256));
        assert_eq!(block(ScanVariant::Blelloch, 65536), (1024, 2048));
    }
}
