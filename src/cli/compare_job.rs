//! What the options of `compare` mean, once all of them agree. Nothing has been opened yet.

use super::job::{duration, meter_style, output_name, time, usage, verbosity};
use super::{CompareArgs, ProgressArg};
use crate::comparison::View;
use crate::report::{MeterStyle, Verbosity};
use crate::sink::{OutputOptions, Overwrite};
use crate::source::{InputOptions, Part};
use clap::error::ErrorKind;

/// Two videos to be compared.
#[derive(Debug)]
pub struct CompareJob {
    /// What to read: A and B.
    pub inputs: [InputOptions; 2],
    /// What to write.
    pub output: String,
    /// How to write it.
    pub output_options: OutputOptions,
    /// What to do if it exists.
    pub overwrite: Overwrite,
    /// How two pictures become one.
    pub view: View,
    /// Whether warnings are errors.
    pub strict: bool,
    /// Details too.
    pub verbose: bool,
    quiet: bool,
    progress: ProgressArg,
}

impl CompareJob {
    /// What `args` mean.
    ///
    /// # Errors
    /// When they do not agree, or a value makes no sense: a usage error for clap to print.
    pub fn from_args(args: CompareArgs) -> Result<Self, clap::Error> {
        if args.a == "-" && args.b == "-" {
            return Err(usage(ErrorKind::ArgumentConflict, "only one of the two videos can come through stdin"));
        }
        let from_stdin = args.a == "-" || args.b == "-";
        let part =
            Part { start: time("--start", args.start)?, duration: duration(args.duration)?, frames: args.frames };
        // Frames are counted in A; B may have more of them in the same time.
        let parts = [part, Part { frames: None, ..part }];
        let input = |url, part| InputOptions { url, part, ..InputOptions::default() };
        Ok(CompareJob {
            inputs: [input(args.a, parts[0]), input(args.b, parts[1])],
            output: output_name(args.output),
            overwrite: args.written.overwrite(from_stdin),
            output_options: args.written.options(),
            view: if args.split { View::Split } else { View::SideBySide },
            strict: args.talk.strict,
            verbose: args.talk.verbose,
            quiet: args.talk.quiet,
            progress: args.talk.progress,
        })
    }

    /// How much is said on stderr.
    pub fn verbosity(&self) -> Verbosity {
        verbosity(self.quiet, self.verbose)
    }

    /// What progress looks like on this stderr.
    pub fn meter_style(&self) -> MeterStyle {
        meter_style(self.progress, self.quiet)
    }
}
