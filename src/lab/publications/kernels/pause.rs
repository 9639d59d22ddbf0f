//! Launches `kernels/variants/pause.cu`: a kernel that only waits.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, each};
use cudarc::driver::CudaStream;
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;
use std::time::Duration;

/// The longest pause, which limits the wait if a later launch fails.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// Enqueues a pause.
///
/// # Errors
/// When the launch fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    length: Duration,
) -> Result<(), Error> {
    let function = loaded.kernel(&files::PAUSE, "pause", 0)?;
    let nanoseconds = length.min(MAX_PAUSE).as_nanos() as u64;
    let mut builder = function.on(stream);
    builder.arg(&nanoseconds);
    // SAFETY: the argument is that of the kernel, which touches no memory and ends after this time.
    unsafe { builder.launch(each(1, 1, 0)) }.doing("launching a pause")?;
    Ok(())
}
