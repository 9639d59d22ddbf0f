//! Processes of this program that work at the same time: their progress, their end, another attempt.

use crate::options::StderrOptions;
use crate::report::{Console, Meter, MeterStyle, Verbosity};
use crate::signals;
use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use histeq::cuda::{Error, Gpu};
use histeq_media::pipeline::{Cancel, Outcome, Progress};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often a task is tried.
const ATTEMPTS: u32 = 3;

/// How often processes are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long an attempt waits after one that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// How long a process may take to end when it is told to.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a process is to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// What messages call it.
    pub name: String,
    /// The arguments of the process.
    pub arguments: Vec<OsString>,
    /// How many frames it writes, if that is known.
    pub frames: Option<u64>,
    /// Whether it can be told which GPU to take.
    pub takes_gpu: bool,
}

/// Why a task is not done.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {why}")]
pub struct Failed {
    /// What messages call it.
    pub name: String,
    /// Its last error.
    pub why: String,
    /// The exit code of its process; 1 if that was killed.
    pub code: u8,
}

/// What came of tasks.
pub struct Done {
    /// Whether they were cancelled.
    pub outcome: Outcome,
    /// Those that are not done.
    pub failed: Vec<Failed>,
    /// The frames of those that are, and of what was there before.
    pub frames: u64,
    /// How many of these were there before.
    pub before: u64,
    /// The damaged frames and packets of those that were done now.
    pub damaged: u64,
}

/// Processes that work at the same time.
pub struct Workers<'a> {
    /// How many there are at once.
    pub jobs: usize,
    /// Whether other tasks go on when one has failed.
    pub goes_on: bool,
    /// The frames that were done before, and the tasks.
    pub done: (u64, usize),
    /// What the tasks are, for the meter.
    pub unit: &'static str,
    /// What is printed.
    pub stderr: &'a StderrOptions,
    /// Where it is printed.
    pub console: &'a Console,
    /// Ends all of them.
    pub cancel: &'a Cancel,
}

/// A task that waits.
struct Waiting {
    task: usize,
    attempt: u32,
    not_before: Instant,
    /// The GPU of the attempt before.
    gpu: Option<usize>,
}

/// A task that is worked on.
struct Working {
    task: usize,
    attempt: u32,
    gpu: usize,
    child: Child,
    reached: Reached,
    /// Its last line that names an error.
    error: String,
    /// How many of its pipes are open.
    open: u32,
}

/// How far a process is: frames written, microseconds of the video, and damaged frames and packets.
#[derive(Clone, Copy, Default)]
struct Reached {
    frames: u64,
    position: i64,
    damaged: u64,
}

/// What a process tells.
enum Told {
    Progress(Reached),
    Line(String),
    Closed,
}

impl Workers<'_> {
    /// Works on these tasks.
    ///
    /// # Errors
    /// When processes cannot be started.
    pub fn run(&self, tasks: &[Task]) -> Result<Done> {
        let now = Instant::now();
        let mut waiting: VecDeque<Waiting> =
            (0..tasks.len()).map(|task| Waiting { task, attempt: 1, not_before: now, gpu: None }).collect();
        let all: Option<u64> = tasks.iter().map(|task| task.frames).sum();
        let progress = Progress::default();
        let mut meter = Meter::start(
            (self.stderr.meter, self.console.events().cloned()),
            all.map(|all| all + self.done.0),
            None,
            None,
        );
        meter.set_before(self.done.0);
        if self.stderr.meter == MeterStyle::Bar {
            self.console.set_bar(meter.bar());
        }
        let gpus = if self.jobs > 1 && tasks.iter().any(|task| task.takes_gpu) { gpus() } else { 0 };
        let (tell, told) = unbounded();
        let before = self.done.0;
        let done = Done { outcome: Outcome::Complete, failed: Vec::new(), frames: before, before, damaged: 0 };
        let (working, said) = (Vec::new(), HashSet::new());
        let mut crew = Crew { workers: self, tasks, working, said, gpus, tell, told, done, position: 0 };
        let result = loop {
            if let Err(error) = crew.listen().and_then(|()| crew.collect(&mut waiting)) {
                break Err(error);
            }
            let under_way = || crew.working.iter().map(|working| working.reached);
            let frames = crew.done.frames + under_way().map(|reached| reached.frames).sum::<u64>();
            let position = crew.position + under_way().map(|reached| reached.position).sum::<i64>();
            let damaged = crew.done.damaged + under_way().map(|reached| reached.damaged).sum::<u64>();
            progress.reach(frames, position, damaged);
            let left = waiting.len() + crew.working.len() + crew.done.failed.len();
            let all = self.done.1 + tasks.len();
            meter.set_part(format!("{}/{all} {}", all - left, self.unit));
            meter.update(&progress);
            if self.cancel.is_cancelled() {
                break Ok(Outcome::Interrupted);
            }
            if !self.goes_on && !crew.done.failed.is_empty() {
                break Ok(Outcome::Complete);
            }
            if let Err(error) = crew.begin(&mut waiting) {
                break Err(error);
            }
            if crew.working.is_empty() && waiting.is_empty() {
                break Ok(Outcome::Complete);
            }
        };
        let mut done = crew.end();
        done.outcome = result?;
        meter.finish(&progress, done.outcome == Outcome::Complete && done.failed.is_empty());
        Ok(done)
    }

    /// Prints a line of a process as if this one had said it.
    ///
    /// # Errors
    /// Never: where warnings are errors, that process ends by itself.
    pub fn pass_on(&self, line: &str) -> Result<()> {
        match line.strip_prefix(WARNING) {
            Some(warning) => self.console.notices(false).warn(warning),
            None => {
                self.console.info(line);
                Ok(())
            }
        }
    }

    /// Runs this program with `arguments`, passes on what it says, and answers with its exit code and stdout.
    ///
    /// # Errors
    /// With the error that it names, when it fails otherwise than by being interrupted.
    pub fn ask(&self, arguments: &[OsString], name: &str) -> Result<(Outcome, Vec<u8>)> {
        let mut said = Vec::new();
        let asked = self.ask_and_keep(arguments, name, &mut said);
        said.iter().try_for_each(|line| self.pass_on(line))?;
        asked
    }

    /// The same, but what it says is added to `said`.
    ///
    /// # Errors
    /// As `ask`.
    pub fn ask_and_keep(
        &self,
        arguments: &[OsString],
        name: &str,
        said: &mut Vec<String>,
    ) -> Result<(Outcome, Vec<u8>)> {
        let mut child = spawn(arguments)?;
        let mut stdin = child.stdin.take();
        let mut stdout = child.stdout.take().context("a pipe")?;
        let (tell, told) = unbounded();
        pass_on(child.stderr.take(), 0, tell, Told::Line)?;
        let text = Builder::new().spawn(move || {
            let mut text = Vec::new();
            stdout.read_to_end(&mut text).map(|_| text)
        })?;
        let mut error = String::new();
        loop {
            match told.recv_timeout(TICK) {
                Ok((_, Told::Line(line))) => match line.strip_prefix(ERROR) {
                    Some(text) => error = text.to_owned(),
                    None => said.push(line),
                },
                // Without its parent's pipe it ends.
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => drop(stdin.take()),
                Err(RecvTimeoutError::Timeout) => {}
                _ => break,
            }
        }
        let status = child.wait()?;
        let text = text.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        match status.code() {
            Some(0) => Ok((Outcome::Complete, text)),
            Some(code) if code == i32::from(signals::INTERRUPTED) => Ok((Outcome::Interrupted, text)),
            code => {
                let why = if error.is_empty() { format!("its process has ended: {status}") } else { error };
                let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                Err(Failed { name: name.to_owned(), why, code }.into())
            }
        }
    }
}

/// How the program begins the line of an error, and of a warning.
const ERROR: &str = "histeq-video: error: ";
const WARNING: &str = "histeq-video: warning: ";

/// The processes at work.
struct Crew<'a> {
    workers: &'a Workers<'a>,
    tasks: &'a [Task],
    working: Vec<Working>,
    /// Lines that were printed: many pieces say the same of one input.
    said: HashSet<String>,
    gpus: usize,
    tell: Sender<(usize, Told)>,
    told: Receiver<(usize, Told)>,
    done: Done,
    /// Microseconds of video that processes have done which have ended.
    position: i64,
}

impl Crew<'_> {
    /// Takes in what processes tell.
    fn listen(&mut self) -> Result<()> {
        let first = self.told.recv_timeout(TICK).ok();
        for (task, told) in first.into_iter().chain(self.told.try_iter()) {
            let Some(working) = self.working.iter_mut().find(|working| working.task == task) else { continue };
            match told {
                Told::Progress(reached) => working.reached = reached,
                Told::Closed => working.open -= 1,
                Told::Line(line) => match line.strip_prefix(ERROR) {
                    Some(error) => working.error = error.to_owned(),
                    None if self.said.insert(line.clone()) => self.workers.pass_on(&line)?,
                    None => {}
                },
            }
        }
        Ok(())
    }

    /// Takes in the ends of processes.
    fn collect(&mut self, waiting: &mut VecDeque<Waiting>) -> Result<()> {
        let mut index = 0;
        while index < self.working.len() {
            let working = &mut self.working[index];
            let Some(status) = working.child.try_wait()?.filter(|_| working.open == 0) else {
                index += 1;
                continue;
            };
            let Working { task, attempt, gpu, error, reached, .. } = self.working.swap_remove(index);
            if status.success() {
                self.done.frames += self.tasks[task].frames.unwrap_or(reached.frames);
                self.position += reached.position;
                self.done.damaged += reached.damaged;
                continue;
            }
            // One without a code was killed; 134 is an abort, 75 asks for another attempt.
            let code = status.code();
            let may_succeed = code.is_none_or(|code| code == 75 || code == 134);
            let why = if error.is_empty() { format!("its process has ended: {status}") } else { error };
            if may_succeed && attempt < ATTEMPTS && !self.workers.cancel.is_cancelled() {
                let name = &self.tasks[task].name;
                self.workers.console.info(&format!("histeq-video: {name}: {why}: trying again"));
                let not_before = Instant::now() + PAUSE;
                waiting.push_front(Waiting { task, attempt: attempt + 1, not_before, gpu: Some(gpu) });
                continue;
            }
            let tried = if attempt > 1 { format!(" (tried {attempt} times)") } else { String::new() };
            let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
            self.done.failed.push(Failed { name: self.tasks[task].name.clone(), why: why + &tried, code });
        }
        Ok(())
    }

    /// Begins as many as there may be.
    fn begin(&mut self, waiting: &mut VecDeque<Waiting>) -> Result<()> {
        while self.working.len() < self.workers.jobs {
            let now = Instant::now();
            let Some(index) = waiting.iter().position(|waiting| waiting.not_before <= now) else { break };
            let Some(Waiting { task, attempt, gpu: before, .. }) = waiting.remove(index) else { break };
            // In another attempt not the GPU of the one before; else the one that has the fewest.
            let load = |gpu: usize| self.working.iter().filter(|working| working.gpu == gpu).count();
            let gpu = (0..self.gpus).min_by_key(|&gpu| (before == Some(gpu), load(gpu))).unwrap_or(0);
            let mut arguments = self.tasks[task].arguments.clone();
            if self.gpus > 1 && self.tasks[task].takes_gpu {
                arguments.extend(["--gpu".into(), gpu.to_string().into()]);
            }
            let mut child = spawn(&arguments)?;
            let (frames, lines) = (child.stdout.take(), child.stderr.take());
            let progress = |line: String| progress_of(&line).map_or(Told::Line(line), Told::Progress);
            let open = u32::from(pass_on(frames, task, self.tell.clone(), progress)?)
                + u32::from(pass_on(lines, task, self.tell.clone(), Told::Line)?);
            self.working.push(Working {
                task,
                attempt,
                gpu,
                child,
                reached: Reached::default(),
                error: String::new(),
                open,
            });
        }
        Ok(())
    }

    /// Ends all processes, and waits for them.
    fn end(mut self) -> Done {
        for working in &mut self.working {
            // Without its parent's pipe it ends by itself; what it has not finished leaves nothing.
            drop(working.child.stdin.take());
        }
        for working in &mut self.working {
            let begin = Instant::now();
            while working.child.try_wait().is_ok_and(|status| status.is_none()) {
                if begin.elapsed() > PATIENCE {
                    let _ = working.child.kill();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        self.done
    }
}

/// Starts this program with pipes for all that it reads and says. Its options are the arguments alone.
fn spawn(arguments: &[OsString]) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HISTEQ_")) {
        command.env_remove(name);
    }
    command.env("HISTEQ_CONFIG", "");
    command.args(arguments).args(["--progress", "none", "--progress-file", ""]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("no process can be started (`ulimit -u` limits them)")
}

/// Passes the lines of a pipe on, and its end.
fn pass_on<R: Read + Send + 'static>(
    pipe: Option<R>,
    task: usize,
    tell: Sender<(usize, Told)>,
    told: impl Fn(String) -> Told + Send + 'static,
) -> Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let read = move || {
        for line in BufReader::new(pipe).lines().map_while(|line| line.ok()) {
            let _ = tell.send((task, told(line)));
        }
        let _ = tell.send((task, Told::Closed));
    };
    Builder::new().name("worker".to_owned()).spawn(read).context("no thread can be started")?;
    Ok(true)
}

/// The options by which another process of this program prints as much, and is as strict.
pub fn said_as(stderr: &StderrOptions) -> impl Iterator<Item = OsString> + use<> {
    let strict = stderr.strict.then_some("--strict");
    let verbosity = match stderr.verbosity {
        Verbosity::Quiet => Some("--quiet"),
        Verbosity::Warnings => Some("--log-level=warning"),
        Verbosity::Normal => None,
        Verbosity::Verbose => Some("--verbose"),
    };
    strict.into_iter().chain(verbosity).map(OsString::from)
}

/// How many GPUs there are.
fn gpus() -> usize {
    let is_there = |index: &usize| Gpu::open(*index).is_ok();
    let is_last = |index: &usize| matches!(Gpu::open(*index), Err(Error::NoDriver | Error::NoSuchDevice { .. }));
    if !is_there(&0) { 0 } else { 1 + (1..).take_while(|index| !is_last(index)).count() }
}

/// Tells the parent, on stdout, how many frames are done, how many microseconds of the video, and how many were damaged.
pub fn tell(progress: &Progress) {
    let mut stdout = std::io::stdout();
    // A parent that is gone wants to know nothing.
    let reached = format!("{} {} {}", progress.written(), progress.position(), progress.damaged());
    let _ = writeln!(stdout, "{reached}").and_then(|()| stdout.flush());
}

fn progress_of(line: &str) -> Option<Reached> {
    let mut numbers = line.split(' ');
    let mut next = || numbers.next();
    let (frames, position, damaged) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    Some(Reached { frames, position, damaged })
}

/// Cancels the run when the parent has ended, and with it the pipe on stdin.
pub fn end_with_parent(cancel: Cancel) -> Result<()> {
    let wait = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel.cancel();
    };
    Builder::new().name("parent".to_owned()).spawn(wait).map(drop).context("no thread can be started")
}
