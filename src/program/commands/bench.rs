//! `histeq-video bench`: runs suites and writes their figures.

use crate::options::LabJob;
use crate::report::Console;
use crate::signals;
use crate::stdout::print;
use anyhow::{Context, Result};
use histeq::Named;
use histeq_lab::bench::{self, Suite, SuiteReport};
use histeq_media::pipeline::{FailureKind, Outcome};
use std::fmt::Write as _;
use std::path::Path;

/// Printed at the first Ctrl-C.
const ENDING: &str = "interrupted, ending after this step";

/// Runs the suites, and prints their tables on stdout.
pub fn run(job: &LabJob, console: &Console) -> Result<Outcome> {
    console.set_bar(job.setup.steps.bar.clone());
    // The bar goes before an error is printed.
    measure(job, console).inspect_err(|_| job.setup.steps.finish())
}

fn measure(job: &LabJob, console: &Console) -> Result<Outcome> {
    if job.suites.is_empty() {
        return print(list().as_bytes()).map(|()| Outcome::Complete);
    }
    signals::listen(job.setup.steps.cancel.clone(), console.clone(), Vec::new(), ENDING)?;
    if job.needs_gpu
        && let Err(reason) = job.setup.gpu()
    {
        return Err(FailureKind::Device.error(reason.to_owned()));
    }
    for file in [&job.csv, &job.json, &job.plot].into_iter().flatten() {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
        if let Some(folder) = folder {
            return Err(FailureKind::Missing.error(format!(
                "{}: there is no folder {}",
                file.display(),
                folder.display()
            )));
        }
    }
    for &suite in &job.suites {
        let report = bench::run(suite, &job.setup)?;
        let missing = report.missing();
        let lacks_gpu = !job.compare && job.setup.gpu_index.is_some() && !missing.is_empty();
        // What there is on the CPU is printed.
        if !lacks_gpu || missing.len() < report.tables.len() {
            let text = if job.compare { bench::compare(&report) } else { bench::markdown(&report) };
            print(text.as_bytes())?;
            write_files(job, &report)?;
        }
        if lacks_gpu && let Err(reason) = job.setup.gpu() {
            let (name, missing) = (suite.name(), missing.join("; "));
            let message = format!("bench {name} needs a GPU: {reason}, so there is nothing of: {missing}");
            return Err(FailureKind::Device.error(message));
        }
    }
    Ok(Outcome::Complete)
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

fn write_files(job: &LabJob, report: &SuiteReport) -> Result<()> {
    let asked = [&job.csv, &job.json, &job.plot].into_iter().flatten().next();
    if let Some(file) = asked.filter(|_| report.tables.iter().all(|table| table.rows().is_empty())) {
        let why = job.setup.gpu().err().map(|reason| format!(" ({reason})")).unwrap_or_default();
        return Err(FailureKind::Device.error(format!("{}: not written, for there is no figure{why}", file.display())));
    }
    let write = |file: &Path, text: String| std::fs::write(file, text).with_context(|| file.display().to_string());
    if let Some(file) = &job.csv {
        write(file, bench::csv(report)?)?;
    }
    if let Some(file) = &job.json {
        write(file, bench::json(report)?)?;
    }
    job.plot.as_ref().map_or(Ok(()), |file| write(file, bench::svg(report)))
}
