//! Chooses the backend: the GPU if there is one and nothing else was asked for, with the CPU behind it.

use super::BackendArg;
use crate::cuda::variants::Variants;
use crate::cuda::{Error, Gpu};
use crate::equalize::cpu::Cpu;
use crate::equalize::cuda::Cuda;
use crate::equalize::fallback::Fallback;
use crate::equalize::{Equalizer, verify::Verified};
use crate::pipeline::Notices;
use crate::spec::Settings;
use anyhow::Result;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

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

/// A backend on its way: a GPU takes a while to open, and does so on a thread of its own while the input is opened.
pub struct Opening {
    choice: BackendChoice,
    gpu: Option<JoinHandle<Result<Arc<Gpu>, Error>>>,
}

impl Opening {
    /// Begins to open what is asked for.
    pub fn begin(choice: BackendChoice) -> Self {
        let open = move || Gpu::with_variants(choice.gpu, &choice.variants);
        let gpu = match choice.backend {
            BackendArg::Cpu => None,
            // Without a thread it is opened when it is asked for.
            BackendArg::Cuda | BackendArg::Auto => Builder::new().name("gpu".to_owned()).spawn(open).ok(),
        };
        Opening { choice, gpu }
    }

    /// The backend that was asked for, or the best that there is.
    ///
    /// # Errors
    /// When the one that was asked for is not here.
    pub fn finish(mut self, settings: Settings, notices: &Notices) -> Result<Backend> {
        let choice = self.choice;
        let (equalizer, on_gpu, remark) = match choice.backend {
            BackendArg::Cpu => (cpu(settings), false, None),
            BackendArg::Cuda => (cuda(self.gpu(), settings, notices)?, true, None),
            BackendArg::Auto => match cuda(self.gpu(), settings, notices) {
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

    /// The GPU, waiting until it is open.
    fn gpu(&mut self) -> Result<Arc<Gpu>, Error> {
        match self.gpu.take() {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => Gpu::with_variants(self.choice.gpu, &self.choice.variants),
        }
    }
}

impl Drop for Opening {
    /// Waits for the GPU that nobody wants any more: the process must not end while its driver is starting.
    fn drop(&mut self) {
        self.gpu.take().map(JoinHandle::join);
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
fn cuda(gpu: Result<Arc<Gpu>, Error>, settings: Settings, notices: &Notices) -> Result<Box<dyn Equalizer>> {
    let notices = notices.clone();
    let gpu = Box::new(Cuda::on(&gpu?, settings, Cuda::RING_DEPTH)?);
    let report = Box::new(move |message: &str| notices.note(message));
    Ok(Box::new(Fallback::new(gpu, settings, Box::new(move || cpu(settings)), report)))
}
