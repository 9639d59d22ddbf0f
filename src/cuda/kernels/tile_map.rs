//! Launches `kernels/tile_map.cu`: maps the luminance through the curves of the tiles around each pixel.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{LumaVariants, module, pixels_of_vector};
use crate::cuda::arguments::{Inverse, Levels, Samples, Tiles};
use crate::cuda::error::{Doing, Error};
use crate::cuda::layout::BufferLayout;
use crate::cuda::picture::DevicePicture;
use crate::cuda::tuning;
use crate::spec;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct TileMapLauncher {
    variants: LumaVariants,
}

impl TileMapLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = module(context, &super::compiled::TILE_MAP)?;
        Ok(TileMapLauncher { variants: LumaVariants::load(&module, "tile_map")? })
    }

    /// Enqueues the mapping of the luminance of `picture`, blended at this strength: stored luma in place, the luminance of
    /// RGB into its own plane.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        (levels, strength): (spec::Levels, spec::Strength),
        multiprocessors: u32,
    ) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let local = picture.local.as_mut().expect("buffers for tiles");
        let grid = &local.tiles;
        let cells = (grid.columns as u32 + 1) * (grid.rows as u32 + 1);
        // Inner cells are as large as tiles, and all cells together have the area of all tiles.
        let parts =
            tuning::parts(grid.count() as u32, multiprocessors * tuning::TILE_MAP_BLOCKS).min(grid.height as u32);
        let in_shared = layout.codes() <= tuning::TILE_MAP_SHARED;
        let entry = if layout.sample().bytes == 1 { 4 << tuning::TILE_MAP_LOG2_COPIES } else { 8 };
        let kernel = self.variants.of(&layout);
        let most = kernel.max_threads_per_block().doing("asking for the threads of a block")?.unsigned_abs();
        let config = LaunchConfig {
            grid_dim: (cells, parts.min(65_535), 1),
            block_dim: (tuning::tile_map_threads(vectors(grid, &layout, parts), most), 1, 1),
            shared_mem_bytes: if in_shared { layout.codes() as u32 * entry } else { 0 },
        };
        let inverse = Inverse::of_blend(grid, layout.codes());
        let in_shared = u32::from(in_shared);
        let levels = Levels::new(levels, strength);
        let tiles = Tiles::new(grid, local.bins, &layout);
        let mut launch = kernel.on(&stream);
        let samples = match (&picture.luma, &mut local.mapped) {
            (Some(luma), Some(mapped)) => {
                launch.arg(luma).arg(mapped);
                Samples::of_luminance(&layout)
            }
            _ => {
                launch.arg(&picture.pixels).arg(&picture.pixels);
                Samples::of(&layout)
            }
        };
        launch.arg(&samples).arg(&levels).arg(&tiles).arg(&local.curves).arg(&in_shared).arg(&inverse);
        // SAFETY: the arguments are those of the kernel, which allows source and target to be one. The grid is that of
        // this picture, whose planes have room for whole vectors; there is a curve for each tile with an entry for each
        // code up to `samples.max`; shared memory holds all copies of four of them if `in_shared`; all buffers belong
        // to this stream.
        unsafe { launch.launch(config) }.doing("launching tile_map")?;
        Ok(())
    }
}

/// The most vectors of one block, with `parts` blocks per inner cell.
fn vectors(grid: &spec::clahe::Tiles, layout: &BufferLayout, parts: u32) -> u32 {
    let (width, height) = (grid.width as u32, grid.height as u32);
    let pixels = pixels_of_vector(layout);
    let row = if layout.row_pixels().is_multiple_of(pixels) {
        let begin = |cell: u32| cell * width - width / 2;
        (1..=grid.columns as u32).map(|cell| (begin(cell) % pixels + width).div_ceil(pixels)).max().unwrap_or(1)
    } else {
        // Rows begin anywhere in a vector.
        (width - 1).div_ceil(pixels) + 1
    };
    row * height.div_ceil(parts)
}
