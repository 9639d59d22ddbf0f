//! `histeq-video preview`: the options of showing every look on one sheet.

use super::input::InputArgs;
use super::limits::{LimitArgs, Limits};
use super::output::OutputFile;
use super::part::PartArgs;
use super::sandbox::{Sandbox, SandboxArgs};
use super::stderr::{EventsTo, MeterStyle, StderrOptions, Verbosity};
use super::values::{input_name, output_name, usage};
use clap::Args;
use clap::error::ErrorKind;
use histeq_media::sink::{EncoderChoice, OutputKind, OutputOptions, Overwrite};
use histeq_media::source::InputOptions;
use histeq_media::sys::number_pattern;
use std::path::Path;

/// The options of `preview`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video preview --help shows all other options.")]
#[command(after_long_help = "\
The rows are the original and each look. The sheet is an approximation: the temporal windows of large pictures \
are shorter.

Times are written as for FFmpeg: 90 (seconds), 1:30, 00:01:30.5.

Examples:
  histeq-video preview dive.mov
  histeq-video preview --start 1:30 --duration 20 --frames 6 street.mp4 street.png
  histeq-video preview photo.jpg - | display -")]
pub struct PreviewArgs {
    /// Video, image or numbered images (%05d.png)
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub input: String,

    /// Image to write: png, jpg, webp, or - for stdout (png) [default: INPUT-looks.png in this folder]
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub output: Option<String>,

    /// Choose the frames from here on
    #[arg(long, value_name = "T")]
    pub start: Option<String>,

    /// Choose the frames from this length
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Number of columns, 1 to 8: frames at equal distances; images and short videos have fewer
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=8))]
    pub frames: u64,

    /// What the input is.
    #[command(flatten)]
    pub input_kind: InputArgs,

    /// What it may cost.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What it may reach.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// Overwrite an existing output [default: ask on a terminal, else refuse]
    #[arg(short = 'y', conflicts_with = "no_overwrite")]
    pub yes: bool,

    /// Do nothing if the output exists: exit code 3
    #[arg(short = 'n', help_heading = "Output", hide_short_help = true)]
    pub no_overwrite: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,
}

/// The checked options of `preview`.
#[derive(Debug)]
pub struct PreviewJob {
    /// What to read.
    pub input: InputOptions,
    /// What to write.
    pub output: OutputFile,
    /// The most columns of the sheet, 1 to 8.
    pub frames: u64,
    pub limits: Limits,
    pub sandbox: Sandbox,
    pub stderr: StderrOptions,
}

impl PreviewJob {
    /// Checks and converts `args`.
    pub fn from_args(args: PreviewArgs) -> Result<Self, clap::Error> {
        let invalid = |message: &str| usage(ErrorKind::ValueValidation, message);
        if args.input.is_empty() || args.output.as_ref().is_some_and(String::is_empty) {
            return Err(invalid("the name of the input or the output is empty"));
        }
        let input = input_name(args.input);
        let output = output_name(args.output.unwrap_or_else(|| default_output(&input)));
        if output != "-" && OutputKind::of(&output, None) != OutputKind::Images {
            return Err(invalid(&format!("{output}: the sheet is an image (give it a name like looks.png)")));
        }
        let to_stdout = |name: &str| (output == "-").then(|| name.to_owned());
        let encoder = EncoderChoice { encoder: to_stdout("png"), ..EncoderChoice::default() };
        let (format, raw) = args.input_kind.check()?;
        let mut input = InputOptions {
            url: input,
            format,
            raw,
            part: PartArgs { start: args.start, duration: args.duration, frames: None }.part()?,
            ..InputOptions::default()
        };
        let output = OutputFile {
            options: OutputOptions { format: to_stdout("image2pipe"), encoder, ..OutputOptions::default() },
            name: output,
            most_bytes: None,
            overwrite: match (args.yes, args.no_overwrite) {
                (true, _) => Overwrite::Yes,
                (false, true) => Overwrite::Skip,
                (false, false) => Overwrite::Ask,
            },
        };
        let sandbox = args.sandbox.check([&mut input], &output)?;
        Ok(PreviewJob {
            input,
            output,
            frames: args.frames,
            limits: args.limits.check()?,
            sandbox,
            stderr: StderrOptions {
                strict: false,
                verbosity: match (args.quiet, args.verbose) {
                    (true, _) => Verbosity::Quiet,
                    (_, true) => Verbosity::Verbose,
                    _ => Verbosity::Normal,
                },
                meter: MeterStyle::Silent,
                events: EventsTo::Nowhere,
                is_child: false,
            },
        })
    }
}

/// `NAME-looks.png` in the current folder, for `folder/NAME.mp4`; without the number in the pattern of numbered images.
fn default_output(input: &str) -> String {
    let name = match number_pattern(input) {
        Some((place, _)) => format!("{}{}", &input[..place.start], &input[place.end..]),
        None => input.to_owned(),
    };
    // What stands behind the path of a URL is no part of a name.
    let path = if name.contains("://") { name.split(['?', '#']).next().unwrap_or_default() } else { &name };
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // `%03d.png` leaves `.png`, which is a stem.
    let stem = if stem.is_empty() || stem.starts_with('.') { String::new() } else { format!("{stem}-") };
    format!("{stem}looks.png")
}

#[cfg(test)]
mod tests {
    use super::default_output;

    #[test]
    fn the_sheet_is_named_after_the_input() {
        for (input, output) in [
            ("clips/night.mp4", "night-looks.png"),
            ("a.b.mkv", "a.b-looks.png"),
            ("frame%03d.png", "frame-looks.png"),
            ("%03d.png", "looks.png"),
            ("https://host/clips/a.mp4?token=1", "a-looks.png"),
        ] {
            assert_eq!(default_output(input), output);
        }
    }
}
