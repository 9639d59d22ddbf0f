//! Launches `kernels/scan.cu`: computes the curve from counts.
#![allow(unsafe_code, reason = "launches kernels")]

use super::grid;
use crate::cuda::arguments::BlendedLevels;
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::tuning;
use crate::spec;

launcher! {
    ScanLauncher from SCAN {
        sums: Kernel = "scan_sums",
        scan: Kernel = "scan",
    }
}

impl ScanLauncher {
    /// Enqueues the curve of `picture`. Clears the counts of the frame before, and swaps both buffers for the next
    /// frame.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        levels: spec::curves::Levels,
        strength: spec::parameters::Strength,
    ) -> Result<(), Error> {
        let codes = picture.layout().codes();
        assert_eq!(levels.codes(), codes);
        let (blocks, threads) = tuning::scan(codes);
        if blocks > 1 {
            let stream = picture.stream().clone();
            let mut launch = self.sums.on(&stream);
            launch.arg(&picture.counts).arg(&mut picture.segments);
            // SAFETY: the arguments are those of the kernel. There are counts for four codes of each thread, and room
            // for a segment of each block; both belong to this stream.
            unsafe { launch.launch(grid(blocks, threads)) }.doing("launching scan")?;
        }
        self.launch_blocks((blocks, threads), picture, levels, strength)?;
        std::mem::swap(&mut picture.counts, &mut picture.emptied);
        Ok(())
    }

    /// Launches zero blocks, which the driver refuses: a real error for tests, which leaves the device usable.
    pub fn launch_refused(
        &self,
        picture: &mut DevicePicture,
        levels: spec::curves::Levels,
        strength: spec::parameters::Strength,
    ) -> Result<(), Error> {
        self.launch_blocks((0, 1), picture, levels, strength)
    }

    fn launch_blocks(
        &self,
        (blocks, threads): (u32, u32),
        picture: &mut DevicePicture,
        levels: spec::curves::Levels,
        strength: spec::parameters::Strength,
    ) -> Result<(), Error> {
        let levels = BlendedLevels::new(levels, strength);
        let stream = picture.stream().clone();
        let mut launch = self.scan.on(&stream);
        launch.arg(&picture.counts).arg(&mut picture.emptied).arg(&levels);
        launch.arg(&picture.segments).arg(&mut picture.curve);
        // SAFETY: the arguments are those of the kernel. Both counts and the curve have entries for four codes of each
        // thread and belong to this stream, as do the segments, which have been summed up if there is more than one
        // block.
        unsafe { launch.launch(grid(blocks, threads)) }.doing("launching scan")
    }
}
