//! One video on all cores of this machine (`--jobs`): child processes plan its pieces, work on them and join them.

use super::child::{ChildError, ChildRun, as_strict_and_verbose};
use super::folder::{PLAN, make_folder, open_folder, plan_within};
use super::processes::{PoolResult, ProcessPool};
use super::{FilePlan, PieceFolder, PieceState, Plan, file_of_piece};
use crate::options::Job;
use crate::options::jobs::{FileJob, Jobs};
use crate::report::{Console, OutputRecord, ResultRecord, StartRecord, counted, jobs_summary, with_name, with_size};
use crate::signals;
use anyhow::{Context, Result, bail};
use histeq::Limits;
use histeq_media::pipeline::{Cancel, Outcome};
use histeq_media::sink;
use histeq_media::sink::files::{Overwrite, Target};
use histeq_media::sys::files::{Name, PrivateFolder};
use histeq_media::sys::io::is_pipe;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::time::Instant;

/// The most bytes that a process takes at 1080p: the program, and frames of look-ahead, decoder and encoder.
const MEMORY: usize = 1 << 30;

/// The most processes of `--jobs auto`: more have gained nothing in measurements.
const MAX_JOBS: usize = 8;

/// Equalizes a video in pieces, by this many processes. `None` where `auto` finds that one process does it as fast.
///
/// # Errors
/// When it cannot be split, and the number of jobs was given; when a piece fails repeatedly.
pub fn run_jobs(job: &mut FileJob, jobs: Jobs, console: &Console) -> Result<Option<Outcome>> {
    let cores = job.limits.begin().0.threads();
    if jobs == Jobs::Auto && (most_jobs(cores, 0) <= 1 || is_pipe(&job.input.url)) {
        return Ok(None);
    }
    let begin = Instant::now();
    let (name, output) = (job.input.url.clone(), &mut job.output);
    // The question whether to overwrite is asked once, here.
    let target = sink::target(&output.name, output.options.format.as_deref(), &name, output.overwrite)?;
    if output.is_made_up {
        target.check_made_up()?;
    }
    drop(target);
    let was_asked = output.overwrite == Overwrite::Ask && output.name.path().exists();
    if was_asked {
        output.overwrite = Overwrite::Yes;
    }
    // Signals are not handled yet, so that they end this process and its child: the thread that handles them would be
    // outside the sandbox that is closed if this process does the work alone.
    let mut pool = ProcessPool::new(&job.stderr, console);
    (pool.unit, pool.cores) = ("pieces", cores);
    let mut arguments: Vec<OsString> = vec!["plan".into()];
    arguments.extend(Job::options()?);
    arguments.extend(was_asked.then(|| "-y".into()));
    arguments.extend(["--one-of".into(), name.clone().into(), output.name.clone().into()]);
    arguments.extend(output.is_made_up.then(|| "--made-up".into()));
    let mut messages = Vec::new();
    let planned = match pool.run_one(&arguments, &name.to_string(), |message| messages.push(message)) {
        Ok(planned) if planned.outcome == Outcome::Complete => planned,
        Ok(_) => {
            console.info("interrupted while planning: nothing was written");
            return Ok(Some(Outcome::Interrupted));
        }
        Err(error) => {
            if jobs != Jobs::Auto {
                return Err(without_name(error));
            }
            let why = match error.downcast::<ChildError>() {
                // Leaves out the remedy, which is for an explicit number of jobs.
                Ok(ChildError { error, .. }) => error.cause.unwrap_or(error.message),
                Err(error) => error.to_string(),
            };
            console.note(&format!("in one process: {why}"));
            return Ok(None);
        }
    };
    let mut plan = Plan::parse(&planned.stdout)?;
    let [file] = &mut plan.files[..] else { bail!("the plan has not one file") };
    let there = open_folder(file.folder.path())?;
    let old = there.as_ref().and_then(plan_within);
    let old = old.and_then(|old| old.files.into_iter().next()).filter(|old| old.folder == file.folder);
    // The boundaries of pieces may depend on the memory that was free: those of an interrupted run are used again.
    if let Some(old) = old.as_ref().filter(|old| file.is_like(old)) {
        file.pieces.clone_from(&old.pieces);
    }
    let file = plan.files.first().context("the plan has no file")?;
    let jobs = match jobs {
        Jobs::Exactly(jobs) => jobs,
        Jobs::Auto => most_jobs(cores, file.size.0 * file.size.1),
    };
    pool.jobs = jobs.min(file.pieces.len());
    if pool.jobs <= 1 && !there.is_some_and(|there| there.has_name(PLAN)) {
        // The child's messages are dropped: this process will report the same on the input.
        return Ok(None);
    }
    messages.into_iter().for_each(|message| pool.pass_on(message));
    let (folder, _lock) = locked(file)?;
    pool.listen_for_signals(signals::FINISHING)?;
    console.start(StartRecord {
        frames: Some(file.frames() as u64),
        frame_rate: file.rate(),
        encoding: file.encoding(job.output.options.format.as_deref()).map(Box::new),
        ..StartRecord::new(&name, std::slice::from_ref(&job.output.name))
    });
    let pieces = PieceFolder::within(file, folder.clone());
    if let Some(old) = &old {
        let old = PieceFolder::within(old, folder.clone());
        if old.id != pieces.id {
            old.remove_all();
        }
    }
    let _lock = write_locked(&plan, &folder)?;
    let pieces = FileInPieces { job, pieces, pool: &pool, console };
    let mut is_second_attempt = false;
    let (worked, joined) = loop {
        let worked = pieces.run(is_second_attempt)?;
        let is_interrupted = worked.outcome == Outcome::Interrupted;
        if is_interrupted && pieces.pieces.state_of(0).0 != PieceState::Done {
            console.info("interrupted before the first piece was whole (the same command goes on)");
            return Ok(Some(Outcome::Interrupted));
        }
        match pieces.join(is_interrupted) {
            Ok(joined) => break (worked, joined),
            // Joining finds damaged pieces: they are made again, once.
            Err(error) if is_second_attempt || !pieces.remove_damaged()? => return Err(without_name(error)),
            Err(_) => is_second_attempt = true,
        }
    };
    let Some(joined) = joined else {
        console.info("interrupted while joining: nothing was written (the same command goes on)");
        return Ok(Some(Outcome::Interrupted));
    };
    if worked.outcome == Outcome::Interrupted {
        let name = &joined.name;
        let line = "interrupted (the same command goes on); what there is before the first gap";
        let line = format!("{line} -> {name}");
        let summary = jobs_summary(worked.frames, worked.damaged, None, begin.elapsed(), line);
        console.summary(ResultRecord { outputs: vec![OutputRecord { frames: worked.frames, ..joined }], ..summary });
        return Ok(Some(Outcome::Interrupted));
    }
    let (elapsed, jobs) = (begin.elapsed(), counted(pool.jobs as u64, "job"));
    let (frames, count, seconds) = (file.frames(), file.pieces.len(), elapsed.as_secs_f64());
    let (now, name) = (worked.frames - worked.before, &job.output.name);
    let rate = now as f64 / seconds.max(1e-6);
    let now = if worked.before > 0 { format!(", {now} of them") } else { String::new() };
    let line = format!("{frames} frames{now} in {seconds:.2} s ({rate:.1} fps) by {jobs} in {count} pieces");
    let line = with_name(&with_size(&line, name), name);
    console.summary(jobs_summary(frames as u64, worked.damaged, Some(name), elapsed, line));
    let _ = folder.remove(PLAN).and_then(|()| folder.remove_itself());
    Ok(Some(Outcome::Complete))
}

/// Makes the folder of the pieces and, in it, the file of their plan, which is locked. Other processes are kept out
/// until this file, and the locked one that replaces it, are closed.
fn locked(file: &FilePlan) -> Result<(PrivateFolder, File)> {
    loop {
        let folder = make_folder(file.folder.path())?;
        let name = || Name::from(folder.path(PLAN));
        // Another process may have ended, and removed the folder.
        let Some(open) = folder.file_to_lock(PLAN).with_context(name)? else { continue };
        lock(&open, file)?;
        if folder.has(PLAN, &open) {
            return Ok((folder, open));
        }
    }
}

fn lock(open: &File, file: &FilePlan) -> Result<()> {
    match open.try_lock() {
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another run is at work on it in pieces (wait until that has ended)", file.output)
        }
        // Some file systems have no locks: the run goes on without one.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Writes the plan into a locked file, which replaces the previous one; if that is a link, its target stays unchanged.
fn write_locked(plan: &Plan, folder: &PrivateFolder) -> Result<File> {
    let mut target = Target::in_folder(folder, PLAN)?;
    let mut open = target.writer()?;
    plan.files.iter().try_for_each(|file| lock(&open, file))?;
    open.write_all(&serde_json::to_vec(plan)?).with_context(|| target.name().to_owned())?;
    target.end(Outcome::Complete)?;
    Ok(open)
}

struct FileInPieces<'a> {
    job: &'a FileJob,
    pieces: PieceFolder<'a>,
    pool: &'a ProcessPool<'a>,
    console: &'a Console,
}

impl FileInPieces<'_> {
    /// Works on all pieces that are not done.
    fn run(&self, is_second_attempt: bool) -> Result<PoolResult> {
        let FileInPieces { job, ref pieces, pool, console } = *self;
        let file = pieces.plan;
        let (mut runs, mut pool) = (Vec::new(), pool.clone());
        for (piece, (_, frames)) in file.pieces.iter().enumerate() {
            let frames = *frames as u64;
            if pool.cancel.is_cancelled() {
                break;
            }
            match pieces.state_of(piece).0 {
                PieceState::Done => pool.done = (pool.done.0 + frames, pool.done.1 + 1),
                _ => runs.push(ChildRun::for_piece(file.folder.path(), piece, &job.input.url, frames, &job.stderr)),
            }
        }
        if pool.done.1 > 0 && !is_second_attempt {
            console.note(&format!("{} of {} pieces are there from before", pool.done.1, file.pieces.len()));
        }
        let mut worked = pool.run(&runs)?;
        match worked.failed.pop() {
            Some(failed) => bail!("{}: {failed}", job.input.url),
            None => Ok(worked),
        }
    }

    /// Joins the pieces, or those before the first gap. Returns the file; `None` when it was interrupted.
    fn join(&self, is_partial: bool) -> Result<Option<OutputRecord>> {
        let FileInPieces { job, ref pieces, pool, .. } = *self;
        let mut arguments: Vec<OsString> = vec!["join".into(), pieces.plan.folder.clone().into(), "--child".into()];
        arguments.extend(as_strict_and_verbose(&job.stderr));
        arguments.extend((job.output.overwrite == Overwrite::Yes).then(|| "-y".into()));
        arguments.extend(is_partial.then(|| "--partial".into()));
        // The first signal does not end the joining, which takes no longer than copying.
        let mut pool = pool.clone();
        pool.cancel = Cancel::default();
        let answer = pool.run_one(&arguments, &job.input.url.to_string(), |message| pool.pass_on(message))?;
        Ok(answer.result.outputs.into_iter().next())
    }

    /// Removes pieces whose bytes have changed. Returns whether there were any.
    fn remove_damaged(&self) -> Result<bool> {
        let mut has_damaged = false;
        for piece in 0..self.pieces.plan.pieces.len() {
            if self.pieces.is_intact(piece, &self.pool.cancel)? {
                continue;
            }
            self.pieces.remove(piece)?;
            has_damaged = true;
            let name = self.pieces.name(&file_of_piece(piece));
            let notices = self.console.notices(self.job.stderr.strict);
            notices.warn(&format!("{name}: damaged since it was made: this piece is worked on once more"))?;
        }
        Ok(has_damaged)
    }
}

/// The number of processes that is fastest on this many cores, for frames of this many pixels.
pub fn most_jobs(cores: usize, pixels: usize) -> usize {
    // One encoder keeps this many cores busy; at 4K, it is limited by memory.
    let each = match pixels {
        0..=1_000_000 => 2,
        1_000_001..=3_000_000 => 4,
        _ => cores,
    };
    // On a few cores, one process keeps all of them busy.
    let jobs = if cores < 6 { 1 } else { (cores / each).clamp(1, MAX_JOBS) };
    jobs.min(Limits::available().map_or(jobs, |available| (available / MEMORY).max(1)))
}

/// The error of a child process as if this process had failed.
fn without_name(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<ChildError>() {
        Ok(failed) => failed.error.into_error(),
        Err(error) => error,
    }
}
