//! The program: arguments become a job, a job becomes source, equalizer and sink, and the pipeline runs them.

#[cfg(feature = "laboratory")]
mod benchmark;
mod compare;
mod devices;
mod frame_options;
mod live;
mod records;
mod signals;
mod stdout;

use anyhow::{Context, Result};
use clap::Parser;
use frame_options::FrameOptions;
use histeq_video::cli::{
    Args, BackendStartup, Command, CompareJob, Job, LiveJob, check_region, completions, man_page, man_pages,
};
use histeq_video::equalize::Verifier;
use histeq_video::ffmpeg;
use histeq_video::io::{print_text, printable};
use histeq_video::pipeline::{self, Cancel, Outcome, Progress, ReaderGone, Summary};
use histeq_video::report::{Console, Meter, Verbosity, summary};
use histeq_video::sink;
use histeq_video::source;
use records::{RecordTargets, Records};
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use stdout::print;

fn main() -> ExitCode {
    let args = Args::try_parse().unwrap_or_else(|error| refuse(&error));
    match args.command {
        Some(Command::Live(args)) => live::main(LiveJob::from_args(*args).unwrap_or_else(|error| refuse(&error))),
        Some(Command::Compare(args)) => {
            compare::main(CompareJob::from_args(*args).unwrap_or_else(|error| refuse(&error)))
        }
        #[cfg(feature = "laboratory")]
        Some(Command::Bench(args)) => {
            benchmark::main(histeq_video::cli::BenchJob::from_args(*args).unwrap_or_else(|error| refuse(&error)))
        }
        Some(Command::Devices) => ended(devices::main()),
        Some(Command::Completions { shell }) => ended(print(&completions(shell))),
        Some(Command::Man { out: Some(folder), .. }) => {
            let place = || format!("{}: cannot write man pages there", folder.display());
            ended(man_pages(&folder).with_context(place))
        }
        Some(Command::Man { command, out: None }) => {
            let page = man_page(command.as_deref()).unwrap_or_else(|error| refuse(&error));
            let mut text = Vec::new();
            ended(page.render(&mut text).map_err(Into::into).and_then(|()| print(&text)))
        }
        None => {
            let job = Job::from_args(args).unwrap_or_else(|error| refuse(&error));
            let console = Console::new(job.talk.verbosity);
            let cancel = Cancel::default();
            run(job, &console, &cancel).unwrap_or_else(|error| {
                console.error(&error);
                // Whatever went wrong because of it, or after it: the shell wants to know of the interruption.
                if cancel.is_cancelled() { ExitCode::from(signals::INTERRUPTED) } else { ExitCode::FAILURE }
            })
        }
    }
}

/// Says what is wrong with the command line, or shows the help that was asked for, and ends the program.
fn refuse(error: &clap::Error) -> ! {
    // The message repeats what was typed, which may be the name of a file that holds commands for a terminal.
    let is_command = |text: OsString| matches!(printable(&text.to_string_lossy()), Cow::Owned(_));
    if error.use_stderr() && std::env::args_os().any(is_command) {
        print_text(&error.render().to_string());
        std::process::exit(error.exit_code())
    }
    error.exit()
}

/// The end of what takes no signals.
fn ended(result: Result<()>) -> ExitCode {
    result.map_or_else(
        |error| {
            Console::new(Verbosity::Normal).error(&error);
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Equalizes a video from beginning to end.
fn run(job: Job, console: &Console, cancel: &Cancel) -> Result<ExitCode> {
    ffmpeg::silence_encoders();
    ffmpeg::set_verbose(job.talk.is_verbose());
    let notices = console.notices(job.talk.strict);
    let progress = Arc::new(Progress::default());

    let written = [Some(&job.output), job.save_curves.as_ref(), job.stats.as_ref().map(|(name, _)| name)];
    frame_options::differ(job.load_curves.as_deref(), written.into_iter().flatten())?;
    stdout::check(&job.output)?;
    let format = job.output_options.format.as_deref();
    let target = sink::target(&job.output, format, &job.input.url, job.overwrite)?.interruptible(cancel);
    let places = RecordTargets::of(&job)?;
    let temporary = target.leftover().into_iter().chain(places.leftovers()).collect();
    let options = FrameOptions::read(job.load_curves.as_deref(), job.requested.gray)?;
    signals::listen(cancel.clone(), console.clone(), temporary, signals::FINISHING)?;
    let mut backend = BackendStartup::begin(job.backend.clone());
    let (mut source, input) = source::open(&job.input, cancel, notices.clone(), progress.clone())?;
    let settings = job.requested.resolve(&input);
    check_region(&settings, &input, &notices)?;
    source.look_around(settings.warm_up(), settings.smoothing.ahead());
    backend.check()?;
    let records = places.open(&input.name)?;
    let output_options = job.output_options.clone();
    let sink = sink::open(input.clone(), target, output_options, &mut || backend.has_gpu(), notices.clone())?;
    let backend = backend.finish(&notices)?;
    backend.remark.iter().for_each(|remark| notices.note(remark));
    let mut stage = records.observe(options.stage(backend.equalizer, settings), &input, &progress);
    if job.verify {
        stage = stage.observed_by(Box::new(Verifier::default()));
    }
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));

    let mut meter = Meter::start(job.talk.meter, &input);
    console.share_with(meter.bar());
    let result = pipeline::run(source, stage, sink, cancel, &progress, |progress| meter.update(progress));
    meter.finish(&progress, result.as_ref().is_ok_and(|result| result.outcome == Outcome::Complete));
    match result {
        Err(error) if error.is::<ReaderGone>() => records.finish(Outcome::Complete).map(|()| ExitCode::SUCCESS),
        result => finish(&result?, records, console, &progress),
    }
}

/// Finishes what is written beside the video, and says what was done.
fn finish(result: &Summary, records: Records, console: &Console, progress: &Progress) -> Result<ExitCode> {
    // Where there is no frame to keep, there is none to tell of.
    if result.output.is_some() {
        records.finish(result.outcome)?;
    }
    console.say(&summary(result, progress));
    Ok(match result.outcome {
        Outcome::Complete => ExitCode::SUCCESS,
        Outcome::Interrupted => ExitCode::from(signals::INTERRUPTED),
    })
}
