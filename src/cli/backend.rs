//! Chooses the backend: the GPU if there is one and nothing else was asked for, with the CPU behind it.

use super::BackendArg;
use crate::cuda::variants::Variants;
use crate::equalize::cpu::Cpu;
use crate::equalize::cuda::Cuda;
use crate::equalize::fallback::Fallback;
use crate::equalize::{Equalizer, verify::Verified};
use crate::pipeline::Notices;
use crate::spec::Settings;
use anyhow::Result;

/// Which backend is asked for.
#[derive(Clone, Copy, Debug)]
pub struct BackendChoice {
    /// Where to equalize.
    pub backend: BackendArg,
    /// On which GPU.
    pub gpu: usize,
    /// Through which kernels of it.
    pub variants: Variants,
    /// Whether each frame is recomputed with the reference.
    pub verify: bool,
}

/// A backend that is ready.
pub struct Backend {
    /// What equalizes.
    pub equalizer: Box<dyn Equalizer>,
    /// Is there a GPU at work?
    pub on_gpu: bool,
    /// Why it is not the one that would be preferred.
    pub remark: Option<String>,
}

impl Backend {
    /// The backend that is asked for, or the best that there is.
    ///
    /// # Errors
    /// When the one that was asked for is not here.
    pub fn choose(choice: BackendChoice, settings: Settings, notices: &Notices) -> Result<Self> {
        let (equalizer, on_gpu, remark) = match choice.backend {
            BackendArg::Cpu => (cpu(settings), false, None),
            BackendArg::Cuda => (cuda(choice, settings, notices)?, true, None),
            BackendArg::Auto => match cuda(choice, settings, notices) {
                Ok(cuda) => (cuda, true, None),
                Err(reason) => {
                    // The remedy in parentheses is for those who asked for the GPU.
                    let reason = format!("{reason:#}");
                    let cause = reason.rsplit_once(" (").map_or(reason.as_str(), |(cause, _)| cause);
                    // All variants give the same bytes: the CPU's too.
                    let loss = if choice.variants.is_default() { "" } else { ", which has no kernel variants" };
                    (cpu(settings), false, Some(format!("{cause}: equalizing on the CPU{loss}")))
                }
            },
        };
        let equalizer = if choice.verify { Box::new(Verified::new(equalizer, settings)) } else { equalizer };
        Ok(Backend { equalizer, on_gpu, remark })
    }
}

/// Threads beyond this only hold more frames in memory: eight equalize faster than anything decodes.
const MOST_THREADS: usize = 8;

/// One frame a core: the system gives equalization whatever decoder and encoder leave of them.
fn cpu(settings: Settings) -> Box<dyn Equalizer> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Box::new(Cpu::new(settings, threads.min(MOST_THREADS)))
}

/// The GPU, and the CPU should it fail on the way.
fn cuda(choice: BackendChoice, settings: Settings, notices: &Notices) -> Result<Box<dyn Equalizer>> {
    let notices = notices.clone();
    let gpu = Box::new(Cuda::with_variants(settings, choice.gpu, Cuda::RING_DEPTH, &choice.variants)?);
    let report = Box::new(move |message: &str| notices.note(message));
    Ok(Box::new(Fallback::new(gpu, settings, Box::new(move || cpu(settings)), report)))
}
