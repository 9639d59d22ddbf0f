//! Launches `kernels/variants/saturation.cu`: limits counts to a value.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::LoadedKernels;
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;

/// The publication's grid and block size.
const CONFIG: LaunchConfig = LaunchConfig { grid_dim: (8, 1, 1), block_dim: (512, 1, 1), shared_mem_bytes: 0 };

/// Enqueues the limiting of `counts` to `most`.
///
/// # Errors
/// When the launch fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    counts: &CudaSlice<u32>,
    most: u32,
) -> Result<(), Error> {
    let function = loaded.kernel(&files::SATURATION, "saturation", 0)?;
    let bins = counts.len() as u32;
    let mut builder = function.on(stream);
    builder.arg(counts).arg(&bins).arg(&most);
    // SAFETY: the arguments are those of the kernel; it touches `bins` counts, which belong to this stream.
    unsafe { builder.launch(CONFIG) }.doing("launching saturation")?;
    Ok(())
}
