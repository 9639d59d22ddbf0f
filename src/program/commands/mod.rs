//! The commands. Each has a file, and none uses another one: code that two commands share is in a lower module.

mod bench;
mod compare;
mod devices;
pub(crate) mod exit_code;
mod join;
mod live;
mod plan;
mod preview;
pub(crate) mod run;
mod status;
mod transcode;
mod version;
mod web;

pub use exit_code::exit_code;

use crate::options::{Job, completions, man_pages};
use crate::pieces::run_batch;
use crate::report::Console;
use crate::stdout::print;
use anyhow::{Context, Result};
use histeq_media::pipeline::Outcome;

/// Executes the job of the command line.
pub fn run(job: Job, console: &Console) -> Result<Outcome> {
    let complete = |()| Outcome::Complete;
    match job {
        Job::File(job) => transcode::run(*job, console),
        Job::Many(many, like) => match like.as_ref().and_then(|like| like.dry_run) {
            Some(as_json) => transcode::dry_run_many(&many, as_json, console),
            None => run_batch(&many, like.as_deref(), console),
        },
        Job::Live(jobs) => live::run(jobs, console),
        Job::Cameras(file, cameras) => live::run_file(&file, cameras, console),
        Job::Compare(job) => compare::run(*job, console),
        Job::Preview(job) => preview::run(&job, console),
        Job::Work(job) => web::run(&job, console),
        Job::Plan(job) => plan::run(job, console),
        Job::Run(job) => run::run(&job, console),
        Job::Join(job) => join::run(&job, console),
        Job::Status(job) => status::run(&job).map(complete),
        Job::Bench => bench::run(console),
        Job::Version { as_json } => version::run(as_json).map(complete),
        Job::Devices { all } => devices::run(all).map(complete),
        Job::Completions(shell) => print(&completions(shell)?).map(complete),
        Job::ManPage(page) => print(&page).map(complete),
        Job::ManPages(folder) => man_pages(&folder)
            .with_context(|| format!("{}: cannot write man pages there", folder.display()))
            .map(complete),
    }
}
