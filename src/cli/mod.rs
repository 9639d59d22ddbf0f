//! The command line: what was typed ([`Args`]), what it means ([`Job`]), and what packagers want of it.

mod args;
mod backend;
mod equalize_args;
mod job;
mod live_args;
mod live_job;
mod look;
mod shell;

pub use args::{Args, BackendArg, Command, ProgressArg};
pub use backend::{Backend, BackendChoice};
pub use job::Job;
pub use live_args::LiveArgs;
pub use live_job::LiveJob;
pub use look::Wishes;
pub use shell::{completions, man_page, man_pages};
