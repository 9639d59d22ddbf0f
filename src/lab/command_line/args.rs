//! The options as typed, and what they ask for.

use crate::bench::output::Repeats;
use crate::bench::reference::Arithmetic;
use crate::bench::{Setup, Steps, Suite};
use crate::publications::{HistogramVariant, ScanVariant, Variants};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use histeq::Named;
use histeq::internal::equalize::backend::Backend;
use histeq_media::pipeline::Cancel;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Measure histeq-video on this machine, beside five published histogram equalizers.
#[derive(Parser, Debug)]
#[command(name = "histeq-lab", version, after_help = "histeq-lab --help explains the suites and shows all options.")]
#[command(after_long_help = "\
Exit codes: 0 done, 1 and 4 to 9 failed (missing 4, device 6), 2 usage error, 130 interrupted.

Examples:
  histeq-lab kernels --csv k.csv
  histeq-lab stages photo.png
  histeq-lab bins --elements 6220800 --bins 4096
  histeq-lab --compare references")]
pub struct Args {
    /// What to measure; without a suite, the suites are listed
    #[arg(value_parser = named::<Suite>(), ignore_case = true)]
    suite: Option<Suite>,

    /// An image to measure in place of the made ones of the suites stages, cdf-min, scans and luminance
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// Measured runs of each figure, 1 to 10000; the median is printed
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,

    /// Runs before the measured ones, 0 to 10000
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10_000))]
    warmup: u32,

    /// Also write the figures as CSV, a line per figure, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// Also write the figures as JSON, with quartiles
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Print published figures beside those of this machine; without a suite, of all suites that have any
    #[arg(long, value_enum, ignore_case = true)]
    pub compare: Option<CompareWith>,

    /// Where to measure
    #[arg(long, value_parser = named::<Backend>(), default_value_t = Backend::Auto, ignore_case = true)]
    pub backend: Backend,

    /// GPU to use, counted from 0 in the list that `histeq-video devices` prints
    #[arg(long, value_name = "N", default_value_t = 0)]
    gpu: usize,

    /// Print the figures and errors only, without a progress bar
    #[arg(short, long)]
    quiet: bool,

    /// Small pictures in place of a suite's own: for a look at it, not for figures
    #[arg(long)]
    quick: bool,

    /// Suite bins: the count at which a bin saturates, 1 or more [default: 256]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    saturate: Option<u32>,

    /// Suite bins: count this number of elements only (with --bins)
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true, requires = "bins")]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    elements: Option<u32>,

    /// Suite bins: into this number of bins only, 2 to 65536 (with --elements)
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true, requires = "elements")]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    bins: Option<u32>,

    /// Suites stages, cdf-min, scans and luminance: arithmetic of the published kernels, on a GPU; the share of samples
    /// that differ from the specification is printed [default: specification]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_parser = formulas(), ignore_case = true)]
    formula: Option<Arithmetic>,

    /// CUDA kernel that counts the histogram, in place of a publication's or beside it [default: tuned for the GPU]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_name = "KERNEL", value_parser = named::<HistogramVariant>(), ignore_case = true)]
    histogram: Option<HistogramVariant>,

    /// CUDA kernel that sums the histogram up, in place of a publication's or beside it [default: tuned for the GPU]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_name = "KERNEL", value_parser = named::<ScanVariant>(), ignore_case = true)]
    scan: Option<ScanVariant>,

    /// Threads per block of these kernels; given alone, chooses --histogram coarsened [default: by kernel]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_name = "N", value_parser = block_sizes())]
    block_size: Option<u32>,

    /// Pixels that each thread counts, 1 to 256; given alone, chooses --histogram coarsened [default: by kernel]
    #[arg(help_heading = PUBLISHED_HEADING, hide_short_help = true)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pixels_per_thread: Option<u32>,
}

const PUBLISHED_HEADING: &str = "Suites that follow a publication";

/// The suites that follow a publication. `--formula` applies to all but the last.
const PUBLISHED: [Suite; 5] = [Suite::Stages, Suite::CdfMin, Suite::Scans, Suite::Luminance, Suite::Bins];

/// The default count at which bins saturate.
const SATURATED: u32 = 256;

/// What figures are compared with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareWith {
    /// The figures of five published histogram equalizers, measured on their authors' machines.
    References,
}

/// A parser of the names of these values, which `--help` lists.
fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|value| PossibleValue::new(value.name()).help(value.about()));
    PossibleValuesParser::new(values).try_map(|name| T::from_name(&name.to_lowercase()).ok_or("no such name"))
}

fn formulas() -> impl TypedValueParser<Value = Arithmetic> {
    let names = Arithmetic::names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new(names).try_map(|name| Arithmetic::named(&name.to_lowercase()).ok_or("no such formula"))
}

fn block_sizes() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["64", "128", "256", "512", "1024"]).try_map(|text| text.parse())
}

impl Args {
    /// The suites to run; if there are none, the program lists all suites.
    pub fn suites(&self) -> Vec<Suite> {
        match self.suite {
            Some(suite) => vec![suite],
            None if self.compare.is_some() => {
                Suite::ALL.iter().copied().filter(|suite| suite.has_references()).collect()
            }
            None => Vec::new(),
        }
    }

    /// The output files.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.csv, &self.json].into_iter().flatten()
    }

    /// Checks that no options exclude each other.
    ///
    /// # Errors
    /// When some do: a usage error.
    pub fn check(&self) -> Result<(), clap::Error> {
        self.check_input().and_then(|()| self.check_outputs()).and_then(|()| self.check_suite_options())
    }

    fn check_input(&self) -> Result<(), clap::Error> {
        match (self.suite, &self.file) {
            (Some(suite), Some(_)) if !suite.takes_file() => conflict(format!("{} takes no file", suite.name())),
            (None, Some(_)) => conflict("a file is for one suite: name it"),
            (_, Some(_)) if self.compare.is_some() => {
                conflict("published figures are of the publications' images: leave out the file or --compare")
            }
            _ => Ok(()),
        }
    }

    fn check_outputs(&self) -> Result<(), clap::Error> {
        if self.suites().len() != 1 && self.files().next().is_some() {
            return conflict("--csv and --json write the figures of one suite: name it");
        }
        if self.files().any(|file| file.as_os_str() == "-") {
            return conflict("--csv and --json take a file's name: the tables are on stdout");
        }
        match self.suite.filter(|suite| self.compare.is_some() && !suite.has_references()) {
            Some(suite) => conflict(format!("no publication has figures for {}", suite.name())),
            None => Ok(()),
        }
    }

    /// Checks the options that only some suites have, and those that need a GPU.
    fn check_suite_options(&self) -> Result<(), clap::Error> {
        let given = [
            (self.bins.is_some(), "--elements and --bins are", &[Suite::Bins][..], false),
            (self.saturate.is_some(), "--saturate is", &[Suite::Bins][..], false),
            (self.histogram.is_some(), "--histogram is", &PUBLISHED[..], true),
            (self.scan.is_some(), "--scan is", &PUBLISHED[..], true),
            (self.block_size.is_some(), "--block-size is", &PUBLISHED[..], true),
            (self.pixels_per_thread.is_some(), "--pixels-per-thread is", &PUBLISHED[..], true),
            (self.formula.is_some(), "--formula is", &PUBLISHED[..4], true),
        ];
        let without_gpu = !self.backend.may_use_gpu();
        for (_, option, suites, is_of_gpu) in given.into_iter().filter(|(is_given, ..)| *is_given) {
            // Without a suite, all suites that have references run, so options of a single suite are refused.
            if self.suite.map_or(suites.len() == 1, |suite| !suites.contains(&suite)) {
                let names: Vec<&str> = suites.iter().map(|suite| suite.name()).collect();
                let what = if names.len() == 1 { "suite" } else { "suites" };
                return conflict(format!("{option} for the {what} {}", names.join(", ")));
            }
            if is_of_gpu && without_gpu {
                return conflict(format!("{option} about CUDA kernels, and does not go with --backend cpu"));
            }
        }
        if let Some(suite @ (Suite::Kernels | Suite::Stream)) = self.suite.filter(|_| without_gpu) {
            return conflict(format!("{} measures a GPU, and --backend cpu leaves that out", suite.name()));
        }
        Ok(())
    }

    /// The parameters of the suites.
    pub fn setup(&self, cancel: Cancel) -> Setup {
        Setup {
            repeats: Repeats { counted: self.repeat as usize, warm_up: self.warmup as usize },
            quick: self.quick,
            gpu_index: self.backend.may_use_gpu().then_some(self.gpu),
            arithmetic: self.formula.unwrap_or(Arithmetic::Specification),
            chosen: Variants {
                histogram: self.histogram,
                scan: self.scan,
                block_size: self.block_size,
                pixels_per_thread: self.pixels_per_thread,
                ..Variants::default()
            },
            saturate: self.saturate.unwrap_or(SATURATED),
            bins_case: self.elements.map(|count| count as usize).zip(self.bins),
            file: self.file.clone(),
            steps: Steps::new(std::io::stderr().is_terminal() && !self.quiet, cancel),
            opened: OnceCell::new(),
            opened_in: OnceCell::new(),
        }
    }
}

fn conflict<T>(message: impl std::fmt::Display) -> Result<T, clap::Error> {
    Err(Args::command().error(ErrorKind::ArgumentConflict, message))
}
