//! Launches `kernels/luminance.cu`: the luminance of RGB as a plane of its own.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{RgbVariants, grid, luma_vectors, plane_vectors};
use crate::cuda::arguments::{Samples, Weights};
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::tuning;
use crate::spec;

launcher! {
    LuminanceLauncher from LUMINANCE {
        variants: RgbVariants = "luminance",
    }
}

impl LuminanceLauncher {
    /// Enqueues the luminance of `picture`; does nothing if the frame stores luma.
    pub fn launch(&self, picture: &mut DevicePicture, weights: spec::Weights) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout();
        let Some(function) = self.variants.kernel(layout) else { return Ok(()) };
        let (samples, weights) = (Samples::new(layout), Weights { of: layout.weights_in_order(weights) });
        let distance = plane_vectors(layout);
        let config = grid(luma_vectors(layout).div_ceil(tuning::LUMINANCE_THREADS), tuning::LUMINANCE_THREADS);
        let luma = picture.luma.as_mut().expect("a luminance plane beside RGB");
        let mut launch = function.on(&stream);
        launch.arg(&*picture.pixels).arg(&distance).arg(&samples).arg(&weights).arg(luma);
        // SAFETY: the arguments are those of the kernel. Both buffers have the layout's length, which leaves room for
        // whole groups of vectors behind the last pixel, and belong to this stream.
        unsafe { launch.launch(config) }.doing("launching luminance")
    }
}
