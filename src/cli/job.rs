//! What the command line means, once all of it agrees. Nothing has been opened yet.

use super::backend::BackendChoice;
use super::{Args, DecoderArg, ProgressArg, RequestedSettings};
use crate::ffmpeg::{DecodeOn, parse_rate, parse_size, parse_time};
use crate::report::{MeterStyle, Verbosity};
use crate::sink::{OutputOptions, Overwrite, Quality};
use crate::source::{InputOptions, Part, RawOptions};
use crate::stats::StatsFormat;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::io::IsTerminal;
use std::path::Path;

/// A video to be equalized.
#[derive(Debug)]
pub struct Job {
    /// What to read.
    pub input: InputOptions,
    /// What to write.
    pub output: String,
    /// How to write it.
    pub output_options: OutputOptions,
    /// What to do if it exists.
    pub overwrite: Overwrite,
    /// Where to say what was done to each frame, and how.
    pub stats: Option<(String, StatsFormat)>,
    /// Where to keep the curves.
    pub save_curves: Option<String>,
    /// Where to take curves from, in place of equalizing.
    pub load_curves: Option<String>,
    /// How to equalize.
    pub requested: RequestedSettings,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// Whether warnings are errors.
    pub strict: bool,
    /// What progress looks like.
    pub progress: ProgressArg,
    /// Errors only.
    pub quiet: bool,
    /// Details too.
    pub verbose: bool,
}

impl Job {
    /// What `args` mean.
    ///
    /// # Errors
    /// When they do not agree, or a value makes no sense: a usage error for clap to print.
    pub fn from_args(args: Args) -> Result<Self, clap::Error> {
        let (Some(input), Some(output)) = (args.input, args.output) else {
            return Err(usage(ErrorKind::MissingRequiredArgument, "an input and an output are required"));
        };
        if !Path::new(&input).exists() && Args::command().find_subcommand(&input).is_some() {
            let message = format!("{input} is a command, and comes before all options: histeq-video {input} --help");
            return Err(usage(ErrorKind::ArgumentConflict, &message));
        }
        if input.is_empty() || output.is_empty() {
            return Err(usage(ErrorKind::ValueValidation, "the name of the input or the output is empty"));
        }
        let (input, output) = (plain_name(input), output_name(output));
        let (save_curves, load_curves) =
            (curves_name(args.equalize.save_curves.clone())?, args.equalize.load_curves.clone());
        let requested = RequestedSettings::from_args(args.equalize)?.looking_ahead(args.look_ahead, &input)?;
        let kernels = args.place.kernel_choice(&requested, load_curves.is_some())?;
        let from_stdin = input == "-";
        let overwrite = args.written.overwrite(from_stdin);
        let stats = stats(args.stats, &output)?;
        let other = [Some(&output), stats.as_ref().map(|(name, _)| name)];
        if save_curves.is_some() && other.contains(&save_curves.as_ref()) {
            let message = "--save-curves, --stats and the output are files of their own, with names of their own";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        // A decoder on the GPU has waited for it, and those who verify or choose kernels want them to work.
        let hand_over = args.decoder != DecoderArg::Nvdec && kernels.is_none() && !args.verify;
        let rate = value("--rate", "a rate like 25, 29.97 or 30000/1001", args.rate, parse_rate)?;
        let size = value("--size", "a size like 1920x1080", args.size, parse_size)?;
        Ok(Job {
            input: InputOptions {
                url: input,
                format: args.format,
                raw: RawOptions { size, rate, pixel_format: args.pixel_format },
                video_stream: args.video_stream,
                part: Part {
                    start: time("--start", args.start)?,
                    duration: duration(args.duration)?,
                    frames: args.frames,
                },
                // NVDEC conceals what is damaged, and FFmpeg does not ask it for that. Whoever has not chosen it is to
                // hear of damage.
                decode_on: match args.decoder {
                    DecoderArg::Auto | DecoderArg::Cpu => DecodeOn::Cpu,
                    DecoderArg::Nvdec => DecodeOn::Nvdec(args.place.gpu),
                },
            },
            output,
            output_options: args.written.options(),
            overwrite,
            stats,
            save_curves,
            load_curves,
            requested,
            backend: BackendChoice {
                backend: args.place.backend,
                gpu: args.place.gpu,
                kernels,
                verify: args.verify,
                hand_over,
            },
            strict: args.talk.strict,
            progress: args.talk.progress,
            quiet: args.talk.quiet,
            verbose: args.talk.verbose,
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

/// The name of a file that was given as a URL (`file:a.mp4`, `file:///a.mp4`), so that it is treated as any other.
pub(super) fn plain_name(name: String) -> String {
    match name.strip_prefix("file:").filter(|_| !Path::new(&name).exists()) {
        Some(path) => path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path).to_owned(),
        None => name,
    }
}

/// The same for an output. Stdout stays stdout under the names that the system has for it: to open those would empty the file
/// that a shell appends to.
pub(super) fn output_name(name: String) -> String {
    match plain_name(name) {
        name if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(&name.as_str()) => "-".to_owned(),
        name => name,
    }
}

/// Makes sure that a file of curves is named, if one is to be written.
pub(super) fn curves_name(name: Option<String>) -> Result<Option<String>, clap::Error> {
    match name.as_deref() {
        Some("-" | "") => Err(usage(ErrorKind::ValueValidation, "--save-curves takes a file's name")),
        _ => Ok(name),
    }
}

pub(super) fn verbosity(quiet: bool, verbose: bool) -> Verbosity {
    match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

pub(super) fn meter_style(progress: ProgressArg, quiet: bool) -> MeterStyle {
    match progress {
        ProgressArg::Plain => MeterStyle::Plain,
        ProgressArg::Json => MeterStyle::Json,
        ProgressArg::Auto if std::io::stderr().is_terminal() && !quiet => MeterStyle::Bar,
        ProgressArg::Auto | ProgressArg::None => MeterStyle::Silent,
    }
}

pub(super) fn overwrite(yes: bool, no: bool) -> Overwrite {
    match (yes, no) {
        (true, _) => Overwrite::Yes,
        (false, true) => Overwrite::No,
        (false, false) => Overwrite::Ask,
    }
}

pub(super) fn quality(crf: Option<f32>, bitrate: Option<String>) -> Quality {
    match (crf, bitrate) {
        (Some(crf), _) => Quality::Constant(crf),
        (None, Some(rate)) => Quality::BitRate(rate),
        (None, None) => Quality::Default,
    }
}

/// What an option's text stands for.
pub(super) fn value<T>(
    option: &str,
    kind: &str,
    text: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, clap::Error> {
    let Some(text) = text else { return Ok(None) };
    match parse(&text) {
        Some(value) => Ok(Some(value)),
        None => Err(usage(ErrorKind::ValueValidation, &format!("{option} is {kind}, not {text}"))),
    }
}

pub(super) fn time(option: &str, text: Option<String>) -> Result<Option<i64>, clap::Error> {
    let not_negative = |text: &str| parse_time(text).filter(|&time| time >= 0);
    value(option, "a time like 90, 1:30 or 00:01:30.5", text, not_negative)
}

pub(super) fn duration(text: Option<String>) -> Result<Option<i64>, clap::Error> {
    match time("--duration", text)? {
        Some(0) => Err(usage(ErrorKind::ValueValidation, "--duration is more than 0")),
        duration => Ok(duration),
    }
}

fn stats(name: Option<String>, output: &str) -> Result<Option<(String, StatsFormat)>, clap::Error> {
    let Some(name) = name else { return Ok(None) };
    if name == output {
        return Err(usage(ErrorKind::ArgumentConflict, "--stats and the output are two files, with two names"));
    }
    match StatsFormat::of(&name) {
        Some(format) => Ok(Some((name, format))),
        None => {
            let message = format!("--stats is a file .csv, .jsonl or .html, not {name}");
            Err(usage(ErrorKind::ValueValidation, &message))
        }
    }
}

pub(super) fn usage(kind: ErrorKind, message: &str) -> clap::Error {
    Args::command().error(kind, message)
}
