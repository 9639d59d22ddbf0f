//! `histeq-video INPUT OUTPUT`: the options of equalizing a file.

use super::backend::BackendChoice;
use super::backend_args::BackendArgs;
use super::equalize::{EqualizeArgs, EqualizeOptions};
use super::filter::{FilterArgs, FilterOptions};
use super::input::InputArgs;
use super::limits::{LimitArgs, Limits};
use super::output::{DepthArgs, OutputArgs, OutputFile};
use super::part::PartArgs;
use super::sandbox::{Sandbox, SandboxArgs};
use super::stderr::{StderrArgs, StderrOptions};
use super::values::{output_name, plain_name, usage};
use crate::ffmpeg::DecodeOn;
use crate::source::{InputOptions, Reading};
use crate::stats::StatsFormat;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};

/// How many decoders of a GPU work on a file: one more than the most that a GPU has.
const DECODERS: u8 = 8;

/// The options of equalizing a file, as typed.
#[derive(Args, Debug)]
pub struct FileArgs {
    /// Video, image, numbered images (%05d.png), URL that FFmpeg can read, or - for stdin
    #[arg(required = true, value_hint = clap::ValueHint::FilePath)]
    pub input: Option<String>,

    /// File to write, whose name decides the container, or - for stdout (y4m)
    #[arg(required = true, value_hint = clap::ValueHint::FilePath)]
    pub output: Option<String>,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs,

    /// Filters ahead of it.
    #[command(flatten)]
    pub filters: FilterArgs,

    /// Length of the part of --smooth that lies ahead of each frame, in seconds, 0 to 3600
    /// [default: half of --smooth for files, within 256 MiB of frames; 0 for pipes and URLs]
    ///
    /// With a look-ahead, the first frames of a scene flicker no more than the rest. It delays the output by its length
    /// and holds that many frames in memory; 0 delays nothing.
    #[arg(long, value_name = "SECONDS", conflicts_with = "exact")]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub look_ahead: Option<f64>,

    /// Which part of the input to equalize.
    #[command(flatten)]
    pub part: PartArgs,

    /// What the input is.
    #[command(flatten)]
    pub input_kind: InputArgs,

    /// Video stream to equalize, counted from 0 among the video streams; the others are copied [default: the main one]
    #[arg(long, value_name = "N", help_heading = "Input", hide_short_help = true)]
    pub video_stream: Option<usize>,

    /// Where to decode
    ///
    /// nvdec uses the decoder of --gpu (4:2:0 video in H.264, HEVC, AV1, VP9 and others). That frees the CPU for the
    /// encoder, but damaged frames are not reported; auto therefore takes the CPU.
    #[arg(long, value_enum, default_value_t = DecoderArg::Auto, help_heading = "Input", hide_short_help = true)]
    pub decoder: DecoderArg,

    /// How many decoders work on the input at once, 1 to 32 [default: 8 with --decoder nvdec, else 1]
    ///
    /// A GPU can have several decoders. Where only pictures are written (y4m, rawvideo, null), and in the first pass of
    /// --smooth scene, they decode pieces of a file at the same time, from key frame to key frame, to the same frames.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    #[arg(help_heading = "Input", hide_short_help = true)]
    pub decoders: Option<u8>,

    /// How to write the output.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// How many bits come out.
    #[command(flatten)]
    pub depth: DepthArgs,

    /// Also write measurements of each frame: a table (.csv), lines of JSON (.jsonl) or a page with plots (.html)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub stats: Option<String>,

    /// Recompute every frame with the reference and name the first difference
    #[arg(long, hide = true)]
    pub verify: bool,

    /// What it may cost.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What it may reach.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub device: BackendArgs,
}

/// Where decoding runs.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderArg {
    /// The CPU, which reports damaged frames.
    Auto,
    /// The CPU.
    Cpu,
    /// The decoder of an NVIDIA GPU, or an error.
    Nvdec,
}

impl DecoderArg {
    /// The choice, where `gpu` is the index of the GPU.
    pub(super) fn on(self, gpu: usize) -> DecodeOn {
        match self {
            DecoderArg::Auto | DecoderArg::Cpu => DecodeOn::Cpu,
            DecoderArg::Nvdec => DecodeOn::Nvdec(gpu),
        }
    }
}

/// The checked options of equalizing a file.
#[derive(Debug)]
pub struct FileJob {
    /// What to read.
    pub input: InputOptions,
    /// What to write.
    pub output: OutputFile,
    /// File and format of the statistics.
    pub stats: Option<(String, StatsFormat)>,
    /// Filters ahead of equalization.
    pub filters: FilterOptions,
    /// How to equalize.
    pub equalize: EqualizeOptions,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// Whether to recompute each frame with the reference.
    pub verify: bool,
    /// What it may cost.
    pub limits: Limits,
    /// What it may reach.
    pub sandbox: Sandbox,
    /// What is printed on stderr.
    pub stderr: StderrOptions,
}

impl FileJob {
    /// Checks and converts `args`.
    ///
    /// # Errors
    /// When options conflict, or a value is out of range: a usage error.
    pub fn from_args(args: FileArgs) -> Result<Self, clap::Error> {
        let (Some(input), Some(output)) = (args.input, args.output) else {
            return Err(usage(ErrorKind::MissingRequiredArgument, "an input and an output are required"));
        };
        if input.is_empty() || output.is_empty() {
            return Err(usage(ErrorKind::ValueValidation, "the name of the input or the output is empty"));
        }
        let (input, output) = (plain_name(input), output_name(output));
        let equalize = EqualizeOptions::from_args(args.equalize, args.depth)?.for_file(args.look_ahead, &input)?;
        // NVDEC needs the GPU first; --verify is to check the GPU's frames.
        let cpu_may_begin = args.decoder != DecoderArg::Nvdec && !args.verify;
        let mut backend = args.device.choice(&equalize, cpu_may_begin)?;
        let from_stdin = input == "-";
        let stats = stats(args.stats, &output)?;
        let other = [Some(&output), stats.as_ref().map(|(name, _)| name)];
        if equalize.save_curves.is_some() && other.contains(&equalize.save_curves.as_ref()) {
            let message = "--save-curves, --stats and the output are files of their own, with names of their own";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        let (format, raw) = args.input_kind.check()?;
        let decoders = args.decoders.unwrap_or(if args.decoder == DecoderArg::Nvdec { DECODERS } else { 1 });
        let mut input = InputOptions {
            url: input,
            format,
            raw,
            video_stream: args.video_stream,
            part: args.part.part()?,
            // NVDEC conceals damage without a report: only on request.
            reading: Reading::Decoded,
            decode_on: args.decoder.on(args.device.gpu),
            decoders: decoders.into(),
            wall: None,
        };
        let (output, has_filters) = (args.output_options.file(output, from_stdin), args.filters.filter.is_some());
        let sandbox = args.sandbox.check([&mut input], &output)?.with(&mut backend, &mut input, has_filters)?;
        Ok(FileJob {
            input,
            output,
            stats,
            filters: args.filters.check()?,
            equalize,
            backend,
            verify: args.verify,
            limits: args.limits.check()?,
            sandbox,
            stderr: args.stderr.into(),
        })
    }

    /// Names of all files that the run writes.
    pub fn written_files(&self) -> impl Iterator<Item = &String> {
        let stats = self.stats.as_ref().map(|(name, _)| name);
        [Some(&self.output.name), self.equalize.save_curves.as_ref(), stats].into_iter().flatten()
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
