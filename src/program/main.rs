//! The program: arguments become a job, a job becomes source, stage and sink, and the pipeline runs them.
// Under `--cfg fuzzing` it is a fuzzer of its parsers instead, with the memory of AddressSanitizer: tests/fuzz/run.sh.
#![cfg_attr(fuzzing, no_main, allow(dead_code, unused_imports))]

#[cfg(not(fuzzing))]
mod c_memory;
mod commands;
mod draw;
mod events;
mod look;
mod mask;
mod options;
mod pieces;
mod report;
mod session;
mod sidecar;
mod signals;
mod stage_builder;
mod stdout;
mod transcode;
mod window;

#[cfg(fuzzing)]
#[path = "../../tests/fuzz/parsers.rs"]
mod fuzzer;
#[cfg(test)]
#[path = "../../tests/inside/mod.rs"]
mod inside;

use crate::options::{BackendStartup, FileJob, Job, PiecesJob, completions, gpu_may_be_opening, man_page, man_pages};
use crate::report::{Console, Events, summary};
use anyhow::{Context, Result};
#[cfg(feature = "lab")]
use commands::bench as benchmark;
use commands::{compare, devices, live, piecework, preview, restore};
use histeq_media::pipeline::Outcome;
use histeq_media::sink::{self, TargetError};
use histeq_media::sys::{Allocator, end_is_explained, print_text, printable};
use pieces::{jobs as local, processes as workers};
use session::Run;
use sidecar::records::RecordTargets;
use stage_builder::{StageBuilder, check_files_differ};
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;
use stdout::{leave, print};
use transcode::pass::{Outputs, pass};
use transcode::{scene_survey as scenes, size, target_size as two_pass};

#[cfg(not(fuzzing))]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    let job = Job::of(std::env::args_os()).unwrap_or_else(|error| refuse(&error));
    let verbosity = job.verbosity();
    let console = match events::open(&job) {
        Ok(events) => Console::new(verbosity, events),
        Err(error) => {
            Console::new(verbosity, None).error(&error);
            return ExitCode::FAILURE;
        }
    };
    let is_run = matches!(job, Job::Pieces(PiecesJob::Run(_)));
    let complete = |()| Outcome::Complete;
    let result = match job {
        Job::Pieces(job) => piecework::run(job, &console),
        Job::File(mut job) => match job.jobs.map(|jobs| local::in_pieces(&mut job, jobs, &console)).transpose() {
            Ok(None | Some(None)) => run(*job, &console),
            Ok(Some(Some(outcome))) => Ok(outcome),
            Err(error) => Err(error),
        },
        Job::Many(many, like) => local::many(&many, like.as_deref(), &console),
        Job::Live(jobs) => live::run(&jobs, &console),
        Job::Compare(job) => compare::run(*job, &console),
        Job::Restore(job) => restore::run(*job, &console),
        Job::Preview(job) => preview::run(&job, &console),
        #[cfg(feature = "lab")]
        Job::Bench(job) => benchmark::run(&job, &console),
        Job::Devices { all } => devices::run(all).map(complete),
        Job::Completions(shell) => print(&completions(shell)).map(complete),
        Job::ManPage(command) => {
            let page = man_page(command.as_deref()).unwrap_or_else(|error| refuse(&error));
            let mut text = Vec::new();
            page.render(&mut text).map_err(Into::into).and_then(|()| print(&text)).map(complete)
        }
        Job::ManPages(folder) => {
            let context = || format!("{}: cannot write man pages there", folder.display());
            man_pages(&folder).with_context(context).map(complete)
        }
    };
    let code = match result {
        Ok(Outcome::Complete) => 0,
        // What came of it has been said.
        _ if signals::is_out_of_time() => {
            console.error(&signals::out_of_time());
            1
        }
        Ok(Outcome::Interrupted) if is_run => piecework::TRY_AGAIN,
        Ok(Outcome::Interrupted) => signals::INTERRUPTED,
        Err(error) if matches!(error.downcast_ref(), Some(TargetError::Skipped(_))) => {
            console.info(&format!("histeq-video: {error:#}"));
            SKIPPED
        }
        Err(error) => {
            console.error(&error);
            end_is_explained();
            piecework::code_of(&error, is_run)
        }
    };
    console.end(code);
    if gpu_may_be_opening() { leave(code) } else { ExitCode::from(code) }
}

/// The exit code of a run that has done nothing, because the output exists.
const SKIPPED: u8 = 3;

/// Prints what is wrong with the command line, or the requested help, and ends the program.
fn refuse(error: &clap::Error) -> ! {
    if error.use_stderr() && events::are_asked_for() {
        let message = error.render().to_string();
        Events::on_stderr().refuse(message.trim_start_matches("error: ").trim_end(), error.exit_code() as u8);
        std::process::exit(error.exit_code())
    }
    // The message repeats the arguments, and a file's name may hold control sequences of terminals.
    let has_controls = |text: OsString| matches!(printable(&text.to_string_lossy()), Cow::Owned(_));
    if error.use_stderr() && std::env::args_os().any(has_controls) {
        print_text(&error.render().to_string());
        std::process::exit(error.exit_code())
    }
    error.exit()
}

/// Equalizes a file.
fn run(mut job: FileJob, console: &Console) -> Result<Outcome> {
    let mut run = Run::new(job.stderr.clone(), job.limits, console);

    check_files_differ(&job.equalize, job.written_files())?;
    let target = run.target(&job.output, &job.input.url)?;
    let records = RecordTargets::of_file(&job)?;
    let builder = StageBuilder::new(&job.equalize)?;
    let written = target.place().into_iter().chain(records.places());
    run.close(job.sandbox.around_process(&[&job.input], &job.output.name, written), &[&job.input])?;
    let answer = if job.is_child { signals::NOTHING } else { signals::FINISHING };
    run.listen_for_signals(target.leftover().into_iter().chain(records.leftovers()).collect(), answer)?;
    if job.is_child {
        workers::end_with_parent(run.cancel.clone())?;
    }

    let mut backend = BackendStartup::begin(job.backend.clone());
    let mut scenes = None;
    if job.equalize.has_whole_scenes() {
        backend.check()?;
        scenes = scenes::first_pass(&run.split(), &mut job, &builder)?;
        if scenes.is_none() {
            console.info("interrupted in the first pass: nothing was written");
            return Ok(Outcome::Interrupted);
        }
    }
    if !sink::takes_only_pictures(&job.output.name, job.output.options.format.as_deref()) {
        job.input.decoders = 1;
    }
    let may_be_smaller = size::may_be_smaller(&job);
    let options = job.output.options.clone();
    let outputs = Outputs { target, records, options };
    let (result, run) = match job.output.most_bytes {
        None => (pass(&run, &mut job, &builder, scenes, backend, outputs)?, run),
        Some(most) => two_pass::run(run, &mut job, &builder, backend, outputs, most)?,
    };
    let outcome = result.as_ref().map_or(Outcome::Complete, |result| result.outcome);
    let told = result.iter().filter(|_| !job.is_child);
    told.for_each(|result| console.summary(summary(result, &run.progress)));
    if let Some(written) = result.as_ref().and_then(|result| result.output.as_ref())
        && outcome == Outcome::Complete
        && may_be_smaller
    {
        size::compare(&job.input.url, written, &run.notices);
    }
    Ok(outcome)
}
