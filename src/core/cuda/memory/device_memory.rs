//! Memory on the GPU for planes: of decoded pictures, of pictures that callers import, and of results that stay there.
#![allow(unsafe_code, reason = "memory that is allocated without being set, and copies from it")]

use super::rows::{RowsAddress, copy_of_rows, interleaved};
use crate::cuda::error::{Doing, Error};
use crate::frame::{HostBuffer, HostPool, Limits, Memory, MemoryError, OnDevice};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, result, sys};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The default limit of a pool in bytes: 258 frames of 8-bit luma at 1080p, 64 at 4K.
pub(crate) const MAX_ON_DEVICE: usize = 512 << 20;

/// The number of recent requests whose lengths are remembered. Idle buffers of any other length are freed: they were
/// for frames of another size. A frame requests up to four buffers, and one for its result.
const NOTED: usize = 64;

/// A pool of GPU memory for planes. A buffer returns to it when its last reference is dropped.
pub(crate) struct DevicePool {
    context: Arc<CudaContext>,
    /// The stream of copies into the pool's memory, and from there to other memory of the GPU.
    copies: Arc<CudaStream>,
    /// The stream of downloads, for planes that are read on the host.
    download: Arc<CudaStream>,
    idle: Mutex<IdleBuffers>,
    /// Bytes that are allocated, idle or not.
    allocated_bytes: AtomicUsize,
    /// The limit of `allocated_bytes`.
    most_bytes: AtomicUsize,
    host: HostPool,
}

#[derive(Default)]
struct IdleBuffers {
    buffers: Vec<CudaSlice<u8>>,
    /// The lengths that were taken last, oldest first.
    taken: VecDeque<usize>,
}

impl DevicePool {
    /// A pool of at most `most_bytes` bytes. Copies of its planes on the host count towards `limits`.
    ///
    /// # Errors
    /// When a stream cannot be made.
    pub fn new(context: &Arc<CudaContext>, most_bytes: usize, limits: &Limits) -> Result<Arc<Self>, Error> {
        let stream = || context.new_stream().doing("making a stream");
        Ok(Arc::new(DevicePool {
            context: context.clone(),
            copies: stream()?,
            download: stream()?,
            idle: Mutex::default(),
            allocated_bytes: AtomicUsize::new(0),
            most_bytes: AtomicUsize::new(most_bytes),
            host: HostPool::new(limits),
        }))
    }

    /// The stream of copies into the pool's memory, and from there to other memory of the GPU.
    pub fn copies(&self) -> &Arc<CudaStream> {
        &self.copies
    }

    /// The most bytes that the pool may allocate.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes.load(Ordering::Relaxed)
    }

    /// Sets the most bytes that the pool may allocate. If the pool has more, idle buffers are freed when another buffer
    /// needs memory.
    pub fn set_most_bytes(&self, bytes: usize) {
        self.most_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Memory of `len` bytes (at least 1) with unspecified content.
    ///
    /// # Errors
    /// When the pool is used up, or the GPU has no memory left.
    pub fn take(self: &Arc<Self>, len: usize) -> Result<DeviceMemory, Error> {
        let doing = "allocating memory for a picture on the device";
        // Freeing requires a bound context.
        self.context.bind_to_thread().doing(doing)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let IdleBuffers { buffers, taken } = &mut *idle;
        taken.push_back(len);
        if taken.len() > NOTED
            && let Some(length) = taken.pop_front()
            && !taken.contains(&length)
        {
            buffers.extract_if(.., |buffer| buffer.len() == length).for_each(|buffer| self.free(buffer));
        }
        if let Some(index) = buffers.iter().rposition(|buffer| buffer.len() == len) {
            return Ok(self.lend(buffers.swap_remove(index)));
        }
        let most = self.most_bytes();
        while self.allocated_bytes.load(Ordering::Relaxed) + len > most {
            let Some(buffer) = buffers.pop() else {
                let in_use = self.allocated_bytes.load(Ordering::Relaxed);
                return Err(Error::PicturesFull {
                    needed: len.div_ceil(1 << 20),
                    in_use: in_use >> 20,
                    most: most >> 20,
                });
            };
            self.free(buffer);
        }
        // SAFETY: unset bytes are copied, but nothing depends on them.
        let buffer = unsafe { self.download.alloc(len) }.doing(doing)?;
        self.allocated_bytes.fetch_add(len, Ordering::Relaxed);
        let memory = self.lend(buffer);
        drop(idle);
        // Allocation is ordered on `download`; after this other streams may use the buffer too.
        self.download.synchronize().doing(doing)?;
        Ok(memory)
    }

    fn lend(self: &Arc<Self>, buffer: CudaSlice<u8>) -> DeviceMemory {
        DeviceMemory { buffer: Some(buffer), host: OnceLock::new(), pool: self.clone() }
    }

    /// Frees a buffer. The context is bound.
    fn free(&self, buffer: CudaSlice<u8>) {
        self.allocated_bytes.fetch_sub(buffer.len(), Ordering::Relaxed);
        drop(buffer);
    }
}

impl Drop for DevicePool {
    fn drop(&mut self) {
        // The thread may be an encoder's, to which the context is not bound; a failure cannot be reported from here.
        let _ = self.context.bind_to_thread();
    }
}

/// Memory on the GPU, which returns to its pool when dropped. It is written once, by copies that are waited for before
/// it is shared. Code that enqueues a copy of it must keep it until the copy is done.
pub(crate) struct DeviceMemory {
    /// `None` only while it is being dropped.
    buffer: Option<CudaSlice<u8>>,
    /// A copy of the bytes on the host, after the first read there.
    host: OnceLock<HostBuffer>,
    pool: Arc<DevicePool>,
}

impl DeviceMemory {
    /// The address of its first byte.
    pub fn address(&self) -> u64 {
        self.buffer().device_ptr(&self.pool.download).0
    }

    fn buffer(&self) -> &CudaSlice<u8> {
        self.buffer.as_ref().expect("not dropped")
    }

    /// Downloads the memory into a buffer of the host.
    fn copy_down(&self) -> Result<HostBuffer, Error> {
        let doing = "bringing a picture down";
        let mut host = self.pool.host.take(self.size());
        self.pool.context.bind_to_thread().doing(doing)?;
        let stream = &self.pool.download;
        let below = &mut host[..self.size()];
        // SAFETY: both sides have these bytes. They were written before the memory was shared and are only read since;
        // the host's side is waited for below, and the context is bound.
        let copied = unsafe { result::memcpy_dtoh_async(below, self.address(), stream.cu_stream()) };
        let done = stream.synchronize();
        copied.and(done).doing(doing)?;
        Ok(host)
    }

    /// Copies the rows of `row_bytes` bytes that begin at the offsets `starts` into `target`, one after the other.
    fn copy_rows_down(&self, starts: &[usize], row_bytes: usize, target: &mut [u8]) -> Result<(), Error> {
        let doing = "bringing rows of a picture down";
        assert!(
            starts.iter().all(|start| start + row_bytes <= self.size()) && target.len() == starts.len() * row_bytes
        );
        if target.is_empty() {
            return Ok(());
        }
        self.pool.context.bind_to_thread().doing(doing)?;
        let stream = &self.pool.download;
        let (groups, distance) = interleaved(starts, row_bytes);
        let rows = starts.len() / groups;
        // The pitch of a single row has no meaning.
        let pitch = if rows == 1 { row_bytes } else { distance };
        let mut copied = Ok(());
        for (group, start) in starts[..groups].iter().enumerate() {
            let above = (RowsAddress::Device(self.address() + *start as u64), pitch);
            let below = (RowsAddress::Host(target[group * row_bytes..].as_mut_ptr()), groups * row_bytes);
            let copy = copy_of_rows(above, below, row_bytes, rows);
            // SAFETY: all rows lie in this memory, as was asserted; they were written before it was shared and are only
            // read since. On the host, row `k` of group `g` is number `k * groups + g` of the rows that `target` has
            // room for; it is waited for below. The driver reads `copy` before it returns, and the context is bound.
            copied = copied.and(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result());
        }
        let done = stream.synchronize();
        copied.and(done).doing(doing)
    }
}

impl Memory for DeviceMemory {
    fn bytes(&self) -> &[u8] {
        self.host.get_or_init(|| self.copy_down().unwrap_or_else(|error| panic!("{error}")))
    }

    fn rows(&self, starts: &[usize], row_bytes: usize) -> Result<Vec<u8>, MemoryError> {
        let mut rows = vec![0; starts.len() * row_bytes];
        match self.host.get() {
            Some(host) => {
                for (row, &start) in rows.chunks_exact_mut(row_bytes.max(1)).zip(starts) {
                    row.copy_from_slice(&host[start..start + row_bytes]);
                }
            }
            None => self.copy_rows_down(starts, row_bytes, &mut rows)?,
        }
        Ok(rows)
    }

    fn size(&self) -> usize {
        self.buffer().len()
    }

    fn on_device(&self) -> Option<OnDevice> {
        Some(OnDevice { context: self.pool.context.cu_ctx() as usize, address: self.address() })
    }

    fn is_on_host(&self) -> bool {
        self.host.get().is_some()
    }

    fn bring_down(&self) -> Result<(), MemoryError> {
        if !self.is_on_host() {
            let host = self.copy_down()?;
            // Another thread may have set it first, with the same bytes.
            let _ = self.host.set(host);
        }
        Ok(())
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.buffers.extend(self.buffer.take());
    }
}
