//! The order of frames: a ring of slots, in which one frame is uploaded while another is equalized and a third is
//! downloaded.

use super::history::History;
use super::picture::{DeviceMapping, DevicePicture};
use super::readback::ReadbackLayout;
use super::slot::{Collected, Operation, Slot, Streams};
use super::task::Task;
use super::timeline::{self, Timeline};
use crate::cuda::context::Gpu;
use crate::cuda::error::{Doing, Error};
use crate::cuda::memory::layout::BufferLayout;
use crate::cuda::memory::pinned::PinnedPool;
use crate::cuda::memory::surface::InputPool;
use crate::frame::Frame;
use crate::spec::time::{Counts, LookAhead, Remembered};
use cudarc::driver::CudaEvent;
use std::collections::VecDeque;
use std::sync::Arc;

/// The frames in flight on a GPU, at most `depth`.
pub struct Ring {
    gpu: Arc<Gpu>,
    streams: Arc<Streams>,
    pool: PinnedPool,
    history: History,
    /// The buffers through which the counts of other backends enter the history.
    counted_elsewhere: Option<DevicePicture>,
    /// The requested limit of frames in flight.
    asked: usize,
    /// The limit of frames in flight for which there is memory.
    depth: usize,
    idle: Vec<Slot>,
    /// Frames of the look-ahead, whose curve depends on frames that were not submitted yet.
    waiting: LookAhead<Slot, DeviceMapping>,
    under_way: VecDeque<Slot>,
    origin: Option<Arc<CudaEvent>>,
    timelines: Vec<Timeline>,
    refuse_next: bool,
}

impl Ring {
    /// An empty ring. A depth of 1 runs the stages one after the other. With 3 all stages run at once; more frames
    /// absorb delays of the threads around the ring.
    ///
    /// # Errors
    /// When a stream cannot be made.
    ///
    /// # Panics
    /// When `depth` is 0.
    pub fn new(gpu: &Arc<Gpu>, depth: usize) -> Result<Self, Error> {
        assert!(depth > 0, "a ring of no slots");
        let streams = Arc::new(Streams::new(gpu)?);
        Ok(Ring {
            gpu: gpu.clone(),
            history: History::on(&streams.compute)?,
            counted_elsewhere: None,
            streams,
            pool: PinnedPool::new(&gpu.context, &gpu.limits),
            asked: depth,
            depth,
            idle: Vec::new(),
            waiting: LookAhead::default(),
            under_way: VecDeque::new(),
            origin: None,
            timelines: Vec::new(),
            refuse_next: false,
        })
    }

    /// As [`new`](Ring::new), and records the [`Timeline`] of every frame.
    ///
    /// # Errors
    /// When a stream or an event cannot be made.
    pub fn timed(gpu: &Arc<Gpu>, depth: usize) -> Result<Self, Error> {
        let mut ring = Ring::new(gpu, depth)?;
        ring.origin = Some(timeline::origin(&ring.streams.upload)?);
        Ok(ring)
    }

    /// Submits a frame. Samples in pinned memory are uploaded in place, and the ring keeps the frame until it is
    /// collected; other samples have been copied when this returns. A frame of another format or size does not wait for
    /// the frames before it: only idle slots are replaced.
    ///
    /// # Errors
    /// When the GPU has no memory left or a call fails.
    ///
    /// # Panics
    /// When the ring is full, or the task was made for a frame of another size or depth.
    pub fn submit(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::Equalize)
    }

    /// As [`submit`](Ring::submit), but applies the mapping of [`Task::giving`], and leaves the history unchanged. Must
    /// not be called while frames of the look-ahead wait for later frames.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    ///
    /// # Panics
    /// When the ring is full, or a curve is for samples of another depth.
    pub fn submit_given(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::Apply)
    }

    /// As [`submit`](Ring::submit), but uploads the samples of an earlier frame, which a used slot's pinned memory
    /// still holds: for measurements of bus and device alone.
    #[doc(hidden)]
    pub fn submit_staged(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::EqualizeStaged)
    }

    /// Adds a frame to the history and returns it unchanged. To be called before the first frame that is equalized.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    ///
    /// # Panics
    /// As for [`submit`](Ring::submit).
    pub fn warm_up(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::WarmUp)
    }

    /// Adds the counts of an earlier frame, which another backend has counted, to the history.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit), and when the counts do not fit the settings.
    pub fn remember(&mut self, seen: &Remembered) -> Result<(), Error> {
        let (levels, samples) = match &*seen.counts {
            Counts::Frame { histogram, .. } => (histogram.levels(), histogram.total()),
            Counts::Tiles { tiles, .. } => (tiles.bins().levels(), 0),
            Counts::Nothing { levels, .. } => (*levels, 0),
        };
        let task = Task::for_counts(levels, seen.counts.size(), seen.settings, samples)?.guided(seen.guide.clone());
        if self.history.next(&task).reset {
            self.finish()?;
        }
        if task.parameters.method.counts() && History::slots_for(&task.parameters) > 0 {
            self.gpu.context.bind_to_thread().doing("binding the context")?;
            let layout = BufferLayout::for_counts(seen.counts.size(), levels.depth());
            let picture = match self.counted_elsewhere.take().filter(|picture| *picture.layout() == layout) {
                Some(picture) => picture,
                None => DevicePicture::on(&self.streams.compute, &self.gpu, &layout, None)?,
            };
            let remembered = self.counted_elsewhere.insert(picture).remember(&mut self.history, &seen.counts, &task);
            remembered.inspect_err(|_| self.history.reset())?;
        }
        if let Some(scene) = seen.scene {
            self.history.set_scene_number(scene);
        }
        Ok(())
    }

    /// A slot for frames of this layout with buffers of `buffer_bytes` bytes, and whether it was used before.
    fn slot(&mut self, layout: &BufferLayout, buffer_bytes: usize) -> Result<(Slot, bool), Error> {
        self.idle.retain(|slot| slot.fits(layout, buffer_bytes));
        match self.idle.pop() {
            Some(slot) => Ok((slot, true)),
            None => {
                self.fit(buffer_bytes.max(layout.buffer_bytes()))?;
                let wanted = (layout, buffer_bytes);
                Ok((Slot::new(&self.gpu, &self.streams, &self.pool, wanted, self.origin.as_ref())?, false))
            }
        }
    }

    /// Makes sure that the GPU has memory for another slot with buffers of `bytes` bytes, and limits the ring's depth
    /// to the slots that fit the memory of the GPU and of the host.
    fn fit(&mut self, bytes: usize) -> Result<(), Error> {
        let (free, _) = self.gpu.context.mem_get_info().doing("asking for the free memory")?;
        // A frame needs memory for its planes, and for RGB also a plane of luminance.
        let needed = 2 * bytes;
        if free < needed {
            return Err(Error::NoMemory { needed: needed >> 20, free: free >> 20 });
        }
        // On the host, a frame needs two buffers: one for the upload, one for the download.
        let on_host = (self.gpu.limits.under_way() / needed).max(1);
        self.depth = self.asked.min(on_host).min(self.under_way.len() + free / needed);
        Ok(())
    }

    fn start(&mut self, frame: Frame, task: Task, operation: Operation) -> Result<(), Error> {
        assert!(self.under_way.len() < self.asked, "the ring is full");
        let layout = BufferLayout::new(&frame, task.rewrites_chroma())?;
        task.assert_suits(&layout);
        let buffer_bytes = ReadbackLayout::new(&layout, &task).buffer_bytes();
        let (mut slot, used) = self.slot(&layout, buffer_bytes)?;
        if task.stays_on_device {
            // Half of the memory for pictures is for frames in flight and their results, the other half for pictures of
            // the caller.
            self.depth = self.depth.min(self.gpu.pictures()?.most_bytes() / (4 * layout.bytes())).max(1);
        }
        let is_staged = used && !self.gpu.shares_memory;
        let operation = if let (Operation::EqualizeStaged, false) = (operation, is_staged) {
            Operation::Equalize
        } else {
            operation
        };
        let update = if let Operation::Apply = operation { None } else { Some(self.history.next(&task)) };
        // The frames of the look-ahead do not depend on a frame that starts another history.
        if update.as_ref().is_some_and(|update| update.reset) {
            self.finish().inspect_err(|_| self.history.reset())?;
        }
        let ahead = if let Operation::WarmUp = operation { 0 } else { task.look_ahead() };
        let scene = update.as_ref().map(|update| update.scene);
        let refused = std::mem::take(&mut self.refuse_next);
        let number = scene.map_or(0, |scene| scene.number);
        let waiting = self.waiting.taker(ahead, number);
        let begun = slot.begin(frame, &mut self.history, (task, scene), operation, refused, waiting);
        let applied = begun.inspect_err(|_| self.history.reset())?;
        match self.waiting.push(ahead, number, slot, applied) {
            Some((slot, applied)) => self.complete(slot, &applied),
            None => Ok(()),
        }
    }

    /// Ends the input: completes the frames of the look-ahead, for which no later frames come.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    pub fn finish(&mut self) -> Result<(), Error> {
        while let Some((slot, applied)) = self.waiting.pop() {
            self.complete(slot, &applied)?;
        }
        Ok(())
    }

    fn complete(&mut self, mut slot: Slot, applied: &DeviceMapping) -> Result<(), Error> {
        slot.complete(&self.history, applied)?;
        self.under_way.push_back(slot);
        Ok(())
    }

    /// Waits for the oldest frame in flight; `None` when there is none.
    ///
    /// # Errors
    /// When a copy or a kernel of this frame has failed.
    pub fn collect(&mut self) -> Result<Option<Collected>, Error> {
        let Some(mut slot) = self.under_way.pop_front() else { return Ok(None) };
        let (collected, timeline) = slot.finish()?;
        self.timelines.extend(timeline);
        self.idle.push(slot);
        Ok(Some(collected))
    }

    /// The number of frames in flight, without those of the look-ahead.
    pub fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    /// The limit of frames in flight: lower than requested if there is not enough memory for frames of the last size.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Memory from which frames are uploaded in place; for chroma too if `with_chroma`. Luma that was decoded on this
    /// GPU stays there, unless `with_chroma`.
    pub fn input_pool(&self, with_chroma: bool) -> InputPool {
        InputPool::new(&self.gpu, with_chroma)
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The timelines of the frames collected so far; empty unless the ring was made by [`timed`](Ring::timed).
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }

    /// Makes the driver refuse a launch for the next frame, for tests of what follows an error.
    #[doc(hidden)]
    pub fn refuse_next(&mut self) {
        self.refuse_next = true;
    }
}
