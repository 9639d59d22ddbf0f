//! The GPU backend: a [`Ring`] between the pipeline's threads. It only says what is to be done with each frame; `cuda`
//! does it.

use super::{CountedRegion, Equalizer, levels, weights};
use crate::cuda::{Error, Gpu, Ring, Task};
use crate::frame::{Frame, Pool};
use crate::spec::{Curve, Settings};
use anyhow::Result;
use std::sync::Arc;

/// Frames through an NVIDIA GPU.
pub struct Cuda {
    settings: Settings,
    curve: Option<Arc<Curve>>,
    counted: CountedRegion,
    ring: Ring,
}

impl Cuda {
    /// How many frames are under way unless the caller says otherwise: one on each stage, and some to spare for threads that
    /// are late.
    pub const RING_DEPTH: usize = 8;

    /// A backend on GPU `gpu_index`, counted from 0, with up to `ring_depth` frames under way.
    ///
    /// # Errors
    /// When there is no such GPU, or its driver is missing or too old.
    ///
    /// # Panics
    /// When `ring_depth` is 0.
    pub fn new(settings: Settings, gpu_index: usize, ring_depth: usize) -> Result<Self, Error> {
        Cuda::on(&Gpu::open(gpu_index)?, settings, ring_depth)
    }

    /// A backend on a GPU that is open already.
    ///
    /// # Errors
    /// When a stream cannot be made.
    ///
    /// # Panics
    /// When `ring_depth` is 0.
    pub fn on(gpu: &Arc<Gpu>, settings: Settings, ring_depth: usize) -> Result<Self, Error> {
        Ok(Cuda { settings, curve: None, counted: CountedRegion::default(), ring: Ring::new(gpu, ring_depth)? })
    }

    fn task(&mut self, frame: &Frame) -> Task {
        let settings = self.settings;
        let counted = self.counted.next(frame, &settings);
        Task { levels: levels(frame), weights: weights(frame), settings, counted }
    }

    /// Has the driver refuse a launch for the next frame. For tests of what follows an error.
    #[doc(hidden)]
    pub fn refuse_next(&mut self) {
        self.ring.refuse_next();
    }
}

impl Equalizer for Cuda {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        let task = self.task(&frame);
        match &self.curve {
            Some(curve) => Ok(self.ring.submit_through(curve, frame, task)?),
            None => Ok(self.ring.submit(frame, task)?),
        }
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        let task = self.task(&frame);
        Ok(self.ring.warm_up(frame, task)?)
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        Ok(self.ring.collect()?)
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

    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        Some(Arc::new(self.ring.input_pool(self.settings.chroma.is_scaled())))
    }

    fn set(&mut self, settings: Settings) {
        self.settings = settings;
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.curve = curve;
    }

    fn name(&self) -> String {
        format!("cuda ({}, ring of {})", self.ring.gpu().name(), self.ring.depth())
    }
}
