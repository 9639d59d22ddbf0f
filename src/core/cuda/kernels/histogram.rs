//! Launches `kernels/histogram.cu`: counts each code.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{Load, LumaVariants, compiled, luma_vectors, most_shared};
use crate::cuda::arguments::{BlendedLevels, Region, Samples};
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct HistogramLauncher {
    whole: LumaVariants,
    region: LumaVariants,
    /// The most shared memory of a block, in bytes.
    most_shared: u32,
}

impl HistogramLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = compiled::HISTOGRAM.load(context)?;
        let whole = LumaVariants::load(&module, "histogram")?;
        let region = LumaVariants::load(&module, "histogram_region")?;
        let most_shared = most_shared(context)?;
        whole.allow_shared(most_shared)?;
        region.allow_shared(most_shared)?;
        Ok(HistogramLauncher { whole, region, most_shared: most_shared.unsigned_abs() })
    }

    /// Enqueues the counting of `picture`, whose counts are zero.
    pub fn launch(&self, picture: &mut DevicePicture, task: &Task) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout();
        let row = tuning::histogram(layout.sample().depth);
        let log2_window = row.log2_window_in(self.most_shared).min(layout.sample().depth.into());
        let windows = layout.codes() as u32 >> log2_window;
        let most = (picture.gpu.multiprocessors * row.blocks / windows).max(1);
        let config = LaunchConfig {
            grid_dim: (luma_vectors(layout).div_ceil(row.threads * row.vectors).min(most), windows, 1),
            block_dim: (row.threads, 1, 1),
            shared_mem_bytes: 4 << (log2_window + row.log2_copies),
        };
        let (plane, samples) = match &picture.luma {
            Some(luma) => (luma, Samples::for_luminance(layout)),
            None => (&*picture.pixels, Samples::new(layout)),
        };
        let levels = BlendedLevels::new(task.levels, task.parameters.strength);
        let region = Region::new(task.counted, layout);
        let is_whole = task.is_whole(layout);
        let mut launch = match is_whole {
            true => self.whole.kernel(layout).on(&stream),
            false => self.region.kernel(layout).on(&stream),
        };
        launch.arg(plane).arg(&samples).arg(&levels);
        if !is_whole {
            launch.arg(&region);
        }
        // `equalization` is the next kernel unless the curve is plain, and it may begin at once.
        let begins_next = u32::from(!task.is_plain());
        launch.arg(&mut picture.counts).arg(&log2_window).arg(&row.log2_copies).arg(&begins_next);
        // SAFETY: the arguments are those of the kernel. The plane has room for whole vectors, there is a count for
        // each code, the region lies in the plane, codes are at most `samples.max`, shared memory holds every copy of a
        // window's counters, and all buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching histogram")
    }
}
