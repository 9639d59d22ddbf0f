//! The command line: what was typed ([`Args`]), what it means ([`Job`]), and what packagers want of it.

mod args;
mod backend;
#[cfg(feature = "laboratory")]
mod bench_args;
#[cfg(feature = "laboratory")]
mod bench_job;
mod compare_args;
mod compare_job;
mod equalize_args;
mod gpu_thread;
mod job;
mod live_args;
mod live_job;
mod look;
mod output_args;
mod region;
mod shell;
mod talk;
mod values;
#[cfg(feature = "laboratory")]
mod variant_args;

pub use args::{Args, BackendArg, Command, DecoderArg, ProgressArg};
pub use backend::{Backend, BackendChoice, BackendStartup};
#[cfg(feature = "laboratory")]
pub use bench_args::{BenchArgs, CompareWith};
#[cfg(feature = "laboratory")]
pub use bench_job::BenchJob;
pub use compare_args::CompareArgs;
pub use compare_job::CompareJob;
pub use job::Job;
pub use live_args::LiveArgs;
pub use live_job::LiveJob;
pub use look::RequestedSettings;
pub use region::check_region;
pub use shell::{completions, man_page, man_pages};
pub use talk::Talk;
#[cfg(feature = "laboratory")]
pub use variant_args::VariantArgs;
