//! `histeq-video join`: joins the pieces of a plan to the files that a run without pieces would write.

use crate::options::jobs::JoinJob;
use crate::options::picture::EqualizeOptions;
use crate::pieces::{
    ChildEnd, ChildRun, FilePlan, Joining, PieceFolder, Plan, ProcessPool, as_strict_and_verbose, join_records,
};
use crate::report::{Console, counted, jobs_summary, with_name, with_size};
use crate::session::{Around, Outputs, Prepared, Session, prepare};
use crate::signals;
use anyhow::{Result, anyhow, bail};
use histeq_media::ffmpeg::{microseconds, rescale};
use histeq_media::pipeline::{FailureKind, Notices, Outcome};
use histeq_media::sink::files::Overwrite;
use histeq_media::sink::pieces::JoinedFile;
use histeq_media::source::{InputChanged, PacketSurvey, Reading};
use histeq_media::sys::files::Name;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Joins the pieces of all files of a plan, or of one.
pub fn run(job: &JoinJob, console: &Console) -> Result<Outcome> {
    let plan = Plan::read(&job.plan)?;
    match (job.file, &plan.files[..]) {
        (None, [file]) => join_file(job, &plan, file, console),
        (Some(number), files) => {
            let missing = || FailureKind::Usage.error(format!("there is no file {number} in the plan"));
            let file = files.get(number).ok_or_else(missing)?;
            join_file(job, &plan, file, console)
        }
        (None, files) => join_all(job, files.len(), console),
    }
}

/// Joins each file of a plan, in a process of its own.
fn join_all(job: &JoinJob, files: usize, console: &Console) -> Result<Outcome> {
    let given = [(job.overwrites, "-y"), (job.keeps, "--keep"), (job.is_partial, "--partial")];
    let given: Vec<OsString> = given.iter().filter(|(given, _)| *given).map(|(_, option)| option.into()).collect();
    let child = |file: usize| {
        let mut arguments = vec!["join".into(), job.plan.clone().into(), "--file".into(), file.to_string().into()];
        arguments.push("--child".into());
        arguments.extend(given.iter().cloned().chain(as_strict_and_verbose(&job.stderr)));
        let name = format!("file {file}");
        ChildRun {
            file: name.clone().into(),
            name,
            arguments,
            frames: None,
            takes_gpu: false,
            shares_cores: false,
            end: ChildEnd::Summary,
        }
    };
    let runs: Vec<ChildRun> = (0..files).map(child).collect();
    let mut pool = ProcessPool::new(&job.stderr, console);
    pool.listen_for_signals(signals::GIVING_UP)?;
    pool.goes_on = true;
    let done = pool.run(&runs)?;
    if done.failed.is_empty() {
        return Ok(done.outcome);
    }
    let list: Vec<String> = done.failed.iter().map(ToString::to_string).collect();
    Err(anyhow!("{} of {files} files are not joined: {}", list.len(), list.join("; ")))
}

fn join_file(job: &JoinJob, plan: &Plan, file: &FilePlan, console: &Console) -> Result<Outcome> {
    let begun = Instant::now();
    let mut whole = plan.job(file)?;
    whole.stderr = job.stderr.clone();
    if job.overwrites {
        whole.output.overwrite = Overwrite::Yes;
    }
    let session = Session::new(job.stderr.clone(), whole.limits, console);
    file.check_inputs(&session.cancel)?;
    let folder = PieceFolder::open(file)?;
    let outputs = Outputs { folder: folder.place(), ..session.outputs(&whole)? };
    let mut joining = Joining::new(&folder, job.is_partial)?;
    let pieces = joining.pieces();
    let is_whole = pieces == file.pieces.len();
    let outcome = if is_whole { Outcome::Complete } else { Outcome::Interrupted };
    let (first, frames) = file.pieces[pieces - 1];
    let is_counted = whole.input.part.frames.is_some();
    let end = file.moment(first + frames).filter(|_| is_counted || !is_whole);
    session.guard(whole.sandbox, &[&whole.input], &outputs, signals::GIVING_UP)?;

    let Session { cancel, notices, progress, .. } = &session;
    let found: Arc<Mutex<PacketSurvey>> = Arc::default();
    whole.input.reading = Reading::Packets(end, found.clone());
    let opened = session.open(&whole.input, notices)?;
    // No mask: it was checked with each piece. No notes on the settings: `plan` has printed them.
    let Prepared { mut source, input, settings, .. } =
        prepare(opened, &whole.equalize, &whole.filters, None, Around::BySource, [notices, &Notices::silent()])?;
    let begin = rescale(joining.begin(), joining.video.time_base(), microseconds());
    let (video, mut options) = (joining.video.clone(), whole.output.options.clone());
    joining.check_times(input.shift)?;
    joining.check_records(cancel)?;
    let records = outputs.records.open(&input.name, None)?;
    // With `--jobs`, the plan's arguments are those of the whole command line, without the word `plan`.
    let is_whole_command = plan.arguments.iter().any(|word| *word == "--one-of");
    let program = ["histeq-video", "plan"].into_iter().take(if is_whole_command { 1 } else { 2 });
    let words = program.map(Name::from).chain(plan.arguments.iter().cloned());
    let named_settings = whole.equalize.report(&settings, &input);
    options.provenance = whole.has_provenance.then(|| EqualizeOptions::provenance(&named_settings));
    records.describe(words, named_settings);
    let mut joined = JoinedFile::create(input, outputs.target, options, &video, begin, notices.clone())?;
    // Writes video up to the position of the other streams, so that few packets wait for each other.
    let mut written = 0;
    while let Some(delivery) = source.next()? {
        if cancel.is_cancelled() {
            bail!("interrupted while joining: nothing was written, and all pieces are there");
        }
        delivery.packets.into_iter().try_for_each(|packet| joined.write_other(packet))?;
        while written < progress.decoded()
            && let Some(packet) = joining.next_packet()?
        {
            joined.write_video(packet)?;
            written += 1;
        }
    }
    while let Some(packet) = joining.next_packet()? {
        joined.write_video(packet)?;
    }
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    if (&found.chunks, found.others) != (&file.chunks, file.others) {
        return Err(InputChanged(file.input.clone(), "its packets are others".into()).into());
    }
    join_records(&folder, pieces, &records, session.limits())?;
    let name = joined.finish(outcome)?;
    records.finish(outcome, &Notices::silent())?;
    outputs.together.name()?;
    let frames = first + frames - file.first();
    let line = with_size(&format!("{frames} frames of {}", counted(pieces as u64, "piece")), &name);
    let line = with_name(&line, &name);
    console.summary(jobs_summary(frames as u64, 0, Some(&name), begun.elapsed(), line));
    if is_whole && !job.keeps {
        folder.remove_all();
    }
    Ok(outcome)
}
