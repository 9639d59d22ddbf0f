//! Rows with padding between them, as the driver copies them.

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};
use std::ptr;

/// Where rows begin.
#[derive(Clone, Copy)]
pub(super) enum RowsAddress {
    Host(*const u8),
    Device(u64),
}

impl RowsAddress {
    fn kind(self) -> CUmemorytype {
        match self {
            RowsAddress::Host(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
            RowsAddress::Device(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
        }
    }

    fn host(self) -> *const u8 {
        if let RowsAddress::Host(start) = self { start } else { ptr::null() }
    }

    fn device(self) -> u64 {
        if let RowsAddress::Device(address) = self { address } else { 0 }
    }
}

/// The copy of `rows` rows of `row_bytes` bytes from one place to another, with the pitch that they have in each. What it
/// writes on the host has to be memory that may be written.
pub(super) fn copy_of_rows(
    (from, from_pitch): (RowsAddress, usize),
    (to, to_pitch): (RowsAddress, usize),
    row_bytes: usize,
    rows: usize,
) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from.kind(),
        srcHost: from.host().cast(),
        srcDevice: from.device(),
        srcArray: ptr::null_mut(),
        srcPitch: from_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to.kind(),
        dstHost: to.host().cast_mut().cast(),
        dstDevice: to.device(),
        dstArray: ptr::null_mut(),
        dstPitch: to_pitch,
        WidthInBytes: row_bytes,
        Height: rows,
    }
}
