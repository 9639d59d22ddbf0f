//! What was typed after `live`.

use super::args::{BackendArgs, TalkArgs};
use super::equalize_args::EqualizeArgs;
use super::output_args::OutputArgs;
use clap::Args;

/// The options of `live`.
#[derive(Args, Debug)]
pub struct LiveArgs {
    /// Camera (/dev/video0), URL (rtsp://, udp://, http://), file, or - for stdin [default: the first camera]
    pub camera: Option<String>,

    /// Also record into this file; mp4 and mkv stay playable even after a crash
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    pub record: Option<String>,

    /// Also provide a virtual camera (v4l2loopback) like /dev/video10 to other programs
    #[arg(long, value_name = "DEV", help_heading = "Output")]
    pub loopback: Option<String>,

    /// Also write here: - for stdout (y4m), or a URL (rtsp://, rtmp://, srt://, udp://, tcp://, rtp://); a server that is away
    /// is waited for
    #[arg(short = 'o', long, value_name = "URL", help_heading = "Output")]
    pub output: Option<String>,

    /// No window
    #[arg(long, help_heading = "Output")]
    pub no_preview: bool,

    /// How to write all of these.
    #[command(flatten)]
    pub written: OutputArgs,

    /// Input format, where it cannot be detected (FFmpeg's name)
    #[arg(short = 'f', long, value_name = "F", help_heading = "Camera")]
    pub format: Option<String>,

    /// Size to film in; the nearest that the camera has [default: 1280x720]
    #[arg(short = 's', long, value_name = "WxH", help_heading = "Camera")]
    pub size: Option<String>,

    /// Frames per second; the nearest that the camera has [default: 30]
    #[arg(short = 'r', long, value_name = "R", help_heading = "Camera")]
    pub rate: Option<String>,

    /// Record this microphone: default, or a name that `histeq-video devices` lists; none leaves out sound that comes with
    /// the pictures [default: that sound]
    #[arg(long, value_name = "DEV", help_heading = "Camera")]
    pub audio: Option<String>,

    /// What the camera is to send: a pixel format, mjpeg or h264 [default: chosen for size and rate]
    #[arg(long, value_name = "P", help_heading = "Camera")]
    pub pixel_format: Option<String>,

    /// Wait for the camera, or for whoever sends, if it is not there yet
    #[arg(long, help_heading = "Camera")]
    pub wait: bool,

    /// Stop after this long [default: at Ctrl-C, or when the window is closed]
    #[arg(long, value_name = "T", help_heading = "Camera")]
    pub duration: Option<String>,

    /// Stop after this many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Camera")]
    pub frames: Option<u64>,

    /// Where equalization runs.
    #[command(flatten)]
    pub place: BackendArgs,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs,

    /// What is said, and what is an error.
    #[command(flatten)]
    pub talk: TalkArgs,
}
