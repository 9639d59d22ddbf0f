//! Launches `kernels/tiles/tile_histogram.cu`: counts each bin of each tile.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::arguments::{BlendedLevels, Samples, Tiles};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::LumaVariants;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use cudarc::driver::LaunchConfig;

launcher! {
    TileHistogramLauncher from TILE_HISTOGRAM {
        variants: LumaVariants = "tile_histogram",
    }
}

impl TileHistogramLauncher {
    /// Enqueues the counting of the tiles of `picture`, whose counts are zero.
    pub fn launch(&self, picture: &mut DevicePicture, task: &Task) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let log2_copies = tuning::tile_histogram(layout.sample().depth).log2_copies;
        let (plane, samples) = match &picture.luma {
            Some(luma) => (luma, Samples::for_luminance(&layout)),
            None => (&*picture.pixels, Samples::new(&layout)),
        };
        let local = picture.local.as_mut().expect("buffers for tiles");
        let count = local.tiles.count() as u32;
        let multiprocessors = picture.gpu.multiprocessors;
        let (threads, blocks) = tuning::tile_histogram_blocks(count, multiprocessors);
        let parts = tuning::parts(count, multiprocessors * blocks, tuning::MAX_ROUNDS).min(local.tiles.height as u32);
        let config = LaunchConfig {
            grid_dim: (count, parts.min(65_535), 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: (layout.codes().min(tuning::MAX_TILE_COUNTERS) as u32 * 4) << log2_copies,
        };
        let levels = BlendedLevels::new(task.levels, task.parameters.strength);
        let tiles = Tiles::new(&local.tiles, local.bins, task.levels, &layout);
        let mut launch = self.variants.kernel(&layout).on(&stream);
        launch.arg(plane).arg(&samples).arg(&levels).arg(&tiles).arg(&mut local.counts);
        launch.arg(&log2_copies);
        // SAFETY: the arguments are those of the kernel. The grid is that of this picture, whose plane has room for
        // whole vectors; there is a count for each bin of each tile; shared memory holds every copy of the counters, at
        // most one for each code or bin; and all buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching tile_histogram")
    }
}
