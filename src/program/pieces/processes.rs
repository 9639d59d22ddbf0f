//! Child processes of this program that work at the same time: their events, their end, another attempt.
//!
//! A child gets `--progress json`, and its parent reads its events. What it prints on stderr beside them, such as
//! messages of FFmpeg, is passed on.

use crate::options::writing::{MeterStyle, StderrOptions};
use crate::pieces::child::{
    ABORTED, ATTEMPTS, Answer, ChildEnd, ChildError, ChildRun, PATIENCE, ProcessOutput, Reported, Sum, TRY_AGAIN,
    read_lines, spawn, weights,
};
use crate::report::{Console, Event, FileRecord, Meter, Metered, OutputRecord, ResultRecord};
use crate::signals;
use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use histeq::Limits;
use histeq_media::pipeline::{Cancel, Outcome, Progress};
use histeq_media::sys::one_line;
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::Read;
use std::mem::{Discriminant, discriminant};
use std::process::Child;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The interval at which processes are polled.
const TICK: Duration = Duration::from_millis(50);

/// How long an attempt waits after one that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// The fewest threads of each part of a process that shares the cores with others.
const MIN_THREADS: usize = 2;

/// How several child processes ended.
pub struct PoolResult {
    /// Whether they were cancelled.
    pub outcome: Outcome,
    pub failed: Vec<ChildError>,
    /// The frames of the runs that succeeded, and of those that were done before.
    pub frames: u64,
    /// How many of these frames were done before.
    pub before: u64,
    /// The damaged frames and packets of the runs that succeeded.
    pub damaged: u64,
    /// The bytes of the files that these runs have written.
    pub bytes: u64,
    /// The partial outputs of runs that were interrupted.
    pub partial: Vec<OutputRecord>,
}

/// Child processes that work at the same time.
#[derive(Clone)]
pub struct ProcessPool<'a> {
    /// How many processes run at once.
    pub jobs: usize,
    /// Whether other runs begin when one has failed.
    pub goes_on: bool,
    /// The frames and the runs that were done before.
    pub done: (u64, usize),
    /// What the meter calls the runs.
    pub unit: &'static str,
    /// The threads that the processes share.
    pub cores: usize,
    /// Ends all processes when it is set.
    pub cancel: Cancel,
    stderr: &'a StderrOptions,
    console: &'a Console,
}

struct WaitingRun {
    run: usize,
    attempt: u32,
    not_before: Instant,
    /// The GPU of the previous attempt.
    gpu: Option<usize>,
}

struct Working {
    run: usize,
    attempt: u32,
    gpu: usize,
    child: Child,
    reported: Reported,
    /// How many of its pipes are open.
    open: u32,
}

impl<'a> ProcessPool<'a> {
    /// A pool of one process at a time, which stops at a failure.
    pub fn new(stderr: &'a StderrOptions, console: &'a Console) -> Self {
        let cancel = Cancel::default();
        ProcessPool {
            jobs: 1,
            goes_on: false,
            done: (0, 0),
            unit: "files",
            cores: Limits::default().threads(),
            cancel,
            stderr,
            console,
        }
    }

    /// From now on, the first signal ends all processes, and prints `answer`. This starts a thread, to which a sandbox
    /// that is closed later does not apply.
    pub fn listen_for_signals(&self, answer: &'static str) -> Result<()> {
        signals::listen(self.cancel.clone(), self.console.clone(), Vec::new(), answer)
    }

    /// Executes `runs`, several at the same time.
    pub fn run(&self, runs: &[ChildRun]) -> Result<PoolResult> {
        let now = Instant::now();
        let mut waiting: VecDeque<WaitingRun> =
            (0..runs.len()).map(|run| WaitingRun { run, attempt: 1, not_before: now, gpu: None }).collect();
        let all: Option<u64> = runs.iter().map(|run| run.frames).sum();
        let progress = Progress::default();
        let (frames, share) = (all.map(|all| all + self.done.0), all.is_none().then_some(0.0));
        let metered = Metered { frames, share, ..Metered::default() };
        let weights = weights(runs);
        let mut meter = Meter::start((self.stderr.meter, self.console.events.clone()), metered);
        meter.before = self.done.0;
        if self.stderr.meter == MeterStyle::Bar {
            self.console.set_bar(meter.bar.clone());
        }
        let gpus = if self.jobs > 1 && runs.iter().any(|run| run.takes_gpu) { gpus() } else { 0 };
        let (sender, outputs) = unbounded();
        let before = self.done.0;
        let (outcome, failed, partial) = (Outcome::Complete, Vec::new(), Vec::new());
        let done = PoolResult { outcome, failed, frames: before, before, damaged: 0, bytes: 0, partial };
        let (working, printed) = (Vec::new(), HashSet::new());
        let ended = Sum { frames: before, decoded: before, ..Sum::default() };
        let mut active = ActivePool { pool: self, runs, working, printed, gpus, sender, outputs, done, ended };
        let result = loop {
            if let Err(error) = active.receive().and_then(|()| active.collect(&mut waiting)) {
                break Err(error);
            }
            let mut sum = active.ended;
            active.working.iter().for_each(|working| sum.add(&working.reported, working.reported.progress.frame));
            progress.reach(sum.frames, sum.decoded, (sum.position * 1e6) as i64, sum.damaged);
            meter.metered.rate = Some(sum.rated as f64 / sum.seconds).filter(|rate| rate.is_normal());
            let left = waiting.len() + active.working.len() + active.done.failed.len();
            let all = self.done.1 + runs.len();
            meter.part = Some(format!("{}/{all} {}", all - left, self.unit));
            let first = active.working.iter().map(|working| working.run).min();
            meter.file = first.map(|run| one_line(&runs[run].file.to_string()).into_owned());
            if let Some(share) = &mut meter.metered.share {
                let waits = waiting.iter().map(|waiting| weights[waiting.run]).sum::<f64>();
                *share = (1.0 - (waits + active.left(&weights)) / weights.iter().sum::<f64>()).max(0.0);
            }
            meter.update(&progress);
            if self.cancel.is_cancelled() {
                break Ok(Outcome::Interrupted);
            }
            if !self.goes_on && !active.done.failed.is_empty() {
                break Ok(Outcome::Complete);
            }
            if let Err(error) = active.begin(&mut waiting) {
                break Err(error);
            }
            if active.working.is_empty() && waiting.is_empty() {
                break Ok(Outcome::Complete);
            }
        };
        let mut done = active.end();
        done.outcome = result?;
        meter.finish(&progress, done.outcome == Outcome::Complete && done.failed.is_empty());
        Ok(done)
    }

    /// Prints a message of a child process as if it were one of this process. With `--strict`, the child itself turns
    /// warnings into errors.
    pub fn pass_on(&self, message: ProcessOutput) {
        match message {
            ProcessOutput::Event(event) => self.console.report(event),
            ProcessOutput::Line(line) => self.console.info(&line),
            ProcessOutput::Closed => {}
        }
    }

    /// Runs this program with `arguments`, hands its messages to `pass_on`, and waits for its end.
    ///
    /// # Errors
    /// [`ChildError`], with this name, when it fails otherwise than by being interrupted.
    pub fn run_one(
        &self,
        arguments: &[OsString],
        name: &str,
        mut pass_on: impl FnMut(ProcessOutput),
    ) -> Result<Answer> {
        self.run_one_watched(arguments, name, |output| {
            if !matches!(output, ProcessOutput::Event(Event::Progress(_))) {
                pass_on(output);
            }
        })
    }

    /// As [`run_one`](Self::run_one), but hands progress to `take`, too.
    ///
    /// # Errors
    /// As `run_one`.
    pub fn run_one_watched(
        &self,
        arguments: &[OsString],
        name: &str,
        mut take: impl FnMut(ProcessOutput),
    ) -> Result<Answer> {
        let mut child = spawn(arguments)?;
        let mut stdin = child.stdin.take();
        let mut stdout = child.stdout.take().context("a pipe")?;
        let (sender, outputs) = unbounded();
        read_lines(child.stderr.take(), 0, sender)?;
        let stdout = Builder::new().spawn(move || {
            let mut text = Vec::new();
            stdout.read_to_end(&mut text).map(|_| text)
        })?;
        let mut reported = Reported::default();
        let mut cancelled: Option<Instant> = None;
        loop {
            match outputs.recv_timeout(TICK) {
                Ok((_, ProcessOutput::Closed)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok((_, output)) => {
                    if let ProcessOutput::Event(event @ Event::Progress(_)) = &output {
                        take(ProcessOutput::Event(event.clone()));
                    }
                    if let Some(message) = reported.receive(output) {
                        take(message.named(name));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.cancel.is_cancelled() {
                // Closing stdin ends the child.
                drop(stdin.take());
                if cancelled.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    let _ = child.kill();
                }
            }
        }
        let status = child.wait()?;
        let stdout = stdout.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        let outcome = match status.code() {
            Some(0) => Outcome::Complete,
            Some(code) if code == i32::from(signals::INTERRUPTED) => Outcome::Interrupted,
            _ => return Err(reported.error(name, status).into()),
        };
        Ok(Answer { outcome, result: reported.result, stdout })
    }
}

struct ActivePool<'a> {
    pool: &'a ProcessPool<'a>,
    runs: &'a [ChildRun],
    working: Vec<Working>,
    /// Messages that were printed, so that each is printed once: all pieces of an input may have the same ones.
    printed: HashSet<(Option<Discriminant<Event>>, String)>,
    gpus: usize,
    sender: Sender<(usize, ProcessOutput)>,
    outputs: Receiver<(usize, ProcessOutput)>,
    done: PoolResult,
    /// The progress of processes that have ended well.
    ended: Sum,
}

impl ActivePool<'_> {
    /// Records the output of processes, and prints their messages.
    fn receive(&mut self) -> Result<()> {
        let first = self.outputs.recv_timeout(TICK).ok();
        for (run, output) in first.into_iter().chain(self.outputs.try_iter()) {
            let Some(working) = self.working.iter_mut().find(|working| working.run == run) else { continue };
            if matches!(output, ProcessOutput::Closed) {
                working.open -= 1;
            }
            let Some(message) = working.reported.receive(output) else { continue };
            let message = message.named(&self.runs[run].file.to_string());
            let key = match &message {
                ProcessOutput::Event(
                    event @ (Event::Detail { message } | Event::Note { message } | Event::Warning { message, .. }),
                ) => (Some(discriminant(event)), message.clone()),
                ProcessOutput::Line(line) => (None, line.clone()),
                _ => continue,
            };
            if self.printed.insert(key) {
                self.pool.pass_on(message);
            }
        }
        Ok(())
    }

    /// The work that is left of the running processes, in units of `weights`.
    fn left(&self, weights: &[f64]) -> f64 {
        let left = |Working { run, reported, .. }: &Working| {
            weights[*run] * (1.0 - reported.progress.percent.unwrap_or(0.0) / 100.0)
        };
        self.working.iter().map(left).sum()
    }

    /// Removes processes that have ended, reports their results, and queues another attempt if that may succeed.
    fn collect(&mut self, waiting: &mut VecDeque<WaitingRun>) -> Result<()> {
        let mut index = 0;
        while index < self.working.len() {
            let working = &mut self.working[index];
            let Some(status) = working.child.try_wait()?.filter(|_| working.open == 0) else {
                index += 1;
                continue;
            };
            let Working { run, attempt, gpu, reported, .. } = self.working.swap_remove(index);
            let ChildRun { name, file, frames, end, .. } = &self.runs[run];
            if status.success() {
                let frames = frames.unwrap_or(reported.progress.frame);
                self.ended.add(&reported, frames);
                self.done.frames += frames;
                self.done.damaged += reported.progress.damaged;
                match end {
                    ChildEnd::Nothing => {}
                    ChildEnd::Summary => self.pool.console.lines(&reported.result.summary),
                    ChildEnd::File(output) => {
                        let record = FileRecord::from(reported.result);
                        self.done.bytes += record.bytes.unwrap_or(0);
                        self.pool.console.file(FileRecord::new(file, output, record));
                    }
                }
                continue;
            }
            // A process killed by a signal has no exit code.
            let may_succeed = status.code().is_none_or(|code| code == i32::from(TRY_AGAIN) || code == ABORTED);
            let mut failed = reported.error(name, status);
            if may_succeed && attempt < ATTEMPTS && !self.pool.cancel.is_cancelled() {
                self.pool.console.note(&format!("{failed}: trying again"));
                let not_before = Instant::now() + PAUSE;
                waiting.push_front(WaitingRun { run, attempt: attempt + 1, not_before, gpu: Some(gpu) });
                continue;
            }
            if attempt > 1 {
                failed.error.message += &format!(" (tried {attempt} times)");
            }
            if let ChildEnd::File(output) = end
                && !self.pool.cancel.is_cancelled()
            {
                let (error, exit_code) = (Some(failed.error.clone()), failed.code);
                let record = FileRecord { exit_code, error, ..FileRecord::default() };
                self.pool.console.file(FileRecord::new(file, output, record));
            }
            self.done.failed.push(failed);
        }
        Ok(())
    }

    /// Starts waiting runs, up to the number of jobs.
    fn begin(&mut self, waiting: &mut VecDeque<WaitingRun>) -> Result<()> {
        while self.working.len() < self.pool.jobs {
            let now = Instant::now();
            let Some(index) = waiting.iter().position(|waiting| waiting.not_before <= now) else { break };
            let Some(WaitingRun { run, attempt, gpu: before, .. }) = waiting.remove(index) else { break };
            // Avoids the GPU of the previous attempt, then takes the one with the fewest processes.
            let load = |gpu: usize| self.working.iter().filter(|working| working.gpu == gpu).count();
            let gpu = (0..self.gpus).min_by_key(|&gpu| (before == Some(gpu), load(gpu))).unwrap_or(0);
            let mut arguments = self.runs[run].arguments.clone();
            if self.gpus > 1 && self.runs[run].takes_gpu {
                arguments.extend(["--gpu".into(), gpu.to_string().into()]);
            }
            if self.pool.jobs > 1 && self.runs[run].shares_cores {
                let share = self.pool.cores.div_ceil(self.pool.jobs).clamp(MIN_THREADS, 256);
                arguments.extend(["--threads".into(), share.to_string().into()]);
            }
            let mut child = spawn(&arguments)?;
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            let open = u32::from(read_lines(stdout, run, self.sender.clone())?)
                + u32::from(read_lines(stderr, run, self.sender.clone())?);
            self.working.push(Working { run, attempt, gpu, child, reported: Reported::default(), open });
        }
        Ok(())
    }

    /// Ends all processes, and waits for them.
    fn end(mut self) -> PoolResult {
        // Closing stdin ends a child.
        self.working.iter_mut().for_each(|working| drop(working.child.stdin.take()));
        let begin = Instant::now();
        while !self.working.is_empty() {
            // Ignore errors: the processes have to be waited for.
            let _ = self.receive();
            let is_late = begin.elapsed() > PATIENCE;
            let mut index = 0;
            while index < self.working.len() {
                let working = &mut self.working[index];
                if is_late {
                    let _ = working.child.kill();
                }
                let status = working.child.try_wait();
                // Descendants of a killed process may keep its pipes open: there is a time limit.
                if matches!(status, Ok(None)) || (working.open > 0 && !is_late) {
                    index += 1;
                    continue;
                }
                let Working { run, reported, .. } = self.working.swap_remove(index);
                self.interrupted(run, reported.result);
            }
        }
        self.done
    }

    /// Reports the partial file of a process that was interrupted.
    fn interrupted(&mut self, run: usize, mut result: ResultRecord) {
        let ChildRun { file, end: ChildEnd::File(output), .. } = &self.runs[run] else { return };
        let Some(exit_code) = result.exit_code else { return };
        let partial = if exit_code == signals::INTERRUPTED { result.outputs.pop() } else { None };
        if partial.is_none() && exit_code != 0 {
            return;
        }
        let record = FileRecord {
            exit_code,
            partial: partial.as_ref().map(|partial| partial.name.clone()),
            partial_bytes: partial.as_ref().and_then(|partial| partial.name_bytes.clone()),
            ..FileRecord::from(result)
        };
        self.pool.console.file(FileRecord::new(file, output, record));
        self.done.partial.extend(partial);
    }
}

/// How many NVIDIA GPUs this process may see, by their devices and by `CUDA_VISIBLE_DEVICES`. The driver is not asked:
/// its start takes as long as many frames.
fn gpus() -> usize {
    let is_gpu = |name: &str| {
        name.strip_prefix("nvidia")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = std::fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let there = names.filter(|name| name.to_str().is_some_and(is_gpu)).count();
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        // The driver ignores an invalid entry, and all that follow it.
        Ok(list) => there.min(list.split(',').take_while(|one| !one.is_empty() && !one.starts_with('-')).count()),
        Err(_) => there,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_gets_the_name_of_its_file_once() {
        let note = |text: &str| ProcessOutput::Event(Event::Note { message: text.to_owned() });
        let named = |text: &str, file: &str| match note(text).named(file) {
            ProcessOutput::Event(Event::Note { message }) => message,
            _ => panic!("another event"),
        };
        assert_eq!(named("the video is narrowed", "a.mkv"), "a.mkv: the video is narrowed");
        assert_eq!(named("a.mkv: frame 1 is damaged", "a.mkv"), "a.mkv: frame 1 is damaged");
        assert_eq!(named("2 times as large as a.mkv (3 MB)", "a.mkv"), "2 times as large as a.mkv (3 MB)");
        assert_eq!(named("my film.mkv ends early", "my film.mkv"), "my film.mkv ends early");
        // `in` is part of many words: only whole words count.
        assert_eq!(named("interlaced", "in"), "in: interlaced");
    }
}
