//! Processes that each work on one piece: their progress, their end, another attempt.

use crate::signals;
use anyhow::{Context, Result, bail};
use crossbeam_channel::{Receiver, Sender, unbounded};
use histeq_video::cli::{JoinJob, StderrOptions};
use histeq_video::cuda::{Error, Gpu};
use histeq_video::pieces::{PieceState, Plan, state_of};
use histeq_video::pipeline::{Cancel, Outcome, Progress};
use histeq_video::report::{Console, Meter, MeterStyle};
use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often a piece is tried.
const ATTEMPTS: u32 = 3;

/// How often processes are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long an attempt waits after one that failed.
const PAUSE: Duration = Duration::from_millis(500);

/// A process that worked on a piece has ended with this exit code.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Ended(pub String, pub u8);

/// Works on pieces of a plan, each in a process of its own.
pub struct Workers<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its file.
    pub file: &'a Path,
    /// How many processes there are at once.
    pub jobs: usize,
    /// What is printed.
    pub stderr: StderrOptions,
}

/// A piece that waits.
struct Waiting {
    piece: usize,
    attempt: u32,
    not_before: Instant,
}

/// A piece that is worked on.
struct Working {
    piece: usize,
    attempt: u32,
    gpu: usize,
    child: Child,
    frames: u64,
    /// Its last line that names an error.
    error: String,
    /// How many of its pipes are open.
    open: u32,
}

/// What a process tells.
enum Told {
    Frames(u64),
    Line(String),
    Closed,
}

impl Workers<'_> {
    /// Works on these pieces.
    ///
    /// # Errors
    /// When one fails for good; with the exit code of its process, [`Ended`].
    pub fn run(&self, pieces: RangeInclusive<usize>, console: &Console) -> Result<Outcome> {
        let cancel = Cancel::default();
        signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
        self.work(pieces, console, &cancel)
    }

    /// As [`run`](Self::run), until `cancel` ends it.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn work(&self, pieces: RangeInclusive<usize>, console: &Console, cancel: &Cancel) -> Result<Outcome> {
        let now = Instant::now();
        let (mut done, mut all) = (0, 0);
        let mut waiting = VecDeque::new();
        for piece in pieces {
            let (file, number) = self.plan.piece(piece)?;
            let frames = file.pieces[number].1 as u64;
            if state_of(file, number).0 == PieceState::Done {
                done += frames;
            } else {
                waiting.push_back(Waiting { piece, attempt: 1, not_before: now });
            }
            all += frames;
        }
        let progress = Progress::default();
        let mut meter = Meter::start((self.stderr.meter, console.events().cloned()), Some(all), None, None);
        if self.stderr.meter == MeterStyle::Bar {
            console.set_bar(meter.bar());
        }
        let gpus = if self.jobs > 1 { gpus() } else { 0 };
        let (tell, told) = unbounded();
        let mut crew = Crew { workers: self, working: Vec::new(), said: HashSet::new(), gpus, tell, told };
        let result = loop {
            crew.listen(console);
            match crew.collect(&mut waiting, &mut done) {
                Ok(()) => {}
                Err(error) => break Err(error),
            }
            progress.reach(done + crew.working.iter().map(|working| working.frames).sum::<u64>());
            meter.update(&progress);
            if cancel.is_cancelled() {
                break Ok(Outcome::Interrupted);
            }
            if let Err(error) = crew.begin(&mut waiting) {
                break Err(error);
            }
            if crew.working.is_empty() && waiting.is_empty() {
                break Ok(Outcome::Complete);
            }
        };
        crew.end();
        meter.finish(&progress, matches!(result, Ok(Outcome::Complete)));
        result
    }
}

/// The processes at work.
struct Crew<'a> {
    workers: &'a Workers<'a>,
    working: Vec<Working>,
    /// Lines that were printed: many pieces say the same of one input.
    said: HashSet<String>,
    gpus: usize,
    tell: Sender<(usize, Told)>,
    told: Receiver<(usize, Told)>,
}

impl Crew<'_> {
    /// Takes in what processes tell.
    fn listen(&mut self, console: &Console) {
        let first = self.told.recv_timeout(TICK).ok();
        for (piece, told) in first.into_iter().chain(self.told.try_iter()) {
            let Some(working) = self.working.iter_mut().find(|working| working.piece == piece) else { continue };
            match told {
                Told::Frames(frames) => working.frames = frames,
                Told::Closed => working.open -= 1,
                Told::Line(line) => match line.strip_prefix("histeq-video: error: ") {
                    Some(error) => working.error = error.to_owned(),
                    None if self.said.insert(line.clone()) => console.info(&line),
                    None => {}
                },
            }
        }
    }

    /// Takes in the ends of processes.
    fn collect(&mut self, waiting: &mut VecDeque<Waiting>, done: &mut u64) -> Result<()> {
        let mut index = 0;
        while index < self.working.len() {
            let working = &mut self.working[index];
            let Some(status) = working.child.try_wait()?.filter(|_| working.open == 0) else {
                index += 1;
                continue;
            };
            let Working { piece, attempt, error, .. } = self.working.swap_remove(index);
            if status.success() {
                let (file, number) = self.workers.plan.piece(piece)?;
                *done += file.pieces[number].1 as u64;
                continue;
            }
            // One without a code was killed.
            let code = status.code();
            let may_succeed = code.is_none_or(|code| code == 75 || code == 134);
            if may_succeed && attempt < ATTEMPTS {
                waiting.push_front(Waiting { piece, attempt: attempt + 1, not_before: Instant::now() + PAUSE });
                continue;
            }
            let tried = if attempt > 1 { format!(" (tried {attempt} times)") } else { String::new() };
            let why = if error.is_empty() { format!("its process has ended: {status}") } else { error };
            let code = code.map_or(1, |code| u8::try_from(code).unwrap_or(1));
            return Err(Ended(format!("piece {piece}: {why}{tried}"), code).into());
        }
        Ok(())
    }

    /// Begins as many as there may be.
    fn begin(&mut self, waiting: &mut VecDeque<Waiting>) -> Result<()> {
        while self.working.len() < self.workers.jobs {
            let now = Instant::now();
            let Some(index) = waiting.iter().position(|waiting| waiting.not_before <= now) else { break };
            let Some(Waiting { piece, attempt, .. }) = waiting.remove(index) else { break };
            // The GPU that has the fewest, and in another attempt not the same as before.
            let load = |gpu: usize| self.working.iter().filter(|working| working.gpu == gpu).count();
            let turn =
                |gpu: usize| (gpu + self.gpus - (piece + attempt as usize) % self.gpus.max(1)) % self.gpus.max(1);
            let gpu = (0..self.gpus).min_by_key(|&gpu| (load(gpu), turn(gpu))).unwrap_or(0);
            let mut arguments = vec!["--piece".to_owned(), piece.to_string()];
            if self.gpus > 1 {
                arguments.extend(["--gpu".to_owned(), gpu.to_string()]);
            }
            let mut child = self.spawn(&arguments)?;
            let (frames, lines) = (child.stdout.take(), child.stderr.take());
            let number = |line: String| line.parse().map_or(Told::Line(line), Told::Frames);
            let open = u32::from(pass_on(frames, piece, self.tell.clone(), number)?)
                + u32::from(pass_on(lines, piece, self.tell.clone(), Told::Line)?);
            self.working.push(Working { piece, attempt, gpu, child, frames: 0, error: String::new(), open });
        }
        Ok(())
    }

    fn spawn(&self, arguments: &[String]) -> Result<Child> {
        let mut command = itself()?;
        command.arg("run").arg(self.workers.file).args(arguments).args(["--child", "--progress", "none"]);
        command.args(said_as(&self.workers.stderr));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().context("no process can be started (`ulimit -u` limits them)")
    }

    /// Ends all processes, and waits for them.
    fn end(mut self) {
        for working in &mut self.working {
            // Without its parent's pipe it ends by itself; what it has not finished leaves nothing.
            drop(working.child.stdin.take());
        }
        for working in &mut self.working {
            let begin = Instant::now();
            while working.child.try_wait().is_ok_and(|status| status.is_none()) {
                if begin.elapsed() > Duration::from_secs(5) {
                    let _ = working.child.kill();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Passes the lines of a pipe on, and its end.
fn pass_on<R: Read + Send + 'static>(
    pipe: Option<R>,
    piece: usize,
    tell: Sender<(usize, Told)>,
    told: impl Fn(String) -> Told + Send + 'static,
) -> Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let read = move || {
        for line in BufReader::new(pipe).lines().map_while(|line| line.ok()) {
            let _ = tell.send((piece, told(line)));
        }
        let _ = tell.send((piece, Told::Closed));
    };
    Builder::new().name("worker".to_owned()).spawn(read).context("no thread can be started")?;
    Ok(true)
}

/// This program, to be run again, with the options of its command line only.
pub fn itself() -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HISTEQ_")) {
        command.env_remove(name);
    }
    command.env("HISTEQ_CONFIG", "");
    Ok(command)
}

/// The options by which another process of this program prints as much, and is as strict.
fn said_as(stderr: &StderrOptions) -> Vec<&'static str> {
    use histeq_video::report::Verbosity;
    let strict = stderr.strict.then_some("--strict");
    let verbosity = match stderr.verbosity {
        Verbosity::Quiet => Some("--quiet"),
        Verbosity::Warnings => Some("--log-level=warning"),
        Verbosity::Normal => None,
        Verbosity::Verbose => Some("--verbose"),
    };
    strict.into_iter().chain(verbosity).collect()
}

/// How many GPUs there are.
fn gpus() -> usize {
    let is_there = |index: &usize| !matches!(Gpu::open(*index), Err(Error::NoDriver | Error::NoSuchDevice { .. }));
    if !is_there(&0) { 0 } else { 1 + (1..).take_while(is_there).count() }
}

/// Tells the parent, on stdout, how many frames are done.
pub fn tell(progress: &Progress) {
    let mut stdout = std::io::stdout();
    // A parent that is gone wants to know nothing.
    let _ = writeln!(stdout, "{}", progress.written()).and_then(|()| stdout.flush());
}

/// Cancels the run when the parent has ended, and with it the pipe on stdin.
pub fn end_with_parent(cancel: Cancel) -> Result<()> {
    let wait = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel.cancel();
    };
    Builder::new().name("parent".to_owned()).spawn(wait).map(drop).context("no thread can be started")
}

/// Joins each file of a plan, in a process of its own.
pub fn join_all(job: &JoinJob, files: usize) -> Result<Outcome> {
    let mut failed = 0;
    for file in 0..files {
        let mut command = itself()?;
        command.arg("join").arg(&job.plan).args(["--file", &file.to_string()]).args(said_as(&job.stderr));
        command.args(
            [(job.overwrites, "-y"), (job.keeps, "--keep"), (job.is_partial, "--partial")]
                .iter()
                .filter_map(|(given, option)| given.then_some(*option)),
        );
        let status = command.stdin(Stdio::null()).status().context("no process can be started")?;
        if signals::was_interrupted() || status.code() == Some(signals::INTERRUPTED.into()) {
            return Ok(Outcome::Interrupted);
        }
        failed += usize::from(!status.success());
    }
    if failed > 0 {
        bail!("{failed} of {files} files are not joined");
    }
    Ok(Outcome::Complete)
}
