//! Launches `kernels/tile_curves.cu`: from the counts of tiles to their curves.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{function, module};
use crate::cuda::arguments::{Levels, Modifiers, Tiles};
use crate::cuda::error::{Doing, Error};
use crate::cuda::history::History;
use crate::cuda::launch::Kernel;
use crate::cuda::picture::DevicePicture;
use crate::cuda::task::Task;
use crate::cuda::tuning;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct TileCurvesLauncher {
    function: Kernel,
}

impl TileCurvesLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = module(context, &super::compiled::TILE_CURVES)?;
        Ok(TileCurvesLauncher { function: function(&module, "tile_curves")? })
    }

    /// Enqueues the curves of the tiles of `picture`, and adds their counts to `history`. With `in_totals`, the codes
    /// of the frame were counted into the totals of the history, else into the counts of the picture. Swaps these
    /// buffers for the next frame.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        history: &mut History,
        task: &Task,
        in_totals: bool,
    ) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        history.prepare(&layout, task)?;
        let local = picture.local.as_mut().expect("buffers for tiles");
        let config = LaunchConfig {
            grid_dim: (local.tiles.count() as u32, 1, 1),
            block_dim: (tuning::tile_curves_threads(layout.codes()), 1, 1),
            shared_mem_bytes: 8 * local.bins as u32,
        };
        let codes = layout.codes() as u32;
        let in_sectors = u32::from(in_totals);
        let levels = Levels::new(task.levels, task.settings.strength);
        let modifiers = Modifiers::new(task, history.next_number());
        let tiles = Tiles::new(&local.tiles, local.bins, &layout);
        let mut launch = self.function.on(&stream);
        if in_totals {
            let (counts, emptied) = history.totals.next(&stream, layout.codes())?;
            launch.arg(counts).arg(emptied);
        } else {
            launch.arg(&picture.counts).arg(&mut picture.emptied);
        }
        launch.arg(&codes).arg(&in_sectors).arg(&levels).arg(&modifiers).arg(&tiles);
        launch.arg(&mut local.counts).arg(&mut history.slots).arg(&mut history.sums);
        launch.arg(&mut history.scenes).arg(&mut history.marks).arg(&mut local.curves);
        // SAFETY: the arguments are those of the kernel. Both counts have an entry for each code, or are totals in
        // sectors if `in_sectors`; the counts and the curves of the tiles have one for each bin and each code of each
        // tile, and the history has the sizes that `prepare` gave it; shared memory holds the bins of a tile; all
        // buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching tile_curves")?;
        history.advance();
        if in_totals {
            history.totals.swap();
        } else if History::slots_for(&task.settings) > 0 {
            std::mem::swap(&mut picture.counts, &mut picture.emptied);
        }
        Ok(())
    }
}
