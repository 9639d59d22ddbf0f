//! What was typed after `live`.

use super::args::{BackendArgs, TalkArgs};
use super::equalize_args::EqualizeArgs;
use super::output_args::OutputArgs;
use clap::Args;

/// The options of `live`.
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

    /// How to write all of these.
    #[command(flatten)]
    pub written: OutputArgs,

    /// What is reported, and what is an error.
    #[command(flatten)]
    pub talk: TalkArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub place: BackendArgs,
}
