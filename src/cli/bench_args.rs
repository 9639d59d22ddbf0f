//! What was typed after `bench`.

use super::args::BackendArgs;
use crate::bench::{Arithmetic, Suite, TranscodeBackend};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The options of `bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What to measure [default: lists the suites]
    #[arg(value_parser = suites())]
    pub suite: Option<Suite>,

    /// The file of transcode
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub file: Option<PathBuf>,

    /// How many times each figure is measured; the median is printed
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Runs before the measured ones
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub warmup: u32,

    /// Also write the figures as a table for programs, a line per figure, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// Also write everything as JSON
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Also draw the figures
    #[arg(long, value_name = "FILE.svg", value_hint = clap::ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print published figures beside those of this machine; without a suite, of all suites that have any
    #[arg(long, value_enum)]
    pub compare: Option<CompareWith>,

    /// transcode: x264's preset, in all programs
    #[arg(long, value_name = "NAME", default_value = "veryfast")]
    pub preset: String,

    /// transcode: backends to run in turn; unavailable ones are skipped
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', default_value = "cpu,cuda,nvdec", value_parser = ways())]
    pub ways: Vec<TranscodeBackend>,

    /// transcode: leave out ffmpeg's histeq filter, which takes several times as long as everything else
    #[arg(long)]
    pub no_filter: bool,

    /// bins: the count at which a bin saturates
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub saturate: u32,

    /// Arithmetic of the published kernels; the share of samples that differ from the specification is printed
    #[arg(long, default_value = "specification", value_parser = formulas())]
    pub formula: Arithmetic,

    /// Where to measure, and which kernels in place of a publication's, or beside them, in the suites that follow one.
    #[command(flatten)]
    pub place: BackendArgs,

    /// Errors only, and no bar
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
