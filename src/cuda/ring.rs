//! The order of frames: a ring of slots, in which one frame goes up while another is worked on and a third comes down.

use super::context::Gpu;
use super::error::{Doing, Error};
use super::history::History;
use super::layout::BufferLayout;
use super::picture::DevicePicture;
use super::pinned::{InputPool, PinnedPool};
use super::readback::ReadbackLayout;
use super::slot::{Collected, Operation, Slot, Streams};
use super::task::Task;
use super::timeline::{self, Timeline};
use crate::frame::Frame;
use crate::spec::{Curve, Remembered, Settings};
use cudarc::driver::CudaEvent;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames under operation on a GPU, at most as many as the ring is deep.
pub struct Ring {
    gpu: Arc<Gpu>,
    streams: Arc<Streams>,
    pool: PinnedPool,
    history: History,
    /// What the counts of frames that another backend has equalized go through.
    counted_elsewhere: Option<DevicePicture>,
    depth: usize,
    idle: Vec<Slot>,
    /// Frames whose curve depends on frames that have not come yet.
    waiting: VecDeque<Slot>,
    under_way: VecDeque<Slot>,
    origin: Option<Arc<CudaEvent>>,
    timelines: Vec<Timeline>,
    refuse_next: bool,
}

impl Ring {
    /// An empty ring. 3 frames deep, all three stages are busy at once; a fourth one absorbs the moments in which the
    /// threads around it are late. 1 runs the stages one after the other.
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
            pool: PinnedPool::new(&gpu.context),
            depth,
            idle: Vec::new(),
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            origin: None,
            timelines: Vec::new(),
            refuse_next: false,
        })
    }

    /// The same, keeping the [`Timeline`] of every frame.
    ///
    /// # Errors
    /// When a stream or an event cannot be made.
    pub fn timed(gpu: &Arc<Gpu>, depth: usize) -> Result<Self, Error> {
        let mut ring = Ring::new(gpu, depth)?;
        ring.origin = Some(timeline::origin(&ring.streams.upload)?);
        Ok(ring)
    }

    /// Takes a frame in. Samples in pinned memory go up from where they lie, and the ring holds on to the frame until it
    /// is collected; any others have been copied when this returns. Frames of another format or size than the ones before
    /// are no reason to wait: a slot is idle when it is remade.
    ///
    /// # Errors
    /// When the GPU has no memory left or a call fails.
    ///
    /// # Panics
    /// When the ring is full, or the task was made for a frame of another size or depth.
    pub fn submit(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::Equalize)
    }

    /// As [`submit`](Ring::submit), but sends the frame through `curve` and remembers nothing of it.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    ///
    /// # Panics
    /// When the ring is full, or the curve is for samples of another depth.
    pub fn submit_through(&mut self, curve: &Arc<Curve>, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::ApplyCurve(curve))
    }

    /// As [`submit`](Ring::submit), but sends up whatever a used slot's pinned memory still holds: for measurements of
    /// bus and device alone.
    #[doc(hidden)]
    pub fn submit_staged(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::EqualizeStaged)
    }

    /// Takes in a frame that is remembered and stays as it is. To be called before any that is to be equalized.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    ///
    /// # Panics
    /// As for [`submit`](Ring::submit).
    pub fn warm_up(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, Operation::WarmUp)
    }

    /// Takes in what was counted elsewhere of a frame from before those that are to be equalized.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit), and when the counts do not fit the settings.
    pub fn remember(&mut self, seen: &Remembered) -> Result<(), Error> {
        let Settings { smoothing, .. } = seen.settings;
        let Some(levels) = seen.counts.histogram().map(|histogram| histogram.levels()) else { return Ok(()) };
        if smoothing.frames() == 1 {
            return Ok(());
        }
        self.gpu.context.bind_to_thread().doing("binding the context")?;
        let layout = BufferLayout::of_counts(seen.counts.size(), levels.depth());
        let picture = match self.counted_elsewhere.take().filter(|picture| *picture.layout() == layout) {
            Some(picture) => picture,
            None => DevicePicture::on(&self.streams.compute, &self.gpu, &layout, layout.buffer_bytes())?,
        };
        self.counted_elsewhere.insert(picture).remember(&mut self.history, seen)
    }

    /// A slot for frames of this layout with buffers of so many bytes, and whether it has been used before.
    fn slot(&mut self, layout: &BufferLayout, buffer_bytes: usize) -> Result<(Slot, bool), Error> {
        self.idle.retain(|slot| slot.fits(layout, buffer_bytes));
        match self.idle.pop() {
            Some(slot) => Ok((slot, true)),
            None => {
                let wanted = (layout, buffer_bytes);
                Ok((Slot::new(&self.gpu, &self.streams, &self.pool, wanted, self.origin.as_ref())?, false))
            }
        }
    }

    fn start(&mut self, frame: Frame, task: Task, operation: Operation<'_>) -> Result<(), Error> {
        assert!(self.under_way.len() < self.depth, "the ring is full");
        let layout = BufferLayout::of(&frame, task.settings.chroma.is_scaled())?;
        task.assert_suits(&layout);
        let buffer_bytes = ReadbackLayout::of(&layout, &task).buffer_bytes();
        let (mut slot, used) = self.slot(&layout, buffer_bytes)?;
        let operation =
            if let (Operation::EqualizeStaged, false) = (operation, used) { Operation::Equalize } else { operation };
        // Frames that wait for others of their own kind need not wait for this one.
        if self.history.ends_with(&layout, &task) {
            self.finish()?;
        }
        slot.begin(frame, &mut self.history, task, operation, std::mem::take(&mut self.refuse_next))?;
        self.waiting.push_back(slot);
        let ahead = if let Operation::WarmUp = operation { 0 } else { task.settings.smoothing.ahead() as usize };
        while self.waiting.len() > ahead {
            self.complete_next()?;
        }
        Ok(())
    }

    /// Says that no more frames will come: those that wait for others are under operation now.
    ///
    /// # Errors
    /// As for [`submit`](Ring::submit).
    pub fn finish(&mut self) -> Result<(), Error> {
        while !self.waiting.is_empty() {
            self.complete_next()?;
        }
        Ok(())
    }

    fn complete_next(&mut self) -> Result<(), Error> {
        let Some(mut slot) = self.waiting.pop_front() else { return Ok(()) };
        let target = self.pool.take(slot.buffer_bytes())?;
        slot.complete(target, &self.history)?;
        self.under_way.push_back(slot);
        Ok(())
    }

    /// The oldest frame under operation, waiting until it has come down; `None` when there is none.
    ///
    /// # Errors
    /// When anything that was enqueued for it has failed.
    pub fn collect(&mut self) -> Result<Option<Collected>, Error> {
        let Some(mut slot) = self.under_way.pop_front() else { return Ok(None) };
        let (collected, timeline) = slot.finish()?;
        self.timelines.extend(timeline);
        self.idle.push(slot);
        Ok(Some(collected))
    }

    /// How many frames are under operation; those that wait for later ones are not.
    pub fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    /// How many frames may be under operation.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Memory from which frames go up without being copied first, chroma too if it travels with luma. Luma that has been
    /// decoded on this GPU stays there, unless chroma travels with it.
    pub fn input_pool(&self, with_chroma: bool) -> InputPool {
        InputPool::new(&self.gpu, with_chroma)
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// When the stages of the frames collected so far ran, if the ring was made to say so.
    pub fn timelines(&self) -> &[Timeline] {
        &self.timelines
    }

    /// Has the driver refuse a launch for the next frame. For tests of what follows an error.
    #[doc(hidden)]
    pub fn refuse_next(&mut self) {
        self.refuse_next = true;
    }
}
