//! Pools of memory for planes. A buffer is reused after the last reference to its plane is dropped, so only the first
//! few frames allocate, and memory does not grow with the length of the video.
#![allow(unsafe_code, reason = "only the caller knows that the addresses of a surface are valid")]

use super::PixelFormat;
use super::device::{Adopted, Surface};
use super::idle::Idle;
use super::limits::{Counted, Limits};
use super::memory::{Buffer, Memory, MemoryError};
use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The memory that sources fill with frames: a [`HostPool`], or memory that a backend reads faster.
pub trait Pool: Send + Sync {
    /// A buffer of at least `len` bytes, aligned to 64 bytes, with unspecified content.
    ///
    /// # Errors
    /// When the pool has no memory left, or there is no room within its [`Limits`] for another frame.
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError>;

    /// The planes of a frame that the backend reads faster from this memory; the others can be in any memory.
    fn planes(&self, format: PixelFormat) -> Range<usize> {
        0..format.descriptor().planes().len()
    }

    /// Prepares the pool for a source that decodes ahead. Returns the limit of bytes of decoded frames that wait.
    fn make_room(&self) -> usize {
        host_room(&Limits::default())
    }

    /// Copies a frame out of the surface of a decoder: luma into memory of the pool on the same GPU, chroma into host
    /// memory. The surface is free when this returns. `None` when the pool is not for that GPU, or has no memory left
    /// there.
    ///
    /// # Safety
    /// The rows are valid memory of the surface's context until the call returns. After the work that is enqueued on
    /// the surface's stream, they are not written. The stream belongs to the context.
    unsafe fn adopt(&self, _surface: &Surface) -> Option<Adopted> {
        None
    }
}

/// The most bytes of host memory for frames that are decoded ahead by several decoders.
const MAX_AHEAD: u64 = 4 << 30;

/// Bytes of host memory for frames that are decoded ahead: half of the limit for frames, and at most a quarter of the
/// free memory, or 1 GiB where the system does not report it.
pub fn host_room(limits: &Limits) -> usize {
    let most = usize::try_from(MAX_AHEAD).unwrap_or(usize::MAX);
    Limits::available().map_or(1 << 30, |bytes| bytes / 4).min(most).min(limits.memory() / 2)
}

/// The alignment of buffers in bytes: a cache line, which has the size of the widest vector.
const ALIGNMENT: usize = 64;

/// The most idle buffers that a pool keeps by default, within the bytes of [`Limits`]. Encoders release up to 16
/// frames at once.
const KEPT: usize = 16;

/// A pool of host memory, shared by its clones. By default, nothing limits its bytes.
#[derive(Clone)]
pub struct HostPool {
    limits: Limits,
    idle: Arc<Mutex<Idle<HostMemory>>>,
    kept: usize,
}

/// Zeroed bytes; the buffer begins at `start`, where they are aligned. Pages that were never written use no memory.
struct HostMemory {
    bytes: Vec<u8>,
    start: usize,
    _counted: Counted,
}

impl HostMemory {
    fn new(len: usize, limits: &Limits) -> Self {
        let bytes = vec![0; len];
        HostMemory { start: bytes.as_ptr().align_offset(ALIGNMENT), bytes, _counted: limits.count(len) }
    }
}

impl Default for HostPool {
    fn default() -> Self {
        HostPool::new(&Limits::default())
    }
}

impl HostPool {
    /// A pool whose bytes count towards these limits.
    pub fn new(limits: &Limits) -> Self {
        HostPool { limits: limits.clone(), idle: Arc::default(), kept: KEPT }
    }

    /// A pool that keeps as many idle buffers as were in use recently, for sources in which many frames wait at times.
    pub fn that_keeps_all(limits: &Limits) -> Self {
        HostPool { kept: usize::MAX, ..HostPool::new(limits) }
    }

    /// A buffer of at least `len` bytes, aligned to 64 bytes, with unspecified (but initialized) content.
    pub fn take(&self, len: usize) -> HostBuffer {
        self.take_idle(len).unwrap_or_else(|| {
            let memory = HostMemory::new(HostPool::padded(len) + ALIGNMENT, &self.limits);
            HostBuffer { memory: Some(memory), len: HostPool::padded(len), pool: self.clone() }
        })
    }

    /// An idle buffer of the right size, if there is one.
    fn take_idle(&self, len: usize) -> Option<HostBuffer> {
        let len = HostPool::padded(len);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.take(|memory| memory.bytes.len() == len + ALIGNMENT);
        if found.is_none() {
            // The idle buffers are for frames of another size.
            idle.retain(|_| false);
        }
        Some(HostBuffer { memory: Some(found?), len, pool: self.clone() })
    }

    /// `len` rounded up to whole cache lines, and one more: libraries read up to a vector past the end of a row.
    fn padded(len: usize) -> usize {
        (len.div_ceil(ALIGNMENT) + 1) * ALIGNMENT
    }
}

/// A buffer of a [`HostPool`], which takes it back when it is dropped.
pub struct HostBuffer {
    /// `None` only while the buffer is being dropped.
    memory: Option<HostMemory>,
    len: usize,
    pool: HostPool,
}

impl Deref for HostBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &memory.bytes[memory.start..][..self.len])
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().map_or(&mut [], |memory| &mut memory.bytes[memory.start..][..self.len])
    }
}

impl Pool for HostPool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        if let Some(idle) = self.take_idle(len) {
            return Ok(Box::new(idle));
        }
        self.limits.check_room(len)?;
        Ok(Box::new(self.take(len)))
    }

    fn make_room(&self) -> usize {
        host_room(&self.limits)
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
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = self.memory.take()
            && idle.len() < self.pool.kept.min(self.pool.limits.idle() / memory.bytes.len())
        {
            idle.put(memory);
        }
    }
}

/// A pool that can be replaced while sources use it. It begins with a [`HostPool`], and passes calls on to its current
/// pool.
pub struct LatePool {
    current: RwLock<Arc<dyn Pool>>,
}

impl Default for LatePool {
    fn default() -> Self {
        LatePool::new(&Limits::default())
    }
}

impl LatePool {
    /// A pool that begins with host memory within these limits.
    pub fn new(limits: &Limits) -> Self {
        LatePool { current: RwLock::new(Arc::new(HostPool::new(limits))) }
    }

    /// Makes `pool` the current pool.
    pub fn replace(&self, pool: Arc<dyn Pool>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = pool;
    }

    fn current(&self) -> Arc<dyn Pool> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Pool for LatePool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        self.current().buffer(len)
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        self.current().planes(format)
    }

    fn make_room(&self) -> usize {
        self.current().make_room()
    }

    unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        // SAFETY: the caller guarantees the same of `surface`.
        unsafe { self.current().adopt(surface) }
    }
}
