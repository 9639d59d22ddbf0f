//! The backends under test. A test that is stamped out over them runs for every one that this machine has, and says
//! which ones it skipped.

use histeq_video::equalize::Equalizer;
use histeq_video::equalize::cpu::{Cpu, Isa};
use histeq_video::spec::Settings;
use std::io::Write;

/// Makes a backend for so many threads, or says why this machine cannot.
type Make = dyn Fn(Settings, usize) -> Result<Box<dyn Equalizer>, String>;

/// A backend, by name, and how to make one with so many threads.
pub struct Backend {
    pub name: String,
    make: Box<Make>,
}

/// Every backend there is, here or elsewhere.
fn all() -> Vec<Backend> {
    Isa::ALL.into_iter().map(cpu).collect()
}

fn cpu(isa: Isa) -> Backend {
    let make = move |settings, threads| match Cpu::with_isa(settings, threads, isa) {
        Some(cpu) => Ok(Box::new(cpu) as Box<dyn Equalizer>),
        None => Err(format!("this CPU has no {isa}")),
    };
    Backend { name: isa.to_string(), make: Box::new(make) }
}

impl Backend {
    pub fn make(&self, settings: Settings, threads: usize) -> Box<dyn Equalizer> {
        (self.make)(settings, threads).expect("a backend that was here a moment ago")
    }
}

/// The backends that this machine has. The others are printed, and are a failure when `HISTEQ_REQUIRE` (names with
/// commas) has them.
pub fn available() -> Vec<Backend> {
    let required = std::env::var("HISTEQ_REQUIRE").unwrap_or_default();
    let is_here = |backend: &Backend| match (backend.make)(Settings::default(), 1) {
        Ok(_) => true,
        Err(reason) => {
            assert!(!required.split(',').any(|name| name == backend.name), "{}: {reason}", backend.name);
            // Not `eprintln!`, which the test harness swallows when the test passes.
            std::io::stderr().write_all(format!("SKIPPED {}: {reason}\n", backend.name).as_bytes()).unwrap();
            false
        }
    };
    all().into_iter().filter(is_here).collect()
}
