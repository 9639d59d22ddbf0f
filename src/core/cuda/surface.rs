//! The memory of decoded frames. A decoder on the CPU writes into pinned memory of [`InputPool`].
//!
//! Pictures of a decoder on this GPU are copied: luma within the GPU, where it stays until it is equalized, because the
//! decoder reuses its own memory; chroma to the host, for the encoder.
#![allow(unsafe_code, reason = "copies between addresses that a decoder gives")]

use super::context::Gpu;
use super::error::{Doing, Error};
use super::pinned::{PinnedBuffer, PinnedPool};
use super::rows::{RowsAddress, copy_of_rows, interleaved};
use crate::frame::{
    Adopted, Buffer, DeviceRows, HostBuffer, HostPool, Memory, MemoryError, OnDevice, PixelFormat, Pool, Surface,
    host_room,
};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, result, sys};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most bytes that are pinned for uploads to a GPU, of all rings: pinned memory is never swapped out, so other programs
/// lack it. A decoder on 16 threads may hold 40 frames, which are 83 MB of 8-bit luma at 1080p and 332 MB at 4K.
const MOST_FOR_INPUT: usize = 512 << 20;

/// The most bytes of GPU memory for waiting frames: 258 frames of 8-bit luma at 1080p, 64 at 4K. With several decoders, a
/// quarter of what is free, if that is more.
const MOST_ON_DEVICE: usize = 512 << 20;

/// Copies pictures from a decoder.
pub(super) struct SurfaceImporter {
    pool: Arc<LumaPool>,
    /// The stream of the copies, after the decoder's work.
    stream: Arc<CudaStream>,
    /// Buffers for downloaded chroma, each in use only until Cb and Cr are separated.
    pairs: PinnedPool,
}

impl SurfaceImporter {
    /// An importer for pictures of decoders on this GPU.
    ///
    /// # Errors
    /// When a stream cannot be made.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        let stream = || gpu.context.new_stream().doing("making a stream");
        let pool = LumaPool {
            gpu: gpu.clone(),
            download: stream()?,
            idle: Mutex::default(),
            allocated_bytes: AtomicUsize::new(0),
            most_bytes: AtomicUsize::new(MOST_ON_DEVICE),
            host: HostPool::default(),
        };
        Ok(SurfaceImporter { pool: Arc::new(pool), stream: stream()?, pairs: PinnedPool::new(&gpu.context) })
    }

    /// Copies a picture, and waits until its samples are copied; `None` when it belongs to another context, when the
    /// memory for waiting frames is used up, or when a call fails.
    ///
    /// # Safety
    /// As for [`Pool::adopt`](crate::frame::Pool::adopt).
    pub unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        if surface.context != self.pool.context() {
            return None;
        }
        let luma = LumaPool::take_rows(&self.pool, &surface.luma, surface.stride)?;
        let mut pairs = self.pairs.take(surface.pairs.row_bytes * surface.pairs.rows).ok()?;
        // SAFETY: by the caller's promise; luma and pairs are new, and as long as those of the surface.
        let copied = unsafe { self.enqueue(surface, &luma.rows, &mut pairs) };
        // Also after an error: copies that were enqueued before it still use the memory.
        let done = self.stream.synchronize().doing("copying a decoded picture");
        copied.and(done).ok()?;
        Some(Adopted { luma: Arc::new(luma), pairs: Box::new(pairs) })
    }

    /// Enqueues the copies of luma and chroma, behind the decoder's work.
    ///
    /// # Safety
    /// As for [`adopt`](SurfaceImporter::adopt). `luma` has the surface's rows in memory of this context, `pairs` has the bytes
    /// of its pairs, and nothing else touches either until the stream has been waited for.
    unsafe fn enqueue(&self, surface: &Surface, luma: &DeviceRows, pairs: &mut PinnedBuffer) -> Result<(), Error> {
        let doing = "copying a decoded picture";
        let gpu = &self.pool.gpu;
        gpu.context.bind_to_thread().doing(doing)?;
        let decoded = gpu.context.new_event(None).doing("making an event")?;
        // SAFETY: the event is of this context, and so is the stream, by the caller's promise.
        unsafe { result::event::record(decoded.cu_event(), surface.stream as sys::CUstream) }.doing(doing)?;
        self.stream.wait(&decoded).doing("ordering streams")?;
        if surface.shift > 0 {
            // SAFETY: by the caller's promise. Rows of both begin at whole vectors, or the launcher refuses; both
            // pitches leave room for whole vectors behind each row.
            unsafe { gpu.kernels.surface()?.launch(&self.stream, &surface.luma, luma, surface.shift)? };
        } else {
            // SAFETY: by the caller's promise, both sides have these rows.
            unsafe { self.copy(&surface.luma, (RowsAddress::Device(luma.address), luma.pitch)) }?;
        }
        let below = (RowsAddress::Host(pairs.as_mut_ptr()), surface.pairs.row_bytes);
        // SAFETY: as above; the host's side is as long as the rows without padding.
        unsafe { self.copy(&surface.pairs, below) }
    }

    /// Enqueues the copy of rows.
    ///
    /// # Safety
    /// They lie in memory of this context, `to` has room for them, and nothing else touches it until the stream has been
    /// waited for. The context is bound.
    unsafe fn copy(&self, rows: &DeviceRows, to: (RowsAddress, usize)) -> Result<(), Error> {
        let copy = copy_of_rows((RowsAddress::Device(rows.address), rows.pitch), to, rows.row_bytes, rows.rows);
        // SAFETY: by the caller's promise; the driver reads `copy` before it returns.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, self.stream.cu_stream()) }.result().doing("copying a decoded picture")
    }
}

/// A pool of GPU memory for waiting frames. A buffer returns to it when its last reference is dropped.
struct LumaPool {
    gpu: Arc<Gpu>,
    /// The stream of downloads, for planes that are read on the host.
    download: Arc<CudaStream>,
    idle: Mutex<Vec<CudaSlice<u8>>>,
    /// Bytes that are allocated, idle or not.
    allocated_bytes: AtomicUsize,
    /// Bytes that may be allocated.
    most_bytes: AtomicUsize,
    host: HostPool,
}

impl LumaPool {
    /// The handle of its context.
    fn context(&self) -> usize {
        self.gpu.context.cu_ctx() as usize
    }

    /// Memory for rows like `rows` at another pitch, with unspecified content; `None` when the pool is used up.
    fn take_rows(pool: &Arc<LumaPool>, rows: &DeviceRows, pitch: usize) -> Option<DeviceLuma> {
        let buffer = pool.take(pitch * rows.rows)?;
        let address = buffer.device_ptr(&pool.download).0;
        let rows = DeviceRows { address, pitch, ..*rows };
        Some(DeviceLuma { rows, buffer: Some(buffer), host: OnceLock::new(), pool: pool.clone() })
    }

    fn take(&self, len: usize) -> Option<CudaSlice<u8>> {
        // Freeing requires a bound context.
        self.gpu.context.bind_to_thread().ok()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // Buffers of another length are for another size of picture.
        for other in idle.extract_if(.., |buffer| buffer.len() != len) {
            self.allocated_bytes.fetch_sub(other.len(), Ordering::Relaxed);
        }
        if let Some(buffer) = idle.pop() {
            return Some(buffer);
        }
        if self.allocated_bytes.load(Ordering::Relaxed) + len > self.most_bytes.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: only bytes that the copy of a surface has written are read.
        let buffer = unsafe { self.download.alloc(len) }.ok()?;
        // Allocation is ordered on `download`; after this other streams may use the buffer too.
        self.download.synchronize().ok()?;
        self.allocated_bytes.fetch_add(len, Ordering::Relaxed);
        Some(buffer)
    }
}

impl Drop for LumaPool {
    fn drop(&mut self) {
        // The thread may be an encoder's, to which the context is not bound; a failure cannot be reported from here.
        let _ = self.gpu.context.bind_to_thread();
    }
}

/// Luma on the GPU; its memory returns to the pool when dropped. Code that enqueues a copy of it must keep it until the
/// copy is done.
struct DeviceLuma {
    rows: DeviceRows,
    /// `None` only while it is being dropped.
    buffer: Option<CudaSlice<u8>>,
    /// The same rows on the host, after the first read there.
    host: OnceLock<HostBuffer>,
    pool: Arc<LumaPool>,
}

impl DeviceLuma {
    /// A copy on the host, at the same pitch.
    fn copy_down(&self) -> Result<HostBuffer, Error> {
        let doing = "bringing a picture down";
        let mut host = self.pool.host.take(self.size());
        self.pool.gpu.context.bind_to_thread().doing(doing)?;
        let DeviceRows { address, pitch, row_bytes, rows } = self.rows;
        let below = (RowsAddress::Host(host.as_mut_ptr()), pitch);
        let copy = copy_of_rows((RowsAddress::Device(address), pitch), below, row_bytes, rows);
        let stream = &self.pool.download;
        // SAFETY: both sides have these rows. They were written before `adopt` returned and are only read since; the
        // host's side is waited for below. The driver reads `copy` before it returns, and the context is bound.
        let copied = unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result();
        let done = stream.synchronize();
        copied.and(done).doing(doing)?;
        Ok(host)
    }
}

impl DeviceLuma {
    /// Copies rows of `row_bytes` bytes that begin at these bytes into `to`, which has their bytes.
    fn copy_rows_down(&self, starts: &[usize], row_bytes: usize, to: &mut [u8]) -> Result<(), Error> {
        let doing = "bringing rows of a picture down";
        assert!(starts.iter().all(|start| start + row_bytes <= self.size()) && to.len() == starts.len() * row_bytes);
        if to.is_empty() {
            return Ok(());
        }
        self.pool.gpu.context.bind_to_thread().doing(doing)?;
        let stream = &self.pool.download;
        let (groups, distance) = interleaved(starts);
        let rows = starts.len() / groups;
        // The pitch of a single row has no meaning.
        let pitch = if rows == 1 { row_bytes } else { distance };
        let mut copied = Ok(());
        for (group, start) in starts[..groups].iter().enumerate() {
            let below = (RowsAddress::Host(to[group * row_bytes..].as_mut_ptr()), groups * row_bytes);
            let copy =
                copy_of_rows((RowsAddress::Device(self.rows.address + *start as u64), pitch), below, row_bytes, rows);
            // SAFETY: all rows lie in this memory, as was asserted; they were written before `adopt` returned and are only
            // read since. On the host, row `k` of group `g` is number `k * groups + g` of the rows that `to` has room for;
            // it is waited for below. The driver reads `copy` before it returns, and the context is bound.
            copied = copied.and(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result());
        }
        let done = stream.synchronize();
        copied.and(done).doing(doing)
    }
}

impl Memory for DeviceLuma {
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
        self.rows.pitch * self.rows.rows
    }

    fn on_device(&self) -> Option<OnDevice> {
        Some(OnDevice { context: self.pool.context(), address: self.rows.address })
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

impl Drop for DeviceLuma {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.buffer.take());
    }
}

/// Memory for frames that will be uploaded: pinned up to a bound, then pageable, which uploads a little slower. Pinning
/// takes 0.3 ms per megabyte, once per buffer. Luma that was decoded on the GPU is not uploaded.
pub struct InputPool {
    gpu: Arc<Gpu>,
    pinned: PinnedPool,
    beyond: HostPool,
    /// Set on the first picture of a decoder on the GPU; `None` inside if it cannot be made.
    surfaces: OnceLock<Option<SurfaceImporter>>,
    with_chroma: bool,
}

impl InputPool {
    /// For frames whose chroma is uploaded too if `with_chroma`.
    pub(super) fn new(gpu: &Arc<Gpu>, with_chroma: bool) -> Self {
        InputPool {
            gpu: gpu.clone(),
            pinned: gpu.input.clone(),
            beyond: HostPool::that_keeps_all(),
            surfaces: OnceLock::new(),
            with_chroma,
        }
    }

    /// What takes pictures from decoders on the GPU; `None` if it cannot be made.
    fn surfaces(&self) -> Option<&SurfaceImporter> {
        self.surfaces.get_or_init(|| SurfaceImporter::new(&self.gpu).ok()).as_ref()
    }
}

impl Pool for InputPool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        if let Some(pinned) = self.pinned.take_within(MOST_FOR_INPUT, len)? {
            return Ok(Box::new(pinned));
        }
        self.beyond.buffer(len)
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        format.rewritten_planes(self.with_chroma)
    }

    fn make_room(&self) -> usize {
        let free = self.gpu.context.mem_get_info().map_or(0, |(free, _)| free / 4);
        match self.surfaces().filter(|_| !self.with_chroma) {
            // Two thirds of a picture of 4:2:0 are luma, which waits on the GPU.
            Some(surfaces) if free > MOST_ON_DEVICE => {
                surfaces.pool.most_bytes.fetch_max(free, Ordering::Relaxed);
                (free / 2 * 3).min(host_room().saturating_mul(3))
            }
            _ => host_room(),
        }
    }

    unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        // SAFETY: by the caller's promise.
        unsafe { self.surfaces()?.adopt(surface) }
    }
}
