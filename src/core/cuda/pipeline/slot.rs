//! One slot of the ring: a frame's buffers on host and device, and the events that order its three stages on their
//! streams.
#![allow(unsafe_code, reason = "copies that run on while the function returns")]

use super::history::History;
use super::picture::{DeviceMapping, DevicePicture};
use super::readback::ReadbackLayout;
use super::task::{Readback, Task};
use super::timeline::{Marks, Timeline};
use crate::cuda::context::Gpu;
use crate::cuda::error::{Doing, Error};
use crate::cuda::memory::device_memory::DeviceMemory;
use crate::cuda::memory::layout::BufferLayout;
use crate::cuda::memory::pinned::{PinnedBuffer, PinnedPool};
use crate::cuda::memory::rows::{RowsAddress, copy_of_rows, pitch_of};
use crate::cuda::memory::samples::DeviceSamples;
use crate::frame::{Frame, Memory, OnDevice, Plane};
use crate::spec::curves::Mapping;
use crate::spec::time::{Counts, Scene};
use cudarc::driver::sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC;
use cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DevicePtrMut, result, sys};
use std::hint::spin_loop;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are copied into the staging buffer before each upload: enough that the cost of enqueueing is small.
const PIECE: usize = 1 << 20;

/// How long a thread polls for a frame before it sleeps: the time that sleeping and waking by an interrupt takes on a
/// virtual machine. The download of a 1080p frame takes less: a full ring moves 92 GB/s with polling, and 75 GB/s if
/// threads sleep at once.
const LOOKOUT: Duration = Duration::from_micros(50);

/// The streams of the three stages, and the stream with the events on which threads sleep.
pub(crate) struct Streams {
    pub upload: Arc<CudaStream>,
    pub compute: Arc<CudaStream>,
    pub download: Arc<CudaStream>,
    /// The GPU raises an interrupt for an event on which a thread sleeps. This stops the event's stream for 5 µs, a
    /// tenth of the download of a 1080p frame, so such events have a stream of their own.
    pub arrival: Arc<CudaStream>,
}

impl Streams {
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let stream = || gpu.context.new_stream().doing("making a stream");
        Ok(Streams { upload: stream()?, compute: stream()?, download: stream()?, arrival: stream()? })
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Equalize,
    /// Equalizes the samples that the slot's pinned memory still holds, in place of the frame's.
    EqualizeStaged,
    /// Applies the mapping that came with the task, and leaves the history unchanged.
    Apply,
    /// Adds the frame to the history, and returns the frame unchanged.
    WarmUp,
}

/// A frame in flight. The targets of its result are set once its curve is known.
struct UnderWay {
    frame: Frame,
    task: Task,
    readback: ReadbackLayout,
    /// The mapping, if it came with the task.
    given: Option<Mapping>,
    /// The gain of chroma if chroma follows luma, in 4096ths. `None` unless one curve maps the whole frame.
    chroma_gain: Option<u32>,
    /// Whether the frame is only added to the history.
    warms_up: bool,
    /// The scene of the frame, if the frame is added to the history.
    scene: Option<Scene>,
    /// The target of the download: of the samples and the readback, or of the readback alone.
    target: Option<PinnedBuffer>,
    /// The samples, if they stay on the device.
    staying: Option<DeviceMemory>,
}

/// A frame that has left the ring.
pub struct Collected {
    /// The frame, equalized. Its new planes are in pinned memory, or on the device if the task keeps them there.
    pub frame: Frame,
    /// The counts of the frame, if they are read back.
    pub counts: Option<Arc<Counts>>,
    /// The scene of the frame; `None` if its mapping came with the task.
    pub scene: Option<Scene>,
    /// The mapping, if it came with the task.
    pub given: Option<Mapping>,
    /// The curve, or the curves of the tiles one after the other, with an entry for each code. `None` unless read back.
    pub curves: Option<Arc<[u16]>>,
    /// The gain of chroma if chroma follows luma, in 4096ths. `None` unless one curve maps the whole frame.
    pub chroma_gain: Option<u32>,
}

pub(crate) struct Slot {
    gpu: Arc<Gpu>,
    streams: Arc<Streams>,
    pool: PinnedPool,
    /// The pinned copy of frames that are in pageable memory; `None` before the first such frame. It stays `None` where
    /// the GPU shares the host's memory: there, frames are copied directly into the buffer that the kernels change.
    staging: Option<PinnedBuffer>,
    picture: DevicePicture,
    /// The size of a buffer for a downloaded frame, in bytes.
    buffer_bytes: usize,
    uploaded: CudaEvent,
    computed: CudaEvent,
    downloaded: CudaEvent,
    arrived: CudaEvent,
    marks: Option<Marks>,
    under_way: Option<UnderWay>,
}

impl Slot {
    /// An idle slot for frames of this layout, with buffers of `buffer_bytes` bytes.
    pub fn new(
        gpu: &Arc<Gpu>,
        streams: &Arc<Streams>,
        pool: &PinnedPool,
        (layout, buffer_bytes): (&BufferLayout, usize),
        origin: Option<&Arc<CudaEvent>>,
    ) -> Result<Self, Error> {
        let event = |flags| gpu.context.new_event(flags).doing("making an event");
        let pixels = match gpu.shares_memory {
            true => DeviceSamples::on_host(&streams.compute, pool.take(buffer_bytes)?),
            false => DeviceSamples::on_device(&streams.compute, buffer_bytes),
        }?;
        Ok(Slot {
            gpu: gpu.clone(),
            streams: streams.clone(),
            pool: pool.clone(),
            staging: None,
            picture: DevicePicture::on(&streams.compute, gpu, layout, Some(pixels))?,
            buffer_bytes,
            uploaded: event(None)?,
            computed: event(None)?,
            downloaded: event(None)?,
            arrived: event(Some(CU_EVENT_BLOCKING_SYNC))?,
            marks: origin.map(|origin| Marks::new(&gpu.context, origin)).transpose()?,
            under_way: None,
        })
    }

    /// Whether the slot was made for this layout, and buffers of `buffer_bytes` bytes.
    pub fn fits(&self, layout: &BufferLayout, buffer_bytes: usize) -> bool {
        self.picture.layout() == layout && self.buffer_bytes == buffer_bytes
    }

    /// Enqueues the upload of `frame` and its kernels up to the curve. Samples in pageable memory are first copied into
    /// pinned memory. With `refused` the driver refuses a launch, for tests. Returns the mapping of the frame, which is
    /// used unless a later frame of the same scene in the look-ahead gives another. `waiting` is the slot of the frame
    /// that leaves the look-ahead now, and is mapped with the curve of this frame.
    pub fn begin(
        &mut self,
        frame: Frame,
        history: &mut History,
        (task, scene): (Task, Option<Scene>),
        operation: Operation,
        refused: bool,
        waiting: Option<&mut Slot>,
    ) -> Result<DeviceMapping, Error> {
        assert!(self.under_way.is_none());
        // Enqueueing a copy does not bind the context, and another thread may have used the slot before.
        self.gpu.context.bind_to_thread().doing("binding the context")?;
        let streams = self.streams.clone();
        let Streams { upload, compute, .. } = &*streams;
        let bytes = self.picture.layout().bytes();
        let readback = ReadbackLayout::new(self.picture.layout(), &task);
        let warms_up = matches!(operation, Operation::WarmUp);
        // From here on the device may access the buffers, also after an error: `drop` waits.
        let under_way = UnderWay {
            frame,
            task: task.clone(),
            readback,
            given: None,
            chroma_gain: None,
            warms_up,
            scene,
            target: None,
            staying: None,
        };
        self.under_way = Some(under_way);

        self.picture.refill();
        if let Operation::EqualizeStaged = operation { self.upload(0..bytes) } else { self.gather_and_upload() }?;
        self.mark(|marks| marks.upload.end(upload))?;
        self.uploaded.record(upload).doing("recording an event")?;

        compute.wait(&self.uploaded).doing("ordering streams")?;
        self.mark(|marks| marks.kernels.begin(compute))?;
        if refused {
            self.picture.fail(&task)?;
        }
        self.picture.analyze(history, &task, waiting.map(|slot| &mut slot.picture))
    }

    /// Enqueues the mapping `applied` of the frame, and the download of its samples, or a copy on the device if they
    /// stay there. `history` has the curves of the look-ahead.
    pub fn complete(&mut self, history: &History, applied: &DeviceMapping) -> Result<(), Error> {
        let streams = self.streams.clone();
        let Streams { compute, download, .. } = &*streams;
        let under_way = self.under_way.as_mut().expect("a frame under way");
        let (task, readback) = (under_way.task.clone(), under_way.readback.clone());
        if let DeviceMapping::Given(mapping) = applied {
            under_way.given = Some(mapping.clone()).filter(|_| !under_way.warms_up);
        }
        under_way.chroma_gain = match applied {
            _ if under_way.warms_up || task.tiles(self.picture.layout()).is_some() => None,
            DeviceMapping::Curves { chroma_gain, .. } | DeviceMapping::Given(Mapping::Curve { chroma_gain, .. }) => {
                Some(*chroma_gain)
            }
            DeviceMapping::Given(_) => None,
        };
        let samples = 0..self.picture.layout().bytes();
        let stays = task.stays_on_device && !under_way.warms_up;
        let bytes = match readback.range() {
            range if stays || under_way.warms_up => range,
            range if range.is_empty() => samples.clone(),
            range => samples.start..range.end,
        };
        let has_target = !bytes.is_empty() && self.picture.pixels.host().is_none();
        under_way.target = if has_target { Some(self.pool.take(self.buffer_bytes)?) } else { None };
        under_way.staying = if stays { Some(self.gpu.pictures()?.take(samples.len())?) } else { None };
        if !under_way.warms_up {
            self.picture.complete(history, &task, applied)?;
            self.picture.copy_curves(&task, &readback)?;
        }
        self.mark(|marks| marks.kernels.end(compute))?;
        self.computed.record(compute).doing("recording an event")?;

        download.wait(&self.computed).doing("ordering streams")?;
        self.mark(|marks| marks.download.begin(download))?;
        self.keep(samples)?;
        self.download(bytes)?;
        self.mark(|marks| marks.download.end(download))?;
        self.downloaded.record(download).doing("recording an event")
    }

    /// Waits for the download: first polls, then sleeps, which leaves the core to the decoder and the encoder.
    fn wait(&self) -> Result<(), Error> {
        let doing = "equalizing a frame";
        // Querying an event does not bind the context.
        self.gpu.context.bind_to_thread().doing("binding the context")?;
        let begin = Instant::now();
        while begin.elapsed() < LOOKOUT {
            if self.downloaded.try_is_complete().doing(doing)? {
                return Ok(());
            }
            spin_loop();
        }
        let arrival = &self.streams.arrival;
        arrival.wait(&self.downloaded).doing("ordering streams")?;
        self.arrived.record(arrival).doing("recording an event")?;
        self.arrived.synchronize().doing(doing)
    }

    /// Uploads the planes: in place, if they are pinned or on this GPU, else through the staging buffer.
    fn gather_and_upload(&mut self) -> Result<(), Error> {
        let frame = self.under_way.as_ref().expect("a frame under way").frame.clone();
        let planes = &frame.planes()[self.picture.layout().planes.clone()];
        if planes.iter().all(|plane| self.reaches(plane)) {
            return self.upload_in_place(planes);
        }
        self.stage_and_upload(planes)
    }

    /// Whether the copy engines can read a plane in place: it is pinned or on this GPU, top row first, and its pitch is
    /// not too large.
    fn reaches(&self, plane: &Plane) -> bool {
        (plane.memory().is_pinned() || self.address(plane).is_some()) && pitch_of(plane, self.gpu.most_pitch).is_some()
    }

    /// The address of a plane on this GPU; `None` if it is not there.
    fn address(&self, plane: &Plane) -> Option<u64> {
        let OnDevice { context, address } = plane.on_device()?;
        (context == self.gpu.handle()).then_some(address)
    }

    /// Uploads planes from pinned memory, or copies them on this GPU, without the padding between rows.
    fn upload_in_place(&mut self, planes: &[Plane]) -> Result<(), Error> {
        let layout = self.picture.layout().clone();
        let stream = &self.streams.upload;
        self.mark(|marks| marks.upload.begin(stream))?;
        for (plane, span) in planes.iter().zip(&layout.spans) {
            // `contiguous` would download a plane that is on the GPU.
            let address = self.address(plane);
            let bytes = if address.is_none() { plane.contiguous() } else { None };
            let mut target = self.picture.pixels.slice_mut(span.start..span.start + span.bytes());
            let (device, _order) = target.device_ptr_mut(stream);
            let copied = match bytes {
                // SAFETY: both sides have these bytes. The plane is pinned, shared planes are never written, and the
                // frame under way keeps it until `finish` or `drop` has waited; the device buffer is idle.
                Some(bytes) => unsafe { result::memcpy_htod_async(device, bytes, stream.cu_stream()) },
                None => {
                    let source = address.map_or_else(|| RowsAddress::Host(plane.row(0).as_ptr()), RowsAddress::Device);
                    let (row_bytes, rows) = (plane.row_bytes(), plane.rows());
                    let pitch = pitch_of(plane, self.gpu.most_pitch).expect("a plane within reach");
                    let copy = copy_of_rows((source, pitch), (RowsAddress::Device(device), row_bytes), row_bytes, rows);
                    // SAFETY: `Plane` has checked that every row lies in its memory, and the span has as many rows of
                    // as many bytes; all else as above. Memory on the GPU was written before the plane was made. The
                    // driver reads `copy` before it returns, and `begin` has bound the context to this thread.
                    unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result()
                }
            };
            copied.doing("copying to the device")?;
        }
        Ok(())
    }

    /// Copies planes into the staging buffer, without the padding between rows, and uploads each piece as soon as it is
    /// copied, so that copy and upload overlap.
    fn stage_and_upload(&mut self, planes: &[Plane]) -> Result<(), Error> {
        for plane in planes {
            plane.memory().bring_down().map_err(|error| Error::Refused { reason: error.to_string() })?;
        }
        let layout = self.picture.layout().clone();
        let mut sent = 0;
        for (plane, span) in planes.iter().zip(&layout.spans) {
            let rows_at_once = (PIECE / span.row_bytes).max(1);
            for first in (0..span.rows).step_by(rows_at_once) {
                let rows = first..(first + rows_at_once).min(span.rows);
                let start = span.start + first * span.row_bytes;
                let end = start + rows.len() * span.row_bytes;
                gather(plane, rows, &mut self.staging()?[start..end]);
                self.upload(sent..end)?;
                sent = end;
            }
        }
        Ok(())
    }

    /// The host buffer into which a frame's planes are copied, at least as long as the layout: the staging buffer, or
    /// the samples themselves where GPU and host share memory.
    fn staging(&mut self) -> Result<&mut [u8], Error> {
        if let Some(samples) = self.picture.pixels.host_mut() {
            return Ok(samples);
        }
        let staging = match self.staging.take() {
            Some(staging) => staging,
            None => self.pool.take(self.buffer_bytes)?,
        };
        Ok(self.staging.insert(staging))
    }

    /// Enqueues the copy of `bytes` of the staging buffer to the device; does nothing where GPU and host share memory.
    fn upload(&mut self, bytes: Range<usize>) -> Result<(), Error> {
        self.staging()?;
        let stream = &self.streams.upload;
        if bytes.start == 0 {
            self.mark(|marks| marks.upload.begin(stream))?;
        }
        let Some(staging) = &self.staging else { return Ok(()) };
        let mut target = self.picture.pixels.slice_mut(bytes.clone());
        let (device, _order) = target.device_ptr_mut(stream);
        // SAFETY: both sides have these bytes. `staging` is pinned and belongs to this slot, which does not write them
        // again before `finish` or `drop` has waited; the device buffer is idle, as the slot's last frame was
        // downloaded.
        unsafe { result::memcpy_htod_async(device, &staging[bytes], stream.cu_stream()) }.doing("copying to the device")
    }

    /// Enqueues the copy of `samples`, a byte range of the buffer, into the device memory of the result; does nothing
    /// if the result does not stay on the device.
    fn keep(&mut self, samples: Range<usize>) -> Result<(), Error> {
        let Some(staying) = self.under_way.as_ref().and_then(|under_way| under_way.staying.as_ref()) else {
            return Ok(());
        };
        assert_eq!(samples.len(), staying.size());
        let stream = &self.streams.download;
        let bytes = samples.len();
        let pixels = self.picture.pixels.slice(samples);
        let (source, _order) = pixels.device_ptr(stream);
        // SAFETY: both sides have these bytes. `staying` is new, and is not shared before `finish` has waited, or
        // dropped before `drop` has; the stream has waited for the kernels that write the device buffer (`computed`).
        unsafe { result::memcpy_dtod_async(staying.address(), source, bytes, stream.cu_stream()) }
            .doing("copying on the device")
    }

    /// Enqueues the copy of these bytes of the buffer from the device, if they have a target.
    fn download(&mut self, bytes: Range<usize>) -> Result<(), Error> {
        let stream = &self.streams.download;
        let target = self.under_way.as_mut().and_then(|under_way| under_way.target.as_mut());
        let Some(target) = target else { return Ok(()) };
        let target = &mut target[bytes.clone()];
        let pixels = self.picture.pixels.slice(bytes);
        let (device, _order) = pixels.device_ptr(stream);
        // SAFETY: both sides have these bytes. `target` is pinned, and is not read before `finish` or `drop` has
        // waited; the stream has waited for the kernels that write the device buffer (`computed`).
        unsafe { result::memcpy_dtoh_async(target, device, stream.cu_stream()) }.doing("copying from the device")
    }

    /// Takes out the buffer of the samples, which host and GPU share, and gives the slot another one.
    fn give_samples(&mut self) -> Result<PinnedBuffer, Error> {
        let next = DeviceSamples::on_host(&self.streams.compute, self.pool.take(self.buffer_bytes)?)?;
        let samples = std::mem::replace(&mut self.picture.pixels, next).into_host();
        Ok(samples.expect("a frame without a target is in shared memory"))
    }

    /// Records an event, if this slot keeps a timeline.
    fn mark(&self, record: impl FnOnce(&Marks) -> Result<(), Error>) -> Result<(), Error> {
        self.marks.as_ref().map_or(Ok(()), record)
    }

    /// Waits for the frame under way. Returns it equalized, with its timeline if the slot records one.
    pub fn finish(&mut self) -> Result<(Collected, Option<Timeline>), Error> {
        self.wait()?;
        let timeline = self.marks.as_ref().map(Marks::timeline).transpose()?;
        let UnderWay { frame, task, target, staying, readback, given, chroma_gain, warms_up, scene } =
            self.under_way.take().expect("a frame under way");
        let read = target.as_deref().or(self.picture.pixels.host()).filter(|_| !readback.range().is_empty());
        let counts = read.and_then(|read| readback.read_counts(read));
        let curves = match &given {
            Some(Mapping::Curve { curve, .. }) if task.readback == Readback::Everything => Some(curve.codes().into()),
            _ => read.and_then(|read| readback.read_curves(read)),
        };
        if warms_up {
            return Ok((Collected { frame, counts, scene, given, curves: None, chroma_gain }, timeline));
        }
        let memory: Arc<dyn Memory> = match (staying, target) {
            (Some(staying), _) => Arc::new(staying),
            (None, Some(target)) => Arc::new(target),
            (None, None) => Arc::new(self.give_samples()?),
        };
        let layout = self.picture.layout();
        let rewritten = layout.planes.clone();
        let frame = frame.with_planes(|index| {
            let span = layout.spans.get(index.checked_sub(rewritten.start)?)?;
            Some(
                Plane::new(memory.clone(), span.start, span.row_bytes as isize, span.row_bytes, span.rows)
                    .expect("the buffer holds the layout"),
            )
        });
        Ok((Collected { frame, counts, scene, given, curves, chroma_gain }, timeline))
    }
}

impl Drop for Slot {
    /// Waits for running copies: their memory must not be reused before they end.
    fn drop(&mut self) {
        if self.under_way.is_some() {
            // If waiting fails, the context is broken and its copies have ended.
            let Streams { upload, compute, download, .. } = &*self.streams;
            for stream in [upload, compute, download] {
                let _ = stream.synchronize();
            }
        }
    }
}

/// Copies rows of a plane into `target`, without padding.
fn gather(plane: &Plane, rows: Range<usize>, target: &mut [u8]) {
    let row_bytes = plane.row_bytes();
    match plane.contiguous() {
        Some(bytes) => target.copy_from_slice(&bytes[rows.start * row_bytes..rows.end * row_bytes]),
        None => {
            for (y, row) in rows.zip(target.chunks_exact_mut(row_bytes)) {
                row.copy_from_slice(plane.row(y));
            }
        }
    }
}
