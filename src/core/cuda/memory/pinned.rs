//! Pinned host memory, which the GPU's copy engines access directly. Frames are downloaded into it, and the encoder
//! reads them in place. When the last reference is dropped, on any thread, the buffer returns to its pool.
#![allow(unsafe_code, reason = "pinned memory is allocated and freed by the driver")]

use crate::cuda::error::{Doing, Error};
use crate::frame::limits::Counted;
use crate::frame::{Buffer, Idle, Limits, Memory, NoRoom};
use cudarc::driver::{CudaContext, result, sys};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Pinned bytes, all initialized. They keep their context alive.
struct PinnedMemory {
    start: NonNull<u8>,
    len: usize,
    context: Arc<CudaContext>,
    /// The number of bytes that the memory's pool has pinned.
    pinned_bytes: Arc<AtomicUsize>,
    _counted: Counted,
}

// SAFETY: plain memory that nothing else points to; the driver frees it from any thread that has the context bound.
unsafe impl Send for PinnedMemory {}
// SAFETY: a shared reference only reads it.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    fn new(pool: &PinnedPool, len: usize) -> Result<Self, Error> {
        let (context, pinned_bytes) = (&pool.context, &pool.pinned_bytes);
        context.bind_to_thread().doing("binding the context")?;
        // Not write-combined: encoders read it. Portable: every context of the process may copy from it.
        // SAFETY: a context is bound to this thread, and `len` is not 0 (a frame has at least one byte).
        let start = unsafe { result::malloc_host(len, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let start = NonNull::new(start.doing("allocating pinned memory")?.cast::<u8>()).expect("an address");
        // SAFETY: the allocation is `len` bytes long, and there is no other pointer to it.
        unsafe { start.write_bytes(0, len) };
        pinned_bytes.fetch_add(len, Ordering::Relaxed);
        let (context, pinned_bytes) = (context.clone(), pinned_bytes.clone());
        Ok(PinnedMemory { start, len, context, pinned_bytes, _counted: pool.limits.count(len) })
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // The thread may be an encoder's, to which the context is not bound. A failure cannot be reported from here; at
        // worst the memory stays pinned until the process ends. SAFETY: `self` keeps the context alive.
        let bound = unsafe { result::ctx::set_current(self.context.cu_ctx()) };
        // SAFETY: allocated by `malloc_host` and freed once; a copy that used it has been waited for (`Slot`).
        let _ = bound.and_then(|()| unsafe { result::free_host(self.start.as_ptr().cast()) });
        self.pinned_bytes.fetch_sub(self.len, Ordering::Relaxed);
    }
}

/// A pool of pinned buffers of one size, shared by its clones. It keeps as many buffers as were lately in use at once,
/// within a sixteenth of [`Limits::memory`].
#[derive(Clone)]
pub struct PinnedPool {
    limits: Limits,
    context: Arc<CudaContext>,
    idle: Arc<Mutex<Idle<PinnedMemory>>>,
    /// Bytes that are pinned, idle or not.
    pinned_bytes: Arc<AtomicUsize>,
}

impl PinnedPool {
    /// A pool for copies to and from the GPU of this context, whose bytes count towards these limits.
    pub fn new(context: &Arc<CudaContext>, limits: &Limits) -> Self {
        PinnedPool {
            limits: limits.clone(),
            context: context.clone(),
            idle: Arc::default(),
            pinned_bytes: Arc::default(),
        }
    }

    /// A buffer of `len` bytes, its content unspecified (but initialized).
    ///
    /// # Errors
    /// When the system has no more memory to pin.
    pub fn take(&self, len: usize) -> Result<PinnedBuffer, Error> {
        match self.take_idle(len) {
            Some(buffer) => Ok(buffer),
            None => self.pin(len),
        }
    }

    /// A buffer of `len` bytes; `None` if the pool would then have more than `most` bytes. Idle buffers of other
    /// lengths are kept while there is room, because frames of other sizes may share the pool.
    ///
    /// # Errors
    /// When frames may take no more memory.
    pub(crate) fn take_within(&self, most: usize, len: usize) -> Result<Option<PinnedBuffer>, NoRoom> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pinned) = idle.take(|pinned| pinned.len == len) {
            return Ok(Some(self.wrap(pinned)));
        }
        self.limits.check_room(len)?;
        // Threads that allocate at the same time may exceed the bound by a buffer each.
        let fits = || self.pinned_bytes.load(Ordering::Relaxed) + len <= most;
        while !fits() && idle.drop_one() {}
        drop(idle);
        Ok(if fits() { self.pin(len).ok() } else { None })
    }

    fn take_idle(&self, len: usize) -> Option<PinnedBuffer> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // Buffers of another length are freed: they were for frames of another size.
        idle.retain(|pinned| pinned.len == len);
        idle.take(|_| true).map(|pinned| self.wrap(pinned))
    }

    fn pin(&self, len: usize) -> Result<PinnedBuffer, Error> {
        Ok(self.wrap(PinnedMemory::new(self, len)?))
    }

    fn wrap(&self, pinned: PinnedMemory) -> PinnedBuffer {
        PinnedBuffer { pinned: Some(pinned), most_idle: self.limits.idle(), idle: self.idle.clone() }
    }
}

/// A buffer of a [`PinnedPool`]. It returns to the pool when dropped, and is freed if the pool is gone.
pub struct PinnedBuffer {
    /// `None` only while it is being dropped.
    pinned: Option<PinnedMemory>,
    /// The most bytes of idle buffers that the pool keeps.
    most_idle: usize,
    idle: Arc<Mutex<Idle<PinnedMemory>>>,
}

impl Deref for PinnedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        let pinned = self.pinned.as_ref().expect("not dropped");
        // SAFETY: `len` initialized bytes, alive as long as `self`; writing them takes `self` mutably.
        unsafe { std::slice::from_raw_parts(pinned.start.as_ptr(), pinned.len) }
    }
}

impl DerefMut for PinnedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let pinned = self.pinned.as_mut().expect("not dropped");
        // SAFETY: `len` initialized bytes, alive as long as `self`, which is held mutably.
        unsafe { std::slice::from_raw_parts_mut(pinned.start.as_ptr(), pinned.len) }
    }
}

impl Buffer for PinnedBuffer {
    fn freeze(self: Box<Self>) -> Arc<dyn Memory> {
        Arc::new(*self)
    }

    fn is_pinned(&self) -> bool {
        true
    }
}

impl Memory for PinnedBuffer {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn is_pinned(&self) -> bool {
        true
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pinned) = self.pinned.take()
            && idle.len() < self.most_idle / pinned.len
        {
            idle.put(pinned);
        }
    }
}
