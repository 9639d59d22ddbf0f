//! Launches `kernels/variants/histogram_*.cu`: how often each code occurs.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{Variety, suffix};
use crate::cuda::arguments::Levels;
use crate::cuda::error::{Doing, Error};
use crate::cuda::variants::arguments::{Area, Counting};
use crate::cuda::variants::shape::{self, Usual, refused};
use crate::cuda::variants::{HistogramVariant, Shape, Variants, Walk};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use std::sync::Arc;

const GLOBAL: &[u8] = include_bytes!("../../../../kernels/built/variants/histogram_global.kernels");
const PRIVATIZED: &[u8] = include_bytes!("../../../../kernels/built/variants/histogram_privatized.kernels");
const AGGREGATED: &[u8] = include_bytes!("../../../../kernels/built/variants/histogram_aggregated.kernels");
const REPLICATED: &[u8] = include_bytes!("../../../../kernels/built/variants/histogram_replicated.kernels");

/// Bytes of shared memory that copies of counters may take.
const COPIES: u32 = 32 << 10;

/// The most copies, as a power of two: one a lane.
const MOST_COPIES: u32 = 5;

/// What is counted, and where to.
pub(in crate::cuda::variants) struct CountedRegion<'a> {
    pub plane: &'a CudaSlice<u8>,
    /// 1, 2 or 4.
    pub element_bytes: u8,
    pub area: Area,
    pub levels: Levels,
    /// One for each of `codes`, zero before.
    pub counts: &'a CudaSlice<u32>,
    pub codes: u32,
}

/// Enqueues the counting.
///
/// # Errors
/// When there is no such launch, or it fails.
pub(in crate::cuda::variants) fn launch(
    variety: &Variety,
    stream: &Arc<CudaStream>,
    counted: &CountedRegion,
    variants: &Variants,
    shape: &Shape,
) -> Result<(), Error> {
    let variant = variants.histogram.unwrap_or(HistogramVariant::Replicated);
    let CountedRegion { plane, element_bytes, area, levels, counts, codes } = counted;
    let area = if shape.walk == Walk::Tiles { *area } else { area.in_one_row() };
    let is_wide = variant == HistogramVariant::Replicated;
    if is_wide && shape.walk == Walk::Tiles {
        return Err(refused("loads of 16 bytes go over rows, not over tiles"));
    }
    let at_once = if is_wide && area.is_plain() { 16 / u32::from(*element_bytes) } else { 1 };
    let usual = Usual::of_histogram(variant, variety.multiprocessors());
    let launch = shape::over(area.size(), variants, shape, usual, at_once)?;

    let window = if variant == HistogramVariant::Global { *codes } else { shape::window(*codes, variety.shared()) };
    let log2_copies = if is_wide { (COPIES / (4 * window)).checked_ilog2().unwrap_or(0).min(MOST_COPIES) } else { 0 };
    let shared = if variant == HistogramVariant::Global { 0 } else { (4 * window) << log2_copies };
    let (ptx, kernel) = match variant {
        HistogramVariant::Global => (GLOBAL, "histogram_global"),
        HistogramVariant::Privatized | HistogramVariant::Coarsened => (PRIVATIZED, "histogram_privatized"),
        HistogramVariant::Aggregated => (AGGREGATED, "histogram_aggregated"),
        HistogramVariant::Replicated => (REPLICATED, "histogram_replicated"),
    };
    let function = variety.kernel(ptx, &format!("{kernel}_{}", suffix(*element_bytes)), shared)?;
    let config = LaunchConfig {
        grid_dim: (launch.grid.0, launch.grid.1, codes.div_ceil(window)),
        block_dim: launch.block,
        shared_mem_bytes: shared,
    };
    let counting = Counting { codes: *codes, window, log2_copies, run: launch.run };
    let mut builder = stream.launch_builder(&function);
    builder.arg(*plane).arg(&area).arg(levels).arg(*counts).arg(&counting);
    // SAFETY: the arguments are those of the kernel. The area lies in the plane, whose whole vectors are read where it is
    // plain; codes are at most `area.max`, and the levels lie below `codes`, of which there is a count each; shared memory
    // holds every copy of a window's counters. All buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching a histogram variant")?;
    Ok(())
}
