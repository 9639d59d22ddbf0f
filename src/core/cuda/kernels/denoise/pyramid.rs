//! Launches `kernels/denoise/pyramid.cu`: smooths and halves luma, and counts the differences of pictures.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::denoise::DeviceSheet;
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::threads_for;
use crate::cuda::launch::Kernel;
use crate::cuda::memory::device_memory::DeviceMemory;
use crate::denoise::pyramid::DIFFERENCES;
use crate::frame::Memory;
use cudarc::driver::CudaStream;
use std::sync::Arc;

launcher! {
    PyramidLauncher from PYRAMID {
        smooth: Kernel = "pyramid_smooth",
        halve: Kernel = "pyramid_halve",
        differences: Kernel = "pyramid_differences",
    }
}

impl PyramidLauncher {
    /// Enqueues the smoothing of luma into `target`, which has the same size.
    pub fn smooth(&self, stream: &Arc<CudaStream>, luma: &DeviceSheet, target: &DeviceSheet) -> Result<(), Error> {
        assert_eq!((luma.width, luma.height), (target.width, target.height));
        PyramidLauncher::launch(&self.smooth, stream, luma, target)
    }

    /// Enqueues the halving of a picture into `target`, which is half as large, rounded up.
    pub fn halve(&self, stream: &Arc<CudaStream>, source: &DeviceSheet, target: &DeviceSheet) -> Result<(), Error> {
        assert_eq!((source.width.div_ceil(2), source.height.div_ceil(2)), (target.width, target.height));
        PyramidLauncher::launch(&self.halve, stream, source, target)
    }

    fn launch(
        kernel: &Kernel,
        stream: &Arc<CudaStream>,
        origin: &DeviceSheet,
        destination: &DeviceSheet,
    ) -> Result<(), Error> {
        let (source, target) = (origin.address(), destination.address());
        let (width, height) = (origin.width as u32, origin.height as u32);
        let mut launch = kernel.on(stream);
        launch.arg(&source).arg(&target).arg(&width).arg(&height);
        // SAFETY: the arguments are those of the kernel, and the sheets have the margins around them that it reads and
        // writes. They are used on this stream alone.
        unsafe { launch.launch(threads_for(destination.samples())) }.doing("launching pyramid")
    }

    /// Enqueues the histogram of the differences between two pictures of one size, into `counts`, which are 0.
    pub fn differences(
        &self,
        stream: &Arc<CudaStream>,
        (one, other): (&DeviceSheet, &DeviceSheet),
        counts: &DeviceMemory,
    ) -> Result<(), Error> {
        assert_eq!((one.width, one.height), (other.width, other.height));
        assert_eq!(counts.size(), DIFFERENCES * size_of::<u32>());
        let (a, b, into) = (one.address(), other.address(), counts.address());
        let (width, height) = (one.width as u32, one.height as u32);
        let mut launch = self.differences.on(stream);
        launch.arg(&a).arg(&b).arg(&width).arg(&height).arg(&into);
        // SAFETY: as above, and there is a count for each difference.
        unsafe { launch.launch(threads_for(one.width * one.height)) }.doing("launching pyramid_differences")
    }
}
