//! The backends under test. A test that is stamped out over them runs for every one that this machine has, and says
//! which ones it skipped.

use crate::skip::skip;
use histeq_video::cuda::Gpu;
use histeq_video::equalize::Equalizer;
use histeq_video::equalize::cpu::{Cpu, Isa};
use histeq_video::equalize::cuda::Cuda;
use histeq_video::spec::Settings;
use std::sync::{Arc, OnceLock};

/// A new backend, or why this machine has none.
type Made = Result<Box<dyn Equalizer>, String>;

/// A backend, by name, and how to make one with so many threads (or whatever it has several of).
pub struct Backend {
    pub name: String,
    make: Box<dyn Fn(Settings, usize) -> Made>,
}

/// Every backend there is, here or elsewhere.
fn all() -> Vec<Backend> {
    Isa::ALL.into_iter().map(cpu).chain([cuda()]).collect()
}

fn cpu(isa: Isa) -> Backend {
    let make = move |settings, threads| match Cpu::with_isa(settings, threads, isa) {
        Some(cpu) => Ok(Box::new(cpu) as Box<dyn Equalizer>),
        None => Err(format!("this CPU has no {isa}")),
    };
    Backend { name: isa.to_string(), make: Box::new(make) }
}

/// The ring is as deep as a CPU backend would have threads.
fn cuda() -> Backend {
    let make = |settings, depth| {
        let cuda = Cuda::on(first_gpu()?, settings, depth).map_err(|error| error.to_string())?;
        Ok(Box::new(cuda) as Box<dyn Equalizer>)
    };
    Backend { name: "cuda".to_owned(), make: Box::new(make) }
}

/// The first GPU, opened once for all tests, or why there is none.
fn first_gpu() -> Result<&'static Arc<Gpu>, String> {
    static GPU: OnceLock<Result<Arc<Gpu>, String>> = OnceLock::new();
    GPU.get_or_init(|| Gpu::open(0).map_err(|error| error.to_string())).as_ref().map_err(Clone::clone)
}

/// The first GPU; `None`, and said so, where there is none.
pub fn gpu() -> Option<&'static Arc<Gpu>> {
    first_gpu().map_err(|reason| skip("cuda", &reason)).ok()
}

impl Backend {
    pub fn make(&self, settings: Settings, threads: usize) -> Box<dyn Equalizer> {
        (self.make)(settings, threads).expect("a backend that was here a moment ago")
    }
}

/// The backends that this machine has; the others are skipped.
pub fn available() -> Vec<Backend> {
    let is_here = |backend: &Backend| {
        (backend.make)(Settings::default(), 1).map_err(|reason| skip(&backend.name, &reason)).is_ok()
    };
    all().into_iter().filter(is_here).collect()
}
