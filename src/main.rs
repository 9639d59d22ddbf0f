//! The program: arguments become a job, a job becomes source, stage and sink, and the pipeline runs them.

#[cfg(feature = "laboratory")]
mod benchmark;
mod compare;
mod devices;
mod events;
mod live;
mod look;
mod mask;
mod piecework;
mod preview;
mod records;
mod run;
mod scenes;
mod signals;
mod stage_builder;
mod stdout;
mod workers;

use anyhow::{Context, Result};
use clap::Parser;
use histeq_video::cli::{Args, BackendStartup, FileJob, Job, completions, gpu_may_be_opening, man_page, man_pages};
use histeq_video::equalize::{SceneMappings, Verifier};
use histeq_video::io::{Allocator, end_is_explained, print_text, printable};
use histeq_video::pipeline::{self, Notices, Outcome};
use histeq_video::report::{Console, Events, summary};
use histeq_video::sink::{self, TargetError};
use histeq_video::source;
use records::RecordTargets;
use run::Run;
use stage_builder::{StageBuilder, check_files_differ, measuring_threads};
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;
use stdout::{leave, print};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    let job = Args::try_parse().and_then(Job::from_args).unwrap_or_else(|error| refuse(&error));
    let verbosity = job.verbosity();
    let console = match events::open(&job) {
        Ok(events) => Console::new(verbosity, events),
        Err(error) => {
            Console::new(verbosity, None).error(&error);
            return ExitCode::FAILURE;
        }
    };
    let complete = |()| Outcome::Complete;
    let result = match job {
        Job::Pieces(job) => {
            let code = piecework::run(job, &console);
            console.end(code);
            return ExitCode::from(code);
        }
        Job::File(job) => run(*job, &console),
        Job::Live(jobs) => live::run(&jobs, &console),
        Job::Compare(job) => compare::run(*job, &console),
        Job::Preview(job) => preview::run(&job, &console),
        #[cfg(feature = "laboratory")]
        Job::Bench(job) => benchmark::run(&job, &console),
        Job::Devices => devices::run().map(complete),
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
        Ok(Outcome::Interrupted) => signals::INTERRUPTED,
        Err(error) if matches!(error.downcast_ref(), Some(TargetError::Skipped(_))) => {
            console.info(&format!("histeq-video: {error:#}"));
            SKIPPED
        }
        Err(error) => {
            console.error(&error);
            end_is_explained();
            // Also when the error is not due to the interruption: the shell needs to know of it.
            if signals::was_interrupted() { signals::INTERRUPTED } else { 1 }
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
    run.listen_for_signals(target.leftover().into_iter().chain(records.leftovers()).collect(), signals::FINISHING)?;

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
    let Run { cancel, notices, progress, .. } = &run;
    // The first pass has said what there is to say of the input.
    let of_input = if scenes.is_some() { Notices::silent() } else { notices.clone() };
    let opened = source::open(&job.input, cancel, of_input.clone(), progress.clone())?;
    let opened = look::choose(&mut job.equalize, opened, builder.mask.as_ref(), &of_input)?;
    let (mut source, input) = source::filtered(opened, &job.filters.of_look(job.equalize.denoiser()), &of_input)?;
    let settings = job.equalize.resolve(&input, &of_input)?;
    builder.check(&input, &settings)?;
    match scenes {
        Some(_) => source.look_around(0, 0),
        None => source.look_around(settings.warm_up(), settings.look_ahead()),
    }
    backend.check()?;
    let records = records.open(&input.name)?;
    run.start(&input, job.written_files(), job.equalize.told(&settings));
    let sink = sink::open(input.clone(), target, job.output.options, &mut || backend.has_gpu(), notices.clone())?;
    let mut stage = builder.stage(backend.finish(notices)?, settings);
    if let Some(scenes) = scenes {
        stage = stage.with_mappings(Some(Box::new(SceneMappings(scenes))));
    }
    let mut stage = records.observe(stage.measuring_on(measuring_threads()), &input, progress);
    if job.verify {
        stage = stage.observed_by(Box::new(Verifier::default()));
    }
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));

    let result = run.to_output(&input, |tick| pipeline::run(source, stage, sink, cancel, progress, tick))?;
    let outcome = result.as_ref().map_or(Outcome::Complete, |result| result.outcome);
    // Without a frame there is nothing to record.
    if result.as_ref().is_none_or(|result| result.output.is_some()) {
        records.finish(outcome)?;
    }
    result.iter().for_each(|result| console.summary(summary(result, progress)));
    Ok(outcome)
}
