//! What the options of `compare` mean, once all of them agree. Nothing has been opened yet.

use super::values::{output_name, part, usage};
use super::{CompareArgs, Talk};
use crate::comparison::View;
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
    /// What is said on stderr.
    pub talk: Talk,
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
        let part = part(args.start, args.duration, args.frames)?;
        // Frames are counted in A; B may have more of them in the same time.
        let parts = [part, Part { frames: None, ..part }];
        let input = |url, part| InputOptions { url, part, ..InputOptions::default() };
        Ok(CompareJob {
            inputs: [input(args.a, parts[0]), input(args.b, parts[1])],
            output: output_name(args.output),
            overwrite: args.written.overwrite(from_stdin),
            output_options: args.written.options(),
            view: if args.split { View::Split } else { View::SideBySide },
            talk: args.talk.into(),
        })
    }
}
