//! `histeq-video bench`: the options of measuring this machine.

use crate::options::backend_args::BackendArgs;
use crate::options::stderr::Verbosity;
use crate::options::values::{AnyCase, named, usage};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use histeq::Named;
use histeq::equalize::Backend;
use histeq_lab::bench::{Arithmetic, Repeats, Setup, Steps, Suite, TranscodeBackend};
use histeq_media::pipeline::Cancel;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The options of `bench`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video bench --help explains the suites and shows all other options.")]
#[command(after_long_help = "\
Examples:
  histeq-video bench kernels --csv k.csv --plot k.svg
  histeq-video bench transcode in.mp4
  histeq-video bench stages photo.png
  histeq-video bench bins --elements 6220800 --bins 4096
  histeq-video bench --compare references")]
pub struct BenchArgs {
    /// What to measure; without a suite, the suites are listed
    #[arg(value_parser = named::<Suite>())]
    pub suite: Option<Suite>,

    /// The video that the suite transcode reads, or an image to measure in place of the made ones of the suites stages,
    /// cdf-min, scans and luminance
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
    #[arg(long, value_enum, ignore_case = true)]
    pub compare: Option<CompareWith>,

    /// Preset of x264, in histeq-video and ffmpeg alike
    #[arg(long, value_name = "NAME", default_value = "veryfast")]
    #[arg(help_heading = "Suite transcode", hide_short_help = true)]
    pub preset: String,

    /// Backends to run in turn; unavailable ones are skipped
    #[arg(help_heading = "Suite transcode", hide_short_help = true)]
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', default_value = "cpu,cuda,nvdec")]
    #[arg(value_parser = named::<TranscodeBackend>())]
    pub ways: Vec<TranscodeBackend>,

    /// Leave out ffmpeg's histeq filter, which takes several times as long as everything else
    #[arg(long, help_heading = "Suite transcode", hide_short_help = true)]
    pub no_filter: bool,

    /// Suite bins: the count at which a bin saturates, 1 or more [default: 256]
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub saturate: Option<u32>,

    /// Suite bins: count this number of elements only (with --bins)
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true, requires = "bins")]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub elements: Option<u32>,

    /// Suite bins: into this number of bins only, 2 to 65536 (with --elements)
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true, requires = "elements")]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub bins: Option<u32>,

    /// Suites stages, cdf-min, scans and luminance: arithmetic of the published kernels, on a GPU; the share of samples
    /// that differ from the specification is printed [default: specification]
    #[arg(help_heading = "Suites that follow a publication", hide_short_help = true)]
    #[arg(long, value_parser = formulas())]
    pub formula: Option<Arithmetic>,

    /// Where to measure. Chosen kernels run in place of a publication's, or beside them, in the suites that follow one.
    #[command(flatten)]
    pub device: BackendArgs,

    /// Print the figures and errors only, without a progress bar
    #[arg(short, long)]
    pub quiet: bool,

    /// Small pictures in place of a suite's own: for a look at it, not for figures
    #[arg(long)]
    pub quick: bool,
}

/// The suites that follow a publication. All but the last have an arithmetic.
const PUBLISHED: [Suite; 5] = [Suite::Stages, Suite::CdfMin, Suite::Scans, Suite::Luminance, Suite::Bins];

/// The count at which bins saturate.
const SATURATED: u32 = 256;

/// What figures are compared with.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareWith {
    /// The figures of five published histogram equalizers, measured on their authors' machines.
    References,
}

fn formulas() -> impl TypedValueParser<Value = Arithmetic> {
    let names = Arithmetic::names().into_iter().map(|(name, about)| PossibleValue::new(name).help(about));
    AnyCase(PossibleValuesParser::new(names)).try_map(|name| Arithmetic::named(&name).ok_or("no such formula"))
}

/// The checked options of `bench`.
pub struct BenchJob {
    /// The suites to run; if empty, the suites are listed.
    pub suites: Vec<Suite>,
    /// How to run them.
    pub setup: Setup,
    /// Whether to print the publications' figures beside ours instead of our tables.
    pub compare: bool,
    /// Whether a missing GPU is an error.
    pub needs_gpu: bool,
    /// File for the figures as CSV.
    pub csv: Option<PathBuf>,
    /// File for the figures as JSON.
    pub json: Option<PathBuf>,
    /// File for the figures as SVG.
    pub plot: Option<PathBuf>,
    /// How much is printed on stderr.
    pub verbosity: Verbosity,
}

impl BenchJob {
    /// Checks and converts `args`.
    ///
    /// # Errors
    /// When options conflict: a usage error.
    pub fn from_args(args: BenchArgs) -> Result<Self, clap::Error> {
        let conflict = |message: &str| Err(usage(ErrorKind::ArgumentConflict, message));
        let compare = args.compare.is_some();
        let suites = match args.suite {
            Some(suite) => vec![suite],
            None if compare => Suite::ALL.iter().copied().filter(|suite| suite.has_references()).collect(),
            None => Vec::new(),
        };
        if suites.len() != 1 && [&args.csv, &args.json, &args.plot].iter().any(|file| file.is_some()) {
            return conflict("--csv, --json and --plot write the figures of one suite: name it");
        }
        match (args.suite, &args.file) {
            (Some(Suite::Transcode), None) => {
                let message = "transcode takes a file: histeq-video bench transcode FILE";
                return Err(usage(ErrorKind::MissingRequiredArgument, message));
            }
            (Some(suite), Some(_)) if !suite.takes_file() => {
                return conflict(&format!("{} takes no file", suite.name()));
            }
            (None, Some(_)) => return conflict("a file is for one suite: name it"),
            _ => {}
        }
        let of_bins = [(args.bins.is_some(), "--elements and --bins are"), (args.saturate.is_some(), "--saturate is")];
        if let Some((_, what)) = of_bins.into_iter().find(|(is_given, _)| *is_given && args.suite != Some(Suite::Bins))
        {
            return conflict(&format!("{what} for the suite bins"));
        }
        for (option, suites) in [
            (args.device.kernels.first_given(), &PUBLISHED[..]),
            (args.formula.is_some().then_some("--formula"), &PUBLISHED[..4]),
        ] {
            let Some(option) = option else { continue };
            if args.suite.is_some_and(|suite| !suites.contains(&suite)) {
                let names: Vec<&str> = suites.iter().map(|suite| suite.name()).collect();
                return conflict(&format!("{option} is for the suites {}", names.join(", ")));
            }
            if !args.device.backend.may_use_gpu() {
                return conflict(&format!("{option} is about CUDA kernels, and does not go with --backend cpu"));
            }
        }
        if let Some(suite @ (Suite::Kernels | Suite::Stream)) = args.suite
            && !args.device.backend.may_use_gpu()
        {
            return conflict(&format!("{} measures a GPU, and --backend cpu leaves that out", suite.name()));
        }
        let is_svg = |file: &PathBuf| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
        if let Some(plot) = args.plot.as_ref().filter(|file| !is_svg(file)) {
            return conflict(&format!("--plot draws SVG: give it a name like plot.svg, not {}", plot.display()));
        }
        let files = [("--csv", &args.csv), ("--json", &args.json)];
        if let Some((option, _)) =
            files.iter().find(|(_, file)| file.as_ref().is_some_and(|file| file.as_os_str() == "-"))
        {
            return conflict(&format!("{option} takes a file's name: the tables are on stdout"));
        }
        if args.file.is_some() && compare {
            return conflict("published figures are of the publications' images: leave out the file or --compare");
        }
        if !args.device.backend.may_use_gpu() && !args.ways.contains(&TranscodeBackend::Cpu) {
            return conflict("--backend cpu leaves out the ways on a GPU, and --ways the one on the CPU");
        }
        if let Some(suite) = args.suite.filter(|suite| compare && !suite.has_references()) {
            return conflict(&format!("no publication has figures for {}", suite.name()));
        }
        let setup = Setup {
            repeats: Repeats { counted: args.repeat as usize, warm_up: args.warmup as usize },
            quick: args.quick,
            gpu_index: args.device.backend.may_use_gpu().then_some(args.device.gpu),
            arithmetic: args.formula.unwrap_or(Arithmetic::Specification),
            chosen: args.device.kernels.chosen(),
            saturate: args.saturate.unwrap_or(SATURATED),
            bins_case: args.elements.map(|count| count as usize).zip(args.bins),
            file: args.file,
            preset: args.preset,
            backends: args.ways,
            filter: !args.no_filter,
            steps: Steps::new(std::io::stderr().is_terminal() && !args.quiet, Cancel::default()),
            opened: OnceCell::new(),
            opened_in: OnceCell::new(),
        };
        Ok(BenchJob {
            suites,
            setup,
            compare,
            needs_gpu: args.device.backend == Backend::Cuda,
            csv: args.csv,
            json: args.json,
            plot: args.plot,
            verbosity: if args.quiet { Verbosity::Quiet } else { Verbosity::Normal },
        })
    }
}
