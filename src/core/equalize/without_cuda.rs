//! In place of the GPU backend where this crate was built without it: a backend of which there is none.

use super::{Equalized, Executor, Work};
use crate::Result;
use crate::cuda::{Error, Gpu};
use crate::spec::Remembered;
use std::convert::Infallible;
use std::sync::Arc;

/// A backend of which there is none.
pub struct Cuda(Infallible);

impl Cuda {
    /// Frames that would be under way.
    pub const RING_DEPTH: usize = 8;

    /// A backend on a GPU, of which there is none.
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
