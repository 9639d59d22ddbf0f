//! What was typed after `bench`.

use super::args::PlaceArgs;
use crate::bench::{Arithmetic, Suite, Way};
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

    /// How often each figure is measured; the median is printed
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Runs before those that count
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub warmup: u32,

    /// Also write the figures as a table for programs, a line a figure, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// Also write everything as JSON
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Also draw the figures
    #[arg(long, value_name = "FILE.svg", value_hint = clap::ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print the figures of the documents that this project starts from beside those of this machine; without a suite, of
    /// all suites that have any
    #[arg(long, value_enum)]
    pub compare: Option<CompareWith>,

    /// transcode: how x264 encodes, in all programs
    #[arg(long, value_name = "NAME", default_value = "veryfast")]
    pub preset: String,

    /// transcode: how this program works, each in its turn, as far as it is there
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', default_value = "cpu,cuda,nvdec", value_parser = ways())]
    pub ways: Vec<Way>,

    /// transcode: without ffmpeg's histeq filter, which takes several times as long as all else
    #[arg(long)]
    pub no_filter: bool,

    /// bins: what a bin holds at most
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub saturate: u32,

    /// What the documents' kernels compute by; the share of samples that come out otherwise than specified is printed
    #[arg(long, default_value = "specification", value_parser = formulas())]
    pub formula: Arithmetic,

    /// Where to measure, and which kernels in place of a document's, or beside them, in the suites that follow one.
    #[command(flatten)]
    pub place: PlaceArgs,

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
    /// The documents' figures, measured on their authors' machines.
    References,
}

fn suites() -> impl TypedValueParser<Value = Suite> {
    let names = Suite::ALL.map(|suite| PossibleValue::new(suite.name()).help(suite.about()));
    PossibleValuesParser::new(names).try_map(|name| Suite::named(&name).ok_or("no such suite"))
}

fn ways() -> impl TypedValueParser<Value = Way> {
    let names = Way::ALL.map(|(_, name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| Way::named(&name).ok_or("no such way"))
}

fn formulas() -> impl TypedValueParser<Value = Arithmetic> {
    let names = Arithmetic::names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| Arithmetic::named(&name).ok_or("no such formula"))
}
