//! `histeq-video live`: the options of equalizing a camera.

use super::backend::BackendChoice;
use super::backend_args::BackendArgs;
use super::equalize::{EqualizeArgs, EqualizeOptions};
use super::filter::{FilterArgs, FilterOptions};
use super::output::{DepthArgs, OutputArgs};
use super::stderr::{StderrArgs, StderrOptions};
use super::values::{duration, output_name, plain_name, rate, size};
use crate::equalize::OutputDepth;
use crate::sink::{EncoderChoice, Overwrite, PixelChoice, network_format};
use crate::source::CameraOptions;
use clap::Args;

/// The options of `live`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video live --help shows all other options. Keys in the window: press F1.")]
#[command(
    after_long_help = "Times are written as for FFmpeg: 90 (seconds), 1:30, 00:01:30.5. Keys in the window: press F1."
)]
pub struct LiveArgs {
    /// Camera (/dev/video0), URL (rtsp://, udp://, http://), file, or - for stdin [default: the first camera]
    pub camera: Option<String>,

    /// Also record into this file; mp4 and mkv stay playable even after a crash
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub record: Option<String>,

    /// Also write here: - for stdout (y4m), or a URL (rtsp://, rtmp://, srt://, udp://, tcp://, rtp://)
    ///
    /// The stream goes on when a server that was away comes back; window and recording lose nothing meanwhile.
    #[arg(short = 'o', long, value_name = "URL")]
    pub output: Option<String>,

    /// Also feed a virtual camera (v4l2loopback) like /dev/video10, for other programs to read
    #[arg(long, value_name = "DEV")]
    pub loopback: Option<String>,

    /// Open no window
    #[arg(long)]
    pub no_preview: bool,

    /// Size to film in; the camera's nearest is taken [default: 1280x720]
    #[arg(short = 's', long, value_name = "WxH")]
    pub size: Option<String>,

    /// Frames per second; the camera's nearest are taken [default: 30]
    #[arg(short = 'r', long, value_name = "R")]
    pub rate: Option<String>,

    /// Microphone to record: default, or a name that `histeq-video devices` lists; none records no sound
    /// [default: the sound that comes with the pictures]
    #[arg(long, value_name = "DEV")]
    pub audio: Option<String>,

    /// Wait for a camera or sender that is not there yet
    #[arg(long)]
    pub wait: bool,

    /// Stop after this long [default: at Ctrl-C, or when the window is closed]
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,

    /// Stop after this many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(help_heading = "Camera", hide_short_help = true)]
    pub frames: Option<u64>,

    /// Input format, by FFmpeg's name, like v4l2 or lavfi [default: detected]
    #[arg(short = 'f', long, value_name = "F", help_heading = "Camera", hide_short_help = true)]
    pub format: Option<String>,

    /// What the camera is to send: a pixel format by FFmpeg's name, mjpeg or h264 [default: chosen for size and rate]
    #[arg(long, value_name = "P", help_heading = "Camera", hide_short_help = true)]
    pub pixel_format: Option<String>,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs,

    /// Filters ahead of it.
    #[command(flatten)]
    pub filters: FilterArgs,

    /// How to write all of these outputs.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// How many bits come out.
    #[command(flatten)]
    pub depth: DepthArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub device: BackendArgs,
}

/// The checked options of `live`.
#[derive(Debug)]
pub struct LiveJob {
    /// The camera, and how to open it.
    pub camera: CameraOptions,
    /// A file to record into.
    pub record: Option<String>,
    /// What to do if an output exists.
    pub overwrite: Overwrite,
    /// How to encode the recording and the output.
    pub encoder: EncoderChoice,
    /// Pixel format to encode.
    pub pixels: PixelChoice,
    /// A virtual camera to feed.
    pub loopback: Option<String>,
    /// A pipe or a URL, and its container.
    pub output: Option<(String, Option<String>)>,
    /// Whether to open a window.
    pub preview: bool,
    /// A microphone to record.
    pub microphone: Option<String>,
    /// Filters ahead of equalization.
    pub filters: FilterOptions,
    /// How to equalize.
    pub equalize: EqualizeOptions,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// What is printed on stderr.
    pub stderr: StderrOptions,
}

impl LiveJob {
    /// Checks and converts `args`.
    ///
    /// # Errors
    /// When options conflict, or a value is out of range: a usage error.
    pub fn from_args(args: LiveArgs) -> Result<Self, clap::Error> {
        let output = args.output.map(output_name).map(|url| {
            let format = args.output_options.output_format.clone().or_else(|| network_format(&url).map(str::to_owned));
            (url, format)
        });
        let equalize = EqualizeOptions::from_args(args.equalize, args.depth)?.for_live()?;
        let backend = args.device.choice(&equalize, false)?;
        let ten_bits = equalize.output_depth == OutputDepth::Ten;
        let keeps_sound = args.record.is_some() || output.as_ref().is_some_and(|(url, _)| url != "-");
        let microphone = args.audio.clone().filter(|name| name != "none" && keeps_sound);
        Ok(LiveJob {
            camera: CameraOptions {
                camera: args.camera.map(plain_name),
                format: args.format,
                size: size(args.size)?,
                rate: rate(args.rate)?,
                pixel_format: args.pixel_format,
                duration: duration(args.duration)?,
                frames: args.frames,
                wait: args.wait,
                with_sound: keeps_sound && args.audio.is_none(),
            },
            record: args.record.map(output_name),
            overwrite: args.output_options.overwrite(false),
            encoder: args.output_options.encoder(),
            // --strict refuses formats with fewer bits or less chroma. 10 bits that are asked for stay 10.
            pixels: args.output_options.output_pixel_format.unwrap_or(match args.stderr.strict || ten_bits {
                true => PixelChoice::NearInput,
                false => PixelChoice::ForPlayers,
            }),
            loopback: args.loopback,
            output,
            preview: !args.no_preview,
            microphone,
            filters: args.filters.check()?,
            equalize,
            backend,
            stderr: args.stderr.into(),
        })
    }

    /// Names of the recording and the output.
    pub fn encoded_files(&self) -> impl Iterator<Item = &String> {
        self.record.iter().chain(self.output.as_ref().map(|(url, _)| url))
    }

    /// Names of all files that the run writes.
    pub fn written_files(&self) -> impl Iterator<Item = &String> {
        self.encoded_files().chain(&self.equalize.save_curves)
    }
}
