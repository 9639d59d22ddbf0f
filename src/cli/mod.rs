//! The command line: what was typed ([`Args`]), what it means ([`Job`]), and what packagers want of it.

mod args;
mod backend;
mod job;
mod shell;

pub use args::{Args, BackendArg, Command, ProgressArg};
pub use backend::Backend;
pub use job::Job;
pub use shell::{completions, man_page};
