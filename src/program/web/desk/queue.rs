//! The queue of files that the page has asked to equalize, and the child processes that equalize them.

use super::uploads::Uploads;
use crate::options::jobs::Chosen;
use crate::options::writing::StderrOptions;
use crate::pieces::{ProcessOutput, ProcessPool};
use crate::report::{Console, Event, ProgressRecord, ResultRecord};
use crate::web::view::hub::lock;
use anyhow::{Context, Result, ensure};
use histeq_media::pipeline::{Cancel, Outcome, said};
use histeq_media::sink::files::next_names;
use histeq_media::sys::files::Name;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Most files that wait, and most that have ended and are still listed.
const MAX_WAITING: usize = 500;
const MAX_ENDED: usize = 500;

/// Most warnings of a run that the page shows.
const MAX_WARNINGS: usize = 8;

/// How often a worker looks for work.
const TICK: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum JobState {
    Waiting,
    Working,
    Done,
    Failed,
    Cancelled,
}

impl JobState {
    fn has_ended(self) -> bool {
        !matches!(self, JobState::Waiting | JobState::Working)
    }
}

/// A file to be equalized, and how.
pub struct Order {
    /// The number of the original on the page.
    pub entry: usize,
    /// The canonical path of the original, without symbolic links.
    pub input: PathBuf,
    pub chosen: Chosen,
}

struct QueuedJob {
    number: usize,
    order: Order,
    name: String,
    /// The command-line options of this run, with those of all runs.
    options: Vec<OsString>,
    output: Name,
    /// Equivalent command lines: one with the folders of the files, and one without.
    commands: [String; 2],
    state: JobState,
    progress: ProgressRecord,
    result: ResultRecord,
    warnings: Vec<String>,
    error: Option<String>,
    cancel: Cancel,
}

#[derive(Default)]
struct JobList {
    jobs: Vec<QueuedJob>,
    next: usize,
    is_paused: bool,
}

/// The queue, whose jobs child processes of this program run.
pub struct Queue {
    listed: Mutex<JobList>,
    /// The command-line options of all runs.
    common: Vec<OsString>,
    uploads: Arc<Uploads>,
    cancel: Cancel,
}

/// The threads that work on a queue.
pub struct Workers(Vec<JoinHandle<()>>);

impl Workers {
    /// Waits for the end of all threads. The caller has to cancel the queue before.
    pub fn join(self) {
        for worker in self.0 {
            // A thread that panics has reported that itself.
            let _ = worker.join();
        }
    }
}

impl Queue {
    /// An empty queue whose runs get the options `common`, and end when `cancel` is cancelled.
    pub fn new(common: Vec<OsString>, uploads: Arc<Uploads>, cancel: Cancel) -> Self {
        Queue { listed: Mutex::default(), common, uploads, cancel }
    }

    /// Starts `count` threads, each of which works on one file at a time.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn work(self: &Arc<Self>, count: usize, stderr: &StderrOptions, console: &Console) -> Result<Workers> {
        let worker = |number: usize| {
            let (queue, stderr, console) = (self.clone(), stderr.clone(), console.clone());
            let work = move || {
                while !queue.cancel.is_cancelled() {
                    match queue.take() {
                        Some(number) => queue.run(number, &stderr, &console),
                        None => std::thread::sleep(TICK),
                    }
                }
            };
            Builder::new().name(format!("job {number}")).spawn(work).context("no thread can be started")
        };
        (0..count).map(worker).collect::<Result<_>>().map(Workers)
    }

    /// Puts a file at the end of the queue. Its output gets a name that is free.
    ///
    /// # Errors
    /// When the chosen options do not go with the file, or too many files wait.
    pub fn add(&self, order: Order) -> Result<usize> {
        let input = Name::from(&order.input);
        let mut planned = order.chosen.plan(&input, &self.common).map_err(anyhow::Error::msg)?;
        let mut listed = lock(&self.listed);
        let waiting = listed.jobs.iter().filter(|job| job.state == JobState::Waiting).count();
        ensure!(waiting < MAX_WAITING, "{MAX_WAITING} files wait already");
        let is_taken = |path: &Path| {
            let is_promised = listed.jobs.iter().any(|job| !job.state.has_ended() && job.output.path() == path);
            is_promised || path.symlink_metadata().is_ok()
        };
        let free = next_names(planned.output.path()).find(|path| !is_taken(path));
        planned.output = free.context("there is no free name for the output")?.into();
        let commands = [true, false].map(|with_place| planned.command(&input, with_place));
        let ended = listed.jobs.iter().filter(|job| job.state.has_ended()).count();
        if ended > MAX_ENDED
            && let Some(oldest) = listed.jobs.iter().position(|job| job.state.has_ended())
        {
            listed.jobs.remove(oldest);
        }
        listed.next += 1;
        let number = listed.next;
        listed.jobs.push(QueuedJob {
            number,
            name: Name::from(order.input.file_name().unwrap_or_default()).to_string(),
            order,
            options: self.common.iter().cloned().chain(planned.options).collect(),
            output: planned.output,
            commands,
            state: JobState::Waiting,
            progress: ProgressRecord::default(),
            result: ResultRecord::default(),
            warnings: Vec::new(),
            error: None,
            cancel: self.cancel.part(),
        });
        Ok(number)
    }

    /// Adds the file of a job to the queue again, with another output name. `entry` gives the present number of the
    /// original.
    ///
    /// # Errors
    /// When there is no such job or original, or it cannot be added.
    pub fn again(&self, number: usize, entry: impl FnOnce(&Path) -> Result<usize>) -> Result<usize> {
        let job = self.find(number, |job| (job.order.input.clone(), job.order.chosen.clone()));
        let (input, chosen) = job.context(NO_JOB)?;
        self.add(Order { entry: entry(&input)?, input, chosen })
    }

    /// Pauses the queue, so that no further job starts, or resumes it.
    pub fn pause(&self, is_paused: bool) {
        lock(&self.listed).is_paused = is_paused;
    }

    /// Ends a job as Ctrl-C ends a run.
    ///
    /// # Errors
    /// When there is no such job, or it has ended.
    pub fn cancel(&self, number: usize) -> Result<()> {
        let mut listed = lock(&self.listed);
        let job = listed.jobs.iter_mut().find(|job| job.number == number).context(NO_JOB)?;
        ensure!(!job.state.has_ended(), "{}: it has ended", job.name);
        job.cancel.cancel();
        if job.state == JobState::Waiting {
            job.state = JobState::Cancelled;
        }
        Ok(())
    }

    /// How many more files may wait.
    pub fn room(&self) -> usize {
        MAX_WAITING - lock(&self.listed).jobs.iter().filter(|job| job.state == JobState::Waiting).count()
    }

    /// The original and the result of a job that is done.
    ///
    /// # Errors
    /// When the job is not done, or one of the files does not exist any more.
    pub fn result(&self, number: usize) -> Result<(PathBuf, PathBuf)> {
        let done = self.find(number, |job| {
            (job.state == JobState::Done).then(|| (job.order.input.clone(), job.output.path().to_owned()))
        });
        let (input, output) = done.context(NO_JOB)?.context("it is not done")?;
        check_there(&input)?;
        check_there(&output)?;
        Ok((input, output))
    }

    fn find<T>(&self, number: usize, read: impl FnOnce(&QueuedJob) -> T) -> Option<T> {
        lock(&self.listed).jobs.iter().find(|job| job.number == number).map(read)
    }

    fn update(&self, number: usize, change: impl FnOnce(&mut QueuedJob)) {
        if let Some(job) = lock(&self.listed).jobs.iter_mut().find(|job| job.number == number) {
            change(job);
        }
    }

    /// Takes the first waiting job and marks it as being worked on.
    fn take(&self) -> Option<usize> {
        let mut listed = lock(&self.listed);
        let is_paused = listed.is_paused;
        let next = listed.jobs.iter_mut().find(|job| job.state == JobState::Waiting && !is_paused)?;
        next.state = JobState::Working;
        Some(next.number)
    }

    /// Runs this program for a file, and waits for its end.
    fn run(&self, number: usize, stderr: &StderrOptions, console: &Console) {
        let job = self.find(number, |job| {
            (
                job.options.clone(),
                Name::from(&job.order.input),
                job.output.clone(),
                job.name.clone(),
                job.cancel.clone(),
            )
        });
        let Some((mut arguments, input, output, name, cancel)) = job else { return };
        // The command line needs an input name: `-` stands for it until the names of --one-of replace it.
        arguments.extend(["-".into(), "--one-of".into(), input.clone().into(), output.clone().into()]);
        arguments.extend(["--made-up".into(), "--no-links".into()]);
        let mut pool = ProcessPool::new(stderr, console);
        pool.cancel = cancel;
        let without_place = |text: &str| match input.path().parent() {
            Some(folder) => text.replace(&format!("{}/", Name::from(folder)), ""),
            None => text.to_owned(),
        };
        // The job may have waited for long: its original may be gone, or a symbolic link by now.
        let answer = check_there(input.path()).and_then(|()| {
            pool.run_one_watched(&arguments, &input.to_string(), |said| match said {
                ProcessOutput::Event(Event::Progress(progress)) => self.update(number, |job| job.progress = progress),
                ProcessOutput::Event(Event::Warning { message, .. }) => self.update(number, |job| {
                    if job.warnings.len() < MAX_WARNINGS {
                        job.warnings.push(without_place(&message));
                    }
                }),
                _ => {}
            })
        });
        let (state, mut result, error) = match answer {
            Ok(answer) if answer.outcome == Outcome::Complete => (JobState::Done, answer.result, None),
            Ok(answer) => (JobState::Cancelled, answer.result, None),
            Err(error) => (JobState::Failed, ResultRecord::default(), Some(without_place(&said(&error)))),
        };
        if self.uploads.has(input.path()) {
            self.keep_result(state, output.path(), &mut result);
        }
        match (state, &error) {
            (JobState::Done, _) => console.info(&format!("{name} -> {output}")),
            (_, Some(error)) => console.note(&format!("{name}: failed: {error}")),
            _ => {
                let kept =
                    result.outputs.first().map_or_else(|| "nothing is kept".to_owned(), |kept| kept.name.clone());
                console.info(&format!("{name}: interrupted -> {kept}"));
            }
        }
        self.update(number, |job| (job.state, job.result, job.error) = (state, result, error));
    }

    /// Keeps what was made of an upload until it is downloaded. What is left of a job that the page has cancelled is
    /// removed: it could not be downloaded.
    fn keep_result(&self, state: JobState, output: &Path, result: &mut ResultRecord) {
        let place = |name: &str| output.with_file_name(Path::new(name).file_name().unwrap_or_default());
        match state {
            JobState::Done => self.uploads.made(output.to_owned()),
            _ if self.cancel.is_cancelled() => {
                result.outputs.iter().for_each(|kept| self.uploads.made(place(&kept.name)));
            }
            _ => result.outputs.drain(..).for_each(|kept| {
                // It stays in the private folder then, which is removed at the end.
                let _ = std::fs::remove_file(place(&kept.name));
            }),
        }
    }

    /// The state of the queue as JSON. It names the folders of files only `with_place`.
    pub fn told(&self, with_place: bool) -> Value {
        let listed = lock(&self.listed);
        let jobs: Vec<Value> = listed.jobs.iter().map(|job| job.told(with_place, &self.uploads)).collect();
        json!({ "paused": listed.is_paused, "jobs": jobs })
    }
}

/// Checks that a file exists, and that no part of its path, which was canonical, has become a symbolic link.
fn check_there(file: &Path) -> Result<()> {
    let is_there = file.is_file() && file.canonicalize().is_ok_and(|place| place == file);
    ensure!(is_there, "{}: not there any more", Name::from(file.file_name().unwrap_or_default()));
    Ok(())
}

const NO_JOB: &str = "there is no such job";

impl QueuedJob {
    fn told(&self, with_place: bool, uploads: &Uploads) -> Value {
        let last = |name: &str| Path::new(name).file_name().map(|name| Name::from(name).to_string());
        let is_given = uploads.has(&self.order.input);
        let progress = &self.progress;
        // Each of two passes counts as half of the work.
        let share = progress.percent.map(|percent| match progress.pass {
            Some(pass) => 50.0 * f64::from(pass.saturating_sub(1).min(1)) + percent / 2.0,
            None => percent,
        });
        let kept = self.result.outputs.first().filter(|_| self.state != JobState::Done);
        json!({
            "number": self.number,
            "file": self.order.entry,
            "name": self.name,
            "output": last(&self.output.to_string()),
            "place": self.output.path().parent().map(|place| Name::from(place).to_string()).filter(|_| with_place && !is_given),
            "is_given": is_given,
            "is_awaited": uploads.awaits(self.output.path()),
            "chosen": self.order.chosen,
            "command": self.commands[usize::from(!with_place || is_given)],
            "state": self.state,
            "percent": share.map(|share| (share * 10.0).round() / 10.0),
            "pass": progress.pass,
            "frame": progress.frame,
            "fps": progress.fps,
            "speed": progress.speed,
            "eta": progress.eta,
            "found": self.result.found_text,
            "seconds": self.result.seconds,
            "input_bytes": self.order.input.metadata().ok().map(|found| found.len()),
            "bytes": self.result.outputs.first().and_then(|output| output.bytes),
            "partial": kept.and_then(|kept| last(&kept.name)),
            "warnings": self.warnings.iter().map(|text| without_options(text)).collect::<Vec<_>>(),
            "error": self.error.as_deref().map(without_options),
        })
    }
}

fn names_an_option(text: &str) -> bool {
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('-'))
        .any(|rest| rest.trim_start_matches('-').starts_with(char::is_alphabetic))
}

/// A message without the parentheses that name options of the command line, which the page does not have.
pub fn without_options(message: &str) -> String {
    let mut parts = message.split(" (");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((inside, after)) if names_an_option(inside) => text += after,
            _ => text = format!("{text} ({part}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_options;

    #[test]
    fn a_message_for_the_page_names_no_option() {
        let named =
            "in.wmv: sound (wmapro) is left out: no encoder (--audio none says so), so (as said) only pictures remain";
        let plain = "in.wmv: sound (wmapro) is left out: no encoder, so (as said) only pictures remain";
        assert_eq!(without_options(named), plain);
        assert_eq!(without_options("no frame (say with -f what it is, or use --sandbox off)"), "no frame");
        assert_eq!(without_options("5 of 5 (a - b)"), "5 of 5 (a - b)");
    }
}
