//! Opens the chosen backend: by default a GPU if there is one. The CPU equalizes while it opens, and if it fails.

use super::cuda::Cuda;
use super::gpu_thread::GpuThread;
use super::{Failover, OnUnavailable, OpeningBackend};
use crate::cuda::{self, Gpu};
use crate::equalize::Executor;
use crate::equalize::cpu::Cpu;
use crate::frame::{HostPool, Limits};
use crate::note::Notes;
use crate::spec::parameters::named;
use crate::{Error, Result};
use std::sync::Arc;

named! {
    /// Where equalization runs.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Backend {
        #[default]
        Auto = "auto", "A GPU if there is one, else the CPU";
        Cpu = "cpu", "The CPU";
        Cuda = "cuda", "An NVIDIA GPU, or an error";
    }
}

impl Backend {
    /// Whether a GPU is opened if there is one.
    #[doc(hidden)]
    pub fn may_use_gpu(self) -> bool {
        match self {
            Backend::Auto | Backend::Cuda => true,
            Backend::Cpu => false,
        }
    }

    /// Whether it is an error if there is no GPU.
    #[doc(hidden)]
    pub fn needs_gpu(self) -> bool {
        match self {
            Backend::Cuda => true,
            Backend::Auto | Backend::Cpu => false,
        }
    }
}

/// The choice of a backend, with its parameters.
#[derive(Clone, Debug)]
pub struct BackendChoice {
    /// Where to equalize.
    pub backend: Backend,
    /// Index of the GPU.
    pub gpu: usize,
    /// Whether the CPU may equalize until the GPU is open.
    pub hand_over: bool,
    /// How many sources share the machine, at least 1.
    pub sources: usize,
    /// Bytes of frames after which a GPU is opened, if the CPU may begin and no GPU is required.
    pub worth_opening: usize,
    /// Threads of the CPU backend; by default, the cores are divided among the sources, with at most 8 threads each.
    pub threads: Option<usize>,
    /// The limits of the frames' memory, and of threads.
    pub limits: Limits,
}

impl Default for BackendChoice {
    fn default() -> Self {
        BackendChoice {
            backend: Backend::Auto,
            gpu: 0,
            hand_over: false,
            sources: 1,
            worth_opening: WORTH_OPENING,
            threads: None,
            limits: Limits::default(),
        }
    }
}

/// Bytes of frames for which opening a GPU is worthwhile: equalizing them takes the CPU about as long as starting and
/// ending the driver of a GPU (`benches/results/h100-start.md`).
const WORTH_OPENING: usize = 512 << 20;

/// A backend that is being opened. A GPU opens on a separate thread, while the input is opened and, where the CPU may
/// begin, while the CPU equalizes.
pub struct BackendStartup {
    choice: BackendChoice,
    gpu: GpuState,
}

enum GpuState {
    Closed,
    Opening(GpuThread),
    /// The open GPU, or the error of opening it.
    Done(Result<Arc<Gpu>, cuda::Error>),
}

impl BackendStartup {
    /// Begins to open the chosen backend.
    pub fn begin(choice: BackendChoice) -> Self {
        let is_used = choice.backend.may_use_gpu();
        let thread = is_used.then(|| GpuThread::start(choice.gpu, &choice.limits)).flatten();
        // The GPU opens now if it is required, or if the CPU may not begin; otherwise once there is enough work for it.
        if let Some(thread) = thread.as_ref().filter(|_| choice.backend.needs_gpu() || !choice.hand_over) {
            thread.begin();
        }
        // Without a thread, `take_gpu` opens the GPU.
        BackendStartup { choice, gpu: thread.map_or(GpuState::Closed, GpuState::Opening) }
    }

    /// Fails early if the chosen backend is missing. Waits for the GPU only where the CPU may not begin.
    ///
    /// # Errors
    /// When the chosen backend is known to be missing.
    pub fn check(&mut self) -> Result<()> {
        if self.choice.backend.needs_gpu() && !self.cpu_begins() && !self.has_gpu() {
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

    /// The chosen backend, or the best available one. While a GPU opens, the CPU begins if it may; if the GPU then
    /// cannot be opened, that is a note, or an error if a GPU was chosen.
    ///
    /// # Errors
    /// When the chosen backend is missing.
    pub fn finish(mut self, notes: &Notes) -> Result<Box<dyn Executor>> {
        if self.cpu_begins()
            && let GpuState::Opening(thread) = std::mem::replace(&mut self.gpu, GpuState::Closed)
        {
            return Ok(cpu_until_open(thread, &self.choice, notes));
        }
        self.open(notes)?.backend(notes)
    }

    /// Waits until the GPU is open, for backends that share it. Without one, a note gives the reason why the CPU
    /// equalizes.
    ///
    /// # Errors
    /// When a GPU was chosen, and there is none.
    pub fn open(mut self, notes: &Notes) -> Result<SharedBackend> {
        let mut gpu = None;
        if self.choice.backend.may_use_gpu() {
            match self.take_gpu() {
                Ok(open) => gpu = Some(open),
                Err(error) => self.choice.refuse(error, notes)?,
            }
        }
        let pool = HostPool::new(&self.choice.limits);
        Ok(SharedBackend { choice: self.choice, gpu, pool })
    }

    /// Whether the CPU begins, because a GPU is still being opened.
    fn cpu_begins(&mut self) -> bool {
        match &mut self.gpu {
            GpuState::Opening(thread) => self.choice.hand_over && thread.is_opening(),
            GpuState::Closed | GpuState::Done(_) => false,
        }
    }

    /// The GPU, waiting until it is open.
    fn take_gpu(&mut self) -> Result<Arc<Gpu>, cuda::Error> {
        match std::mem::replace(&mut self.gpu, GpuState::Closed) {
            GpuState::Closed => Gpu::open_within(self.choice.gpu, &self.choice.limits),
            GpuState::Opening(thread) => thread.join(),
            GpuState::Done(gpu) => gpu,
        }
    }
}

impl BackendChoice {
    /// Threads for each of the sources: together one for each core, but at least one each.
    pub fn threads_for_each(&self) -> usize {
        (self.limits.threads() / self.sources).max(1)
    }

    /// Notes that the CPU equalizes because of `error`, unless a GPU was chosen.
    ///
    /// # Errors
    /// `error`, if a GPU was chosen.
    fn refuse(&self, error: cuda::Error, notes: &Notes) -> Result<()> {
        if self.backend.needs_gpu() {
            return Err(error.into());
        }
        let message = cpu_instead(&error);
        // Without an NVIDIA driver, the CPU is what a caller expects, unless a GPU other than the first was chosen.
        if error.is_no_driver() && self.gpu == 0 {
            notes.detail(message)
        } else {
            notes.note(message)
        }
        Ok(())
    }
}

/// The chosen backend, open: one GPU for any number of sources, with a separate backend for each source.
#[derive(Clone)]
pub struct SharedBackend {
    choice: BackendChoice,
    /// `None` where the CPU equalizes.
    gpu: Option<Arc<Gpu>>,
    /// The memory for results of the CPU, which one source after the other reuses.
    pool: HostPool,
}

impl SharedBackend {
    /// Whether a GPU equalizes.
    pub fn has_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// The GPU, if one equalizes.
    pub fn gpu(&self) -> Option<&Arc<Gpu>> {
        self.gpu.as_ref()
    }

    /// A backend for one source. If it fails, the CPU goes on, with a note.
    ///
    /// # Errors
    /// When the GPU was chosen, and fails.
    pub fn backend(&self, notes: &Notes) -> Result<Box<dyn Executor>> {
        let depth = if self.choice.sources > 1 { DEPTH_OF_SEVERAL } else { Cuda::RING_DEPTH };
        let (choice, pool) = (self.choice.clone(), self.pool.clone());
        let build = Box::new(move || cpu(&choice, &pool));
        match self.gpu.as_ref().map(|gpu| Cuda::on(gpu, depth)) {
            Some(Ok(cuda)) => return Ok(Box::new(Failover::new(Box::new(cuda), build, reporter(notes)))),
            Some(Err(error)) => self.choice.refuse(error, notes)?,
            None => {}
        }
        Ok(build())
    }
}

/// Frames on the GPU for each of several sources: one for each of its three stages (upload, kernels, download).
const DEPTH_OF_SEVERAL: usize = 3;

/// Most threads of the CPU backend: eight equalize faster than decoders decode, more only hold frames in memory.
const MAX_THREADS: usize = 8;

/// The CPU backend of one of the sources.
fn cpu(choice: &BackendChoice, pool: &HostPool) -> Box<dyn Executor> {
    let threads = choice.threads.unwrap_or_else(|| choice.threads_for_each().min(MAX_THREADS));
    Box::new(Cpu::in_pool(threads, pool.clone()))
}

/// The note that the CPU equalizes in place of the GPU.
fn cpu_instead(error: &cuda::Error) -> String {
    format!("{}: equalizing on the CPU", error.cause())
}

fn reporter(notes: &Notes) -> Box<dyn Fn(&str) + Send> {
    let notes = notes.clone();
    Box::new(move |message| notes.note(message.to_owned()))
}

/// The CPU until `thread` has opened the GPU, then the GPU.
fn cpu_until_open(thread: GpuThread, choice: &BackendChoice, notes: &Notes) -> Box<dyn Executor> {
    let on_unavailable = if choice.backend.needs_gpu() {
        OnUnavailable::Fail
    } else {
        let notes = notes.clone();
        OnUnavailable::Report(Box::new(move |error| {
            notes.note(error.gpu().map_or_else(|| format!("{error}: equalizing on the CPU"), cpu_instead));
        }))
    };
    let opening = Box::new(OpeningGpu { thread, worth_opening: choice.worth_opening });
    let reserve = choice.clone();
    let build = Box::new(move || cpu(&reserve, &HostPool::new(&reserve.limits)));
    let first = cpu(choice, &HostPool::new(&choice.limits));
    let failover = Failover::opening(first, opening, on_unavailable, build, reporter(notes));
    Box::new(failover.within(&choice.limits))
}

/// The backend on a GPU that is being opened.
struct OpeningGpu {
    thread: GpuThread,
    worth_opening: usize,
}

impl OpeningBackend for OpeningGpu {
    fn has_come(&self, work: usize) {
        if work > self.worth_opening {
            self.thread.begin();
        }
    }

    fn is_ready(&self) -> bool {
        self.thread.is_finished()
    }

    fn take(self: Box<Self>) -> Result<Box<dyn Executor>> {
        let gpu = self.thread.join().map_err(Error::from)?;
        Ok(Box::new(Cuda::on(&gpu, Cuda::RING_DEPTH)?))
    }
}
