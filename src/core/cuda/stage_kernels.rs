//! The interface for kernels from outside `cuda`, which count a frame or make its plain curve in place of the kernels
//! of `kernels/`. `Gpu::open_with` loads a [`KernelChoice`]; `DevicePicture` then calls [`StageKernels`] in these two
//! stages.

use super::error::Error;
use super::memory::layout::BufferLayout;
use crate::spec::curves::Levels;
use crate::spec::parameters::{Rect, Strength};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A choice of kernels for the stages. Their output has to equal that of the product's kernels.
pub trait KernelChoice: fmt::Debug + Send + Sync {
    /// Prepares the kernels for the GPU of this context; `None` if none was chosen for any stage.
    ///
    /// # Errors
    /// When the choice is invalid, or the kernels cannot be loaded.
    fn load(&self, context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Option<Box<dyn StageKernels>>, Error>;
}

/// The chosen kernels on one GPU. A stage returns false if no kernel was chosen for it; then the product's kernel runs.
pub trait StageKernels: Send + Sync {
    /// Enqueues the counting of `picture.plane` into `picture.counts`, which are zero.
    ///
    /// # Errors
    /// When there is no such launch, or it fails.
    fn count(&self, picture: StageBuffers<'_>) -> Result<bool, Error>;

    /// Enqueues the plain curve of `picture.counts`, and sets the counts to zero for the next frame.
    ///
    /// # Errors
    /// When there is no such launch, or it fails.
    fn make_curve(&self, picture: StageBuffers<'_>) -> Result<bool, Error>;
}

/// The buffers and parameters of a stage. All buffers belong to `stream`.
pub struct StageBuffers<'a> {
    /// The stream of the launches.
    pub stream: Arc<CudaStream>,
    /// The layout of the picture.
    pub layout: BufferLayout,
    /// The samples that are counted: the plane of the stored luma, or the luminance of RGB.
    pub plane: &'a mut CudaSlice<u8>,
    /// Whether `plane` is the luminance of RGB.
    pub is_made: bool,
    /// The region that is counted, in pixels.
    pub counted: Rect,
    /// The codes from black to white.
    pub levels: Levels,
    /// The strength of the equalization.
    pub strength: Strength,
    /// A count for each code.
    pub counts: &'a mut CudaSlice<u32>,
    /// The output for each code.
    pub curve: &'a mut CudaSlice<u16>,
    /// The stage's own state for this picture, from frame to frame.
    pub state: &'a mut Option<Box<dyn Any + Send>>,
}
