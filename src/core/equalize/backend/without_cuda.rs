//! Replaces the GPU backend in builds without the feature `cuda`: no value of this backend exists.

use crate::Result;
use crate::cuda::{Error, Gpu};
use crate::equalize::{Equalized, Executor, Work};
use crate::spec::time::Remembered;
use std::convert::Infallible;
use std::sync::Arc;

/// The GPU backend, of which no value exists.
pub struct Cuda(Infallible);

impl Cuda {
    /// The default number of frames in the ring, as in the GPU backend.
    pub const RING_DEPTH: usize = 8;

    /// Never called: there is no GPU to pass to it.
    pub(super) fn on(gpu: &Arc<Gpu>, _ring_depth: usize) -> Result<Self, Error> {
        gpu.never()
    }
}

impl Executor for Cuda {
    fn submit(&mut self, _work: Work) -> Result<()> {
        match self.0 {}
    }

    fn remember(&mut self, _seen: &Remembered) -> Result<()> {
        match self.0 {}
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        match self.0 {}
    }

    fn in_flight(&self) -> usize {
        match self.0 {}
    }

    fn capacity(&self) -> usize {
        match self.0 {}
    }

    fn name(&self) -> String {
        match self.0 {}
    }
}
