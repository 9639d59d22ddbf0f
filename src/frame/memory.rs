//! Memory that planes lie in, and memory that is being filled.

use anyhow::Result;
use std::ops::DerefMut;
use std::sync::Arc;

/// Memory that a plane can lie in: the decoder's, ours, pinned for the GPU, or the GPU's. It does not change while it is
/// shared.
pub trait Memory: Send + Sync {
    /// All of it. What lies on a GPU is brought down by the first call, and kept.
    ///
    /// # Panics
    /// When it lies on a GPU that no longer answers; [`bring_down`](Memory::bring_down) tells beforehand.
    fn bytes(&self) -> &[u8];

    /// How many bytes it has. Brings nothing down.
    fn size(&self) -> usize {
        self.bytes().len()
    }

    /// Where it lies on a GPU, if it does.
    fn on_device(&self) -> Option<OnDevice> {
        None
    }

    /// Does it lie in the host's memory, too? Where it does not, [`bytes`](Memory::bytes) takes the time of a copy.
    fn is_on_host(&self) -> bool {
        true
    }

    /// Sees to it that it lies in the host's memory.
    ///
    /// # Errors
    /// When the GPU that it lies on fails.
    fn bring_down(&self) -> Result<()> {
        Ok(())
    }

    /// Can a GPU's copy engines read it where it lies?
    fn is_pinned(&self) -> bool {
        false
    }
}

/// Memory that is being filled.
pub trait Buffer: DerefMut<Target = [u8]> + Send {
    /// The finished memory, to be shared.
    fn freeze(self: Box<Self>) -> Arc<dyn Memory>;

    /// Can a GPU's copy engines read it where it lies?
    fn is_pinned(&self) -> bool {
        false
    }
}

/// Where memory lies on a GPU, for those that reach it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDevice {
    /// The context that the address belongs to: its handle, to be compared.
    pub context: usize,
    /// Of the first byte.
    pub address: u64,
}
