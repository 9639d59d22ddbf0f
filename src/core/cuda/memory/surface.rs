//! The memory of decoded frames. A decoder on the CPU writes into pinned memory of [`InputPool`].
//!
//! Pictures of a decoder on this GPU are copied: luma within the GPU, where it stays until it is equalized, because the
//! decoder reuses its own memory; chroma to the host, for the encoder.
#![allow(unsafe_code, reason = "copies between addresses that a decoder gives")]

use super::device_memory::{DevicePool, MAX_ON_DEVICE};
use super::pinned::{PinnedBuffer, PinnedPool};
use super::rows::RowsAddress;
use super::transfer::{enqueue_copy, wait_for};
use crate::cuda::context::Gpu;
use crate::cuda::error::{Doing, Error};
use crate::frame::{Adopted, Buffer, DeviceRows, HostPool, MemoryError, PixelFormat, Pool, Surface, host_room};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The most bytes that are pinned for uploads to a GPU, of all rings: pinned memory is never swapped out, so other
/// programs lack it. A decoder on 16 threads may hold 40 frames, which are 83 MB of 8-bit luma at 1080p and 332 MB at
/// 4K.
const MAX_FOR_INPUT: usize = 512 << 20;

/// Copies pictures from a decoder.
struct SurfaceImporter {
    gpu: Arc<Gpu>,
    pool: Arc<DevicePool>,
    /// Buffers for downloaded chroma, each in use only until Cb and Cr are separated.
    pairs: PinnedPool,
}

impl SurfaceImporter {
    /// An importer for pictures of decoders on this GPU.
    ///
    /// # Errors
    /// When a stream cannot be made.
    fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        let pool = DevicePool::new(&gpu.context, MAX_ON_DEVICE, &gpu.limits)?;
        Ok(SurfaceImporter { gpu: gpu.clone(), pool, pairs: PinnedPool::new(&gpu.context, &gpu.limits) })
    }

    /// Copies a picture, and waits until its samples are copied; `None` when it belongs to another context, when the
    /// memory for waiting frames is used up, or when a call fails.
    ///
    /// # Safety
    /// As for [`Pool::adopt`](crate::frame::Pool::adopt).
    unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        if surface.context != self.gpu.handle() {
            return None;
        }
        let luma = self.pool.take(surface.stride * surface.luma.rows).ok()?;
        let mut pairs = self.pairs.take(surface.pairs.row_bytes * surface.pairs.rows).ok()?;
        // SAFETY: by the caller's promise; luma and pairs are new, and as long as those of the surface.
        let copied = unsafe { self.enqueue(surface, luma.address(), &mut pairs) };
        // Also after an error: copies that were enqueued before it still use the memory.
        let done = self.pool.copies().synchronize().doing("copying a decoded picture");
        copied.and(done).ok()?;
        Some(Adopted { luma: Arc::new(luma), pairs: Box::new(pairs) })
    }

    /// Enqueues the copies of luma and chroma, after the decoder's work.
    ///
    /// # Safety
    /// As for [`adopt`](SurfaceImporter::adopt). `luma` is memory of this context for the surface's rows at its stride,
    /// `pairs` has the bytes of its pairs, and nothing else touches either until the stream has been waited for.
    unsafe fn enqueue(&self, surface: &Surface, luma: u64, pairs: &mut PinnedBuffer) -> Result<(), Error> {
        let stream = self.pool.copies();
        // SAFETY: by the caller's promise.
        unsafe { wait_for(stream, surface.stream) }?;
        let target = DeviceRows { address: luma, pitch: surface.stride, ..surface.luma };
        let device = |rows: &DeviceRows| (RowsAddress::Device(rows.address), rows.pitch);
        if surface.shift > 0 {
            // SAFETY: by the caller's promise. Rows of both begin at whole vectors, or the launcher refuses; both
            // pitches leave room for whole vectors behind each row.
            unsafe { self.gpu.kernels.surface()?.launch(stream, &surface.luma, &target, surface.shift)? };
        } else {
            // SAFETY: by the caller's promise, both sides have these rows. `wait_for` has bound the context.
            unsafe { enqueue_copy(stream, device(&surface.luma), device(&target), (target.row_bytes, target.rows)) }?;
        }
        let DeviceRows { row_bytes, rows, .. } = surface.pairs;
        let below = (RowsAddress::Host(pairs.as_mut_ptr()), row_bytes);
        // SAFETY: as above; the host's side is as long as the rows without padding.
        unsafe { enqueue_copy(stream, device(&surface.pairs), below, (row_bytes, rows)) }
    }
}

/// Memory for frames that will be uploaded: pinned up to a bound, then pageable, which uploads a little slower. Pinning
/// takes 0.3 ms per megabyte, once per buffer. Luma that was decoded on the GPU is not uploaded.
pub struct InputPool {
    gpu: Arc<Gpu>,
    pinned: PinnedPool,
    beyond: HostPool,
    /// Made for the first picture of a decoder on the GPU; `None` inside if an importer cannot be made.
    surfaces: OnceLock<Option<SurfaceImporter>>,
    with_chroma: bool,
}

impl InputPool {
    /// A pool for frames whose chroma is uploaded too if `with_chroma`.
    pub(crate) fn new(gpu: &Arc<Gpu>, with_chroma: bool) -> Self {
        InputPool {
            gpu: gpu.clone(),
            pinned: gpu.input.clone(),
            beyond: HostPool::that_keeps_all(&gpu.limits),
            surfaces: OnceLock::new(),
            with_chroma,
        }
    }

    /// The importer of pictures from decoders on the GPU; `None` if it cannot be made.
    fn surfaces(&self) -> Option<&SurfaceImporter> {
        self.surfaces.get_or_init(|| SurfaceImporter::new(&self.gpu).ok()).as_ref()
    }
}

impl Pool for InputPool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        if let Some(pinned) = self.pinned.take_within(MAX_FOR_INPUT, len)? {
            return Ok(Box::new(pinned));
        }
        self.beyond.buffer(len)
    }

    fn planes(&self, format: PixelFormat) -> Range<usize> {
        format.rewritten_planes(self.with_chroma)
    }

    fn make_room(&self) -> usize {
        let free = self.gpu.context.mem_get_info().map_or(0, |(free, _)| free / 4);
        let on_host = host_room(&self.gpu.limits);
        match self.surfaces().filter(|_| !self.with_chroma) {
            // Two thirds of a 4:2:0 frame are luma, which waits on the GPU; the rest waits on the host.
            Some(surfaces) if free > MAX_ON_DEVICE => {
                surfaces.pool.set_most_bytes(surfaces.pool.most_bytes().max(free));
                (free / 2 * 3).min(on_host.saturating_mul(3))
            }
            _ => on_host,
        }
    }

    unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
        // SAFETY: by the caller's promise.
        unsafe { self.surfaces()?.adopt(surface) }
    }
}
