//! Launches `kernels/equalization.cu`: computes the curve from counts, with temporal window, plateau, bins and contrast
//! limit.
#![allow(unsafe_code, reason = "launches kernels")]

use super::grid;
use crate::cuda::arguments::{BlendedLevels, Modifiers, PiecewiseLine};
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use crate::cuda::pipeline::history::History;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;

launcher! {
    EqualizationLauncher from EQUALIZATION {
        function: Kernel = "equalization",
        /// The variant for blocks that have a multiprocessor each.
        spread: Kernel = "equalization_spread",
    }
}

impl EqualizationLauncher {
    /// Enqueues the curve of `picture`; with a look-ahead, `history` keeps the curve. Clears the counts for the next
    /// frame and adds them to `history`.
    pub fn launch(&self, picture: &mut DevicePicture, history: &mut History, task: &Task) -> Result<(), Error> {
        let codes = picture.layout().codes();
        let (update, frames) = history.prepare(picture.layout(), task)?;
        let multiprocessors = picture.gpu.multiprocessors;
        let tuning::EqualizationTuning { blocks, threads, spread } = tuning::equalization(codes, multiprocessors);
        let config = grid(blocks, threads);
        let tone = task.tone();
        let (codes, levels) = (codes as u32, BlendedLevels::new(task.levels, tone.strength));
        let (modifiers, line) = (Modifiers::new(task, frames), PiecewiseLine::new(&tone.line));
        let stream = picture.stream().clone();
        let kept =
            (task.look_ahead() > 0).then(|| history.kept_curve(history.next_number(), &task.parameters.smoothing));
        // Distinguishes this launch from the ones before it; the lower 32 bits are enough for that.
        let number = (history.next_number() + 1) as u32;
        let mut launch = if spread { self.spread.on(&stream) } else { self.function.on(&stream) };
        launch.arg(&mut picture.counts).arg(&codes).arg(&levels).arg(&modifiers).arg(&update).arg(&line);
        launch.arg(&mut history.slots).arg(&mut history.sums);
        launch.arg(&mut history.bins).arg(&mut history.grid).arg(&number);
        match &kept {
            Some(kept) => launch.arg(kept),
            None => launch.arg(&mut picture.curve),
        };
        // SAFETY: the arguments are those of the kernel. Counts and curve have an entry for each code, the buffers of
        // the history have the sizes that `prepare` gave them for these codes and this window, and all belong to this
        // stream; the threads of all blocks have all codes, several blocks are all resident at once, and no launch
        // since the grid was cleared had this number.
        let launched = unsafe {
            // A single block waits for no other.
            if blocks == 1 { launch.launch(config) } else { launch.launch_together(config) }
        };
        launched.doing("launching equalization")?;
        history.advance(&update);
        Ok(())
    }
}
