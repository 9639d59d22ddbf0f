//! One place in the ring: a frame's buffers on either side of the bus, and the events that tie its three stages
//! together across their streams.
#![allow(unsafe_code, reason = "copies that run on while the function returns")]

use super::context::Gpu;
use super::error::{Doing, Error};
use super::layout::Layout;
use super::picture::{Picture, Task};
use super::pinned::{PinnedBuffer, PinnedPool};
use super::timeline::{Marks, Timeline};
use crate::frame::{Frame, Memory, Plane};
use cudarc::driver::sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC;
use cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DevicePtrMut, result};
use std::sync::Arc;

/// The streams that frames pass, one behind the other.
pub(super) struct Streams {
    pub upload: Arc<CudaStream>,
    pub compute: Arc<CudaStream>,
    pub download: Arc<CudaStream>,
}

impl Streams {
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let stream = || gpu.context.new_stream().doing("making a stream");
        Ok(Streams { upload: stream()?, compute: stream()?, download: stream()? })
    }
}

/// A frame on its way, and the buffer that it comes down into.
struct UnderWay {
    frame: Frame,
    target: PinnedBuffer,
}

pub(super) struct Slot {
    streams: Arc<Streams>,
    staging: PinnedBuffer,
    picture: Picture,
    uploaded: CudaEvent,
    computed: CudaEvent,
    downloaded: CudaEvent,
    marks: Option<Marks>,
    under_way: Option<UnderWay>,
}

impl Slot {
    /// An idle slot for frames of this layout.
    pub fn new(
        gpu: &Arc<Gpu>,
        streams: &Arc<Streams>,
        pool: &PinnedPool,
        layout: &Layout,
        origin: Option<&Arc<CudaEvent>>,
    ) -> Result<Self, Error> {
        let event = |flags| gpu.context.new_event(flags).doing("making an event");
        Ok(Slot {
            streams: streams.clone(),
            staging: pool.take(layout.buffer_bytes())?,
            picture: Picture::on(&streams.compute, gpu, layout)?,
            uploaded: event(None)?,
            computed: event(None)?,
            // The thread that waits for it sleeps, and leaves its core to the decoder and the encoder.
            downloaded: event(Some(CU_EVENT_BLOCKING_SYNC))?,
            marks: origin.map(|origin| Marks::new(&gpu.context, origin)).transpose()?,
            under_way: None,
        })
    }

    /// Whether it was made for this layout.
    pub fn fits(&self, layout: &Layout) -> bool {
        self.picture.layout() == layout
    }

    /// Copies the samples of `frame` and enqueues its way up, through the kernels and down again into `target`. With
    /// `refused`, the driver is made to refuse a launch.
    pub fn start(&mut self, frame: Frame, target: PinnedBuffer, task: Task, refused: bool) -> Result<(), Error> {
        assert!(self.under_way.is_none() && target.len() >= self.picture.layout().bytes());
        gather(&frame, self.picture.layout(), &mut self.staging);
        // From here on the buffers are the device's, also if something fails: `drop` waits.
        let under_way = self.under_way.insert(UnderWay { frame, target });
        let Streams { upload, compute, download } = &*self.streams;
        let bytes = self.picture.layout().bytes();

        self.marks.as_ref().map_or(Ok(()), |marks| marks.upload.begin(upload))?;
        {
            let (device, _order) = self.picture.pixels.device_ptr_mut(upload);
            // SAFETY: both are at least `bytes` long. `staging` is pinned, belongs to this slot and is not touched
            // before `finish` or `drop` has waited; the device buffer is idle, the slot's last frame having come down.
            unsafe { result::memcpy_htod_async(device, &self.staging[..bytes], upload.cu_stream()) }
                .doing("copying to the device")?;
        }
        self.marks.as_ref().map_or(Ok(()), |marks| marks.upload.end(upload))?;
        self.uploaded.record(upload).doing("recording an event")?;

        compute.wait(&self.uploaded).doing("ordering streams")?;
        self.marks.as_ref().map_or(Ok(()), |marks| marks.kernels.begin(compute))?;
        if refused {
            self.picture.fail(task)?;
        }
        self.picture.equalize(task)?;
        self.marks.as_ref().map_or(Ok(()), |marks| marks.kernels.end(compute))?;
        self.computed.record(compute).doing("recording an event")?;

        download.wait(&self.computed).doing("ordering streams")?;
        self.marks.as_ref().map_or(Ok(()), |marks| marks.download.begin(download))?;
        {
            let (device, _order) = self.picture.pixels.device_ptr(download);
            // SAFETY: both are at least `bytes` long. `target` is pinned, and nobody sees it before `finish` or `drop`
            // has waited.
            unsafe { result::memcpy_dtoh_async(&mut under_way.target[..bytes], device, download.cu_stream()) }
                .doing("copying from the device")?;
        }
        self.marks.as_ref().map_or(Ok(()), |marks| marks.download.end(download))?;
        self.downloaded.record(download).doing("recording an event")
    }

    /// Waits for the frame under way: it, equalized, and when its stages ran if the slot was made to say so.
    pub fn finish(&mut self) -> Result<(Frame, Option<Timeline>), Error> {
        self.downloaded.synchronize().doing("equalizing a frame")?;
        let timeline = self.marks.as_ref().map(Marks::timeline).transpose()?;
        let UnderWay { frame, target } = self.under_way.take().expect("a frame under way");
        let memory: Arc<dyn Memory> = Arc::new(target);
        let rewritten = frame.rewritten_planes();
        let layout = self.picture.layout();
        let equalized = frame.with_planes(|index| {
            let span = layout.spans().get(index.checked_sub(rewritten.start)?)?;
            Some(
                Plane::new(memory.clone(), span.start, span.row_bytes as isize, span.row_bytes, span.rows)
                    .expect("the buffer holds the layout"),
            )
        });
        Ok((equalized, timeline))
    }
}

impl Drop for Slot {
    /// Waits for copies under way: they must not find their memory in other hands.
    fn drop(&mut self) {
        if self.under_way.is_some() {
            // If waiting fails, the context is broken and its copies have come to an end.
            let Streams { upload, compute, download } = &*self.streams;
            for stream in [upload, compute, download] {
                let _ = stream.synchronize();
            }
        }
    }
}

/// Copies the planes that travel, row by row, without the padding between rows.
fn gather(frame: &Frame, layout: &Layout, staging: &mut [u8]) {
    for (plane, span) in frame.planes()[frame.rewritten_planes()].iter().zip(layout.spans()) {
        let target = &mut staging[span.start..][..span.bytes()];
        match plane.contiguous() {
            Some(bytes) => target.copy_from_slice(bytes),
            None => {
                for (y, row) in target.chunks_exact_mut(span.row_bytes).enumerate() {
                    row.copy_from_slice(plane.row(y));
                }
            }
        }
    }
}
