//! `histeq-video compare`: the options of drawing two videos as one.

use crate::options::reading::limits::{LimitArgs, RunLimits};
use crate::options::reading::part::PartArgs;
use crate::options::reading::sandbox::{Sandbox, SandboxArgs};
use crate::options::values::{input_name, output_name, usage};
use crate::options::writing::output::{OutputArgs, OutputFile};
use crate::options::writing::stderr::{StderrArgs, StderrOptions};
use clap::Args;
use clap::error::ErrorKind;
use histeq_media::source::{InputOptions, Part};
use histeq_media::sys::files::Name;

/// The options of `compare`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video compare --help shows all other options.")]
#[command(after_long_help = "Times are written as 90 (seconds), 1:30, 00:01:30.5, 5m or 1h30m.")]
#[command(mut_arg("start", |arg| arg.help("Start at this time of both").long_help(None::<&str>)))]
#[command(mut_arg("frames", |arg| arg.help("Stop after this many frames of A")))]
pub struct CompareArgs {
    /// Video or image at the left, whose sound is kept, or - for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub a: Name,

    /// Video or image at the right, or - for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub b: Name,

    /// File to write, whose name decides the container, or - for stdout (y4m)
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: Name,

    /// Show the left half of A and the right half of B, instead of both side by side
    #[arg(long)]
    pub split: bool,

    /// Leave out names, histograms and the line between both
    #[arg(long)]
    pub plain: bool,

    /// Which part of both to show.
    #[command(flatten)]
    pub part: PartArgs,

    /// Options of the output file.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// RunLimits on time, memory and size.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,
}

/// The arrangement of the two pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareView {
    /// B to the right of A.
    SideBySide,
    /// The left half of A, the right half of B.
    Split,
}

/// The checked options of `compare`.
#[derive(Debug)]
pub struct CompareJob {
    /// What to read: A and B.
    pub inputs: [InputOptions; 2],
    /// What to write.
    pub output: OutputFile,
    /// The arrangement of the two pictures.
    pub view: CompareView,
    /// Whether nothing is drawn over the frames.
    pub plain: bool,
    pub limits: RunLimits,
    pub sandbox: Sandbox,
    pub stderr: StderrOptions,
}

impl CompareJob {
    /// Checks and converts `args`.
    pub fn from_args(args: CompareArgs) -> Result<Self, clap::Error> {
        let (a, b) = (input_name(args.a), input_name(args.b));
        if a == "-" && b == "-" {
            return Err(usage(ErrorKind::ArgumentConflict, "only one of the two videos can come through stdin"));
        }
        let from_stdin = a == "-" || b == "-";
        let part = args.part.part()?;
        // `--frames` counts frames of A; B may have more frames in the same time.
        let parts = [part, Part { frames: None, ..part }];
        let input = |url, part| InputOptions { url, part, ..InputOptions::default() };
        let mut inputs = [input(a, parts[0]), input(b, parts[1])];
        let output = args.output_options.file(output_name(args.output), from_stdin);
        let sandbox = args.sandbox.check(&mut inputs, &output)?;
        Ok(CompareJob {
            inputs,
            output,
            sandbox,
            view: if args.split { CompareView::Split } else { CompareView::SideBySide },
            plain: args.plain,
            limits: args.limits.check()?,
            stderr: args.stderr.into(),
        })
    }
}
