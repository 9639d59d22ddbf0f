//! Options that choose a part of the input.

use crate::options::values::{duration, time};
use clap::Args;
use histeq_media::source::Part;

/// The part of the input, as typed.
#[derive(Args, Debug)]
pub struct PartArgs {
    /// Start at this time of the input
    ///
    /// Earlier frames within --smooth are still analysed, so that the output equals this part of the whole video's
    /// output.
    #[arg(long, value_name = "T")]
    pub start: Option<String>,

    /// Stop after this long
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Stop after this many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(help_heading = "Input", hide_short_help = true)]
    pub frames: Option<u64>,
}

impl PartArgs {
    /// Checks and converts the options.
    pub fn part(self) -> Result<Part, clap::Error> {
        Ok(Part { start: time("--start", self.start)?, duration: duration(self.duration)?, frames: self.frames })
    }
}
