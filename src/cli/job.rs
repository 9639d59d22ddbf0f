//! What the command line means, once all of it agrees. Nothing has been opened yet.

use super::backend::BackendChoice;
use super::values::{curves_name, output_name, part, plain_name, rate, size, usage};
use super::{Args, DecoderArg, RequestedSettings, Talk};
use crate::ffmpeg::DecodeOn;
use crate::sink::{OutputOptions, Overwrite};
use crate::source::{InputOptions, RawOptions};
use crate::stats::StatsFormat;
use clap::CommandFactory;
use clap::error::ErrorKind;
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
    /// Whether each frame is recomputed with the reference.
    pub verify: bool,
    /// What is said on stderr.
    pub talk: Talk,
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
        Ok(Job {
            input: InputOptions {
                url: input,
                format: args.format,
                raw: RawOptions { size: size(args.size)?, rate: rate(args.rate)?, pixel_format: args.pixel_format },
                video_stream: args.video_stream,
                part: part(args.start, args.duration, args.frames)?,
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
            backend: BackendChoice { backend: args.place.backend, gpu: args.place.gpu, kernels, hand_over },
            verify: args.verify,
            talk: args.talk.into(),
        })
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
