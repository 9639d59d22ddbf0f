//! Chooses the backend: the GPU if there is one and nothing else was asked for, with the CPU before it while it opens, and
//! behind it should it fail.

use super::BackendArg;
use super::gpu_thread::Thread;
use crate::cuda::{Error, Gpu, KernelChoice};
use crate::equalize::cpu::Cpu;
use crate::equalize::cuda::Cuda;
use crate::equalize::{Equalizer, Failover, OnUnavailable, OpeningBackend};
use crate::pipeline::Notices;
use anyhow::Result;
use std::sync::Arc;

/// Which backend is asked for.
#[derive(Clone, Debug)]
pub struct BackendChoice {
    /// Where to equalize.
    pub backend: BackendArg,
    /// On which GPU.
    pub gpu: usize,
    /// Through which other kernels on it, if any.
    pub kernels: Option<Arc<dyn KernelChoice>>,
    /// Whether the CPU may begin while a GPU opens.
    pub hand_over: bool,
}

/// A backend that is ready.
pub struct Backend {
    /// What equalizes.
    pub equalizer: Box<dyn Equalizer>,
    /// Why it is not the one that would be preferred.
    pub remark: Option<String>,
}

/// A backend on its way: a GPU takes a while to open, and does so on a thread of its own while the input is opened, and
/// where the CPU may begin, while that equalizes.
pub struct BackendStartup {
    choice: BackendChoice,
    gpu: State,
}

/// State of opening the GPU.
enum State {
    /// It is not being opened.
    Closed,
    /// It is being opened.
    Opening(Thread),
    /// It is open, or why it is not.
    Done(Result<Arc<Gpu>, Error>),
}

impl BackendStartup {
    /// Begins to open what is asked for.
    pub fn begin(choice: BackendChoice) -> Self {
        let gpu = match choice.backend {
            BackendArg::Cpu => State::Closed,
            // Without a thread it is opened when it is asked for.
            BackendArg::Cuda | BackendArg::Auto => {
                Thread::start(choice.gpu, choice.kernels.clone()).map_or(State::Closed, State::Opening)
            }
        };
        BackendStartup { choice, gpu }
    }

    /// Finds out what can be told without waiting for a GPU; all of it, where the CPU may not begin.
    ///
    /// # Errors
    /// When it is known already that the backend that was asked for is not here.
    pub fn check(&mut self) -> Result<()> {
        if self.choice.backend == BackendArg::Cuda && !self.cpu_begins() && !self.has_gpu() {
            self.take_gpu()?;
        }
        Ok(())
    }

    /// Is there a GPU to work on? Waits until that is known.
    pub fn has_gpu(&mut self) -> bool {
        if self.choice.backend != BackendArg::Cpu {
            self.gpu = State::Done(self.take_gpu());
        }
        matches!(self.gpu, State::Done(Ok(_)))
    }

    /// The backend that was asked for, or the best that there is. Where a GPU is not open yet and the CPU may begin, it
    /// begins; if there turns out to be none that can be had, `notices` are told, or the run fails.
    ///
    /// # Errors
    /// When the one that was asked for is not here.
    pub fn finish(mut self, notices: &Notices) -> Result<Backend> {
        let choice = self.choice.clone();
        let (equalizer, remark) = if choice.backend == BackendArg::Cpu {
            (cpu(), None)
        } else if self.cpu_begins()
            && let State::Opening(thread) = std::mem::replace(&mut self.gpu, State::Closed)
        {
            (cpu_until_open(thread, choice.backend, notices), None)
        } else {
            match (cuda(self.take_gpu()), choice.backend) {
                (Ok(cuda), _) => {
                    let failover = Failover::new(cuda, Box::new(cpu), teller(notices));
                    (Box::new(failover) as Box<dyn Equalizer>, None)
                }
                (Err(error), BackendArg::Cuda) => return Err(error),
                (Err(reason), _) => (cpu(), Some(remark(&reason, choice.kernels.is_some()))),
            }
        };
        Ok(Backend { equalizer, remark })
    }

    /// Whether the CPU may begin, since a GPU is still being opened.
    fn cpu_begins(&mut self) -> bool {
        match &mut self.gpu {
            State::Opening(thread) => self.choice.hand_over && thread.is_opening(),
            State::Closed | State::Done(_) => false,
        }
    }

    /// The GPU, waiting until it is open.
    fn take_gpu(&mut self) -> Result<Arc<Gpu>, Error> {
        match std::mem::replace(&mut self.gpu, State::Closed) {
            State::Closed => Gpu::open_with(self.choice.gpu, self.choice.kernels.as_deref()),
            State::Opening(thread) => thread.join(),
            State::Done(gpu) => gpu,
        }
    }
}

/// Threads beyond this only hold more frames in memory: eight equalize faster than anything decodes.
const MOST_THREADS: usize = 8;

/// One frame a core: the system gives equalization whatever decoder and encoder leave of them.
fn cpu() -> Box<dyn Equalizer> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Box::new(Cpu::new(threads.min(MOST_THREADS)))
}

/// What there is to say where the CPU does what a GPU was to do.
fn remark(reason: &anyhow::Error, has_variants: bool) -> String {
    // The remedy in parentheses is for those who asked for the GPU.
    let reason = format!("{reason:#}");
    let cause = reason.rsplit_once(" (").map_or(reason.as_str(), |(cause, _)| cause);
    // All variants give the same bytes: the CPU's too.
    let loss = if has_variants { ", which has no kernel variants" } else { "" };
    format!("{cause}: equalizing on the CPU{loss}")
}

fn cuda(gpu: Result<Arc<Gpu>, Error>) -> Result<Box<dyn Equalizer>> {
    Ok(Box::new(Cuda::on(&gpu?, Cuda::RING_DEPTH)?))
}

fn teller(notices: &Notices) -> Box<dyn Fn(&str) + Send> {
    let notices = notices.clone();
    Box::new(move |message| notices.note(message))
}

/// The CPU until the GPU that this thread opens is there.
fn cpu_until_open(thread: Thread, asked: BackendArg, notices: &Notices) -> Box<dyn Equalizer> {
    let on_unavailable = match asked {
        BackendArg::Cuda => OnUnavailable::Fail,
        BackendArg::Cpu | BackendArg::Auto => {
            let notices = notices.clone();
            OnUnavailable::Tell(Box::new(move |reason| notices.note(&remark(&reason, false))))
        }
    };
    let opening = Box::new(OpeningGpu(thread));
    Box::new(Failover::opening(cpu(), opening, on_unavailable, Box::new(cpu), teller(notices)))
}

/// The backend of a GPU that is being opened.
struct OpeningGpu(Thread);

impl OpeningBackend for OpeningGpu {
    fn is_ready(&self) -> bool {
        self.0.is_finished()
    }

    fn take(self: Box<Self>) -> Result<Box<dyn Equalizer>> {
        cuda(self.0.join())
    }
}
