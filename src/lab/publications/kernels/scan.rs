//! Launches `kernels/variants/scan/scan_*.cu`: inclusive prefix sums, in one block if the entries fit, else in segments.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, NULL, each};
use crate::publications::shape::{self, refused};
use crate::publications::{Formula, LaunchShape, ScanVariant, Variants};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::cuda::launch::Kernel;
use std::sync::Arc;

const ALLOCATING: &str = "allocating memory on the device";
const LAUNCHING: &str = "launching a scan variant";

/// A scan of `count` entries, with its buffers.
pub(in crate::publications) struct Scan {
    variant: ScanVariant,
    threads: u32,
    /// Entries that a block scans.
    width: u32,
    count: u32,
    function: Arc<Kernel>,
    add_sums: Arc<Kernel>,
    shared: u32,
    /// The second buffer of Hillis and Steele's scan; one entry for other scans.
    other: CudaSlice<u32>,
    /// The sums of the segments, then the sums of the segments of those, and so on.
    sums: Vec<CudaSlice<u32>>,
}

impl Scan {
    /// The chosen scan of `count` entries; or the scan of `formula`, if it has one.
    ///
    /// # Errors
    /// When the scan is not possible, or the GPU has no memory left.
    pub fn new(
        loaded: &LoadedKernels,
        stream: &Arc<CudaStream>,
        count: u32,
        variants: &Variants,
        shape: &LaunchShape,
        formula: Option<Formula>,
    ) -> Result<Self, Error> {
        let variant = variants.scan.unwrap_or(ScanVariant::WarpShuffle);
        let chosen = Variants { block_size: shape.scan_block_size.or(variants.block_size), ..*variants };
        let (threads, width) = shape::scan_block(variant, &chosen, count)?;
        let (variant, threads, width) = match formula {
            Some(Formula::FloatScan) => whole(ScanVariant::Blelloch, count, 2)?,
            Some(Formula::StaleBuffer) => whole(ScanVariant::KoggeStoneDouble, count, 1)?,
            _ => (variant, threads, width),
        };
        // The third value is the number of entries in shared memory; warp-shuffle has one entry per warp.
        let (ptx, kernel, shared) = match variant {
            ScanVariant::HillisSteele => (&files::SCAN_HILLIS_STEELE, "scan_hillis_steele", 0),
            ScanVariant::KoggeStone => (&files::SCAN_KOGGE_STONE, "scan_kogge_stone", width),
            ScanVariant::KoggeStoneDouble if formula == Some(Formula::StaleBuffer) => {
                (&files::SCAN_KOGGE_STONE_DOUBLE, "scan_kogge_stone_stale", 2 * width)
            }
            ScanVariant::KoggeStoneDouble => (&files::SCAN_KOGGE_STONE_DOUBLE, "scan_kogge_stone_double", 2 * width),
            ScanVariant::BrentKung => (&files::SCAN_BRENT_KUNG, "scan_brent_kung", width),
            ScanVariant::Blelloch if formula == Some(Formula::FloatScan) => {
                (&files::SCAN_BLELLOCH, "scan_blelloch_float", width + 1)
            }
            ScanVariant::Blelloch => (&files::SCAN_BLELLOCH, "scan_blelloch", width + 1),
            ScanVariant::WarpShuffle => (&files::SCAN_WARP_SHUFFLE, "scan_warp_shuffle", 32),
        };
        let by_steps = variant == ScanVariant::HillisSteele;
        let mut sums = Vec::new();
        let mut segments = count.div_ceil(width);
        while segments > 1 && !by_steps {
            sums.push(stream.alloc_zeros(segments as usize).doing(ALLOCATING)?);
            segments = segments.div_ceil(width);
        }
        Ok(Scan {
            variant,
            threads,
            width,
            count,
            function: loaded.kernel(ptx, kernel, 4 * shared)?,
            add_sums: loaded.kernel(&files::SCAN_ADD_SUMS, "scan_add_sums", 0)?,
            shared: 4 * shared,
            other: stream.alloc_zeros(if by_steps { count as usize } else { 1 }).doing(ALLOCATING)?,
            sums,
        })
    }
}

/// The shape of a scan in one block, as in the publication's program.
fn whole(variant: ScanVariant, count: u32, each: u32) -> Result<(ScanVariant, u32, u32), Error> {
    let width = count.next_power_of_two();
    let threads = width / each;
    if !(32..=1024).contains(&threads) {
        return Err(refused(format!("the publication's scan is one block: {count} bins do not suit it")));
    }
    Ok((variant, threads, width))
}

/// Enqueues the scan of `source` into `target`, both with `count` entries.
///
/// # Errors
/// When a launch fails.
///
/// # Panics
/// When a buffer is too short.
pub(in crate::publications) fn launch(
    stream: &Arc<CudaStream>,
    scan: &Scan,
    source: &CudaSlice<u32>,
    target: &CudaSlice<u32>,
) -> Result<(), Error> {
    assert!(source.len() >= scan.count as usize && target.len() >= scan.count as usize);
    match scan.variant {
        ScanVariant::HillisSteele => by_steps(stream, scan, source, target),
        _ => in_segments(stream, scan, (source, target), scan.count, &scan.sums),
    }
}

/// One launch for each doubling of the distance. The buffers alternate so that the last launch writes to `target`.
fn by_steps(
    stream: &Arc<CudaStream>,
    scan: &Scan,
    source: &CudaSlice<u32>,
    target: &CudaSlice<u32>,
) -> Result<(), Error> {
    let steps = scan.count.next_power_of_two().ilog2().max(1);
    let mut read = source;
    for step in 0..steps {
        let write = if (steps - step) % 2 == 1 { target } else { &scan.other };
        let distance = 1u32 << step;
        let mut builder = scan.function.on(stream);
        builder.arg(read).arg(write).arg(&distance).arg(&scan.count);
        // SAFETY: the arguments are those of the kernel. All three buffers have `count` entries and belong to this
        // stream, and what is read is not what is written.
        unsafe { builder.launch(each(scan.count, scan.threads, 0)) }.doing(LAUNCHING)?;
        read = write;
    }
    Ok(())
}

/// Scans each segment in a block, then the segments' sums likewise, in place; then adds these to the segments.
fn in_segments(
    stream: &Arc<CudaStream>,
    scan: &Scan,
    (source, target): (&CudaSlice<u32>, &CudaSlice<u32>),
    count: u32,
    sums: &[CudaSlice<u32>],
) -> Result<(), Error> {
    let config = LaunchConfig {
        grid_dim: (count.div_ceil(scan.width), 1, 1),
        block_dim: (scan.threads, 1, 1),
        shared_mem_bytes: scan.shared,
    };
    let mut builder = scan.function.on(stream);
    builder.arg(source).arg(target);
    match sums.first() {
        Some(sums) => builder.arg(sums),
        None => builder.arg(&NULL),
    };
    builder.arg(&count);
    // SAFETY: the arguments are those of the kernel. Both buffers have `count` entries; where they are one, each block
    // has read its segment before it writes any of it. There is a sum for each block if there are several, and shared
    // memory for a block's segment. All belongs to this stream.
    unsafe { builder.launch(config) }.doing(LAUNCHING)?;
    let Some((first, rest)) = sums.split_first() else { return Ok(()) };
    in_segments(stream, scan, (first, first), count.div_ceil(scan.width), rest)?;

    let mut builder = scan.add_sums.on(stream);
    builder.arg(target).arg(first).arg(&scan.width).arg(&count);
    // SAFETY: the arguments are those of the kernel. `target` has `count` entries and there is a sum for each segment
    // of `width` of them; both belong to this stream.
    unsafe { builder.launch(each(count, 256, 0)) }.doing(LAUNCHING)?;
    Ok(())
}
