//! Pictures of callers that are on the GPU already: copies into memory that the ring reads in place, and out of it,
//! without a trip over the bus.
#![allow(unsafe_code, reason = "copies between addresses that a caller gives")]

use super::device_memory::{DevicePool, MAX_ON_DEVICE};
use super::rows::{RowsAddress, copy_of_rows, pitch_of};
use crate::cuda::context::Gpu;
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::get_or_load;
use crate::frame::{DevicePlanes, DeviceRows, Frame, PixelFormat, Plane, PlaneMut};
use cudarc::driver::{CudaStream, result, sys};
use std::sync::Arc;

impl Gpu {
    /// Copies a picture of `format` and `size` (columns, rows) within the GPU, into memory of this library. The copy
    /// begins when the work is done that was enqueued on the stream of `picture` before the call. It is done when this
    /// returns, even with an error: the caller can overwrite or free its memory at once. Like every call that uses the
    /// GPU, this makes its context the current one of the thread.
    ///
    /// The planes make a [`Frame`] that is equalized where it lies. A plane is downloaded when the host reads it:
    /// measuring ([`measure`](crate::equalize::counting::measure)) downloads some of its rows, and whatever needs all of its
    /// samples on the host downloads the whole plane (the CPU backends, [`Gray`](crate::equalize::counting::Gray) where luma has
    /// no plane of its own, [`Depth`](crate::equalize::Depth), counting with a [`Mask`](crate::equalize::counting::Mask), and
    /// looking for black bars).
    ///
    /// These copies and results that stay on the GPU take at most 512 MiB, or a quarter of what was free when the first
    /// one was made, if that is more ([`allow_for_pictures`](Gpu::allow_for_pictures)).
    ///
    /// # Errors
    /// When the planes are not those of the format and size, belong to another context, there is no more memory for
    /// pictures, or a call fails.
    ///
    /// # Safety
    /// The rows are valid memory of the context that `picture` names until the call returns. From the end of the work
    /// that is enqueued on its stream until then, nothing writes them. The stream belongs to the context.
    pub unsafe fn import(
        &self,
        format: PixelFormat,
        size: (usize, usize),
        picture: &DevicePlanes,
    ) -> Result<Vec<Plane>, Error> {
        picture.check(format, size).map_err(Error::Planes)?;
        self.check_context(picture)?;
        let pool = self.pictures()?;
        let take = |rows: &DeviceRows| pool.take(PlaneMut::stride_for(rows.row_bytes) * rows.rows);
        let memories = picture.planes.iter().map(take).collect::<Result<Vec<_>, _>>()?;
        let copies = picture.planes.iter().zip(&memories).map(|(source, memory)| {
            let target =
                DeviceRows { address: memory.address(), pitch: PlaneMut::stride_for(source.row_bytes), ..*source };
            ((RowsAddress::Device(source.address), source.pitch), target)
        });
        // SAFETY: the sources are valid by the caller's promise. Each target is new memory with room for these rows,
        // which nothing else touches; `run` has waited for the copies before it goes back to the pool or is shared.
        unsafe { run(pool.copies(), picture.stream, copies) }?;
        let planes = picture.planes.iter().zip(memories).map(|(&DeviceRows { row_bytes, rows, .. }, memory)| {
            let stride = PlaneMut::stride_for(row_bytes) as isize;
            Plane::new(Arc::new(memory), 0, stride, row_bytes, rows).expect("the memory holds the rows")
        });
        Ok(planes.collect())
    }

    /// Copies the planes of `frame` to the addresses of `target` on the GPU: planes that lie on this GPU within it, all
    /// others from host memory. The copies begin when the work is done that was enqueued on the stream of `target`
    /// before the call. They are done when this returns, so work on any stream may use them then.
    ///
    /// # Errors
    /// When the planes of `target` do not fit the frame's format and size, belong to another context, or a call fails.
    ///
    /// # Safety
    /// The rows are valid memory of the context that `target` names until the call returns. From the end of the work
    /// that is enqueued on its stream until then, nothing else accesses them. The stream belongs to the context.
    pub unsafe fn export(&self, frame: &Frame, target: &DevicePlanes) -> Result<(), Error> {
        target.check(frame.format(), (frame.width(), frame.height())).map_err(Error::Planes)?;
        self.check_context(target)?;
        let stream = self.pictures()?.copies();
        let mut gathered = Vec::new();
        for plane in frame.planes() {
            gathered.push(self.gathered(plane)?);
        }
        let copies = frame.planes().iter().zip(&gathered).zip(&target.planes).map(|((plane, gathered), target)| {
            let source = match (gathered, plane.on_device().filter(|place| place.context == self.handle())) {
                (Some(rows), _) => (RowsAddress::Host(rows.as_ptr()), plane.row_bytes()),
                (None, place) => {
                    let start = place.map(|place| RowsAddress::Device(place.address));
                    let start = start.unwrap_or_else(|| RowsAddress::Host(plane.row(0).as_ptr()));
                    (start, pitch_of(plane, self.most_pitch).unwrap_or(plane.row_bytes()))
                }
            };
            (source, *target)
        });
        // SAFETY: the targets are valid by the caller's promise. `Plane` has checked that every row lies in its memory,
        // a pitch is what `gathered` has found to be one, and gathered rows have no padding. `frame` and `gathered`
        // stay until `run` has waited for the copies. Memory on the GPU was written before the plane was made.
        unsafe { run(stream, target.stream, copies) }
    }

    /// Sets how many bytes of GPU memory the copies of pictures and results that stay may take.
    ///
    /// # Errors
    /// When a stream cannot be made.
    pub fn allow_for_pictures(&self, bytes: usize) -> Result<(), Error> {
        self.pictures()?.set_most_bytes(bytes);
        Ok(())
    }

    /// The rows of a plane without padding, if its pitch is unsuitable for a copy; else `None`. Downloads a plane that
    /// lies on another GPU or has such a pitch.
    fn gathered(&self, plane: &Plane) -> Result<Option<Vec<u8>>, Error> {
        let is_here = plane.on_device().is_some_and(|place| place.context == self.handle());
        let has_pitch = pitch_of(plane, self.most_pitch).is_some();
        if !is_here || !has_pitch {
            plane.memory().bring_down().map_err(|error| Error::Refused { reason: error.to_string() })?;
        }
        Ok((!has_pitch).then(|| (0..plane.rows()).flat_map(|y| plane.row(y)).copied().collect()))
    }

    fn check_context(&self, picture: &DevicePlanes) -> Result<(), Error> {
        if picture.context == self.handle() { Ok(()) } else { Err(Error::OtherContext) }
    }

    /// The memory of pictures that are copied or stay on this GPU, made on first use.
    pub(crate) fn pictures(&self) -> Result<&Arc<DevicePool>, Error> {
        get_or_load(&self.pictures, || {
            let free = self.context.mem_get_info().map_or(0, |(free, _)| free / 4);
            DevicePool::new(&self.context, MAX_ON_DEVICE.max(free), &self.limits)
        })
    }
}

const COPYING: &str = "copying a picture";

/// Copies rows after the work that is enqueued on the stream with the handle `behind`, and waits for the copies.
///
/// # Safety
/// The sources have the rows of the targets at these pitches. Both are in memory of the context of `stream` or on the
/// host, and are valid until this returns. After the work that is enqueued on `behind`, a stream of the same context,
/// nothing writes the sources and nothing else accesses the targets until then.
unsafe fn run(
    stream: &Arc<CudaStream>,
    behind: usize,
    copies: impl Iterator<Item = ((RowsAddress, usize), DeviceRows)>,
) -> Result<(), Error> {
    // SAFETY: by the caller's promise.
    let mut copied = unsafe { wait_for(stream, behind) };
    for (source, target) in copies {
        // SAFETY: by the caller's promise; `wait_for` has bound the context, or nothing is enqueued.
        copied = copied.and_then(|()| unsafe {
            enqueue_copy(
                stream,
                source,
                (RowsAddress::Device(target.address), target.pitch),
                (target.row_bytes, target.rows),
            )
        });
    }
    // Also after an error: copies that were enqueued before it still use the memory.
    let done = stream.synchronize().doing(COPYING);
    copied.and(done)
}

/// Makes work that is enqueued on `stream` from now on wait for the work that is enqueued on the stream with the handle
/// `behind`. Binds the context.
///
/// # Safety
/// `behind` is a stream of the context of `stream`.
pub(crate) unsafe fn wait_for(stream: &Arc<CudaStream>, behind: usize) -> Result<(), Error> {
    let context = stream.context();
    context.bind_to_thread().doing(COPYING)?;
    let reached = context.new_event(None).doing("making an event")?;
    // SAFETY: the event is of this context, and so is the stream, by the caller's promise.
    unsafe { result::event::record(reached.cu_event(), behind as sys::CUstream) }.doing(COPYING)?;
    stream.wait(&reached).doing("ordering streams")
}

/// Enqueues the copy of rows, each side with its pitch.
///
/// # Safety
/// Both sides have these rows (bytes a row, rows), in memory of the context of `stream` or on the host. Until the
/// stream has been waited for, nothing writes `source`, and nothing else touches `target`. The context is bound.
pub(crate) unsafe fn enqueue_copy(
    stream: &Arc<CudaStream>,
    source: (RowsAddress, usize),
    target: (RowsAddress, usize),
    (row_bytes, rows): (usize, usize),
) -> Result<(), Error> {
    // The pitch of a single row has no meaning.
    let pitch = |(start, pitch)| (start, if rows == 1 { row_bytes } else { pitch });
    let copy = copy_of_rows(pitch(source), pitch(target), row_bytes, rows);
    // SAFETY: by the caller's promise; the driver reads `copy` before it returns.
    unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result().doing(COPYING)
}
