//! Launches `kernels/variants/curve.cu`: from cumulative counts to the curve.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, each};
use crate::cuda::arguments::Levels;
use crate::cuda::error::{Doing, Error};
use crate::publications::Formula;
use cudarc::driver::{CudaSlice, CudaStream};
use std::sync::Arc;

const THREADS: u32 = 256;

/// Enqueues the curve of `total` samples from cumulative counts; `least` is the first of them above 0.
///
/// # Errors
/// When the launch fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (cdf, least, total): (&CudaSlice<u32>, &CudaSlice<u32>, u32),
    levels: &Levels,
    formula: Option<Formula>,
    curve: &CudaSlice<u16>,
) -> Result<(), Error> {
    let codes = cdf.len() as u32;
    assert!(curve.len() >= cdf.len());
    let kernel = match formula {
        None | Some(Formula::TruncatedLuminance) => "curve_exact",
        Some(Formula::FloorNoMin) => "curve_floor_no_min",
        Some(Formula::FloatRound | Formula::WrongMin) => "curve_float_round",
        Some(Formula::EquationFloor) => "curve_equation_floor",
        Some(Formula::Product32) => "curve_product_32",
        Some(Formula::FloatScan | Formula::StaleBuffer) => "curve_exact_of_sums",
    };
    let function = loaded.kernel(&files::CURVE, kernel, 0)?;
    let mut builder = function.on(stream);
    builder.arg(cdf).arg(least);
    if kernel == "curve_exact" {
        builder.arg(&codes).arg(levels);
    } else {
        builder.arg(&total).arg(&codes);
    }
    builder.arg(curve);
    // SAFETY: the arguments are those of the kernel. There is a sum and an entry of the curve for each code, and one
    // `least`; all buffers belong to this stream.
    unsafe { builder.launch(each(codes, THREADS, 0)) }.doing("launching a curve variant")?;
    Ok(())
}
