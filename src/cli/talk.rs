//! What is said on stderr, and what counts as an error, whatever the command.

use super::ProgressArg;
use super::args::TalkArgs;
use crate::report::{MeterStyle, Verbosity};
use std::io::IsTerminal;

/// What a run says on stderr.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    /// Whether warnings are errors.
    pub strict: bool,
    /// How much is said.
    pub verbosity: Verbosity,
    /// What progress looks like on this stderr.
    pub meter: MeterStyle,
}

impl Talk {
    /// Whether details are said, FFmpeg's own messages among them.
    pub fn is_verbose(self) -> bool {
        self.verbosity == Verbosity::Verbose
    }
}

impl From<TalkArgs> for Talk {
    fn from(args: TalkArgs) -> Self {
        Talk {
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
