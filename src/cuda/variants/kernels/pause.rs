//! Launches `kernels/variants/pause.cu`: nothing, for a while.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{Variety, each};
use crate::cuda::error::{Doing, Error};
use cudarc::driver::{CudaStream, PushKernelArg};
use std::sync::Arc;
use std::time::Duration;

const PAUSE: &[u8] = include_bytes!("../../../../kernels/built/variants/pause.kernels");

/// The longest pause: nobody waits for it in vain if a launch behind it fails.
const MOST: Duration = Duration::from_millis(20);

/// Enqueues a pause.
///
/// # Errors
/// When the launch fails.
pub(in crate::cuda::variants) fn launch(
    variety: &Variety,
    stream: &Arc<CudaStream>,
    length: Duration,
) -> Result<(), Error> {
    let function = variety.kernel(PAUSE, "pause", 0)?;
    let nanoseconds = length.min(MOST).as_nanos() as u64;
    let mut builder = stream.launch_builder(&function);
    builder.arg(&nanoseconds);
    // SAFETY: the argument is that of the kernel, which touches no memory and ends after this time.
    unsafe { builder.launch(each(1, 1, 0)) }.doing("launching a pause")?;
    Ok(())
}
