//! The driver's two-dimensional copies: rows with padding between them.

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};
use std::ptr;

/// The address of the first row.
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

/// The copy of `rows` rows of `row_bytes` bytes, with a pitch on each side. If `to` is on the host, its memory must be
/// writable.
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
