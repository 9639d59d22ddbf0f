//! Input and output in memory of the GPU, without copies between host and GPU.
#![allow(unsafe_code, reason = "only the caller knows that the addresses of a picture are valid")]

use super::{Equalizer, Output};
use crate::frame::{DevicePlanes, Frame};
use crate::{Error, Result};

impl Equalizer {
    /// The context of the equalizer's GPU, for [`DevicePlanes::context`]: the GPU's primary context, in which the CUDA
    /// runtime, and libraries based on it, allocate all memory. `None` where the CPU equalizes.
    pub fn gpu_context(&self) -> Option<usize> {
        self.backend.gpu().map(|gpu| gpu.handle())
    }

    /// As [`push`](Equalizer::push), with a frame in memory of the equalizer's GPU. The frame is copied within the
    /// GPU, after the work that is enqueued on its stream; when this returns, the caller may use the memory again.
    /// With [`Builder::stay_on_gpu`](super::Builder::stay_on_gpu) the result stays there, too.
    ///
    /// # Errors
    /// As for [`push`](Equalizer::push); and when the CPU equalizes, the planes are not those of the format and size,
    /// belong to another context, or there is no more memory for frames ([`cuda::Error`](crate::cuda::Error)).
    ///
    /// # Safety
    /// The rows are valid memory of the context that `picture` names until this returns. After the work that is
    /// enqueued on its stream, they are not written before that. The stream belongs to the context.
    pub unsafe fn push_device(&mut self, picture: &DevicePlanes) -> Result<Option<Output>> {
        let gpu = self.backend.gpu().ok_or(Error::NotOnGpu)?.clone();
        self.make_room()?;
        let (format, size) = self.builder.picture.kind();
        // SAFETY: the caller guarantees what `import` requires.
        let planes = unsafe { gpu.import(format, size, picture) }?;
        let frame: Frame = self.builder.picture.frame_from_planes(planes)?;
        self.submit(frame)
    }
}

impl Output {
    /// The context of the equalizer's GPU, as [`Equalizer::gpu_context`] returns it.
    pub fn gpu_context(&self) -> Option<usize> {
        self.gpu.as_ref().map(|gpu| gpu.handle())
    }

    /// Copies the planes to the addresses in `target`, in memory of the equalizer's GPU, from the GPU for planes that
    /// stayed there, otherwise from the host. The copies begin after the work that is enqueued on the stream of
    /// `target`, and are done when this returns.
    ///
    /// # Errors
    /// When the CPU equalizes, the rows do not fit the frame's format and size, belong to another context, or a
    /// copy fails.
    ///
    /// # Safety
    /// The rows are valid memory of the context that `target` names until this returns. After the work that is enqueued
    /// on its stream, nothing else accesses them before that. The stream belongs to the context.
    pub unsafe fn copy_to_device(&self, target: &DevicePlanes) -> Result<()> {
        let gpu = self.gpu.as_ref().ok_or(Error::NotOnGpu)?;
        // SAFETY: the caller guarantees what `export` requires.
        Ok(unsafe { gpu.export(self.frame(), target) }?)
    }
}
