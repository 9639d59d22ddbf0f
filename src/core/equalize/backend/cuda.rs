//! The GPU backend: a [`Ring`] between the pipeline's threads. It makes the task of each frame, which `cuda` executes.

use crate::Result;
use crate::cuda::pipeline::{Collected, Readback, Ring, Task};
use crate::cuda::{Error, Gpu};
use crate::equalize::{Applied, Equalized, Executor, Report, Role, Work};
use crate::frame::Pool;
use crate::spec::parameters::Chroma;
use crate::spec::time::Remembered;
use std::collections::VecDeque;
use std::sync::Arc;

/// The backend that runs on an NVIDIA GPU.
pub struct Cuda {
    ring: Ring,
    under_way: VecDeque<Work>,
}

impl Cuda {
    /// The default number of frames in the ring: one on each stage (upload, kernels, download), and some more for
    /// threads that are late.
    pub const RING_DEPTH: usize = 8;

    /// A backend on GPU `gpu_index`, counted from 0, with up to `ring_depth` frames under way.
    ///
    /// # Errors
    /// When there is no such GPU, or its driver is missing or too old.
    ///
    /// # Panics
    /// When `ring_depth` is 0.
    pub fn new(gpu_index: usize, ring_depth: usize) -> Result<Self, Error> {
        Cuda::on(&Gpu::open(gpu_index)?, ring_depth)
    }

    /// A backend on an open GPU.
    ///
    /// # Errors
    /// When a stream cannot be made.
    ///
    /// # Panics
    /// When `ring_depth` is 0.
    pub fn on(gpu: &Arc<Gpu>, ring_depth: usize) -> Result<Self, Error> {
        Ok(Cuda { ring: Ring::new(gpu, ring_depth)?, under_way: VecDeque::new() })
    }

    /// Makes the driver refuse a launch for the next frame, for tests of error handling.
    #[doc(hidden)]
    pub fn refuse_next(&mut self) {
        self.ring.refuse_next();
    }
}

impl Executor for Cuda {
    fn submit(&mut self, work: Work) -> Result<()> {
        let readback = match work.report() {
            Report::Window => Readback::Window,
            Report::Everything => Readback::Everything,
        };
        let task = Task::new(work.frame(), *work.settings(), work.counted())?;
        let task = task.reading_back(readback).guided(work.guide().clone()).staying_on_device(work.stays_on_device());
        let task = task.counted_as(work.counts().cloned());
        let frame = work.frame().clone();
        match work.role() {
            Role::Equalize => self.ring.submit(frame, task)?,
            Role::Apply(mapping) => self.ring.submit_given(frame, task.giving(mapping.clone()))?,
            Role::WarmUp => self.ring.warm_up(frame, task)?,
        }
        self.under_way.push_back(work);
        Ok(())
    }

    fn remember(&mut self, seen: &Remembered) -> Result<()> {
        Ok(self.ring.remember(seen)?)
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        let Some(Collected { frame, counts, scene, given: mapping, curves, chroma_gain }) = self.ring.collect()? else {
            return Ok(None);
        };
        let work = self.under_way.pop_front().filter(|_| scene.is_some());
        let counts = counts.or_else(|| match work {
            Some(work) if !work.settings().method.counts() => Some(Arc::new(work.uncounted())),
            work => work.and_then(|work| work.counts().cloned()),
        });
        Ok(Some(Equalized { frame, applied: Applied { counts, scene, mapping, curves, chroma_gain, found: None } }))
    }

    fn finish(&mut self) -> Result<()> {
        Ok(self.ring.finish()?)
    }

    fn in_flight(&self) -> usize {
        self.ring.in_flight()
    }

    fn capacity(&self) -> usize {
        self.ring.depth()
    }

    fn input_pool(&self, chroma: Chroma) -> Option<Arc<dyn Pool>> {
        Some(Arc::new(self.ring.input_pool(chroma.changes())))
    }

    fn gpu(&self) -> Option<Arc<Gpu>> {
        Some(self.ring.gpu().clone())
    }

    fn name(&self) -> String {
        format!("cuda ({}, ring of {})", self.ring.gpu().name, self.ring.depth())
    }
}
