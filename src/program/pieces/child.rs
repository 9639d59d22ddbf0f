//! One child process, and how it ends.

use crate::options::writing::{StderrOptions, Verbosity};
use crate::report::{ErrorRecord, Event, ProgressRecord, ResultRecord};
use anyhow::{Result, anyhow};
use crossbeam_channel::Sender;
use histeq_media::pipeline::Outcome;
use histeq_media::sys::files::Name;
use histeq_media::sys::{limit_of, no_thread};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::Builder;
use std::time::Duration;

/// The most attempts of a run.
pub(super) const ATTEMPTS: u32 = 3;

/// How long a process may take to end when its stdin is closed.
pub(super) const PATIENCE: Duration = Duration::from_secs(8);

/// The exit code of a run that may succeed if it is tried again.
pub const TRY_AGAIN: u8 = 75;

/// The exit code of a process that has aborted.
pub(super) const ABORTED: i32 = 134;

/// A run of this program in a child process.
#[derive(Clone, Debug)]
pub struct ChildRun {
    /// Its name in messages.
    pub name: String,
    /// The file that its own messages are about.
    pub file: Name,
    pub arguments: Vec<OsString>,
    /// How many frames it writes, if that is known.
    pub frames: Option<u64>,
    /// Whether it takes the option `--gpu`.
    pub takes_gpu: bool,
    /// Whether it takes the option `--threads`, for its share of the cores.
    pub shares_cores: bool,
    /// What is printed when it has ended.
    pub end: ChildEnd,
}

/// What is printed when a child process has ended.
#[derive(Clone, Debug)]
pub enum ChildEnd {
    Nothing,
    /// Its summary.
    Summary,
    /// That the file is done or has failed, with the name of its output.
    File(Name),
}

impl ChildRun {
    /// Works on a piece of this many frames of `file`, by the plan in this file, or in this folder of pieces.
    pub fn for_piece(plan: &Path, piece: usize, file: &Name, frames: u64, stderr: &StderrOptions) -> Self {
        let arguments = ["run".into(), plan.into(), "--piece".into(), piece.to_string().into(), "--child".into()];
        ChildRun {
            name: format!("piece {piece}"),
            file: file.clone(),
            arguments: arguments.into_iter().chain(as_strict_and_verbose(stderr)).collect(),
            frames: Some(frames),
            takes_gpu: true,
            shares_cores: true,
            end: ChildEnd::Nothing,
        }
    }
}

/// Why a child process has failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{name}: {}", error.message.strip_prefix(&format!("{name}: ")).unwrap_or(&error.message))]
pub struct ChildError {
    /// Its name in messages.
    pub name: String,
    /// Its last error.
    pub error: ErrorRecord,
    /// Its exit code; 1 if it was killed.
    pub code: u8,
}

/// The result of a child process that did not fail.
pub struct Answer {
    pub outcome: Outcome,
    pub result: ResultRecord,
    pub stdout: Vec<u8>,
}

/// The state of a run, by its events.
#[derive(Default)]
pub(super) struct Reported {
    /// Frames a second of its video.
    rate: Option<f64>,
    pub(super) progress: ProgressRecord,
    error: Option<ErrorRecord>,
    pub(super) result: ResultRecord,
}

/// An event or another line of a process, or the end of a pipe.
#[allow(clippy::large_enum_variant, reason = "almost all of them are events")]
pub enum ProcessOutput {
    Event(Event),
    /// A line that is no event.
    Line(String),
    /// The end of a pipe.
    Closed,
}

impl ProcessOutput {
    /// Prefixes a message with the name of its file, unless the message has that name.
    pub(super) fn named(mut self, file: &str) -> Self {
        if let ProcessOutput::Event(
            Event::Detail { message } | Event::Note { message } | Event::Warning { message, .. },
        )
        | ProcessOutput::Line(message) = &mut self
            && !is_named(message, file)
        {
            message.insert_str(0, &format!("{file}: "));
        }
        self
    }
}

/// Whether a message has the name of this file: at its beginning, or as a word.
fn is_named(message: &str, file: &str) -> bool {
    let is_first = message.strip_prefix(file).is_some_and(|rest| rest.starts_with([':', ' ']));
    is_first || message.split([' ', ':', ',', ';', '(', ')']).any(|word| word == file)
}

impl Reported {
    /// Records the output of the process. Returns the output if it is to be passed on.
    pub(super) fn receive(&mut self, output: ProcessOutput) -> Option<ProcessOutput> {
        match output {
            // The first of two passes writes no frames, so that its progress does not count.
            ProcessOutput::Event(Event::Progress(ProgressRecord { pass: Some(1), .. })) | ProcessOutput::Closed => {}
            ProcessOutput::Event(Event::Start { run, .. }) => self.rate = run.frame_rate,
            ProcessOutput::Event(Event::Progress(progress)) => self.progress = progress,
            ProcessOutput::Event(Event::Error(error)) => self.error = Some(error),
            ProcessOutput::Event(Event::Result(result)) => self.result = *result,
            message => return Some(message),
        }
        None
    }

    /// The error of a process that has ended with this status.
    pub(super) fn error(self, name: &str, status: ExitStatus) -> ChildError {
        let ended = || ErrorRecord { message: format!("its process has ended: {status}"), ..ErrorRecord::default() };
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        ChildError { name: name.to_owned(), error: self.error.unwrap_or_else(ended), code }
    }
}

/// The relative work of each run, used if frames are not known: the bytes of its file. An input that is no file, such
/// as numbered images, counts as the mean of the others.
pub(super) fn weights(runs: &[ChildRun]) -> Vec<f64> {
    let size =
        |run: &ChildRun| std::fs::metadata(&run.file).ok().filter(Metadata::is_file).map(|file| file.len() as f64);
    let sizes: Vec<Option<f64>> = runs.iter().map(size).collect();
    let (sum, count) = (sizes.iter().flatten().sum::<f64>(), sizes.iter().flatten().count());
    let mean = sum / count.max(1) as f64;
    sizes.into_iter().map(|size| size.unwrap_or(mean).max(1.0)).collect()
}

/// The progress of several runs together.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) frames: u64,
    pub(super) decoded: u64,
    pub(super) damaged: u64,
    /// Seconds of video that were read.
    pub(super) position: f64,
    /// The frames of videos whose rate is known, and how long they are, in seconds.
    pub(super) rated: u64,
    pub(super) seconds: f64,
}

impl Sum {
    /// Adds a run that has written this many frames.
    pub(super) fn add(&mut self, Reported { rate, progress, .. }: &Reported, frames: u64) {
        self.frames += frames;
        self.decoded += progress.decoded;
        self.damaged += progress.damaged;
        self.position += progress.position;
        if let Some(rate) = rate {
            self.rated += frames;
            self.seconds += frames as f64 / rate;
        }
    }
}

/// Starts this program with pipes for stdin, stdout and stderr, and its events on stderr. It gets options from
/// `arguments` only, not from the environment or a configuration file.
pub(super) fn spawn(arguments: &[OsString]) -> Result<Child> {
    let mut command = own_program();
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HISTEQ_")) {
        command.env_remove(name);
    }
    command.env("HISTEQ_CONFIG", "");
    command.args(arguments).args(["--progress", "json", "--progress-file", ""]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| anyhow!("no process can be started: {error}{}", limit_of(&error)))
}

/// This program, even if another version has been installed under its name meanwhile.
fn own_program() -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(std::env::args_os().next().unwrap_or_else(|| "histeq-video".into()));
    command
}

/// Sends the lines of a pipe of this run, and its end.
pub(super) fn read_lines<R: Read + Send + 'static>(
    pipe: Option<R>,
    run: usize,
    sender: Sender<(usize, ProcessOutput)>,
) -> Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let read = move || {
        // Messages of libraries may contain names that are not UTF-8.
        for line in BufReader::new(pipe).split(b'\n').map_while(|line| line.ok()) {
            let line = String::from_utf8_lossy(&line).into_owned();
            let output = serde_json::from_str(&line).map_or_else(|_| ProcessOutput::Line(line), ProcessOutput::Event);
            let _ = sender.send((run, output));
        }
        let _ = sender.send((run, ProcessOutput::Closed));
    };
    let thread = Builder::new().name("child output".to_owned()).spawn(read);
    thread.map_err(|error| no_thread(&error))?;
    Ok(true)
}

/// Options that make a child process as strict and verbose as this one. The parent filters what is printed.
pub fn as_strict_and_verbose(stderr: &StderrOptions) -> impl Iterator<Item = OsString> + use<> {
    let strict = stderr.strict.then_some("--strict");
    let verbose = (stderr.verbosity == Verbosity::Verbose).then_some("--verbose");
    strict.into_iter().chain(verbose).map(OsString::from)
}
