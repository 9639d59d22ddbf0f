//! Writes many files into a folder (`--output-dir`), each in a process of its own.

use super::child::{ChildEnd, ChildError, ChildRun};
use super::jobs::most_jobs;
use super::processes::ProcessPool;
use crate::options::Job;
use crate::options::jobs::{FileJob, Jobs, ManyJob};
use crate::report::{Console, FileRecord, ResultRecord, SKIPPED, counted, in_bytes, jobs_summary};
use crate::signals;
use anyhow::Result;
use histeq_media::pipeline::{FailureKind, Notices, Outcome};
use histeq_media::sink::is_sequence_name;
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::{Name, numbers_there};
use std::collections::HashSet;
use std::time::Instant;

/// Equalizes many files. `like` is the job of the first one, with the options of all; `None` if there are no files.
///
/// # Errors
/// When some fail: the list of them.
pub fn run_batch(job: &ManyJob, like: Option<&FileJob>, console: &Console) -> Result<Outcome> {
    let Some(like) = like else {
        console.notices(job.stderr.strict).warn("there is no video in these folders")?;
        return Ok(Outcome::Complete);
    };
    let (limits, _) = like.limits.begin();
    let mut pool = ProcessPool::new(&job.stderr, console);
    pool.cores = limits.threads();
    pool.listen_for_signals(signals::FINISHING)?;
    let (mut runs, mut skipped) = (Vec::new(), 0);
    for (input, output) in &job.files {
        let there = if job.overwrites { Existing::Nothing } else { Existing::new(input, output, like) };
        if there == Existing::Whole {
            skipped += 1;
            console.file(FileRecord::new(input, output, FileRecord { exit_code: SKIPPED, ..FileRecord::default() }));
            continue;
        }
        make_folder_of(output)?;
        let mut arguments = Job::options()?;
        if there == Existing::Begun {
            arguments.push("--keep-images".into());
        }
        arguments.extend(["--one-of".into(), input.clone().into(), output.clone().into(), "--made-up".into()]);
        let (name, file, end) = (input.to_string(), input.clone(), ChildEnd::File(output.clone()));
        runs.push(ChildRun { name, file, arguments, frames: None, takes_gpu: true, shares_cores: false, end });
    }
    pool.jobs = match job.jobs {
        Jobs::Exactly(jobs) => jobs,
        Jobs::Auto => most_jobs(limits.threads(), 2_000_000),
    };
    pool.goes_on = true;
    let begin = Instant::now();
    let done = pool.run(&runs)?;
    let skipped = match skipped {
        0 => String::new(),
        1 => "; 1 file was there (-y makes it again)".to_owned(),
        _ => format!("; {skipped} files were there (-y makes them again)"),
    };
    if done.outcome == Outcome::Interrupted {
        let line = format!("interrupted{skipped} (the same command goes on with the others)");
        let whole = jobs_summary(done.frames, done.damaged, None, begin.elapsed(), line);
        console.summary(ResultRecord { outputs: done.partial, ..whole });
        return Ok(Outcome::Interrupted);
    }
    let (good, frames, elapsed) = (runs.len() - done.failed.len(), done.frames, begin.elapsed());
    let (files, seconds) = (counted(good as u64, "file"), elapsed.as_secs_f64());
    let size = if done.bytes > 0 { format!(", {}", in_bytes(done.bytes)) } else { String::new() };
    let left_out = job.left_out_in_words();
    let line = format!("{files} with {frames} frames in {seconds:.2} s{size}{skipped}{left_out}");
    console.summary(jobs_summary(frames, done.damaged, None, elapsed, line));
    if done.failed.is_empty() {
        return Ok(Outcome::Complete);
    }
    Err(failure_of(&done.failed))
}

/// How much of an output exists.
#[derive(PartialEq, Eq)]
enum Existing {
    Nothing,
    /// Images of a sequence, but not all.
    Begun,
    Whole,
}

impl Existing {
    /// How much of `output` exists, with options as for `like`.
    fn new(input: &Name, output: &Name, like: &FileJob) -> Self {
        if output.path().is_file() {
            return Existing::Whole;
        }
        let written = if is_sequence_name(output) { numbers_there(output) } else { Vec::new() };
        let options = InputOptions { url: input.clone(), ..like.input.clone() };
        // No error here: the run of the file reports it.
        let Ok(Some(sequence)) = source::sequence_of(&options, &Notices::silent()) else { return Existing::Nothing };
        let is_written = |place| written.binary_search(&sequence.number(place)).is_ok();
        match (0..sequence.count()).filter(|&place| is_written(place)).count() as u64 {
            0 => Existing::Nothing,
            count if count == sequence.count() => Existing::Whole,
            _ => Existing::Begun,
        }
    }
}

/// The error of several failed files, with their kind if all have the same.
pub fn failure_of(failed: &[ChildError]) -> anyhow::Error {
    let list: Vec<String> = failed.iter().map(ToString::to_string).collect();
    let kinds: HashSet<_> = failed.iter().map(|failed| failed.error.kind).collect();
    let kind = kinds.iter().next().filter(|_| kinds.len() == 1).copied().unwrap_or_default();
    kind.error(format!("{} failed: {}", counted(list.len() as u64, "file"), list.join("; ")))
}

/// Makes the folder of the file `output`.
pub fn make_folder_of(output: &Name) -> Result<()> {
    let Some(folder) = output.path().parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| {
        let kind = FailureKind::from_errno(error.raw_os_error().unwrap_or(0));
        kind.error(format!("{}: the folder cannot be made: {error} (name one elsewhere)", Name::from(folder)))
    })
}
