//! `histeq-video compare`: two videos in one.

use crate::signals;
use anyhow::Result;
use histeq_video::cli::CompareJob;
use histeq_video::comparison::{Comparer, Partners, draw_pairs};
use histeq_video::ffmpeg;
use histeq_video::pipeline::{self, Cancel, Outcome, Progress, ReaderGone};
use histeq_video::report::{Console, Meter, compare_summary};
use histeq_video::sink::{self, Target};
use histeq_video::source;
use std::process::ExitCode;
use std::sync::Arc;

/// Draws both from beginning to end.
pub fn main(job: CompareJob) -> ExitCode {
    let console = Console::new(job.talk.verbosity);
    let cancel = Cancel::default();
    run(job, &console, &cancel).unwrap_or_else(|error| {
        console.error(&error);
        if cancel.is_cancelled() { ExitCode::from(signals::INTERRUPTED) } else { ExitCode::FAILURE }
    })
}

fn run(job: CompareJob, console: &Console, cancel: &Cancel) -> Result<ExitCode> {
    ffmpeg::silence_encoders();
    ffmpeg::set_verbose(job.talk.is_verbose());
    let notices = console.notices(job.talk.strict);
    let [progress, progress_of_b] = [(); 2].map(|()| Arc::new(Progress::default()));

    crate::stdout::check(&job.output)?;
    let [a, b] = &job.inputs;
    Target::differs(&job.output, &b.url)?;
    let format = job.output_options.format.as_deref();
    let target = sink::target(&job.output, format, &a.url, job.overwrite)?.interruptible(cancel);
    let temporary = target.leftover().into_iter().collect();
    signals::listen(cancel.clone(), console.clone(), temporary, signals::FINISHING)?;
    let a = source::open(a, cancel, notices.clone(), progress.clone())?;
    let b = source::open(b, cancel, notices.clone(), progress_of_b)?;
    let names = [&a.1, &b.1].map(|input| file_name(&input.name));
    let (source, of_a) = a;
    let (partners, input) = Partners::new(of_a, b);
    let images = sink::makes_images(&job.output, job.output_options.format.as_deref());
    let comparer = Comparer::new(job.view, names, images);
    let sink = sink::open(input.clone(), target, job.output_options.clone(), &mut || false, notices)?;

    let mut meter = Meter::start(job.talk.meter, &input);
    console.share_with(meter.bar());
    let update = |progress: &Progress| meter.update(progress);
    let draw = |before: &_, next: &_| draw_pairs(partners, comparer, before, next);
    let result = pipeline::run_with(source, draw, sink, cancel, &progress, update);
    meter.finish(&progress, result.as_ref().is_ok_and(|result| result.outcome == Outcome::Complete));
    let result = match result {
        Err(error) if error.is::<ReaderGone>() => return Ok(ExitCode::SUCCESS),
        result => result?,
    };
    console.say(&compare_summary(&result, &progress));
    Ok(match result.outcome {
        Outcome::Complete => ExitCode::SUCCESS,
        Outcome::Interrupted => ExitCode::from(signals::INTERRUPTED),
    })
}

/// What a label says.
fn file_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}
