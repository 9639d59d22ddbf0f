//! `histeq-video restore`: the options of giving original samples back.

use super::limits::{LimitArgs, Limits};
use super::output::{OutputArgs, OutputFile};
use super::sandbox::{Sandbox, SandboxArgs};
use super::stderr::{StderrArgs, StderrOptions};
use super::values::{input_name, output_name};
use clap::{Args, ValueEnum};
use histeq::equalize::OutputDepth;
use histeq_media::source::InputOptions;
use histeq_media::sys::Name;

/// The options of `restore`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video restore --help shows all other options.")]
#[command(after_long_help = "\
Encode without loss, before and now, as --encoder ffv1 does, and equalize with one curve for all, as --method global \
does: a balance of colours and what is done by region are not undone. Where several levels became one, the lowest is \
taken.")]
pub struct RestoreArgs {
    /// Equalized video or image, or - for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub input: Name,

    /// File of its curves, as --save-curves wrote it
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub curves: Name,

    /// File to write, whose name decides the container, or - for stdout (y4m)
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: Name,

    /// Bits of the original, if --output-depth 10 made 8 bits deeper
    #[arg(long, value_enum, ignore_case = true, default_value_t = OriginalDepth::Auto, value_name = "BITS")]
    pub output_depth: OriginalDepth,

    /// How to write the output.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// What it may cost.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What it may reach.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,
}

/// How many bits the original had.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginalDepth {
    /// As many as the equalized video has.
    Auto,
    /// 8, made deeper.
    #[value(name = "8")]
    Eight,
}

/// The checked options of `restore`.
#[derive(Debug)]
pub struct RestoreJob {
    /// What to read.
    pub input: InputOptions,
    /// The file of its curves.
    pub curves: Name,
    /// What to write.
    pub output: OutputFile,
    /// The depth of that.
    pub output_depth: OutputDepth,
    pub limits: Limits,
    pub sandbox: Sandbox,
    pub stderr: StderrOptions,
}

impl RestoreJob {
    /// Checks and converts `args`.
    pub fn from_args(args: RestoreArgs) -> Result<Self, clap::Error> {
        let url = input_name(args.input);
        let output = args.output_options.file(output_name(args.output), url == "-");
        let mut input = [InputOptions { url, ..InputOptions::default() }];
        let sandbox = args.sandbox.check(&mut input, &output)?;
        let [input] = input;
        Ok(RestoreJob {
            input,
            curves: args.curves,
            output,
            output_depth: match args.output_depth {
                OriginalDepth::Auto => OutputDepth::AsInput,
                OriginalDepth::Eight => OutputDepth::EightAgain,
            },
            limits: args.limits.check()?,
            sandbox,
            stderr: args.stderr.into(),
        })
    }
}
