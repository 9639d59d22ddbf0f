//! The hook for kernels from outside `cuda`: they may count a frame and make its plain curve in place of the kernels of
//! `kernels/`. A [`KernelChoice`] is given to `Gpu::open_with`, which loads it; `DevicePicture` then asks [`StageKernels`]
//! before each of the two stages.

use super::error::Error;
use super::layout::BufferLayout;
use crate::spec::{Levels, Rect, Strength};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Which kernels do a stage in place of the product's. They give the same bytes.
pub trait KernelChoice: fmt::Debug + Send + Sync {
    /// Prepares them for the GPU of this context, which has this number of multiprocessors; `None` if no stage was chosen.
    ///
    /// # Errors
    /// When there are no such kernels, or no such launches of them.
    fn load(&self, context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Option<Box<dyn StageKernels>>, Error>;
}

/// The chosen kernels of one GPU. A stage returns false if it was not chosen and has done nothing: the product's kernel
/// does it then.
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

/// What a stage of one picture works on. All buffers belong to `stream`.
pub struct StageBuffers<'a> {
    pub stream: Arc<CudaStream>,
    pub layout: BufferLayout,
    /// The samples that are counted: the luma of the frame with what lies beside it, or the luminance made of RGB.
    pub plane: &'a mut CudaSlice<u8>,
    /// Whether `plane` is luminance made of RGB.
    pub is_made: bool,
    /// The part of the picture that is counted, in pixels.
    pub counted: Rect,
    pub levels: Levels,
    pub strength: Strength,
    /// One for each code.
    pub counts: &'a mut CudaSlice<u32>,
    /// What each code becomes.
    pub curve: &'a mut CudaSlice<u16>,
    /// Whatever the stage keeps for this picture from frame to frame.
    pub kept: &'a mut Option<Box<dyn Any + Send>>,
}
