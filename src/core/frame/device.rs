//! Memory of a GPU as plain addresses, for modules that pass it on without a GPU library.

use super::format::{FrameError, PixelFormat};
use super::memory::{Buffer, Memory};
use std::sync::Arc;

/// Rows of a plane in a GPU's memory, top row first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRows {
    /// Address of the first byte of the first row.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes in a row, without padding.
    pub row_bytes: usize,
    /// Rows.
    pub rows: usize,
}

/// The planes of a frame in a GPU's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePlanes {
    /// Handle of the context that the planes belong to (`CUcontext`).
    pub context: usize,
    /// Handle of a stream of that context (`CUstream`): copies wait for the work that is enqueued on it; 0 is the
    /// default stream.
    pub stream: usize,
    /// The planes of the format, in FFmpeg's order.
    pub planes: Vec<DeviceRows>,
}

impl DevicePlanes {
    /// Checks that the planes are those of a frame of this format and size (columns, rows).
    ///
    /// # Errors
    /// When they are not, a plane has no address, or its rows overlap.
    #[doc(hidden)]
    pub fn check(&self, format: PixelFormat, size: (usize, usize)) -> Result<(), FrameError> {
        format.check_planes(size, self.planes.iter().map(|plane| (plane.row_bytes, plane.rows)))?;
        for (plane, &DeviceRows { address, pitch, row_bytes, rows }) in self.planes.iter().enumerate() {
            if address == 0 || rows > 1 && pitch < row_bytes {
                return Err(FrameError::PlanePlace { plane, address, pitch, row_bytes });
            }
        }
        Ok(())
    }
}

/// A decoded 4:2:0 frame in the memory of the GPU's decoder. The decoder has few surfaces, and stops while all of
/// them are in use.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Handle of the context that the rows belong to.
    pub context: usize,
    /// Handle of the stream of that context on which the decoder writes the rows; 0 is the default stream.
    pub stream: usize,
    /// The luma samples.
    pub luma: DeviceRows,
    /// The chroma samples, Cb and Cr interleaved.
    pub pairs: DeviceRows,
    /// Number of unused low bits of a sample: 0 at 8 bits, otherwise 16 minus the depth.
    pub shift: u32,
    /// Bytes from one row of luma to the next in the copy: at least those of a row, and a multiple of 64.
    pub stride: usize,
}

/// A copy of a [`Surface`], after which the decoder can reuse the surface.
pub struct Adopted {
    /// The luma, with the codes shifted to the low bits and rows `stride` bytes apart, in memory of the GPU
    /// ([`Memory::on_device`]).
    pub luma: Arc<dyn Memory>,
    /// The unchanged pairs of chroma samples, row after row without padding, in host memory.
    pub pairs: Box<dyn Buffer>,
}
