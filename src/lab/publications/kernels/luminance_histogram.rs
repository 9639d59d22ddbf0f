//! Launches `kernels/variants/histogram/luminance_histogram.cu`: the histogram of the luminance of colour pixels.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::LoadedKernels;
use crate::publications::arguments::Area;
use crate::publications::shape::{self, DefaultShape, refused};
use crate::publications::{Formula, HistogramVariant, LaunchShape, PixelOrder, Variants, Walk};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::arguments::Weights;
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::spec;
use std::sync::Arc;

/// Enqueues the counting of an image's luminance in 256 bins, which have to be zero before.
///
/// # Errors
/// When the launch is not possible, or fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (pixels, order, area): (&CudaSlice<u8>, PixelOrder, Area),
    counts: &CudaSlice<u32>,
    (variants, shape): (&Variants, &LaunchShape),
    formula: Option<Formula>,
) -> Result<(), Error> {
    if !matches!(variants.histogram, None | Some(HistogramVariant::Privatized | HistogramVariant::Coarsened)) {
        return Err(refused("luminance is counted into private counters, privatized or coarsened"));
    }
    let area = if shape.walk == Walk::Tiles { area } else { area.in_one_row() };
    let bytes = area.width as usize * area.height as usize * order.bytes();
    assert!(pixels.len() >= bytes && counts.len() >= 256);
    let variant = variants.histogram.unwrap_or(HistogramVariant::Coarsened);
    let defaults = DefaultShape::for_histogram(variant, loaded.multiprocessors);
    let launch = shape::over(area.size(), variants, shape, defaults, 1)?;
    let kernel = match (order, formula) {
        (PixelOrder::Bgra, Some(Formula::TruncatedLuminance)) => "luminance_histogram_bgra_truncated",
        (PixelOrder::Rgb, Some(Formula::TruncatedLuminance)) => "luminance_histogram_rgb_truncated",
        (PixelOrder::Bgra, _) => "luminance_histogram_bgra",
        (PixelOrder::Rgb, _) => "luminance_histogram_rgb",
    };
    let function = loaded.kernel(&files::LUMINANCE_HISTOGRAM, kernel, 0)?;
    let spec::Weights { r, g, b } = spec::Weights::BT601;
    let weights = Weights { of: [r, g, b, 0] };
    let config = LaunchConfig { grid_dim: launch.grid, block_dim: launch.block, shared_mem_bytes: 0 };
    let mut builder = function.on(stream);
    builder.arg(pixels).arg(&area).arg(&weights).arg(counts).arg(&launch.run);
    // SAFETY: the arguments are those of the kernel. The plane has the area's pixels, words of them beginning at
    // multiples of their size; weights add up to 65536, so that the luminance is below 256, and there is a count for
    // each. Both buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching luminance_histogram")?;
    Ok(())
}
