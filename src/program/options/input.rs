//! Options that describe the input to a command that reads files, images or raw frames.

use super::values::{rate, size};
use clap::Args;
use histeq_media::source::RawOptions;

/// What the input is, as typed.
#[derive(Args, Debug)]
pub struct InputArgs {
    /// Input format, by FFmpeg's name [default: detected]
    #[arg(short = 'f', long, value_name = "F", help_heading = "Input", hide_short_help = true)]
    pub format: Option<String>,

    /// Size of raw frames, like 1920x1080
    #[arg(short = 's', long, value_name = "WxH", help_heading = "Input", hide_short_help = true)]
    pub size: Option<String>,

    /// Pixel format of raw frames, by FFmpeg's name, like nv12
    #[arg(long, value_name = "P", help_heading = "Input", hide_short_help = true)]
    pub pixel_format: Option<String>,

    /// Frames per second of raw frames or numbered images, like 30 or 30000/1001 [default: 25]
    #[arg(short = 'r', long, value_name = "R", help_heading = "Input", hide_short_help = true)]
    pub rate: Option<String>,
}

impl InputArgs {
    /// The input format, if it is given, and the description of raw frames.
    pub fn check(self) -> Result<(Option<String>, RawOptions), clap::Error> {
        let raw = RawOptions { size: size(self.size)?, rate: rate(self.rate)?, pixel_format: self.pixel_format };
        Ok((self.format, raw))
    }
}
