//! Launches `kernels/look_ahead.cu`: the curve of a frame of the look-ahead.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{function, module};
use crate::cuda::error::{Doing, Error};
use crate::cuda::history::{History, places};
use crate::cuda::launch::Kernel;
use crate::cuda::picture::DevicePicture;
use crate::cuda::task::Task;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

/// Threads of a block, and the most blocks. The kernel copies a few hundred bytes, or a few million.
const THREADS: u32 = 256;
const MOST_BLOCKS: u32 = 128;

pub(in crate::cuda) struct LookAheadLauncher {
    function: Kernel,
}

impl LookAheadLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = module(context, &super::compiled::LOOK_AHEAD)?;
        Ok(LookAheadLauncher { function: function(&module, "look_ahead")? })
    }

    /// Enqueues the choice of the curve of `picture`, which is frame `number` of `history`, after `waited` later
    /// frames.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        history: &History,
        task: &Task,
        (number, waited): (u64, u32),
    ) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let smoothing = &task.settings.smoothing;
        let slots = History::slots_for(&task.settings);
        let slot = (number % u64::from(slots)) as u32;
        let (of_picture, places) = (picture.curves_mut(), places(smoothing) as u32);
        let entries = (of_picture.len() / 4) as u32;
        let config = LaunchConfig {
            grid_dim: (entries.div_ceil(THREADS).min(MOST_BLOCKS), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let marks = history.marks.slice(history.latest_marks(slots));
        let first = history.place(number, smoothing) as u32;
        assert!(waited <= smoothing.ahead() && history.kept_curves.len() == places as usize * of_picture.len());
        let mut launch = self.function.on(&stream);
        launch.arg(&marks).arg(&slots).arg(&slot).arg(&waited).arg(&history.kept_curves).arg(&places).arg(&first);
        launch.arg(&entries).arg(of_picture);
        // SAFETY: the arguments are those of the kernel. There is a mark for each slot, a place for this frame and each
        // that it has waited for, and each place has as many entries as the picture's curves; all buffers belong to this
        // stream.
        unsafe { launch.launch(config) }.doing("launching look_ahead")?;
        Ok(())
    }
}
