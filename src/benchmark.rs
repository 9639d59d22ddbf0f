//! `histeq-video bench`: runs suites and writes what they found.

use crate::signals;
use crate::stdout::print;
use anyhow::{Context, Result, bail};
use histeq_video::bench::{self, Suite, SuiteReport};
use histeq_video::cli::BenchJob;
use histeq_video::report::Console;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// What a first Ctrl-C is answered with.
const ENDING: &str = "interrupted, ending after this step";

/// Runs what was asked for; tables go to stdout.
pub fn main(job: BenchJob) -> ExitCode {
    let console = Console::new(job.verbosity);
    console.share_with(job.setup.steps.bar());
    run(&job, &console).map_or_else(
        |error| {
            job.setup.steps.finish();
            console.error(&error);
            let interrupted = job.setup.steps.cancel().is_cancelled();
            if interrupted { ExitCode::from(signals::INTERRUPTED) } else { ExitCode::FAILURE }
        },
        |()| ExitCode::SUCCESS,
    )
}

fn run(job: &BenchJob, console: &Console) -> Result<()> {
    if job.suites.is_empty() {
        return print(list().as_bytes());
    }
    signals::listen(job.setup.steps.cancel().clone(), console.clone(), Vec::new(), ENDING)?;
    if job.needs_gpu
        && let Err(reason) = job.setup.gpu()
    {
        bail!("{reason}");
    }
    for &suite in &job.suites {
        let report = bench::run(suite, &job.setup)?;
        let text = if job.compare { bench::compare(&report) } else { bench::markdown(&report) };
        print(text.as_bytes())?;
        write_files(job, &report)?;
    }
    Ok(())
}

fn list() -> String {
    let mut list = "histeq-video bench SUITE measures this machine. The suites:\n".to_owned();
    for suite in Suite::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(list, "  {:<10} {}", suite.name(), suite.about());
    }
    list.push_str("--compare references prints the figures of others beside those of this machine.\n");
    list
}

fn write_files(job: &BenchJob, report: &SuiteReport) -> Result<()> {
    let write = |file: &Path, text: String| std::fs::write(file, text).with_context(|| file.display().to_string());
    if let Some(file) = &job.csv {
        write(file, bench::csv(report)?)?;
    }
    if let Some(file) = &job.json {
        write(file, bench::json(report)?)?;
    }
    job.plot.as_ref().map_or(Ok(()), |file| write(file, bench::svg(report)))
}
