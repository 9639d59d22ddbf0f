//! The buffer of a frame's samples on the device.
#![allow(unsafe_code, reason = "pinned memory that the kernels change in place")]

use super::pinned::PinnedBuffer;
use crate::cuda::error::{Doing, Error};
use cudarc::driver::{CudaSlice, CudaStream, sys};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Bytes that kernels change in place: memory of the GPU, or a pinned buffer of the host where both use the same memory
/// (Jetson).
pub(crate) struct DeviceSamples {
    /// `None` only while it is being dropped.
    slice: Option<CudaSlice<u8>>,
    /// The host buffer at which `slice` points, if the memory is shared.
    shared: Option<PinnedBuffer>,
}

impl DeviceSamples {
    /// Memory of the GPU, with unspecified content.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub fn on_device(stream: &Arc<CudaStream>, len: usize) -> Result<Self, Error> {
        // SAFETY: the kernels read no byte before it was written, except for those behind a plane's last pixel, whose
        // values are never used.
        let slice = unsafe { stream.alloc(len) }.doing("allocating memory on the device")?;
        Ok(DeviceSamples { slice: Some(slice), shared: None })
    }

    /// A pinned buffer, whose context is bound to this thread.
    ///
    /// # Errors
    /// When the GPU cannot address the host's memory.
    pub fn on_host(stream: &Arc<CudaStream>, buffer: PinnedBuffer) -> Result<Self, Error> {
        let mut address = 0;
        // SAFETY: the buffer is pinned, and a context is bound. The driver only reads the pointer.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, buffer.as_ptr().cast_mut().cast(), 0) }
            .result()
            .doing("sharing memory with the device")?;
        // SAFETY: the address is that of `buffer`, which lives as long as the slice. `into_host` and `drop` leak the
        // slice, so it never frees the address.
        let slice = unsafe { stream.upgrade_device_ptr(address, buffer.len()) };
        Ok(DeviceSamples { slice: Some(slice), shared: Some(buffer) })
    }

    /// The bytes on the host, if the memory is shared. Must not be called while kernels use them.
    pub fn host(&self) -> Option<&[u8]> {
        self.shared.as_deref()
    }

    /// As [`host`](DeviceSamples::host), to write them.
    pub fn host_mut(&mut self) -> Option<&mut [u8]> {
        self.shared.as_deref_mut()
    }

    /// The buffer, if the memory is shared.
    pub fn into_host(mut self) -> Option<PinnedBuffer> {
        let buffer = self.shared.take()?;
        self.slice.take().map(CudaSlice::leak);
        Some(buffer)
    }
}

impl Deref for DeviceSamples {
    type Target = CudaSlice<u8>;
    fn deref(&self) -> &CudaSlice<u8> {
        self.slice.as_ref().expect("not dropped")
    }
}

impl DerefMut for DeviceSamples {
    fn deref_mut(&mut self) -> &mut CudaSlice<u8> {
        self.slice.as_mut().expect("not dropped")
    }
}

impl Drop for DeviceSamples {
    fn drop(&mut self) {
        // The pool owns a pinned buffer, so the slice must not free it.
        if self.shared.is_some() {
            self.slice.take().map(CudaSlice::leak);
        }
    }
}
