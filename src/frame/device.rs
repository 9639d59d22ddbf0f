//! Memory of a GPU, for modules that pass it on and know no GPUs: addresses, and whose they are.

use super::memory::{Buffer, Memory};
use std::sync::Arc;

/// Rows in a GPU's memory, top row first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRows {
    /// Of the first byte of the first row.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes in a row, without padding.
    pub row_bytes: usize,
    /// Rows.
    pub rows: usize,
}

/// A decoded picture of 4:2:0 in a GPU's memory. The decoder wants it back soon: it has few of them, and works on no
/// further picture while all are held.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// The context that the rows belong to: its handle.
    pub context: usize,
    /// The stream of that context on which the decoder still works on the rows: its handle, 0 being the default stream.
    pub stream: usize,
    /// The luma samples.
    pub luma: DeviceRows,
    /// The chroma samples, in pairs.
    pub pairs: DeviceRows,
    /// How many bits lie below the codes of a sample: 0 for 8 bits, else as many as 16 bits are more than the depth.
    pub shift: u32,
    /// Bytes from one row of luma to the next once it is adopted: at least those in a row, a multiple of 64.
    pub stride: usize,
}

/// What has become of a [`Surface`], which may go back to its decoder.
pub struct Adopted {
    /// The luma, with its codes in the low bits and rows `stride` bytes apart, in memory that tells where
    /// [it lies on the GPU](Memory::on_device).
    pub luma: Arc<dyn Memory>,
    /// The pairs of chroma samples as they were, row after row without padding, in the host's memory.
    pub pairs: Box<dyn Buffer>,
}
