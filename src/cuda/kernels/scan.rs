//! Launches `kernels/scan.cu`: from counts to the curve.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{function, module};
use crate::cuda::arguments::Levels;
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use crate::cuda::picture::Picture;
use crate::cuda::tuning;
use crate::spec;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct Scan {
    function: Kernel,
}

impl Scan {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = module(context, &super::compiled::SCAN)?;
        Ok(Scan { function: function(&module, "scan")? })
    }

    /// Enqueues the curve of `picture`. The counts of the frame before are emptied, and are the next frame's.
    pub fn launch(&self, picture: &mut Picture, levels: spec::Levels, strength: spec::Strength) -> Result<(), Error> {
        let blocks = tuning::scan_blocks(picture.layout().codes());
        self.launch_blocks(blocks, picture, levels, strength)?;
        std::mem::swap(&mut picture.counts, &mut picture.emptied);
        Ok(())
    }

    /// Launches no block at all, which the driver refuses: a real error for tests, and harmless to the device.
    pub fn launch_refused(
        &self,
        picture: &mut Picture,
        levels: spec::Levels,
        strength: spec::Strength,
    ) -> Result<(), Error> {
        self.launch_blocks(0, picture, levels, strength)
    }

    fn launch_blocks(
        &self,
        blocks: u32,
        picture: &mut Picture,
        levels: spec::Levels,
        strength: spec::Strength,
    ) -> Result<(), Error> {
        let codes = picture.layout().codes();
        assert_eq!(levels.codes(), codes);
        let config = LaunchConfig {
            grid_dim: (blocks, 1, 1),
            block_dim: (tuning::scan_threads(codes), 1, 1),
            shared_mem_bytes: 0,
        };
        let (codes, levels) = (codes as u32, Levels::new(levels, strength));
        let stream = picture.stream().clone();
        let mut launch = self.function.on(&stream);
        launch.arg(&picture.counts).arg(&mut picture.emptied).arg(&codes).arg(&levels).arg(&mut picture.curve);
        // SAFETY: the arguments are those of the kernel. Both counts and the curve have an entry for each code and belong
        // to this stream; a block's share of the codes is four for each thread or a multiple of that.
        unsafe { launch.launch(config) }.doing("launching scan")?;
        Ok(())
    }
}
