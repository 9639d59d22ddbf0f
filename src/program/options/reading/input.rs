//! Options that describe the input to a command that reads files, images or raw frames.

use crate::options::values::{named, rate, size};
use clap::Args;
use histeq_media::source::{Gaps, RawOptions};

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

    /// What to do where numbered images have a gap: skip it, hold the image before it, or end with an error
    ///
    /// Frames that were taken out on purpose, as of a time lapse, leave no pause by default. hold keeps the length and
    /// the numbers of a film of which images are still missing. A gap causes a warning. Numbers that are 2, 10 or so
    /// apart throughout have none.
    #[arg(long, value_parser = named::<Gaps>(), default_value_t = Gaps::Skip, value_name = "WHAT")]
    #[arg(help_heading = "Input", hide_short_help = true)]
    pub gaps: Gaps,

    /// Samples of a TIFF, FITS or SER that become black and white [default: the smallest and the largest, if they have
    /// no codes]
    ///
    /// LEAST:MOST in the unit of the file, as -20:150 for temperatures. Unsigned samples of 8 and 16 bits stay as they
    /// are by default; all others become 16 bits along one line for all pictures.
    #[arg(long, value_name = "RANGE", value_parser = sample_range, allow_hyphen_values = true)]
    #[arg(help_heading = "Input", hide_short_help = true)]
    pub sample_range: Option<(f64, f64)>,
}

/// Two numbers, of which the second is larger.
pub(crate) fn sample_range(text: &str) -> Result<(f64, f64), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let range = text.split_once(':').and_then(|(least, most)| number(least).zip(number(most)));
    range
        .filter(|(least, most)| least < most)
        .ok_or_else(|| "two numbers like -20:150, the smaller one first".to_owned())
}

impl InputArgs {
    /// The options as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let gaps = (self.gaps != Gaps::Skip).then(|| self.gaps.to_string());
        let range = self.sample_range.map(|(least, most)| format!("{least}:{most}"));
        let values = [
            ("--format", self.format.clone()),
            ("--size", self.size.clone()),
            ("--pixel-format", self.pixel_format.clone()),
            ("--rate", self.rate.clone()),
            ("--gaps", gaps),
            ("--sample-range", range),
        ];
        values.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect()
    }

    /// The input format, if it is given, and the description of raw frames.
    pub fn check(self) -> Result<(Option<String>, RawOptions), clap::Error> {
        let raw = RawOptions {
            size: size(self.size)?,
            rate: rate(self.rate)?,
            pixel_format: self.pixel_format,
            gaps: self.gaps,
            sample_range: self.sample_range,
        };
        Ok((self.format, raw))
    }
}
