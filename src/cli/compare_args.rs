//! What was typed after `compare`.

use super::args::TalkArgs;
use super::output_args::OutputArgs;
use clap::Args;

/// The options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video compare --help shows all other options.")]
#[command(after_long_help = "Times are written as for FFmpeg: 90 (seconds), 1:30, 00:01:30.5.")]
pub struct CompareArgs {
    /// Video or image at the left, whose sound is kept, or - for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub a: String,

    /// Video or image at the right, or - for stdin
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub b: String,

    /// File to write, whose name decides the container, or - for stdout (y4m)
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: String,

    /// Show the left half of A and the right half of B, instead of both side by side
    #[arg(long)]
    pub split: bool,

    /// Start at this time of both
    #[arg(long, value_name = "T")]
    pub start: Option<String>,

    /// Stop after this long
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Stop after this many frames of A
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

    /// How to write the output.
    #[command(flatten)]
    pub written: OutputArgs,

    /// What is reported, and what is an error.
    #[command(flatten)]
    pub talk: TalkArgs,
}
