//! Launches `kernels/variants/curve.cu`: from cumulative counts to the curve.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, each};
use crate::publications::Formula;
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::arguments::BlendedLevels;
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;

const THREADS: u32 = 256;

/// The suffix of the names of a formula's kernels; `None` is the specification.
fn kernel_of(formula: Option<Formula>) -> &'static str {
    match formula {
        None | Some(Formula::TruncatedLuminance) => "exact",
        Some(Formula::FloorInteger) => "floor_integer",
        Some(Formula::FloorNoMin) => "floor_no_min",
        Some(Formula::FloatRound | Formula::WrongMin) => "float_round",
        Some(Formula::EquationFloor) => "equation_floor",
        Some(Formula::Product32 | Formula::StaleBuffer) => "product_32",
        Some(Formula::FloatScan) => "exact_of_sums",
    }
}

/// Enqueues the curve of `total` samples from cumulative counts; `least` is the first of them above 0; if
/// `None`, the same launch finds it.
///
/// # Errors
/// When the launch fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (cdf, least, total): (&CudaSlice<u32>, Option<&CudaSlice<u32>>, u32),
    levels: &BlendedLevels,
    formula: Option<Formula>,
    curve: &CudaSlice<u16>,
) -> Result<(), Error> {
    let codes = cdf.len() as u32;
    assert!(curve.len() >= cdf.len());
    let kernel = kernel_of(formula);
    let begin = if least.is_some() { "curve" } else { "curve_normalized" };
    let function = loaded.kernel(&files::CURVE, &format!("{begin}_{kernel}"), 0)?;
    let mut builder = function.on(stream);
    builder.arg(cdf);
    if let Some(least) = least {
        builder.arg(least);
    }
    if kernel == "exact" {
        builder.arg(&codes).arg(levels);
    } else {
        builder.arg(&total).arg(&codes);
    }
    builder.arg(curve);
    let one_block = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let config = if least.is_some() { each(codes, THREADS, 0) } else { one_block };
    // SAFETY: the arguments are those of the kernel. There is a sum and an entry of the curve for each code, and one
    // `least` where the kernel takes it; all buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching a curve variant")?;
    Ok(())
}
