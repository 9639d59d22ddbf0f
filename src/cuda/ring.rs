//! The order of frames: a ring of slots, in which one frame goes up while another is worked on and a third comes down.

use super::context::Gpu;
use super::error::Error;
use super::history::History;
use super::layout::Layout;
use super::picture::Task;
use super::pinned::PinnedPool;
use super::slot::{Slot, Streams};
use super::timeline::{self, Timeline};
use crate::frame::Frame;
use cudarc::driver::CudaEvent;
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames under way on a GPU, at most as many as the ring is deep.
pub struct Ring {
    gpu: Arc<Gpu>,
    streams: Arc<Streams>,
    pool: PinnedPool,
    history: History,
    depth: usize,
    idle: Vec<Slot>,
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
            streams,
            pool: PinnedPool::new(&gpu.context),
            depth,
            idle: Vec::new(),
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

    /// Takes a frame in; its samples have been copied when this returns. Frames of another format or size than the ones
    /// before are no reason to wait: a slot is idle when it is remade.
    ///
    /// # Errors
    /// When the GPU has no memory left or a call fails.
    ///
    /// # Panics
    /// When the ring is full.
    pub fn submit(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, false)
    }

    /// As [`submit`](Ring::submit), but sends up whatever a used slot's pinned memory still holds: for measurements of
    /// bus and device alone.
    #[doc(hidden)]
    pub fn submit_staged(&mut self, frame: Frame, task: Task) -> Result<(), Error> {
        self.start(frame, task, true)
    }

    fn start(&mut self, frame: Frame, task: Task, staged: bool) -> Result<(), Error> {
        assert!(self.under_way.len() < self.depth, "the ring is full");
        let layout = Layout::of(&frame, task.settings.chroma.is_scaled())?;
        self.idle.retain(|slot| slot.fits(&layout));
        let used = self.idle.pop();
        let staged = staged && used.is_some();
        let mut slot = match used {
            Some(slot) => slot,
            None => Slot::new(&self.gpu, &self.streams, &self.pool, &layout, self.origin.as_ref())?,
        };
        let target = self.pool.take(layout.buffer_bytes())?;
        slot.start(frame, target, &mut self.history, &task, (staged, std::mem::take(&mut self.refuse_next)))?;
        self.under_way.push_back(slot);
        Ok(())
    }

    /// The oldest frame under way, waiting until it has come down; `None` when there is none.
    ///
    /// # Errors
    /// When anything that was enqueued for it has failed.
    pub fn collect(&mut self) -> Result<Option<Frame>, Error> {
        let Some(mut slot) = self.under_way.pop_front() else { return Ok(None) };
        let (frame, timeline) = slot.finish()?;
        self.timelines.extend(timeline);
        self.idle.push(slot);
        Ok(Some(frame))
    }

    /// How many frames are under way.
    pub fn in_flight(&self) -> usize {
        self.under_way.len()
    }

    /// How many frames may be under way.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// History from which frames go up without being copied first.
    pub fn input_pool(&self) -> PinnedPool {
        PinnedPool::new(&self.gpu.context)
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
