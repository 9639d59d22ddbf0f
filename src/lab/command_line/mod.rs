//! The program `histeq-lab`: runs suites, prints their tables and writes their figures.

mod args;

use crate::bench::output::SuiteReport;
use crate::bench::{self, Setup, Suite};
use anyhow::{Context, Result};
use args::Args;
use clap::Parser;
use histeq::Named;
use histeq::internal::cuda;
use histeq_media::pipeline::{Cancel, FailureKind};
use histeq_media::source::kind_of_cause;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// The exit code of a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// Checks a command line, given as words.
///
/// # Errors
/// When it is invalid: the reason.
pub fn check(words: &[&str]) -> Result<(), clap::Error> {
    Args::try_parse_from(words)?.check()
}

/// Runs the program.
pub fn main() -> ExitCode {
    let args = Args::parse();
    if let Err(error) = args.check() {
        error.exit();
    }
    let cancel = Cancel::default();
    let setup = args.setup(cancel.clone());
    let result = listen(&setup).and_then(|()| run(&args, &setup));
    setup.steps.finish();
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("histeq-lab: error: {error:#}");
    ExitCode::from(if cancel.is_cancelled() { INTERRUPTED } else { kind_of(&error).exit_code() })
}

/// Handles Ctrl-C from now on: the first one ends the run after the current step, the second one at once.
fn listen(setup: &Setup) -> Result<()> {
    let (bar, cancel) = (setup.steps.bar.clone(), setup.steps.cancel.clone());
    let answer = move || {
        if cancel.is_cancelled() {
            std::process::exit(INTERRUPTED.into());
        }
        cancel.cancel();
        bar.suspend(|| eprintln!("histeq-lab: interrupted, ending after this step (again to give up at once)"));
    };
    ctrlc::set_handler(answer).context("cannot listen for Ctrl-C")
}

/// The kind of `error`: that of the first of its causes that has a kind.
fn kind_of(error: &anyhow::Error) -> FailureKind {
    let of_cause = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<histeq::Error>() {
        Some(error) if error.gpu().is_some() => FailureKind::Device,
        _ if cause.is::<cuda::Error>() => FailureKind::Device,
        _ => kind_of_cause(cause),
    };
    error.chain().map(of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default()
}

fn run(args: &Args, setup: &Setup) -> Result<()> {
    let suites = args.suites();
    if suites.is_empty() {
        return print(&list());
    }
    if args.backend.needs_gpu()
        && let Err(reason) = setup.gpu()
    {
        return Err(FailureKind::Device.error(reason.to_owned()));
    }
    for file in args.files() {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
        if let Some(folder) = folder {
            let message = format!("{}: there is no folder {}", file.display(), folder.display());
            return Err(FailureKind::Missing.error(message));
        }
    }
    suites.into_iter().try_for_each(|suite| measure(suite, args, setup))
}

fn measure(suite: Suite, args: &Args, setup: &Setup) -> Result<()> {
    let report = bench::run(suite, setup)?;
    let missing = report.missing();
    let lacks_gpu = args.compare.is_none() && setup.gpu_index.is_some() && !missing.is_empty();
    // Without a GPU, tables of the CPU are still printed.
    if !lacks_gpu || missing.len() < report.tables.len() {
        print(&if args.compare.is_some() {
            bench::reference::compare(&report)
        } else {
            bench::output::markdown(&report)
        })?;
        write_files(args, setup, &report)?;
    }
    match setup.gpu() {
        Err(reason) if lacks_gpu => {
            let (name, missing) = (suite.name(), missing.join("; "));
            let message = format!("{name} needs a GPU: {reason}, so there is nothing of: {missing}");
            Err(FailureKind::Device.error(message))
        }
        _ => Ok(()),
    }
}

fn list() -> String {
    let mut list = "histeq-lab SUITE measures this machine. The suites:\n".to_owned();
    for suite in Suite::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(list, "  {:<10} {}", suite.name(), suite.about());
    }
    list.push_str("--compare references prints the figures of others beside those of this machine.\n");
    list
}

/// Prints `text` on stdout. It is no error if the reader has closed the pipe.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("stdout"),
    }
}

fn write_files(args: &Args, setup: &Setup, report: &SuiteReport) -> Result<()> {
    if let Some(file) = args.files().next().filter(|_| report.tables.iter().all(|table| table.rows().is_empty())) {
        let why = setup.gpu().err().map(|reason| format!(" ({reason})")).unwrap_or_default();
        return Err(FailureKind::Device.error(format!("{}: not written, for there is no figure{why}", file.display())));
    }
    let write = |file: &Path, text: String| std::fs::write(file, text).with_context(|| file.display().to_string());
    if let Some(file) = &args.csv {
        write(file, bench::output::csv(report)?)?;
    }
    if let Some(file) = &args.json {
        write(file, bench::output::json(report)?)?;
    }
    Ok(())
}
