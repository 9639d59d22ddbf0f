//! The program: arguments become a job, a job becomes source, stage and sink, and the pipeline runs them.
//!
//! # The steps of a run
//! ```text
//! main                   arguments -> options::Job -> commands::run -> commands::exit_code
//! commands::transcode    session::Session    cancellation, messages, progress
//!                        Session::outputs    where the video and its records are written
//!                        Session::guard      sandbox of the process, signals
//!                        Session::open       the input, by histeq-media
//!                        session::prepare    filters, settings, checks, frames around the part
//!                        sink, stage         the encoder; the backend with its observers
//!                        pipeline::run       the frames, by histeq-media
//! ```
//! With `--jobs`, `--output-dir` and plans, child processes of this program do that (`pieces`), and their parent reads
//! their events.
//!
//! # Modules
//! Lowest layer first. Each may use what its row names; a test holds the code to it.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`c_memory`] | allocation: the program ends when memory runs out, and large freed blocks go back to the system | |
//! | [`inherited`] | descriptors that the program inherits | |
//! | [`stdout`] | whether stdout is open, text on it, and the exit of the program | |
//! | [`palette`] | the false colours of luminance | |
//! | [`options`] | the command line, checked, and the backend that it chooses | palette |
//! | [`report`] | messages, progress and results: lines for people, events for programs | stdout, options |
//! | [`signals`] | Ctrl-C, SIGTERM, `--max-seconds` | report |
//! | [`watch`] | ends the process when it takes too much memory | stdout, options, report |
//! | [`draw`] | charts, the sheet of looks, two videos in one, a bar of colours | palette, options |
//! | [`window`] | the preview of `live` | draw |
//! | [`sidecar`] | what is written beside the video: statistics and curves | stdout, options, draw |
//! | [`mask`] | the picture of `--mask` | |
//! | [`samples`] | the input samples that codes represent, and `--range` | |
//! | [`stage_builder`] | the stage that equalizes, by the options | options, sidecar, mask, samples |
//! | [`colouring`] | false colours after that stage, and the values of the bar | palette, options, draw, samples |
//! | [`service`] | notifications of a service manager (systemd) | |
//! | [`session`] | one run: its sandboxed start, its prepared input, its meter | stdout, options, report, signals, watch, sidecar, stage_builder |
//! | [`stills`] | single frames of a file, and the same frames under looks | options, session |
//! | [`pieces`] | one video in pieces, and child processes | options, report, signals, sidecar |
//! | [`web`] | a page in a browser: the pictures of `live`, a file, and work on files | options, report, draw, session, stills, pieces |
//! | [`commands`] | the commands, and their exit codes | stdout, options, report, signals, draw, window, sidecar, samples, stage_builder, colouring, service, session, stills, web, pieces |

// With `--cfg fuzzing`, this is a fuzzer of the program's parsers, with AddressSanitizer's allocator:
// tests/program/fuzz/run.sh.
#![cfg_attr(fuzzing, no_main, allow(dead_code, unused_imports))]

// AddressSanitizer defines functions of the same names: tests/program/address-sanitizer.sh.
#[cfg(not(any(fuzzing, sanitizer)))]
mod c_memory;
mod colouring;
mod commands;
mod draw;
mod inherited;
mod mask;
mod options;
mod palette;
mod pieces;
mod report;
mod samples;
mod service;
mod session;
mod sidecar;
mod signals;
mod stage_builder;
mod stdout;
mod stills;
mod watch;
mod web;
mod window;

#[cfg(fuzzing)]
#[path = "../../tests/program/fuzz/parsers.rs"]
mod fuzzer;
#[cfg(test)]
#[path = "../../tests/program/inside/mod.rs"]
mod inside;

use crate::options::writing::{EventsTo, Verbosity};
use crate::options::{Job, answer_shell, examples, in_one_line};
use crate::report::{Console, Events, events_are_asked_for, kind_of, open_events, shown};
use histeq::internal::equalize::backend::gpu_may_be_opening;
use histeq_media::source::isolated;
use histeq_media::sys::io::close_but;
use histeq_media::sys::{print_line, print_text, silence_libraries};
use rustix::process::{Resource, getrlimit};
use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(not(any(fuzzing, sanitizer)))]
#[global_allocator]
static ALLOCATOR: histeq_media::sys::Allocator = histeq_media::sys::Allocator;

/// The smallest stack limit with which the program starts, in bytes: 128 KiB are too little for the main thread.
const MIN_STACK: u64 = 512 << 10;

fn main() -> ExitCode {
    if getrlimit(Resource::Stack).current.is_some_and(|limit| limit < MIN_STACK) {
        print_line("histeq-video: error: the stack is limited to less than 512 KiB (ulimit -s 8192 gives more)");
        return ExitCode::FAILURE;
    }
    if std::env::args_os().len() < 2 {
        print_text(&examples());
        return ExitCode::from(2);
    }
    answer_shell();
    let job = Job::parse(std::env::args_os()).unwrap_or_else(|error| refuse(&error));
    if job.is_child() {
        signals::terminate_with_parent();
    }
    close_inherited(&job);
    // Must run before threads and decoder processes start.
    #[cfg(not(any(fuzzing, sanitizer)))]
    if job.is_live() {
        c_memory::return_large_blocks();
    }
    if job.isolates() {
        isolated::start();
    }
    if job.verbosity() == Verbosity::Quiet || matches!(job.events(), EventsTo::Stderr) {
        // Ignore errors: without free descriptors, the run fails later with a better message.
        let _ = silence_libraries();
    }
    job.time().into_iter().for_each(signals::limit_time);
    let verbosity = job.verbosity();
    let console = match open_events(&job) {
        Ok(events) => Console::new(verbosity, events),
        Err(error) => {
            Console::new(verbosity, None).error(&error);
            return ExitCode::from(kind_of(&error).exit_code());
        }
    };
    let may_be_tried_again = matches!(job, Job::Run(_));
    let result = commands::run(job, &console);
    let code = commands::exit_code(result, may_be_tried_again, &console);
    let code = console.end(code);
    isolated::end();
    if gpu_may_be_opening() { stdout::leave(code) } else { ExitCode::from(code) }
}

/// Closes inherited descriptors that neither the command line nor a variable of an option names.
fn close_inherited(job: &Job) {
    let is_option = |name: &OsString| name.as_encoded_bytes().starts_with(b"HISTEQ_");
    let variables = std::env::vars_os().filter(|(name, _)| is_option(name)).map(|(_, value)| value);
    let mut kept = inherited::named(std::env::args_os().chain(variables));
    if let EventsTo::File(name) = job.events() {
        kept.extend(name.text().and_then(|number| number.parse::<i32>().ok()));
    }
    close_but(kept);
}

/// Prints what is wrong with the command line, or the requested help, and ends the program.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let (message, code) = (in_one_line(error), error.exit_code());
    if events_are_asked_for() {
        Events::on_stderr().refuse(&message, code as u8);
    } else {
        print_line(&shown(&format!("histeq-video: error: {message}")));
    }
    std::process::exit(code)
}
