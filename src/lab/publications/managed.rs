//! Managed memory, which the driver moves between host and device, as in cuda-4096-bins-saturated.
#![allow(unsafe_code, reason = "the bindings have no safe prefetch for CUDA 12.0")]

use super::KernelRepeats;
use cudarc::driver::{CudaStream, DevicePtrMut, sys};
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;
use std::time::Instant;

const PREFETCHING: &str = "moving managed memory to the device";

/// Bytes of the smallest page.
const PAGE: usize = 4096;

/// The times in µs of moving `bytes` bytes, which the host has just written, to the device.
///
/// # Errors
/// When the GPU has no managed memory, or too little memory.
pub(super) fn prefetch(stream: &Arc<CudaStream>, bytes: usize, repeats: KernelRepeats) -> Result<Vec<f64>, Error> {
    let context = stream.context();
    // SAFETY: any bytes are valid, and they are written before anything reads them.
    let mut memory = unsafe { context.alloc_unified::<u8>(bytes, true) }.doing("allocating managed memory")?;
    let mut times = Vec::with_capacity(repeats.measured as usize);
    for repeat in 0..repeats.warm_up + repeats.measured {
        let host = memory.as_mut_slice().doing(PREFETCHING)?;
        host.chunks_mut(PAGE).for_each(|page| page[0] = repeat as u8);
        let begin = Instant::now();
        let (address, _written) = memory.device_ptr_mut(stream);
        // SAFETY: the memory is managed, has these bytes, and lives until the stream has been waited for.
        let prefetched =
            unsafe { sys::cuMemPrefetchAsync(address, bytes, context.cu_device(), stream.cu_stream()) }.result();
        prefetched.doing(PREFETCHING)?;
        stream.synchronize().doing(PREFETCHING)?;
        if repeat >= repeats.warm_up {
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(times)
}
