//! The backends under test. A test over all backends runs with those that this machine supports, and prints which ones
//! it skips.
#![allow(dead_code, reason = "no test binary uses all of it")]

use super::skip::skip;
use histeq::Result;
use histeq::internal::cuda::Gpu;
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::counting::CountedRegion;
use histeq::internal::equalize::cpu::{Cpu, Isa};
use histeq::internal::equalize::{Applied, Equalized, Executor, Observation, Observer, Role, Verifier, Work};
use histeq::internal::frame::{Frame, Pool};
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::{Curve, Mapping};
use histeq::internal::spec::parameters::Settings;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A new backend, or why this machine has none.
type Made = Result<Box<dyn Executor>, String>;

/// A named backend, and the function that opens it with a number of threads (for a GPU: of frames in flight).
pub struct Backend {
    pub name: String,
    make: Box<dyn Fn(usize) -> Made + Send + Sync>,
}

/// All backends, even those that this machine cannot run.
fn all() -> Vec<Backend> {
    Isa::ALL
        .iter()
        .copied()
        .map(cpu)
        .chain([cuda("cuda", first_gpu), cuda("cuda, shared memory", sharing_gpu)])
        .collect()
}

fn cpu(isa: Isa) -> Backend {
    let make = move |threads| match Cpu::with_isa(threads, isa) {
        Some(cpu) => Ok(Box::new(cpu) as Box<dyn Executor>),
        None => Err(format!("this CPU has no {isa}")),
    };
    Backend { name: isa.to_string(), make: Box::new(make) }
}

/// The CPU backend on the caller's thread, as on a system that cannot start threads.
fn threadless() -> Backend {
    Backend { name: "no thread".to_owned(), make: Box::new(|_| Ok(Box::new(Cpu::new(0)))) }
}

/// The GPU backend; `depth`, the number of frames in flight, is the test's number of threads.
fn cuda(name: &str, gpu: fn() -> Result<&'static Arc<Gpu>, String>) -> Backend {
    let make = move |depth| {
        let cuda = Cuda::on(gpu()?, depth).map_err(|error| error.to_string())?;
        Ok(Box::new(cuda) as Box<dyn Executor>)
    };
    Backend { name: name.to_owned(), make: Box::new(make) }
}

/// The first GPU, opened once for all tests, or why there is none.
fn first_gpu() -> Result<&'static Arc<Gpu>, String> {
    static GPU: OnceLock<Result<Arc<Gpu>, String>> = OnceLock::new();
    GPU.get_or_init(|| Gpu::open(0).map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
}

/// As [`first_gpu`], used like a GPU that shares the host's memory.
fn sharing_gpu() -> Result<&'static Arc<Gpu>, String> {
    static GPU: OnceLock<Result<Arc<Gpu>, String>> = OnceLock::new();
    let open = || Gpu::open_sharing_memory(0).map_err(|error| error.to_string());
    GPU.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The first GPU; without one, `None` and a note.
pub fn gpu() -> Option<&'static Arc<Gpu>> {
    first_gpu().map_err(|reason| skip("cuda", &reason)).ok()
}

impl Backend {
    /// A new executor of this backend, with `threads` threads or frames in flight.
    pub fn open(&self, threads: usize) -> Box<dyn Executor> {
        (self.make)(threads).expect("a backend that was here a moment ago")
    }

    /// A sequence on a new executor of this backend.
    pub fn make(&self, settings: Settings, threads: usize) -> Sequence {
        Sequence::new(self.open(threads), settings)
    }
}

/// Sends the frames of a video through a backend in order, each with the current settings and mapping.
pub struct Sequence {
    backend: Box<dyn Executor>,
    settings: Settings,
    given: Option<Mapping>,
    region: CountedRegion,
    everything: bool,
    verifier: Option<Verifier>,
    under_way: VecDeque<Work>,
    collected: u64,
}

/// A sequence on the reference implementation.
pub fn by_reference(settings: Settings) -> Sequence {
    Sequence::new(Box::new(Reference::default()), settings)
}

impl Sequence {
    pub fn new(backend: Box<dyn Executor>, settings: Settings) -> Self {
        Sequence {
            backend,
            settings,
            given: None,
            region: CountedRegion::default(),
            everything: false,
            verifier: None,
            under_way: VecDeque::new(),
            collected: 0,
        }
    }

    /// The same sequence, with each frame compared with the reference.
    pub fn verified(self) -> Self {
        Sequence { verifier: Some(Verifier::default()), ..self }
    }

    /// The same sequence, whose frames report everything that is applied to them.
    pub fn telling_everything(self) -> Self {
        Sequence { everything: true, ..self }
    }

    pub fn set(&mut self, settings: Settings) {
        self.settings = settings;
    }

    pub fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.give(curve.map(|curve| Mapping::Curve { curve, chroma_gain: UNIT_GAIN }));
    }

    /// Applies `mapping` to the following frames instead of their own mappings; `None` stops that.
    pub fn give(&mut self, mapping: Option<Mapping>) {
        self.given = mapping;
    }

    fn work(&mut self, frame: Frame) -> Work {
        let counted = self.region.next(&frame, &self.settings).expect("a GPU that works, if the frame is on one");
        let work = Work::new(frame, self.settings).counting(counted);
        if self.everything { work.reporting_everything() } else { work }
    }

    fn pass_on(&mut self, work: Work) -> Result<()> {
        if let Some(verifier) = &mut self.verifier {
            verifier.submitted(&work)?;
        }
        self.under_way.push_back(work.clone());
        self.backend.submit(work)
    }

    pub fn submit(&mut self, frame: Frame) -> Result<()> {
        let work = self.work(frame);
        self.pass_on(match self.given.clone() {
            Some(mapping) => work.applying(mapping),
            None => work,
        })
    }

    /// Submits a warm-up frame, which only affects later frames, and collects all frames in flight.
    pub fn warm_up(&mut self, frame: Frame) -> Result<()> {
        let work = self.work(frame).warming_up();
        self.pass_on(work)?;
        while self.backend.in_flight() > 0 {
            assert!(self.next()?.is_some());
        }
        Ok(())
    }

    pub fn collect(&mut self) -> Result<Option<Frame>> {
        Ok(self.next()?.map(|(equalized, _)| equalized.frame))
    }

    /// What was applied to the next collected frame.
    pub fn collect_applied(&mut self) -> Result<Option<Applied>> {
        Ok(self.next()?.map(|(equalized, _)| equalized.applied))
    }

    fn next(&mut self) -> Result<Option<(Equalized, Work)>> {
        let Some(after) = self.backend.collect()? else { return Ok(None) };
        let before = self.under_way.pop_front().expect("a frame that went in");
        if let Some(verifier) = &mut self.verifier {
            verifier.equalized(Observation {
                original: None,
                number: self.collected,
                before: &before,
                after: &after,
                equalizing: Duration::ZERO,
                backend: self.backend.as_ref(),
            })?;
        }
        self.collected += u64::from(!matches!(before.role(), Role::WarmUp));
        Ok(Some((after, before)))
    }

    /// `frame`, equalized. No other frame may be in flight.
    pub fn equalize(&mut self, frame: &Frame) -> Frame {
        self.submit(frame.clone()).unwrap();
        self.collect().unwrap().expect("a frame that waits for no other")
    }

    pub fn finish(&mut self) -> Result<()> {
        if let Some(verifier) = &mut self.verifier {
            verifier.finished()?;
        }
        self.backend.finish()
    }

    pub fn in_flight(&self) -> usize {
        self.backend.in_flight()
    }

    pub fn capacity(&self) -> usize {
        self.backend.capacity()
    }

    pub fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        self.backend.input_pool(self.settings.chroma)
    }

    pub fn name(&self) -> String {
        self.backend.name()
    }
}

/// The backends of [`available`], and the CPU without threads, for tests that depend on when frames are processed.
pub fn with_threadless() -> Vec<Backend> {
    available().into_iter().chain([threadless()]).collect()
}

/// The backends that this machine has; the others are skipped.
pub fn available() -> Vec<Backend> {
    let kind = |backend: &Backend| backend.name.split(',').next().expect("a part").to_owned();
    let is_here = |backend: &Backend| (backend.make)(1).map_err(|reason| skip(&kind(backend), &reason)).is_ok();
    all().into_iter().filter(is_here).collect()
}
