//! Chooses the backend: by default a GPU if there is one. The CPU equalizes while the GPU opens, and after a failure of it.

use super::gpu_thread::GpuThread;
use anyhow::Result;
use clap::ValueEnum;
use histeq::cuda::{Error, Gpu, KernelChoice};
use histeq::equalize::cpu::Cpu;
use histeq::equalize::cuda::Cuda;
use histeq::equalize::{Executor, Failover, OnUnavailable, OpeningBackend};
use histeq::frame::limits;
use histeq_media::pipeline::Notices;
use std::sync::Arc;
use std::time::Duration;

/// Where equalization runs.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendArg {
    /// A GPU if there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU, or an error.
    Cuda,
}

impl BackendArg {
    /// Whether a GPU is opened if there is one.
    pub(super) fn may_use_gpu(self) -> bool {
        match self {
            BackendArg::Auto | BackendArg::Cuda => true,
            BackendArg::Cpu => false,
        }
    }
}

/// The chosen backend.
#[derive(Clone, Debug)]
pub struct BackendChoice {
    /// Where to equalize.
    pub backend: BackendArg,
    /// Index of the GPU.
    pub gpu: usize,
    /// Kernels in place of the default ones, if any.
    pub kernels: Option<Arc<dyn KernelChoice>>,
    /// Whether the CPU may equalize until the GPU is open.
    pub hand_over: bool,
    /// How many sources share the machine, at least 1.
    pub sources: usize,
}

/// How long a job runs on the CPU before a GPU is opened that may or may not be used: a process whose driver is starting takes
/// up to 0.1 s longer to end.
const SHORT_JOB: Duration = Duration::from_millis(100);

/// A backend that is being opened. A GPU opens on a thread of its own, while the input is opened and, where the CPU may
/// begin, while the CPU equalizes.
pub struct BackendStartup {
    choice: BackendChoice,
    gpu: GpuState,
}

/// State of opening the GPU.
enum GpuState {
    /// Not opened.
    Closed,
    /// Being opened.
    Opening(GpuThread),
    /// Open, or the error.
    Done(Result<Arc<Gpu>, Error>),
}

impl BackendStartup {
    /// Begins to open the chosen backend.
    pub fn begin(choice: BackendChoice) -> Self {
        let delay = if choice.backend == BackendArg::Auto { SHORT_JOB } else { Duration::ZERO };
        let thread = choice.backend.may_use_gpu().then(|| GpuThread::start(choice.gpu, choice.kernels.clone(), delay));
        // Without a thread, `take_gpu` opens it.
        let gpu = thread.flatten().map_or(GpuState::Closed, GpuState::Opening);
        BackendStartup { choice, gpu }
    }

    /// Fails early if the chosen backend is missing. Waits for the GPU only where the CPU may not begin.
    ///
    /// # Errors
    /// When the chosen backend is known to be missing.
    pub fn check(&mut self) -> Result<()> {
        if self.choice.backend == BackendArg::Cuda && !self.cpu_begins() && !self.has_gpu() {
            self.take_gpu()?;
        }
        Ok(())
    }

    /// Whether there is a GPU. Waits until that is known.
    pub fn has_gpu(&mut self) -> bool {
        if self.choice.backend.may_use_gpu() {
            self.gpu = GpuState::Done(self.take_gpu());
        }
        matches!(self.gpu, GpuState::Done(Ok(_)))
    }

    /// The chosen backend, or the best one there is. While a GPU opens, the CPU begins if it may; if the GPU then cannot be
    /// opened, that is a note, or an error if a GPU was chosen.
    ///
    /// # Errors
    /// When the chosen backend is missing.
    pub fn finish(mut self, notices: &Notices) -> Result<Box<dyn Executor>> {
        if self.cpu_begins()
            && let GpuState::Opening(thread) = std::mem::replace(&mut self.gpu, GpuState::Closed)
        {
            return Ok(cpu_until_open(thread, &self.choice, notices));
        }
        self.open(notices)?.backend(notices)
    }

    /// Waits until the GPU is open, for backends that share it. Without one, a note says why the CPU equalizes.
    ///
    /// # Errors
    /// When a GPU was chosen, and there is none.
    pub fn open(mut self, notices: &Notices) -> Result<SharedBackend> {
        let gpu = match self.choice.backend.may_use_gpu().then(|| self.take_gpu()).transpose() {
            Ok(gpu) => gpu,
            Err(error) => {
                self.choice.refuse(error.into(), notices)?;
                None
            }
        };
        Ok(SharedBackend { choice: self.choice, gpu })
    }

    /// Whether the CPU is to begin, because a GPU is still being opened.
    fn cpu_begins(&mut self) -> bool {
        match &mut self.gpu {
            GpuState::Opening(thread) => self.choice.hand_over && thread.is_opening(),
            GpuState::Closed | GpuState::Done(_) => false,
        }
    }

    /// The GPU, waiting until it is open.
    fn take_gpu(&mut self) -> Result<Arc<Gpu>, Error> {
        match std::mem::replace(&mut self.gpu, GpuState::Closed) {
            GpuState::Closed => Gpu::open_with(self.choice.gpu, self.choice.kernels.as_deref()),
            GpuState::Opening(thread) => thread.join(),
            GpuState::Done(gpu) => gpu,
        }
    }
}

impl BackendChoice {
    /// Tells that the CPU equalizes because of `error`, unless a GPU was chosen.
    ///
    /// # Errors
    /// `error`, if a GPU was chosen.
    fn refuse(&self, error: anyhow::Error, notices: &Notices) -> Result<()> {
        if self.backend == BackendArg::Cuda {
            return Err(error);
        }
        let message = cpu_instead(&error, self.kernels.is_some());
        // On a machine without an NVIDIA driver, that is no news, unless something of a GPU was asked for.
        let is_asked_for = self.kernels.is_some() || self.gpu > 0;
        match error.downcast_ref() {
            Some(Error::NoDriver) if !is_asked_for => notices.detail(&message),
            _ => notices.note(&message),
        }
        Ok(())
    }
}

/// The chosen backend, open: one GPU for any number of sources, each of which gets a backend of its own.
#[derive(Clone)]
pub struct SharedBackend {
    choice: BackendChoice,
    /// `None` where the CPU equalizes.
    gpu: Option<Arc<Gpu>>,
}

impl SharedBackend {
    /// Whether a GPU equalizes.
    pub fn has_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// A backend for one source. If it fails, the CPU goes on, with a note.
    ///
    /// # Errors
    /// When the GPU was chosen, and fails.
    pub fn backend(&self, notices: &Notices) -> Result<Box<dyn Executor>> {
        let sources = self.choice.sources;
        let depth = if sources > 1 { DEPTH_OF_SEVERAL } else { Cuda::RING_DEPTH };
        let build = move || cpu(sources);
        match self.gpu.as_ref().map(|gpu| cuda(gpu, depth)) {
            Some(Ok(cuda)) => return Ok(Box::new(Failover::new(cuda, Box::new(build), note(notices)))),
            Some(Err(error)) => self.choice.refuse(error, notices)?,
            None => {}
        }
        Ok(build())
    }
}

/// Frames on the GPU for each of several sources: as many as its three stages work on.
const DEPTH_OF_SEVERAL: usize = 3;

/// Most threads of the CPU backend: eight equalize faster than decoders decode, more only hold frames in memory.
const MOST_THREADS: usize = 8;

/// The threads for each of this many sources: together one per core, but at least one each.
pub(super) fn threads_for_each(sources: usize) -> usize {
    (limits::threads() / sources).max(1)
}

/// The CPU backend of one of this many sources.
fn cpu(sources: usize) -> Box<dyn Executor> {
    Box::new(Cpu::new(threads_for_each(sources).min(MOST_THREADS)))
}

/// The note that the CPU equalizes in place of the GPU.
fn cpu_instead(reason: &anyhow::Error, has_variants: bool) -> String {
    // The remedy in parentheses is for --backend cuda.
    let reason = format!("{reason:#}");
    let cause = reason.rsplit_once(" (").map_or(reason.as_str(), |(cause, _)| cause);
    let loss = if has_variants { ", which has no kernel variants" } else { "" };
    format!("{cause}: equalizing on the CPU{loss}")
}

fn cuda(gpu: &Arc<Gpu>, depth: usize) -> Result<Box<dyn Executor>> {
    Ok(Box::new(Cuda::on(gpu, depth)?))
}

fn note(notices: &Notices) -> Box<dyn Fn(&str) + Send> {
    let notices = notices.clone();
    Box::new(move |message| notices.note(message))
}

/// The CPU until `thread` has opened the GPU, then the GPU.
fn cpu_until_open(thread: GpuThread, choice: &BackendChoice, notices: &Notices) -> Box<dyn Executor> {
    let sources = choice.sources;
    let on_unavailable = match choice.backend {
        BackendArg::Cuda => OnUnavailable::Fail,
        BackendArg::Cpu | BackendArg::Auto => {
            let notices = notices.clone();
            OnUnavailable::Tell(Box::new(move |reason| notices.note(&cpu_instead(&reason.into(), false))))
        }
    };
    let opening = Box::new(OpeningGpu(thread));
    let build = Box::new(move || cpu(sources));
    Box::new(Failover::opening(cpu(sources), opening, on_unavailable, build, note(notices)))
}

/// The backend on a GPU that is being opened.
struct OpeningGpu(GpuThread);

impl OpeningBackend for OpeningGpu {
    fn is_ready(&self) -> bool {
        self.0.is_finished()
    }

    fn take(self: Box<Self>) -> histeq::Result<Box<dyn Executor>> {
        Ok(Box::new(Cuda::on(&self.0.join()?, Cuda::RING_DEPTH)?))
    }
}
