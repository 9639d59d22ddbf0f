//! Launches `kernels/tiles/tile_curves.cu`: computes the curves of tiles from their counts.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::arguments::{BlendedLevels, Detail, Modifiers, PiecewiseLine, Tiles};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::grid;
use crate::cuda::launch::Kernel;
use crate::cuda::pipeline::history::History;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use crate::spec::clahe::TileBins;
use cudarc::driver::LaunchConfig;
use std::ops::Range;

launcher! {
    TileCurvesLauncher from TILE_CURVES {
        curves: Kernel = "tile_curves",
        detail: Kernel = "detail_curves",
        tables: Kernel = "tile_tables",
    }
}

impl TileCurvesLauncher {
    /// Enqueues the curves of the tiles of `picture`, and adds their counts to `history`.
    pub fn launch(&self, picture: &mut DevicePicture, history: &mut History, task: &Task) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let (update, frames) = history.prepare(&layout, task)?;
        let local = picture.local.as_mut().expect("buffers for tiles");
        let threads = tuning::tile_curves_threads(layout.codes());
        let shared_mem_bytes = 8 * local.bins.next_multiple_of(4) as u32;
        let config = LaunchConfig { shared_mem_bytes, ..grid(local.tiles.count() as u32, threads) };
        let codes = layout.codes() as u32;
        let levels = BlendedLevels::new(task.levels, task.parameters.strength);
        let (modifiers, tiles) =
            (Modifiers::new(task, frames), Tiles::new(&local.tiles, local.bins, task.levels, &layout));
        let place = local.place as u32;
        let tone = task.tone();
        let line = PiecewiseLine::new(&tone.line);
        let detail = tone.detail.map(|detail| Detail::new(&detail, TileBins::new(task.levels, task.parameters.bins)));
        let kernel = if detail.is_some() { &self.detail } else { &self.curves };
        let mut launch = kernel.on(&stream);
        launch.arg(&codes).arg(&levels).arg(&modifiers).arg(&update).arg(&tiles);
        if let Some(detail) = &detail {
            launch.arg(detail).arg(&line);
        }
        launch.arg(&mut local.counts).arg(&mut history.slots).arg(&mut history.sums).arg(&mut local.curves).arg(&place);
        // SAFETY: the arguments are those of the kernel, of which `detail_curves` takes two more. The counts have one
        // for each bin of each tile, the curves have room for the form of `place`, and the history has the sizes that
        // `prepare` gave it; shared memory holds the bins of a tile; all buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching the curves of tiles")?;
        history.advance(&update);
        Ok(())
    }

    /// Enqueues the tables of the curves of `picture`, which are kept as steps, into `bytes` of its buffer.
    pub fn launch_tables(&self, picture: &mut DevicePicture, task: &Task, bytes: Range<usize>) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let local = picture.local.as_ref().expect("buffers for tiles");
        let count = local.tiles.count();
        assert_eq!((local.place.has_steps(), bytes.len()), (true, 2 * count * layout.codes()));
        let (codes, levels) = (layout.codes() as u32, BlendedLevels::new(task.levels, task.parameters.strength));
        let tiles = Tiles::new(&local.tiles, local.bins, task.levels, &layout);
        let config = grid(count as u32, 1024);
        let target = picture.pixels.slice(bytes);
        let mut launch = self.tables.on(&stream);
        launch.arg(&codes).arg(&levels).arg(&tiles).arg(&local.curves).arg(&target);
        // SAFETY: the arguments are those of the kernel. There are steps for each tile and their scale, and room for an
        // entry for each code of each tile, at an even address; all buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching tile_tables")
    }
}
