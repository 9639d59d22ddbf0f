//! What was typed after `bench`.

use super::args::BackendArgs;
use crate::bench::{Arithmetic, Suite, TranscodeBackend};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The options of `bench`.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video bench --help explains the suites and shows all other options.")]
#[command(after_long_help = "\
Examples:
  histeq-video bench kernels --csv k.csv --plot k.svg
  histeq-video bench transcode in.mp4
  histeq-video bench --compare references")]
pub struct BenchArgs {
    /// What to measure; without a suite, the suites are listed
    #[arg(value_parser = suites())]
    pub suite: Option<Suite>,

    /// The file that the suite transcode reads
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub file: Option<PathBuf>,

    /// Measured runs of each figure, 1 to 10000; the median is printed
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Runs before the measured ones, 0 to 10000
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub warmup: u32,

    /// Also write the figures as CSV, a line per figure, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// Also write the figures as JSON, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Also draw the figures as SVG
    #[arg(long, value_name = "FILE.svg", value_hint = clap::ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print published figures beside those of this machine; without a suite, of all suites that have any
    #[arg(long, value_enum)]
    pub compare: Option<CompareWith>,

    /// Preset of x264, in histeq-video and ffmpeg alike
    #[arg(long, value_name = "NAME", default_value = "veryfast")]
    #[arg(help_heading = "Suite transcode", hide_short_help = true)]
    pub preset: String,

    /// Backends to run in turn; unavailable ones are skipped
    #[arg(help_heading = "Suite transcode", hide_short_help = true)]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', default_value = "cpu,cuda,nvdec", value_parser = ways())]
    pub ways: Vec<TranscodeBackend>,

    /// Leave out ffmpeg's histeq filter, which takes several times as long as everything else
    #[arg(long, help_heading = "Suite transcode", hide_short_help = true)]
    pub no_filter: bool,

    /// Suite bins: the count at which a bin saturates, 1 or more
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true)]
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub saturate: u32,

    /// Arithmetic of the published kernels; the share of samples that differ from the specification is printed
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true)]
    #[arg(long, default_value = "specification", value_parser = formulas())]
    pub formula: Arithmetic,

    /// Where to measure, and which kernels in place of a publication's, or beside them, in the suites that follow one.
    #[command(flatten)]
    pub place: BackendArgs,

    /// Print the figures and errors only, without a progress bar
    #[arg(short, long)]
    pub quiet: bool,

    /// Small pictures, for tests of the suites themselves
    #[arg(long, hide = true)]
    pub quick: bool,
}

/// What figures are compared with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareWith {
    /// The figures of five published histogram equalizers, measured on their authors' machines.
    References,
}

fn suites() -> impl TypedValueParser<Value = Suite> {
    let names = Suite::ALL.map(|suite| PossibleValue::new(suite.name()).help(suite.about()));
    PossibleValuesParser::new(names).try_map(|name| Suite::named(&name).ok_or("no such suite"))
}

fn ways() -> impl TypedValueParser<Value = TranscodeBackend> {
    let names = TranscodeBackend::ALL.map(|(_, name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| TranscodeBackend::named(&name).ok_or("no such way"))
}

fn formulas() -> impl TypedValueParser<Value = Arithmetic> {
    let names = Arithmetic::names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| Arithmetic::named(&name).ok_or("no such formula"))
}
