//! In place of `bench` where the program is built without the laboratory.

use crate::options::LabJob;
use crate::report::Console;
use anyhow::Result;
use histeq_media::pipeline::Outcome;

/// Runs no job: there is none.
pub fn run(job: &LabJob, _console: &Console) -> Result<Outcome> {
    job.never()
}
