//! One video on all cores of this machine (`--jobs`), and many files (`--output-dir`): processes that plan, work and join.

use crate::options::{FileJob, Job, Jobs, ManyJob, StderrOptions};
use crate::pieces::processes::{Done, Failed, Task, Workers, said_as};
use crate::pieces::{FilePlan, PieceState, Plan, is_intact, state_of};
use crate::report::{Console, StartRecord, jobs_summary};
use crate::signals;
use anyhow::{Context, Result, anyhow, bail};
use histeq::frame::limits;
use histeq_media::pipeline::{Cancel, Outcome};
use histeq_media::sink::{self, Overwrite};
use histeq_media::sys::is_pipe;
use same_file::Handle;
use serde_json::Map;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Instant;

/// Memory that a job takes at most at 1080p: frames of the look-ahead, of decoder and encoder, and itself.
const MEMORY: usize = 1 << 30;

/// The most jobs by themselves: more gain nothing where it was measured.
const MOST: usize = 8;

/// The file of the plan, in the folder of the pieces.
const PLAN: &str = "plan.json";

/// Equalizes a video in pieces, by this many processes. `None` where `auto` finds that one process does it as fast.
///
/// # Errors
/// When it cannot be cut, and the number of jobs was given; when a piece fails for good.
pub fn in_pieces(job: &mut FileJob, jobs: Jobs, console: &Console) -> Result<Option<Outcome>> {
    job.limits.apply();
    let cores = limits::threads();
    if jobs == Jobs::Auto && (most_jobs(cores, 0) <= 1 || is_pipe(&job.input.url)) {
        return Ok(None);
    }
    let begin = Instant::now();
    let (name, output) = (job.input.url.clone(), &mut job.output);
    // Whether it may be written is asked once, and here.
    drop(sink::target(&output.name, output.options.format.as_deref(), &name, output.overwrite)?);
    let was_asked = output.overwrite == Overwrite::Ask && Path::new(&output.name).exists();
    if was_asked {
        output.overwrite = Overwrite::Yes;
    }
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
    let mut arguments: Vec<OsString> = vec!["plan".into()];
    arguments.extend(Job::options()?);
    arguments.extend(was_asked.then(|| "-y".into()));
    arguments.extend(["--one-of".into(), name.clone().into(), output.name.clone().into()]);
    let planner = workers(1, (0, 0), &job.stderr, console, &cancel);
    // Without pieces, this process says the same once more.
    let mut said = Vec::new();
    let text = match planner.ask_and_keep(&arguments, &name, &mut said) {
        Ok((Outcome::Complete, text)) if !cancel.is_cancelled() => text,
        Err(error) if !cancel.is_cancelled() => {
            if jobs != Jobs::Auto {
                return Err(without_name(error));
            }
            let why = error.downcast_ref::<Failed>().map_or(error.to_string(), |failed| failed.why.clone());
            let why = why.trim_end_matches(" (leave --jobs out)");
            console.info(&format!("histeq-video: in one process: {why}"));
            return Ok(None);
        }
        _ => {
            console.info("interrupted while planning: nothing was written");
            return Ok(Some(Outcome::Interrupted));
        }
    };
    let mut plan = Plan::parse(&text)?;
    plan.files.iter_mut().for_each(take_pieces_of_before);
    let file = plan.files.first().context("the plan has no file")?;
    let jobs = match jobs {
        Jobs::Exactly(jobs) => jobs,
        Jobs::Auto => most_jobs(cores, file.size.0 * file.size.1),
    };
    let jobs = jobs.min(file.pieces.len());
    let plan_file = file.folder.join(PLAN);
    if jobs <= 1 && !plan_file.exists() {
        return Ok(None);
    }
    said.iter().try_for_each(|line| planner.pass_on(line))?;
    let mut lock = locked(file, &plan_file)?;
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::FINISHING)?;
    console.start(&StartRecord {
        source: None,
        input: name,
        outputs: vec![job.output.name.clone()],
        frames: Some(file.frames() as u64),
        settings: Map::new(),
    });
    if let Ok(old) = Plan::read(&plan_file)
        && let Some(old) = old.files.first().filter(|old| old.folder == file.folder && old.id() != file.id())
    {
        old.remove_pieces();
    }
    let text = serde_json::to_vec(&plan)?;
    let written = lock.set_len(0).and_then(|()| lock.write_all(&text));
    written.with_context(|| plan_file.display().to_string())?;
    let work = Work { job, file, plan: &plan_file, jobs, console, cancel: &cancel };
    let mut made_again = false;
    let (worked, name) = loop {
        let worked = work.run(made_again)?;
        let is_interrupted = worked.outcome == Outcome::Interrupted;
        if is_interrupted && state_of(file, 0).0 != PieceState::Done {
            console.info("interrupted before the first piece was whole (the same command goes on)");
            return Ok(Some(Outcome::Interrupted));
        }
        match work.join(is_interrupted) {
            Ok(name) => break (worked, name),
            // What is damaged is found when it is read.
            Err(error) if made_again || !work.remove_damaged()? => return Err(without_name(error)),
            Err(_) => made_again = true,
        }
    };
    if name.is_empty() {
        console.info("interrupted while joining: nothing was written (the same command goes on)");
        return Ok(Some(Outcome::Interrupted));
    }
    if worked.outcome == Outcome::Interrupted {
        let line = format!("interrupted, what there is before the first gap -> {name} (the same command goes on)");
        console.summary(jobs_summary(worked.frames, worked.damaged, Some(&name), begin.elapsed(), line));
        return Ok(Some(Outcome::Interrupted));
    }
    let (elapsed, s) = (begin.elapsed(), if jobs == 1 { "" } else { "s" });
    let (frames, pieces, seconds) = (file.frames(), file.pieces.len(), elapsed.as_secs_f64());
    let (now, name) = (worked.frames - worked.before, &job.output.name);
    let rate = now as f64 / seconds.max(1e-6);
    let now = if worked.before > 0 { format!(", {now} of them") } else { String::new() };
    let line =
        format!("{frames} frames{now} in {seconds:.2} s ({rate:.1} fps) by {jobs} job{s} in {pieces} pieces -> {name}");
    console.summary(jobs_summary(frames as u64, worked.damaged, Some(name), elapsed, line));
    let _ = std::fs::remove_file(&plan_file);
    let _ = std::fs::remove_dir(&file.folder);
    Ok(Some(Outcome::Complete))
}

/// Divides the file as an interrupted run has: how many pieces there are may depend on the memory that was free.
fn take_pieces_of_before(file: &mut FilePlan) {
    if let Ok(old) = Plan::read(&file.folder.join(PLAN))
        && let Some(old) = old.files.first().filter(|old| file.is_like(old))
    {
        file.pieces.clone_from(&old.pieces);
    }
}

/// Makes the folder of the pieces and, in it, the file of their plan. No other process has it until it is closed.
fn locked(file: &FilePlan, plan: &Path) -> Result<File> {
    loop {
        std::fs::create_dir_all(&file.folder).with_context(|| file.folder.display().to_string())?;
        let opened = match File::options().read(true).write(true).create(true).truncate(false).open(plan) {
            // Another process has ended, and removed the folder.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.with_context(|| plan.display().to_string())?,
        };
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another run is at work on it in pieces (wait until that has ended)", file.output)
            }
            // There are file systems without locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mine = Handle::from_file(opened.try_clone()?)?;
        if Handle::from_path(plan).is_ok_and(|there| there == mine) {
            return Ok(opened);
        }
    }
}

/// A video in pieces.
struct Work<'a> {
    job: &'a FileJob,
    file: &'a FilePlan,
    /// The file of the plan.
    plan: &'a Path,
    jobs: usize,
    console: &'a Console,
    cancel: &'a Cancel,
}

impl Work<'_> {
    /// Works on all pieces that are not done.
    fn run(&self, made_again: bool) -> Result<Done> {
        let Work { job, file, plan, jobs, console, cancel } = *self;
        let (mut tasks, mut done) = (Vec::new(), (0, 0));
        for (piece, (_, frames)) in file.pieces.iter().enumerate() {
            match state_of(file, piece).0 {
                PieceState::Done => done = (done.0 + *frames as u64, done.1 + 1),
                _ => tasks.push(piece_task(plan, piece, *frames as u64, &job.stderr)),
            }
        }
        if done.1 > 0 && !made_again {
            console.info(&format!("histeq-video: {} of {} pieces are there from before", done.1, file.pieces.len()));
        }
        let mut worked = workers(jobs, done, &job.stderr, console, cancel).run(&tasks)?;
        match worked.failed.pop() {
            Some(failed) => bail!("{}: {failed}", job.input.url),
            None => Ok(worked),
        }
    }

    /// Joins the pieces, or those before the first gap. Answers with the name of the file; with none when it was interrupted.
    fn join(&self, is_partial: bool) -> Result<String> {
        let Work { job, plan, console, .. } = *self;
        let mut arguments: Vec<OsString> = vec!["join".into(), plan.into(), "--child".into()];
        arguments.extend(said_as(&job.stderr));
        arguments.extend((job.output.overwrite == Overwrite::Yes).then(|| "-y".into()));
        arguments.extend(is_partial.then(|| "--partial".into()));
        // The first signal does not end it: it takes no longer than copying.
        let (_, text) = workers(1, (0, 0), &job.stderr, console, &Cancel::default()).ask(&arguments, &job.input.url)?;
        Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
    }

    /// Removes pieces whose bytes have changed. Were there any?
    fn remove_damaged(&self) -> Result<bool> {
        let is_damaged = |piece: &usize| !is_intact(self.file, *piece) && self.file.piece_file(*piece).exists();
        let damaged: Vec<usize> = (0..self.file.pieces.len()).filter(is_damaged).collect();
        for piece in &damaged {
            let path = self.file.piece_file(*piece);
            let name = path.display();
            std::fs::remove_file(&path).with_context(|| name.to_string())?;
            let notices = self.console.notices(self.job.stderr.strict);
            notices.warn(&format!("{name}: damaged since it was made: this piece is worked on once more"))?;
        }
        Ok(!damaged.is_empty())
    }
}

/// Works on a piece of the plan in this file.
pub fn piece_task(plan: &Path, piece: usize, frames: u64, stderr: &StderrOptions) -> Task {
    let arguments = ["run".into(), plan.into(), "--piece".into(), piece.to_string().into(), "--child".into()];
    let arguments = arguments.into_iter().chain(said_as(stderr)).collect();
    Task { name: format!("piece {piece}"), arguments, frames: Some(frames), takes_gpu: true }
}

/// As many processes as pay on this many cores, for pictures of this many pixels.
pub fn most_jobs(cores: usize, pixels: usize) -> usize {
    // One encoder keeps this many cores busy. At 4K it is the memory that is.
    let each = match pixels {
        0..=1_000_000 => 2,
        1_000_001..=3_000_000 => 4,
        _ => cores,
    };
    // On a few cores, one process keeps all of them busy.
    let jobs = if cores < 6 { 1 } else { (cores / each).clamp(1, MOST) };
    jobs.min(limits::available().map_or(jobs, |available| (available / MEMORY).max(1)))
}

/// Equalizes many files.
///
/// # Errors
/// When some fail: the list of them.
pub fn many(job: &ManyJob, like: Option<&FileJob>, console: &Console) -> Result<Outcome> {
    let Some(like) = like else {
        console.info("histeq-video: there is no video in these folders");
        return Ok(Outcome::Complete);
    };
    like.limits.apply();
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::FINISHING)?;
    let (mut tasks, mut skipped) = (Vec::new(), 0);
    for (input, output) in &job.files {
        if Path::new(output).exists() && !job.overwrites {
            skipped += 1;
            continue;
        }
        if let Some(folder) = Path::new(output).parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut arguments = Job::options()?;
        arguments.extend(["--one-of".into(), input.into(), output.into()]);
        tasks.push(Task { name: input.clone(), arguments, frames: None, takes_gpu: true });
    }
    let jobs = match job.jobs {
        Jobs::Exactly(jobs) => jobs,
        Jobs::Auto => most_jobs(limits::threads(), 2_000_000),
    };
    let begin = Instant::now();
    let mut workers = workers(jobs, (0, 0), &like.stderr, console, &cancel);
    (workers.goes_on, workers.unit) = (true, "files");
    let done = workers.run(&tasks)?;
    let of = |count: usize| format!("{count} file{}", if count == 1 { "" } else { "s" });
    let skipped = if skipped > 0 { format!("; {} were there", of(skipped)) } else { String::new() };
    if done.outcome == Outcome::Interrupted {
        console.info(&format!("interrupted{skipped} (the same command goes on with the others)"));
        return Ok(Outcome::Interrupted);
    }
    let (good, frames, elapsed) = (tasks.len() - done.failed.len(), done.frames, begin.elapsed());
    let line = format!("{} with {frames} frames in {:.2} s{skipped}", of(good), elapsed.as_secs_f64());
    console.summary(jobs_summary(frames, done.damaged, None, elapsed, line));
    if done.failed.is_empty() {
        return Ok(Outcome::Complete);
    }
    let list: Vec<String> = done.failed.iter().map(ToString::to_string).collect();
    Err(anyhow!("{} failed: {}", of(list.len()), list.join("; ")))
}

fn workers<'a>(
    jobs: usize,
    done: (u64, usize),
    stderr: &'a StderrOptions,
    console: &'a Console,
    cancel: &'a Cancel,
) -> Workers<'a> {
    Workers { jobs, goes_on: false, done, unit: "pieces", stderr, console, cancel }
}

/// The error of a process as if this one had failed.
fn without_name(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Failed>() {
        Ok(failed) => anyhow!(failed.why),
        Err(error) => error,
    }
}
