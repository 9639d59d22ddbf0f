//! The whole command line: the commands with their options, and the job that each becomes.

use super::defaults::{asks_for_help, with_defaults};
use super::habits;
use super::jobs::cameras::{Camera, CameraFile};
use super::jobs::compare::{CompareArgs, CompareJob};
use super::jobs::file::{FileArgs, FileJob};
use super::jobs::live::{LiveArgs, LiveJob};
use super::jobs::many::ManyJob;
use super::jobs::pieces::{JoinArgs, JoinJob, PlanArgs, PlanJob, RunArgs, RunJob, StatusArgs};
use super::jobs::preview::{PreviewArgs, PreviewJob};
use super::jobs::work::{WorkArgs, WorkJob};
use super::shell::man_page;
use super::short_help::SHORT_HELP;
use super::values::usage;
use super::writing::stderr::{EventsTo, StderrOptions, Verbosity};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use histeq_media::sink::files::Overwrite;
use histeq_media::source::Isolation;
use histeq_media::sys::files::Name;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bring out what is hidden in dark, hazy or flat video: equalizes luminance on a GPU or the CPU.
#[derive(Parser, Debug)]
#[command(name = "histeq-video", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_long_help = "\
Times are written as 90 (seconds), 1:30, 00:01:30.5, 5m or 1h30m.
Exit codes: 0 done, 1 and 4 to 11 failed (missing 4, refused 5, device 6, damage 7, limit 8, disk 9, exists 10, \
unsupported 11), 2 usage error, 3 nothing done (-n), 130 interrupted (what was encoded is kept as a playable file).

Examples:
  histeq-video night.mp4 night-clear.mp4
  histeq-video --strength 0.5 dive.mov dive-clear.mov
  histeq-video --start 1:30 --duration 20 --encoder ffv1 in.mkv part.mkv
  histeq-video dark%04d.png clear%04d.png
  ffmpeg -i in.mkv -f yuv4mpegpipe - | histeq-video - - | x264 --demuxer y4m -o out.264 -")]
pub struct Args {
    /// What to do other than equalizing a file.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The options of equalizing a file.
    #[command(flatten)]
    pub file: FileArgs,
}

/// The commands other than equalizing a file.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Equalize a camera as it films: window, recording, virtual camera, stream
    Live(Box<LiveArgs>),
    /// Show two videos or images in one, with histograms and the curve between them
    Compare(Box<CompareArgs>),
    /// Show a few frames under every look on one sheet, to choose a look
    Preview(Box<PreviewArgs>),
    /// Do all of it on a page in the browser: choose films of a folder, see them, make them
    Web(Box<WorkArgs>),
    /// Plan to work on a video in pieces: prints the plan, for run, status and join
    Plan(Box<PlanArgs>),
    /// Work on pieces of a plan; those that are done are left alone
    Run(RunArgs),
    /// Join the pieces of a plan to the files that one run gives
    Join(JoinArgs),
    /// Tell which pieces of a plan are done
    Status(StatusArgs),
    /// Tell in a minute what this machine does: CPU, GPU, a file beside ffmpeg
    Bench,
    /// List the GPUs, cameras, microphones and video encoders of this machine
    Devices {
        /// List all encoders, not those alone that people use
        #[arg(long)]
        all: bool,
    },
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the man page
    Man {
        /// Page of this subcommand instead of the program's
        command: Option<String>,
        /// Write the pages of the program and of every subcommand into this folder instead
        #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// What the program is to do. The options are checked; files and devices are not opened yet.
pub enum Job {
    /// Equalize a file.
    File(Box<FileJob>),
    /// Equalize cameras: a job for each, at least one.
    Live(Vec<LiveJob>),
    /// Equalize the cameras of a file, which may change while they run. There is at least one.
    Cameras(CameraFile, Vec<Camera>),
    /// Show two videos in one.
    Compare(Box<CompareJob>),
    /// Show a few frames under every look.
    Preview(Box<PreviewJob>),
    /// Serve the page that does the work.
    Work(Box<WorkJob>),
    /// Equalize many files. The options are those of a job for the first file, if there is one.
    Many(ManyJob, Option<Box<FileJob>>),
    /// Plan to work on files in pieces.
    Plan(PlanJob),
    /// Work on pieces of a plan.
    Run(RunJob),
    /// Join the pieces of a plan.
    Join(JoinJob),
    /// List which pieces of a plan are done.
    Status(StatusArgs),
    /// Measure this machine.
    Bench,
    /// Print the versions of the program and of FFmpeg; as JSON, what this build and this machine have.
    Version {
        /// Whether to print JSON.
        as_json: bool,
    },
    /// List devices and encoders: all, or those that people use.
    Devices {
        /// Whether to list all.
        all: bool,
    },
    /// Print shell completions.
    Completions(Shell),
    /// Print this man page.
    ManPage(Vec<u8>),
    /// Write all man pages into this folder.
    ManPages(PathBuf),
}

impl Job {
    /// Whether it equalizes cameras.
    pub fn is_live(&self) -> bool {
        matches!(self, Job::Live(_) | Job::Cameras(..))
    }

    /// Whether it decodes inputs in separate processes.
    pub fn isolates(&self) -> bool {
        match self {
            Job::File(job) => !job.sandbox.is_off(),
            Job::Live(jobs) => jobs.iter().any(|job| job.camera.isolation != Isolation::Off),
            Job::Cameras(_, cameras) => cameras.iter().any(|camera| camera.job.camera.isolation != Isolation::Off),
            Job::Compare(job) => !job.sandbox.is_off(),
            Job::Preview(job) => !job.sandbox.is_off(),
            Job::Work(job) => job.isolation != Isolation::Off,
            Job::Many(..) | Job::Plan(_) | Job::Run(_) | Job::Join(_) => true,
            _ => false,
        }
    }

    /// The job for this command line.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let program = Args::command();
        let words = habits::asked(&program, words.into_iter().collect());
        let has = |name: &str| words.iter().take_while(|word| *word != "--").any(|word| word == name);
        if has("-V") || has("--version") {
            return Ok(Job::Version { as_json: has("--json") });
        }
        if words.iter().any(|word| asks_for_help(word)) {
            return Job::from_words(words);
        }
        let words = habits::understood(&program, words)?;
        if let Some(file) = CameraFile::named_by(&words) {
            let cameras = file.read().map_err(|error| error.format(&mut Args::command()))?;
            return Ok(Job::Cameras(file, cameras));
        }
        let (all, origins) = with_defaults(Args::command(), words.clone())?;
        match (Job::from_words(all), origins) {
            // Without the defaults, there is no error: the fault is in one of them.
            (Err(error), Some(origins)) if Job::from_words(words).is_ok() => {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").lines().next().unwrap_or_default();
                Err(usage(error.kind(), &format!("{message} (options also come from {origins})"))
                    .format(&mut Args::command()))
            }
            (job, _) => job,
        }
    }

    /// The words of this process's command line, with the configured defaults inserted after the command.
    pub fn words() -> Result<Vec<OsString>, clap::Error> {
        let words = habits::understood(&Args::command(), std::env::args_os().collect())?;
        Ok(with_defaults(Args::command(), words)?.0)
    }

    /// The options of this process's command line, for a child process that gets other names of input and output.
    pub fn options() -> Result<Vec<OsString>, clap::Error> {
        let words = Job::words()?;
        // Only names follow `--`. One `-` stands for them, since a name is required.
        let dashes = words.iter().position(|word| word == "--");
        let options = words[1..dashes.unwrap_or(words.len())].iter().cloned();
        Ok(options.chain(dashes.map(|_| "-".into())).collect())
    }

    /// The job for these words, without defaults.
    pub(super) fn from_words(words: Vec<OsString>) -> Result<Self, clap::Error> {
        // `-h` without a command prints only what most people need.
        let command = Args::command();
        let is_command = |word: &OsString| word.to_str().is_some_and(|name| command.find_subcommand(name).is_some());
        if words.iter().any(|word| word == "-h") && !words.get(1).is_some_and(is_command) {
            command.override_help(SHORT_HELP).try_get_matches_from(&words)?;
        }
        Args::try_parse_from(words).and_then(Job::from_args)
    }

    /// Checks and converts the options.
    pub fn from_args(args: Args) -> Result<Self, clap::Error> {
        Self::checked(args).map_err(|error| error.format(&mut Args::command()))
    }

    /// What is printed on stderr, if there are options for it.
    fn stderr(&self) -> Option<&StderrOptions> {
        match self {
            Job::File(job) => Some(&job.stderr),
            Job::Live(jobs) => Some(&jobs[0].stderr),
            Job::Cameras(_, cameras) => Some(&cameras[0].job.stderr),
            Job::Compare(job) => Some(&job.stderr),
            Job::Preview(job) => Some(&job.stderr),
            Job::Work(job) => Some(&job.stderr),
            Job::Many(job, _) => Some(&job.stderr),
            Job::Plan(job) => Some(&job.file.stderr),
            Job::Run(RunJob { stderr, .. }) | Job::Join(JoinJob { stderr, .. }) => Some(stderr),
            Job::Bench
            | Job::Version { .. }
            | Job::Status(_)
            | Job::Devices { .. }
            | Job::Completions(_)
            | Job::ManPage(_)
            | Job::ManPages(_) => None,
        }
    }

    /// Whether this is a child process of this program.
    pub fn is_child(&self) -> bool {
        self.stderr().is_some_and(|stderr| stderr.is_child)
    }

    /// The time limit of the run; `None` for many files, where the limit applies to each file.
    pub fn time(&self) -> Option<Duration> {
        match self {
            Job::File(job) => job.limits.time,
            Job::Plan(PlanJob { many: None, file, .. }) => file.limits.time,
            Job::Compare(job) => job.limits.time,
            Job::Preview(job) => job.limits.time,
            _ => None,
        }
    }

    /// How much is printed on stderr.
    pub fn verbosity(&self) -> Verbosity {
        self.stderr().map_or(Verbosity::Normal, |stderr| stderr.verbosity)
    }

    /// Whether warnings are errors.
    pub fn is_strict(&self) -> bool {
        self.stderr().is_some_and(|stderr| stderr.strict)
    }

    /// Where events go.
    pub fn events(&self) -> &EventsTo {
        self.stderr().map_or(&EventsTo::Nowhere, |stderr| &stderr.events)
    }

    /// Whether events of earlier runs are replaced, not continued.
    pub fn replaces_events(&self) -> bool {
        let overwrite = match self {
            Job::Many(many, _) => return many.overwrites,
            Job::Join(job) => return job.overwrites,
            Job::File(job) => job.output.overwrite,
            Job::Live(jobs) => jobs[0].overwrite,
            Job::Cameras(_, cameras) => cameras[0].job.overwrite,
            Job::Compare(job) => job.output.overwrite,
            _ => return false,
        };
        overwrite == Overwrite::Yes
    }

    /// The files that are read and written, without the file of events.
    pub fn files(&self) -> Vec<&Name> {
        match self {
            Job::File(job) => job.written_files().chain([&job.input.url]).chain(job.read_files()).collect(),
            Job::Live(jobs) => jobs.iter().flat_map(LiveJob::files).collect(),
            Job::Cameras(_, cameras) => cameras.iter().flat_map(|camera| camera.job.files()).collect(),
            Job::Compare(job) => job.inputs.iter().map(|input| &input.url).chain([&job.output.name]).collect(),
            Job::Many(many, _) => many.files.iter().flat_map(|(input, output)| [input, output]).collect(),
            _ => Vec::new(),
        }
    }

    /// As `from_args`; the errors have no usage line yet.
    fn checked(args: Args) -> Result<Self, clap::Error> {
        Ok(match args.command {
            None => {
                refuse_late_command(&args.file)?;
                let mut args = args.file;
                match args.many()? {
                    Some(many) if many.files.is_empty() => Job::Many(many, None),
                    Some(many) => Job::Many(many, Some(Box::new(FileJob::from_args(args)?))),
                    None => Job::File(Box::new(FileJob::from_args(args)?)),
                }
            }
            Some(Command::Live(args)) => Job::Live(LiveJob::from_args(*args)?),
            Some(Command::Compare(args)) => Job::Compare(Box::new(CompareJob::from_args(*args)?)),
            Some(Command::Preview(args)) => Job::Preview(Box::new(PreviewJob::from_args(*args)?)),
            Some(Command::Web(args)) => Job::Work(Box::new(WorkJob::from_args(*args)?)),
            Some(Command::Plan(args)) => Job::Plan(PlanJob::from_args(*args)?),
            Some(Command::Run(args)) => Job::Run(RunJob::from_args(args)?),
            Some(Command::Join(args)) => Job::Join(JoinJob::from_args(args)),
            Some(Command::Status(args)) => Job::Status(args),
            Some(Command::Bench) => Job::Bench,
            Some(Command::Devices { all }) => Job::Devices { all },
            Some(Command::Completions { shell }) => Job::Completions(shell),
            Some(Command::Man { out: Some(folder), .. }) => Job::ManPages(folder),
            Some(Command::Man { command, out: None }) => Job::ManPage(man_page(command.as_deref())?),
        })
    }
}

/// Refuses an input whose name is that of a command, or nearly so: clap takes a command that follows an option, or is
/// misspelt, for an input.
fn refuse_late_command(args: &FileArgs) -> Result<(), clap::Error> {
    let Some(input) = args.input.as_ref().and_then(Name::text).filter(|input| !Path::new(input).exists()) else {
        return Ok(());
    };
    let program = Args::command();
    if program.find_subcommand(input).is_some() {
        let message = format!("{input} is a command, and comes before all options: histeq-video {input} --help");
        return Err(usage(ErrorKind::ArgumentConflict, &message));
    }
    match crate::options::short_help::similar_command(&program, input)
        .filter(|_| !input.contains(['.', '/', ':', '%', '-']))
    {
        Some(command) => {
            let message = format!("{input}: no such file, and no such command: {command}?");
            Err(usage(ErrorKind::InvalidSubcommand, &message))
        }
        None => Ok(()),
    }
}
