//! Launches `kernels/tiles/tile_map.cu`: maps the luminance through the curves of the tiles around each pixel.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::arguments::{BlendedLevels, CurvePlace, Samples, Tiles};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::{Load, LumaVariants, compiled, most_shared, pixels_of_vector};
use crate::cuda::memory::layout::BufferLayout;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use crate::spec;
use crate::spec::clahe::TileBins;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct TileMapLauncher {
    variants: LumaVariants,
    /// Whether a block's shared memory holds the steps of four tiles, with any number of bins.
    has_room_for_steps: bool,
}

impl TileMapLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = compiled::TILE_MAP.load(context)?;
        let variants = LumaVariants::load(&module, "tile_map")?;
        let of_steps = CurvePlace::bytes_of_steps(TileBins::MAX) as i32;
        let has_room_for_steps = of_steps <= most_shared(context)?;
        if has_room_for_steps {
            variants.allow_shared(of_steps)?;
        }
        Ok(TileMapLauncher { variants, has_room_for_steps })
    }

    /// How the curves of these tiles, with this many bins each, are stored.
    pub fn place(&self, tiles: (&spec::clahe::Tiles, usize), task: &Task) -> CurvePlace {
        CurvePlace::new(tiles, task.levels, &task.parameters, self.has_room_for_steps)
    }

    /// Enqueues the mapping of the luminance of `picture`, blended at this strength: stored luma in place, the
    /// luminance of RGB into its own plane.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        (levels, strength): (spec::curves::Levels, spec::parameters::Strength),
    ) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let multiprocessors = picture.gpu.multiprocessors;
        let local = picture.local.as_mut().expect("buffers for tiles");
        let grid = &local.tiles;
        let cells = (grid.columns as u32 + 1) * (grid.rows as u32 + 1);
        // Inner cells are as large as tiles, and all cells together have the area of all tiles, so the number
        // of tiles measures the work.
        let is_deep = layout.sample().bytes > 1;
        let rounds = if is_deep { tuning::TILE_MAP_ROUNDS_OF_DEEP } else { tuning::MAX_ROUNDS };
        let parts = tuning::parts(grid.count() as u32, multiprocessors * tuning::TILE_MAP_BLOCKS, rounds)
            .min(grid.height as u32);
        let place = local.place;
        let entry = if !is_deep { 4 << tuning::TILE_MAP_LOG2_COPIES } else { 8 };
        let kernel = self.variants.kernel(&layout);
        let most = kernel.max_threads_per_block().doing("asking for the threads of a block")?.unsigned_abs();
        let config = LaunchConfig {
            grid_dim: (cells, parts.min(65_535), 1),
            block_dim: (tuning::tile_map_threads(vectors(grid, &layout, parts), most), 1, 1),
            shared_mem_bytes: match place {
                CurvePlace::ThroughCaches => 0,
                CurvePlace::InShared => layout.codes() as u32 * entry,
                CurvePlace::AsSteps | CurvePlace::AsSixteenths => CurvePlace::bytes_of_steps(local.bins) as u32,
            },
        };
        let (inverse, place) = (place.inverse(grid, layout.codes()), place as u32);
        let tiles = Tiles::new(grid, local.bins, levels, &layout);
        let levels = BlendedLevels::new(levels, strength);
        let mut launch = kernel.on(&stream);
        let samples = match (&picture.luma, &mut local.mapped) {
            (Some(luma), Some(mapped)) => {
                launch.arg(luma).arg(mapped);
                Samples::for_luminance(&layout)
            }
            _ => {
                launch.arg(&*picture.pixels).arg(&*picture.pixels);
                Samples::new(&layout)
            }
        };
        launch.arg(&samples).arg(&levels).arg(&tiles).arg(&local.curves).arg(&place).arg(&inverse);
        // SAFETY: the arguments are those of the kernel, which allows source and target to be one. The grid is that of
        // this picture, whose planes have room for whole vectors; there is a curve for each tile, in the form of
        // `place`: a table with an entry for each code up to `samples.max`, or steps, which suit the arithmetic; shared
        // memory holds four of them, tables in all copies, unless they are read through the caches; all buffers belong
        // to this stream.
        unsafe { launch.launch(config) }.doing("launching tile_map")
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
        // Rows may begin inside a vector.
        (width - 1).div_ceil(pixels) + 1
    };
    row * height.div_ceil(parts)
}
