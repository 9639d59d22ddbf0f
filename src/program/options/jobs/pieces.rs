//! `histeq-video plan`, `run`, `join` and `status`: the options of working on files in pieces.

use super::file::{FileArgs, FileJob};
use super::many::{Jobs, ManyJob};
use crate::options::defaults::HAS_NUL;
use crate::options::reading::limits::ThreadArgs;
use crate::options::values::{seconds, usage};
use crate::options::writing::stderr::{StderrArgs, StderrOptions};
use anyhow::{Result, anyhow, ensure};
use clap::error::ErrorKind;
use clap::{Args, Parser};
use histeq_media::sys::files::Name;
use std::ffi::OsStr;
use std::iter;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The options of `plan`, as typed.
#[derive(Args, Debug)]
#[command(mut_arg("dry_run", |arg| arg.hide(true)), mut_arg("json", |arg| arg.hide(true)))]
#[command(after_help = "histeq-video plan --help shows all other options, which are those of equalizing a file.")]
#[command(after_long_help = "\
The packets of the input are read, and none is decoded. docs/scale.md describes the plan, and what is promised.

Examples:
  histeq-video plan film.mkv clear.mkv --method clahe > plan.json
  histeq-video run plan.json --jobs 4 && histeq-video join plan.json")]
pub struct PlanArgs {
    /// Length of a piece in seconds, 0.1 to 86400 [default: 60; an eighth of a short video, but at least four
    /// times what is decoded around a piece; its share for --jobs]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Pieces")]
    pub piece: Option<f64>,

    /// The options of equalizing a file.
    #[command(flatten)]
    pub file: FileArgs,
}

/// The command `plan` alone, to read its arguments again.
#[derive(Parser)]
struct PlanCommand {
    #[command(flatten)]
    plan: PlanArgs,
}

/// The options of `run`, as typed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Exit codes: 0 done, 1 and 4 to 11 failed, 2 usage error, 65 the input is not the one that was planned, 75 try again (a \
GPU was lost, the disk is full, terminated).

Examples:
  histeq-video run plan.json --piece $SLURM_ARRAY_TASK_ID
  histeq-video run plan.json --jobs 4")]
pub struct RunArgs {
    /// File with the plan
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub plan: PathBuf,

    /// Number of a piece, or the first and the last one, like 0-9 [default: all]
    #[arg(long, value_name = "N", value_parser = piece_range)]
    pub piece: Option<RangeInclusive<usize>>,

    /// How many pieces are worked on at once, each by a process of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: u16,

    /// GPU to use, counted from 0 [default: that of the plan; with --jobs, all in turn]
    #[arg(long, value_name = "N")]
    pub gpu: Option<usize>,

    /// The number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Ends when stdin is closed, as by a parent that has ended
    #[arg(long, hide = true)]
    pub child: bool,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,
}

/// The options of `join`, as typed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Exit codes: 0 joined, 1 and 4 to 11 failed, 2 usage error, 65 the input is not the one that was planned, 130 joined up \
to the first piece that is missing (--partial).")]
pub struct JoinArgs {
    /// File with the plan
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub plan: PathBuf,

    /// Join one file of the plan only, counted from 0
    #[arg(long, value_name = "N")]
    pub file: Option<usize>,

    /// Overwrite existing outputs [default: as plan was told]
    #[arg(short = 'y')]
    pub yes: bool,

    /// Keep the pieces [default: they are removed once their file is whole]
    #[arg(long)]
    pub keep: bool,

    /// Join the pieces before the first one that is missing, as NAME.partial.EXT
    #[arg(long)]
    pub partial: bool,

    /// Ends when stdin is closed, as by a parent that has ended
    #[arg(long, hide = true)]
    pub child: bool,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,
}

/// The options of `status`.
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// File with the plan
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub plan: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The checked options of `plan`.
pub struct PlanJob {
    /// The files, if there are many.
    pub many: Option<ManyJob>,
    /// The job of the file, or of the first of many.
    pub file: Box<FileJob>,
    /// Length of a piece in seconds.
    pub piece: Option<f64>,
    /// How many processes of one host share the pieces, if that is known.
    pub jobs: Option<Jobs>,
}

/// The checked options of `run`.
pub struct RunJob {
    pub plan: PathBuf,
    /// The pieces to work on; all if `None`.
    pub pieces: Option<RangeInclusive<usize>>,
    /// How many pieces are worked on at once.
    pub jobs: usize,
    /// The index of the GPU.
    pub gpu: Option<usize>,
    /// Threads, if they are not those of the plan.
    pub threads: Option<u16>,
    pub stderr: StderrOptions,
}

/// The checked options of `join`.
pub struct JoinJob {
    pub plan: PathBuf,
    /// The index of the file to join; all if `None`.
    pub file: Option<usize>,
    /// Whether existing outputs are overwritten, whatever the plan says.
    pub overwrites: bool,
    /// Whether pieces are kept.
    pub keeps: bool,
    /// Whether the first pieces are joined if others are missing.
    pub is_partial: bool,
    pub stderr: StderrOptions,
}

impl PlanJob {
    /// Checks and converts `args`.
    pub(crate) fn from_args(args: PlanArgs) -> Result<Self, clap::Error> {
        let piece = args.piece;
        if piece.is_some_and(|seconds| !(0.1..=86400.0).contains(&seconds)) {
            return Err(usage(ErrorKind::ValueValidation, "--piece is a number of seconds from 0.1 to 86400"));
        }
        let mut file = args.file;
        if file.dry_run {
            let message = "--dry-run: plan writes no video, but a plan (leave plan out to see what a run does)";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        // With many files, each process works on whole files, not on pieces.
        let jobs = file.many.jobs.filter(|_| file.many.output_dir.is_none());
        let many = file.many()?;
        if many.as_ref().is_some_and(|many| many.files.is_empty()) {
            return Err(usage(ErrorKind::ValueValidation, "there is no video in these folders"));
        }
        Ok(PlanJob { many, file: Box::new(FileJob::from_args(file)?), piece, jobs })
    }
}

impl RunJob {
    /// Converts `args`.
    pub(crate) fn from_args(args: RunArgs) -> Result<Self, clap::Error> {
        let RunArgs { plan, piece, jobs, gpu, threads, child, stderr } = args;
        if gpu.is_some() && jobs > 1 {
            return Err(usage(ErrorKind::ArgumentConflict, "--gpu is for one job; several take all GPUs in turn"));
        }
        Ok(RunJob {
            plan,
            pieces: piece,
            jobs: jobs.into(),
            gpu,
            threads: threads.threads,
            stderr: StderrOptions { is_child: child, ..stderr.into() },
        })
    }
}

impl JoinJob {
    /// Converts `args`.
    pub(crate) fn from_args(args: JoinArgs) -> Self {
        let JoinArgs { plan, file, yes, keep, partial, child, stderr } = args;
        let (overwrites, keeps, is_partial) = (yes, keep, partial);
        let stderr = StderrOptions { is_child: child, ..stderr.into() };
        JoinJob { plan, file, overwrites, keeps, is_partial, stderr }
    }
}

fn piece_range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err("a piece is a number like 7, several are like 0-9".to_owned()),
    }
}

/// What a plan keeps of the job of one of its files.
pub struct PlannedFile<'a> {
    /// The arguments of `plan`, and the folder in which it was called.
    pub arguments: &'a [Name],
    pub folder: &'a Path,
    /// The names of the file that is read, and of the one that is written.
    pub input: &'a Name,
    pub output: &'a Name,
}

impl PlannedFile<'_> {
    /// The job of equalizing this file, as it was planned.
    pub fn job(&self) -> Result<FileJob> {
        let arguments = iter::once(OsStr::new("plan")).chain(self.arguments.iter().map(Name::as_ref));
        let wrong =
            |error: clap::Error| anyhow!("not a plan: its arguments are not those of plan: {}", first_line(&error));
        ensure!(!self.arguments.iter().any(|word| word.bytes().contains(&0)), "not a plan: {HAS_NUL}");
        let mut args = PlanCommand::try_parse_from(arguments).map_err(wrong)?.plan.file;
        args.many.made_up |= args.output.is_none() && args.many.one_of.is_none();
        (args.many.jobs, args.many.output_dir, args.many.one_of) = (None, None, None);
        args.many.more.clear();
        (args.input, args.output) = (Some(self.input.clone()), Some(self.output.clone()));
        let (equalize, lut) = (&mut args.equalize, &mut args.filters.lut);
        args.stats.iter_mut().for_each(|name| *name = self.folder.join(&*name).into());
        for name in [&mut equalize.mask, &mut equalize.load_curves, &mut equalize.save_curves, lut] {
            *name = name.take().map(|name| self.folder.join(name).into());
        }
        FileJob::from_args(args).map_err(wrong)
    }
}

fn first_line(error: &clap::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
