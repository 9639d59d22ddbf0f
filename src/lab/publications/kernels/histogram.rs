//! Launches `kernels/variants/histogram/histogram_*.cu`: the count of each code.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, suffix};
use crate::publications::arguments::{Area, Counting};
use crate::publications::shape::{self, DefaultShape, refused};
use crate::publications::{HistogramVariant, LaunchShape, Variants, Walk};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::arguments::BlendedLevels;
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;

/// Bytes of shared memory for the copies of counters.
const COPIES: u32 = 32 << 10;

/// The logarithm to base 2 of the most copies: one per lane of a warp.
const MAX_COPIES: u32 = 5;

/// The elements to count, and their counts.
pub(in crate::publications) struct CountedArea<'a> {
    pub plane: &'a CudaSlice<u8>,
    /// Bytes of an element: 1, 2 or 4.
    pub element_bytes: u8,
    pub area: Area,
    pub levels: BlendedLevels,
    /// A count for each of `codes` codes, zero before the launch.
    pub counts: &'a CudaSlice<u32>,
    pub codes: u32,
}

/// Enqueues the counting.
///
/// # Errors
/// When the launch is not possible, or fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    counted: &CountedArea,
    variants: &Variants,
    shape: &LaunchShape,
) -> Result<(), Error> {
    let variant = variants.histogram.unwrap_or(HistogramVariant::Replicated);
    let CountedArea { plane, element_bytes, area, levels, counts, codes } = counted;
    let area = if shape.walk == Walk::Tiles { *area } else { area.in_one_row() };
    let is_wide = variant == HistogramVariant::Replicated;
    if is_wide && shape.walk == Walk::Tiles {
        return Err(refused("loads of 16 bytes go over rows, not over tiles"));
    }
    let at_once = if is_wide && area.is_plain() { 16 / u32::from(*element_bytes) } else { 1 };
    let defaults = DefaultShape::for_histogram(variant, loaded.multiprocessors);
    let launch = shape::over(area.size(), variants, shape, defaults, at_once)?;

    let window = if variant == HistogramVariant::Global { *codes } else { shape::window(*codes, loaded.shared) };
    let log2_copies = if is_wide { (COPIES / (4 * window)).checked_ilog2().unwrap_or(0).min(MAX_COPIES) } else { 0 };
    let shared = if variant == HistogramVariant::Global { 0 } else { (4 * window) << log2_copies };
    let (ptx, kernel) = match variant {
        HistogramVariant::Global => (&files::HISTOGRAM_GLOBAL, "histogram_global"),
        HistogramVariant::Privatized | HistogramVariant::Coarsened => {
            (&files::HISTOGRAM_PRIVATIZED, "histogram_privatized")
        }
        HistogramVariant::Aggregated => (&files::HISTOGRAM_AGGREGATED, "histogram_aggregated"),
        HistogramVariant::Replicated => (&files::HISTOGRAM_REPLICATED, "histogram_replicated"),
    };
    let function = loaded.kernel(ptx, &format!("{kernel}_{}", suffix(*element_bytes)), shared)?;
    let config = LaunchConfig {
        grid_dim: (launch.grid.0, launch.grid.1, codes.div_ceil(window)),
        block_dim: launch.block,
        shared_mem_bytes: shared,
    };
    let counting = Counting { codes: *codes, window, log2_copies, run: launch.run };
    let mut builder = function.on(stream);
    builder.arg(*plane).arg(&area).arg(levels).arg(*counts).arg(&counting);
    // SAFETY: the arguments are those of the kernel. The area lies in the plane, whose whole vectors are read where it
    // is plain; codes are at most `area.max`, and the levels lie below `codes`, of which there is a count each; shared
    // memory holds every copy of a window's counters. All buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching a histogram variant")?;
    Ok(())
}
