//! Options that choose what is printed on stderr, and what counts as an error.

use crate::report::{MeterStyle, Verbosity};
use clap::{Args, ValueEnum};
use std::io::IsTerminal;

/// What is printed on stderr, and what counts as an error, as typed.
#[derive(Args, Debug)]
pub struct StderrArgs {
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,

    /// How to report progress on stderr
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto, help_heading = "Messages", hide_short_help = true)]
    pub progress: ProgressArg,

    /// Treat warnings as errors: a stream that the container cannot hold, damaged frames, a pixel format narrowed
    #[arg(long, help_heading = "Messages", hide_short_help = true)]
    pub strict: bool,
}

/// What progress looks like.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressArg {
    /// A bar on a terminal, nothing elsewhere.
    Auto,
    /// A line of text now and then.
    Plain,
    /// A line of JSON now and then.
    Json,
    /// Nothing.
    None,
}

/// What a run prints on stderr.
#[derive(Clone, Copy, Debug)]
pub struct StderrOptions {
    /// Whether warnings are errors.
    pub strict: bool,
    /// How much is printed.
    pub verbosity: Verbosity,
    /// How progress is shown on this stderr.
    pub meter: MeterStyle,
}

impl StderrOptions {
    /// Whether to print details and FFmpeg's own messages.
    pub fn is_verbose(self) -> bool {
        self.verbosity == Verbosity::Verbose
    }
}

impl From<StderrArgs> for StderrOptions {
    fn from(args: StderrArgs) -> Self {
        StderrOptions {
            strict: args.strict,
            verbosity: match (args.quiet, args.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
            meter: match args.progress {
                ProgressArg::Plain => MeterStyle::Plain,
                ProgressArg::Json => MeterStyle::Json,
                ProgressArg::Auto if std::io::stderr().is_terminal() && !args.quiet => MeterStyle::Bar,
                ProgressArg::Auto | ProgressArg::None => MeterStyle::Silent,
            },
        }
    }
}
