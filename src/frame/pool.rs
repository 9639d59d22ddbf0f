//! Memory for finished planes, used again when the last holder of a plane lets go: after the first few frames
//! nothing is allocated, and memory does not grow with the length of the video.
#![allow(unsafe_code, reason = "what is said of a GPU's memory only the caller can promise")]

use super::PixelFormat;
use super::device::{Adopted, Surface};
use super::memory::{Buffer, Memory};
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Where sources get the memory that they fill with frames: a [`HostPool`], or what a backend reads faster.
pub trait Pool: Send + Sync {
    /// A buffer of at least `len` bytes, aligned to 64, its content unspecified.
    ///
    /// # Errors
    /// When there is no memory of this kind left.
    fn buffer(&self, len: usize) -> anyhow::Result<Box<dyn Buffer>>;

    /// Which planes of a picture gain by lying in this memory, from the first one on; the others lie as well anywhere
    /// else.
    fn planes(&self, format: PixelFormat) -> Range<usize> {
        0..format.descriptor().planes().len()
    }

    /// Takes a picture over from a decoder on a GPU: when this returns, luma lies in memory of the pool's on that GPU,
    /// chroma on the host, and the surface may go back. `None` when the pool is for another GPU or for none, or has
    /// nothing left there.
    ///
    /// # Safety
    /// The rows lie in memory of this context, are not written any more once the work that is on this stream is done,
    /// and stay until the call returns. The stream belongs to the context.
    unsafe fn adopt(&self, _surface: &Surface) -> Option<Adopted> {
        None
    }
}

/// The unit of allocation: a cache line, and the width of the widest vector.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// How many idle buffers a pool keeps. Encoders hand frames back in bursts no longer than this.
const KEPT: usize = 16;

/// A pool of host memory, shared by its clones.
#[derive(Clone, Default)]
pub struct HostPool {
    idle: Arc<Mutex<Vec<Vec<Line>>>>,
}

impl HostPool {
    /// A buffer of at least `len` bytes, aligned to 64, its content unspecified (but initialized).
    pub fn take(&self, len: usize) -> HostBuffer {
        // One line more than asked for: libraries read up to a vector past the end of a row.
        let lines = len.div_ceil(size_of::<Line>()) + 1;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|buffer| buffer.len() == lines);
        let lines = match found {
            Some(index) => idle.swap_remove(index),
            None => {
                // Whatever lies here was made for another size of picture.
                idle.clear();
                vec![bytemuck::Zeroable::zeroed(); lines]
            }
        };
        HostBuffer { lines, idle: self.idle.clone() }
    }
}

/// Bytes out of a [`HostPool`]; they go back there when dropped.
pub struct HostBuffer {
    lines: Vec<Line>,
    idle: Arc<Mutex<Vec<Vec<Line>>>>,
}

impl Deref for HostBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

impl Pool for HostPool {
    fn buffer(&self, len: usize) -> anyhow::Result<Box<dyn Buffer>> {
        Ok(Box::new(self.take(len)))
    }
}

impl Buffer for HostBuffer {
    fn freeze(self: Box<Self>) -> Arc<dyn Memory> {
        Arc::new(*self)
    }
}

impl Memory for HostBuffer {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(std::mem::take(&mut self.lines));
        }
    }
}

/// A pool that is handed out before it is there: until then, host memory, of which nothing is kept afterwards.
pub struct LatePool {
    at_hand: RwLock<Arc<dyn Pool>>,
}

impl Default for LatePool {
    fn default() -> Self {
        LatePool { at_hand: RwLock::new(Arc::new(HostPool::default())) }
    }
}

impl LatePool {
    /// Whatever is asked for from now on comes from `pool`.
    pub fn arrive(&self, pool: Arc<dyn Pool>) {
        *self.at_hand.write().unwrap_or_else(PoisonError::into_inner) = pool;
    }

    fn at_hand(&self) -> Arc<dyn Pool> {
        self.at_hand.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Pool for LatePool {
    fn buffer(&self, len: usize) -> anyhow::Result<Box<dyn Buffer>> {
        self.at_hand().buffer(len)
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        self.at_hand().planes(format)
    }

    unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        // SAFETY: by the caller's promise, which is the same.
        unsafe { self.at_hand().adopt(surface) }
    }
}
