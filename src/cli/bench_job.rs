//! What the options of `bench` mean, once all of them agree. Nothing has been run yet.

use super::values::usage;
use super::{BackendArg, BenchArgs};
use crate::bench::{Repeats, Setup, Steps, Suite, TranscodeBackend};
use crate::pipeline::Cancel;
use crate::report::Verbosity;
use clap::error::ErrorKind;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::path::PathBuf;

/// What to measure, and where to write it.
pub struct BenchJob {
    /// The suites; none is to list them.
    pub suites: Vec<Suite>,
    /// How to run them.
    pub setup: Setup,
    /// Whether the publications' figures are printed beside ours, in place of our tables.
    pub compare: bool,
    /// Whether it is an error when there is no GPU.
    pub needs_gpu: bool,
    /// Figures for programs.
    pub csv: Option<PathBuf>,
    /// The same.
    pub json: Option<PathBuf>,
    /// A drawing.
    pub plot: Option<PathBuf>,
    /// How much is said on stderr.
    pub verbosity: Verbosity,
}

impl BenchJob {
    /// What `args` mean.
    ///
    /// # Errors
    /// When they do not agree: a usage error for clap to print.
    pub fn from_args(args: BenchArgs) -> Result<Self, clap::Error> {
        let conflict = |message: &str| Err(usage(ErrorKind::ArgumentConflict, message));
        let compare = args.compare.is_some();
        let suites = match args.suite {
            Some(suite) => vec![suite],
            None if compare => Suite::ALL.into_iter().filter(|suite| suite.has_references()).collect(),
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
            (Some(Suite::Transcode), _) | (_, None) => {}
            (_, Some(_)) => return conflict("of the suites, only transcode takes a file"),
        }
        if args.place.backend == BackendArg::Cpu && !args.ways.contains(&TranscodeBackend::Cpu) {
            return conflict("--backend cpu leaves out the ways on a GPU, and --ways the one on the CPU");
        }
        if let Some(suite) = args.suite.filter(|suite| compare && !suite.has_references()) {
            return conflict(&format!("no publication has figures for {}", suite.name()));
        }
        let setup = Setup {
            repeats: Repeats { counted: args.repeat as usize, warm_up: args.warmup as usize },
            quick: args.quick,
            gpu_index: (args.place.backend != BackendArg::Cpu).then_some(args.place.gpu),
            arithmetic: args.formula,
            chosen: args.place.kernels.chosen(),
            saturate: args.saturate,
            file: args.file,
            preset: args.preset,
            backends: args.ways,
            filter: !args.no_filter,
            steps: Steps::new(std::io::stderr().is_terminal() && !args.quiet, Cancel::default()),
            opened: OnceCell::new(),
        };
        Ok(BenchJob {
            suites,
            setup,
            compare,
            needs_gpu: args.place.backend == BackendArg::Cuda,
            csv: args.csv,
            json: args.json,
            plot: args.plot,
            verbosity: if args.quiet { Verbosity::Quiet } else { Verbosity::Normal },
        })
    }
}
