//! The memory of planes, and buffers that sources fill.

use super::limits::NoRoom;
use std::ops::DerefMut;
use std::sync::Arc;

/// The error of the GPU, decoder or pool that the memory of a plane belongs to.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct MemoryError(Box<dyn std::error::Error + Send + Sync>);

impl MemoryError {
    /// Wraps an error of the owner of the memory.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        MemoryError(error.into())
    }

    /// The wrapped error.
    pub fn inner(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0
    }

    /// The wrapped error, if it is a `T`.
    pub(crate) fn downcast<T: std::error::Error + 'static>(self) -> Result<T, Self> {
        self.0.downcast().map(|error| *error).map_err(MemoryError)
    }
}

impl From<NoRoom> for MemoryError {
    fn from(error: NoRoom) -> Self {
        MemoryError::new(error)
    }
}

/// Whose fault an error is, and so what a caller can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// That of the caller: an option, a picture, or the order of calls.
    Parameter,
    /// A [limit](super::Limits) is exceeded: another one, or smaller pictures, help.
    Limit,
    /// What was asked for is not done for such pictures.
    Unsupported,
    /// A GPU, its driver or its memory is missing, or fails. The CPU gives the same bytes.
    Device,
    /// A bug of the library.
    Internal,
}

/// Memory of planes: of a decoder, of a pool, pinned for the GPU, or on the GPU. It does not change while it is shared.
pub trait Memory: Send + Sync {
    /// All bytes of the memory. For memory on a GPU, the first call copies them to the host and keeps the copy.
    ///
    /// # Panics
    /// When that copy fails; call [`bring_down`](Memory::bring_down) first to get an error instead.
    fn bytes(&self) -> &[u8];

    /// Copies of the rows of `row_bytes` bytes that begin at the byte offsets `starts`, one after the other. From a
    /// GPU, only these rows are copied to the host.
    ///
    /// # Errors
    /// When the GPU fails.
    ///
    /// # Panics
    /// When a row lies outside of the memory.
    fn rows(&self, starts: &[usize], row_bytes: usize) -> Result<Vec<u8>, MemoryError> {
        let bytes = self.bytes();
        Ok(starts.iter().flat_map(|&start| &bytes[start..start + row_bytes]).copied().collect())
    }

    /// Number of bytes. Does not copy memory from a GPU.
    fn size(&self) -> usize {
        self.bytes().len()
    }

    /// The address on a GPU, if the memory is there. GPU work on this memory may only read, and has to be done before
    /// the last reference to the memory is dropped.
    fn on_device(&self) -> Option<OnDevice> {
        None
    }

    /// Whether the bytes are in host memory. If not, [`bytes`](Memory::bytes) takes the time of a copy.
    fn is_on_host(&self) -> bool {
        true
    }

    /// Copies the bytes to host memory, unless they are there already.
    ///
    /// # Errors
    /// When the GPU fails.
    fn bring_down(&self) -> Result<(), MemoryError> {
        Ok(())
    }

    /// Whether the memory is pinned, so that a GPU's copy engines can read it directly.
    fn is_pinned(&self) -> bool {
        false
    }
}

/// A buffer that a source fills.
pub trait Buffer: DerefMut<Target = [u8]> + Send {
    /// The filled buffer as shared memory.
    fn freeze(self: Box<Self>) -> Arc<dyn Memory>;

    /// Whether the buffer is pinned, so that a GPU's copy engines can read it directly.
    fn is_pinned(&self) -> bool {
        false
    }
}

/// An address on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDevice {
    /// Handle of the context that the address belongs to; for comparison only.
    pub context: usize,
    /// Address of the first byte.
    pub address: u64,
}
