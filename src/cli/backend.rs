//! Chooses the backend: the GPU if there is one and nothing else was asked for, with the CPU behind it.

use super::{BackendArg, Job};
use crate::equalize::cpu::Cpu;
use crate::equalize::cuda::Cuda;
use crate::equalize::fallback::Fallback;
use crate::equalize::{Equalizer, verify::Verified};
use crate::pipeline::Notices;
use crate::spec::Settings;
use anyhow::Result;

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
    /// The backend that the job asks for, or the best that there is.
    ///
    /// # Errors
    /// When the one that was asked for is not here.
    pub fn choose(job: &Job, notices: &Notices) -> Result<Self> {
        let (equalizer, on_gpu, remark) = match job.backend {
            BackendArg::Cpu => (cpu(job.settings), false, None),
            BackendArg::Cuda => (cuda(job, notices)?, true, None),
            BackendArg::Auto => match cuda(job, notices) {
                Ok(cuda) => (cuda, true, None),
                Err(reason) => {
                    // The remedy in parentheses is for those who asked for the GPU.
                    let reason = format!("{reason:#}");
                    let cause = reason.rsplit_once(" (").map_or(reason.as_str(), |(cause, _)| cause);
                    (cpu(job.settings), false, Some(format!("{cause}: equalizing on the CPU")))
                }
            },
        };
        let equalizer = if job.verify { Box::new(Verified::new(equalizer, job.settings)) } else { equalizer };
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
fn cuda(job: &Job, notices: &Notices) -> Result<Box<dyn Equalizer>> {
    let (settings, notices) = (job.settings, notices.clone());
    let gpu = Box::new(Cuda::new(settings, job.gpu, Cuda::RING_DEPTH)?);
    let report = Box::new(move |message: &str| notices.note(message));
    Ok(Box::new(Fallback::new(gpu, Box::new(move || cpu(settings)), report)))
}
