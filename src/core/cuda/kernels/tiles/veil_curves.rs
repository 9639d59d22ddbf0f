//! Launches `kernels/tiles/veil_curves.cu`: computes the curves that remove a veil.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::arguments::{BlendedLevels, ToneCurve, Veil};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::grid;
use crate::cuda::launch::Kernel;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use crate::spec::curves::tone;
use crate::spec::parameters::Strength;

launcher! {
    VeilCurvesLauncher from VEIL_CURVES {
        curves: Kernel = "veil_curves",
    }
}

impl VeilCurvesLauncher {
    /// Enqueues the curves of `veil`, whose `is_of_light` is false, for the regions of `picture`.
    pub fn launch(&self, picture: &mut DevicePicture, task: &Task, veil: &tone::Veil) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let codes = picture.layout().codes();
        let local = picture.local.as_mut().expect("buffers for regions");
        let entries = codes * veil.taken.as_flattened().len();
        assert!(codes.is_power_of_two() && local.curves.len() == entries);
        let levels = BlendedLevels::new(task.levels, Strength::FULL);
        let (log2_codes, then) = (codes.ilog2(), ToneCurve::new(veil.then_on(task.levels).as_ref()));
        let veil = Veil::new(veil);
        let blocks = (entries as u32).div_ceil(tuning::VEIL_CURVES_THREADS);
        let most = picture.gpu.multiprocessors * tuning::VEIL_CURVES_BLOCKS;
        let config = grid(blocks.min(most), tuning::VEIL_CURVES_THREADS);
        let mut launch = self.curves.on(&stream);
        launch.arg(&log2_codes).arg(&levels).arg(&veil).arg(&then).arg(&mut local.curves);
        // SAFETY: the arguments are those of the kernel. There is an entry for each code of each region, and they
        // belong to this stream.
        unsafe { launch.launch(config) }.doing("launching veil_curves")
    }
}
