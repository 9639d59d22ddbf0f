//! Launches `kernels/variants/cdf_min.cu`: the cumulative count of the first occupied bin.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, each};
use crate::publications::shape;
use crate::publications::{CdfMin, Formula, Variants};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;

/// The default threads of a block.
const THREADS: u32 = 256;

/// Enqueues the search for the first value above 0 in `cdf`, which is written to `least`. `least` has to be 0 before.
///
/// # Errors
/// When the launch fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    cdf: &CudaSlice<u32>,
    least: &CudaSlice<u32>,
    variants: &Variants,
    formula: Option<Formula>,
) -> Result<(), Error> {
    shape::check(variants)?;
    let threads = variants.block_size.unwrap_or(THREADS);
    let count = cdf.len() as u32;
    let is_wrong = formula == Some(Formula::WrongMin);
    let first = u32::from(is_wrong);
    let by_reduction = variants.cdf_min == Some(CdfMin::Reduction) && !is_wrong;
    let kernel = if by_reduction { "cdf_min_reduction" } else { "cdf_min_first_nonzero" };
    let function = loaded.kernel(&files::CDF_MIN, kernel, 0)?;
    let mut builder = function.on(stream);
    builder.arg(cdf).arg(&count);
    let config = if by_reduction {
        LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
    } else {
        builder.arg(&first);
        each(count, threads, 0)
    };
    builder.arg(least);
    // SAFETY: the arguments are those of the kernel. `cdf` has `count` entries and `least` has one; blocks have a power
    // of two threads, at most 1024. Both buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching cdf_min")?;
    Ok(())
}
