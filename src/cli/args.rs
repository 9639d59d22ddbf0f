//! What was typed. The text here is the one that `--help`, the man page and the completions show.

use super::equalize_args::EqualizeArgs;
use super::output_args::OutputArgs;
use super::{CompareArgs, LiveArgs, RequestedSettings};
use crate::cuda::KernelChoice;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::sync::Arc;

/// Kernels in place of the product's, if any were chosen.
pub(super) type Kernels = Option<Arc<dyn KernelChoice>>;

/// Bring out what is hidden in dark, hazy or flat video: equalizes luminance on a GPU or the CPU.
#[derive(Parser, Debug)]
#[command(name = "histeq-video", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "histeq-video --help shows all other options, exit codes and examples.")]
#[command(after_long_help = "\
Times are written as for FFmpeg: 90 (seconds), 1:30, 00:01:30.5.
Exit codes: 0 done, 1 failed, 2 usage error, 130 interrupted (what was encoded is kept as a playable file).

Examples:
  histeq-video night.mp4 night-clear.mp4
  histeq-video --strength 0.5 dive.mov dive-clear.mov
  histeq-video --start 1:30 --duration 20 --encoder ffv1 in.mkv part.mkv
  histeq-video dark%04d.png clear%04d.png
  ffmpeg -i in.mkv -f yuv4mpegpipe - | histeq-video - - | x264 --demuxer y4m -o out.264 -")]
pub struct Args {
    /// What to do other than equalizing a file.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Video, image, numbered images (%05d.png), URL that FFmpeg can read, or - for stdin
    #[arg(required = true, value_hint = clap::ValueHint::FilePath)]
    pub input: Option<String>,

    /// File to write, whose name decides the container, or - for stdout (y4m)
    #[arg(required = true, value_hint = clap::ValueHint::FilePath)]
    pub output: Option<String>,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs,

    /// Length of the part of --smooth that lies ahead of each frame, in seconds, 0 to 3600
    /// [default: half of --smooth for files, within 256 MiB of frames; 0 for pipes and URLs]
    ///
    /// With a look-ahead, the first frames of a scene flicker no more than the rest. It delays the output by its length
    /// and holds that many frames in memory; 0 delays nothing.
    #[arg(long, value_name = "SECONDS", conflicts_with = "exact")]
    #[arg(help_heading = "Equalization", hide_short_help = true)]
    pub look_ahead: Option<f64>,

    /// Start at this time of the input
    ///
    /// Earlier frames within --smooth are still analysed, so that the output equals this part of the whole video's output.
    #[arg(long, value_name = "T")]
    pub start: Option<String>,

    /// Stop after this long
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Stop after this many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,

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

    /// Video stream to equalize, counted from 0 among the video streams; the others are copied [default: the main one]
    #[arg(long, value_name = "N", help_heading = "Input", hide_short_help = true)]
    pub video_stream: Option<usize>,

    /// Where to decode
    ///
    /// nvdec uses the decoder of --gpu (4:2:0 video in H.264, HEVC, AV1, VP9 and others). That frees the CPU for the
    /// encoder, but damaged frames are not reported; auto therefore takes the CPU.
    #[arg(long, value_enum, default_value_t = DecoderArg::Auto, help_heading = "Input", hide_short_help = true)]
    pub decoder: DecoderArg,

    /// How to write the output.
    #[command(flatten)]
    pub written: OutputArgs,

    /// Also write measurements of each frame: a table (.csv), lines of JSON (.jsonl) or a page with plots (.html)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub stats: Option<String>,

    /// Recompute every frame with the reference and name the first difference
    #[arg(long, hide = true)]
    pub verify: bool,

    /// What is reported, and what is an error.
    #[command(flatten)]
    pub talk: TalkArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub place: BackendArgs,
}

/// Where equalization runs, of a file or of a camera.
#[derive(clap::Args, Debug)]
pub struct BackendArgs {
    /// Where to equalize
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    pub backend: BackendArg,

    /// GPU to use, counted from 0 in the list that `histeq-video devices` prints
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "GPU", hide_short_help = true)]
    pub gpu: usize,

    /// Through which kernels.
    #[cfg(feature = "laboratory")]
    #[command(flatten)]
    pub kernels: super::VariantArgs,
}

impl BackendArgs {
    /// The kernels that were chosen in place of the product's.
    ///
    /// # Errors
    /// When they do not go with how it is to be equalized, or where: a usage error for clap to print.
    #[cfg_attr(not(feature = "laboratory"), expect(unused_variables, reason = "there are no other kernels"))]
    pub(super) fn kernel_choice(
        &self,
        requested: &RequestedSettings,
        curves_given: bool,
    ) -> Result<Kernels, clap::Error> {
        #[cfg(feature = "laboratory")]
        return self.kernels.resolve(self.backend, requested, curves_given);
        #[cfg(not(feature = "laboratory"))]
        Ok(None)
    }
}

/// What is reported on the way, and what counts as an error.
#[derive(clap::Args, Debug)]
pub struct TalkArgs {
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print details too, and FFmpeg's own messages
    #[arg(short, long, help_heading = "Messages", hide_short_help = true)]
    pub verbose: bool,

    /// How to report progress on stderr
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto, help_heading = "Messages", hide_short_help = true)]
    pub progress: ProgressArg,

    /// Treat warnings as errors: a stream that the container cannot hold, damaged frames, a pixel format narrowed
    #[arg(long, help_heading = "Messages", hide_short_help = true)]
    pub strict: bool,
}

/// What the program does beside equalizing a file.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Equalize a camera as it films: window, recording, virtual camera, stream
    Live(Box<LiveArgs>),
    /// Show two videos or images in one, with histograms and the curve between them
    Compare(Box<CompareArgs>),
    /// Measure this machine: GPU kernels, memory transfers, CPU, whole files
    #[cfg(feature = "laboratory")]
    Bench(Box<super::BenchArgs>),
    /// List the GPUs, cameras, microphones and video encoders of this machine
    Devices,
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the man page
    Man {
        /// Page of this subcommand instead of the program's
        command: Option<String>,
        /// Write the pages of the program and of every subcommand into this folder instead
        #[arg(long, value_name = "DIR", conflicts_with = "command", value_hint = clap::ValueHint::DirPath)]
        out: Option<std::path::PathBuf>,
    },
}

/// Where equalization runs.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendArg {
    /// A GPU if there is one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU, or an error.
    Cuda,
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

/// What progress looks like.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressArg {
    /// A bar on a terminal, nothing elsewhere.
    Auto,
    /// A line of text now and then.
    Plain,
    /// A line of JSON now and then.
    Json,
    /// Nothing.
    None,
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
