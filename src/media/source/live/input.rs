//! Finds a live input and the options to open it with: a camera of this machine in one of its modes, a network stream,
//! a pipe, a file in real time, or a filter source.

use crate::camera::{INPUT, NotOpened, Wanted, cameras, choose, modes, other_than_camera};
use crate::ffmpeg::decode::DecodeOn;
use crate::ffmpeg::demux::opens_more;
use crate::ffmpeg::{Rational, is_url};
use crate::pipeline::{FailureKind, Notices};
use crate::source::options::{Isolation, names_others, rate};
use crate::sys::files::Name;
use crate::sys::io::is_pipe;
use crate::sys::without_password;
use anyhow::{Result, bail};
use histeq::Limits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The time-out for a reply of an RTSP server. The connection is then tried again.
const RTSP_TIMEOUT: Duration = Duration::from_secs(5);

/// The options of a live input. A decoding process gets all fields but those that serde skips.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CameraOptions {
    /// A camera, a URL, or `-` for stdin; the first camera if not given.
    pub camera: Option<Name>,
    /// FFmpeg's name of an input format.
    pub format: Option<String>,
    /// Pixels in a row and rows.
    pub size: Option<(usize, usize)>,
    /// Frames a second.
    #[serde(with = "rate")]
    pub rate: Option<Rational>,
    /// Pixel format, or codec, that the camera sends.
    pub pixel_format: Option<String>,
    /// How long to read, in microseconds.
    pub duration: Option<i64>,
    /// How many frames to read.
    pub frames: Option<u64>,
    /// How long to wait for an input that is not available yet; without a limit if [`Duration::MAX`].
    pub wait: Option<Duration>,
    /// Whether to read the input's audio, too.
    pub with_sound: bool,
    /// Where to decode.
    pub decode_on: DecodeOn,
    /// Whether inputs other than devices are opened and decoded in a separate process.
    #[serde(skip)]
    pub isolation: Isolation,
    /// The limits of its frames, and of the threads that read them.
    #[serde(skip)]
    pub limits: Limits,
}

/// A live input before it is opened. It may be opened many times.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LiveInput {
    /// Its name in messages.
    pub name: String,
    /// The URL for FFmpeg.
    pub url: Name,
    /// FFmpeg's name of the demuxer, if it is not probed.
    pub format: Option<String>,
    /// The options of demuxer and protocol.
    pub options: Vec<(String, String)>,
    /// Whether it is stdin or a FIFO.
    pub is_pipe: bool,
    /// Whether to wait for it after it was lost. Files and filters do not come back.
    pub comes_back: bool,
    /// Whether it is a camera of this machine. Its modes may differ when it comes back.
    pub is_camera: bool,
    /// Whether it is a file, whose frames are delivered in real time.
    pub is_paced: bool,
    /// Where it is decoded.
    pub decode_on: DecodeOn,
}

impl LiveInput {
    /// Finds the input, and chooses the mode of a camera.
    ///
    /// # Errors
    /// When there is no camera, or it lacks the requested mode.
    pub fn find(options: &CameraOptions, notices: &Notices) -> Result<Self> {
        let url = match &options.camera {
            Some(url) => url.clone(),
            None => {
                let first = cameras().into_iter().next();
                let none = || FailureKind::Device.error("no camera here (plug one in, or name a URL: live rtsp://...)");
                let first = first.ok_or_else(none)?;
                notices.note(&format!("filming with {} ({})", first.name, first.url));
                first.url.into()
            }
        };
        let text = url.to_string();
        let is_url = text.contains("://");
        let is_paced = std::fs::metadata(&url).is_ok_and(|file| file.is_file());
        let is_file = options.format.is_none() && is_paced;
        let is_pipe = options.format.as_deref() != Some(INPUT) && is_pipe(&url);
        let is_something_else = is_url || is_file || is_pipe;
        let is_camera = options.format.as_deref() == Some(INPUT) || options.format.is_none() && !is_something_else;
        let format = if is_camera { Some(INPUT.to_owned()) } else { options.format.clone() };
        let mut set = FfmpegOptions(Vec::new());
        if is_camera {
            if let Some(what) = other_than_camera(&url) {
                let why =
                    format!("{url}: not a camera: {what} (`histeq-video devices` lists the cameras that are here)");
                return Err(NotOpened::for_good(why).into());
            }
            set.set_camera_mode(&url, options, notices)?;
        } else {
            set.add("video_size", options.size.map(|(width, height)| format!("{width}x{height}")));
            set.add("framerate", options.rate.map(|rate| rate.to_string()));
            set.add("pixel_format", options.pixel_format.clone());
        }
        if text.starts_with("rtsp://") {
            // RTSP over TCP: over UDP, pictures lose slices when the network is busy, and firewalls drop packets.
            set.add("rtsp_flags", Some("prefer_tcp".to_owned()));
            set.add("timeout", Some(RTSP_TIMEOUT.as_micros().to_string()));
        }
        if is_url || is_pipe {
            // Packets that are read for probing are kept: they may have the only key frame for seconds.
            set.add("analyzeduration", Some("1000000".to_owned()));
        } else if !is_file {
            // A device reports its frame rate: do not buffer frames to measure it.
            set.add("fpsprobesize", Some("0".to_owned()));
        }
        let name = if url == "-" { "stdin".to_owned() } else { without_password(&url).to_string() };
        Ok(LiveInput {
            name,
            url,
            format,
            options: set.0,
            is_pipe,
            comes_back: is_url || is_camera,
            is_camera,
            is_paced,
            decode_on: options.decode_on,
        })
    }
}

impl LiveInput {
    /// Whether it can be opened and decoded in a process of its own. Devices, generators of pictures and inputs that
    /// name other files cannot.
    pub fn is_isolated(&self) -> bool {
        let opens_more = self.format.as_deref().is_some_and(opens_more);
        let is_on_cpu = !matches!(self.decode_on, DecodeOn::Nvdec(_));
        let is_stream = self.is_pipe || self.is_paced || is_url(&self.url);
        is_stream && is_on_cpu && !self.is_camera && !opens_more && !names_others(&self.url)
    }
}

struct FfmpegOptions(Vec<(String, String)>);

impl FfmpegOptions {
    fn add(&mut self, key: &str, value: Option<String>) {
        self.0.extend(value.map(|value| (key.to_owned(), value)));
    }

    /// Chooses the mode of a camera, and prints it.
    fn set_camera_mode(&mut self, url: &Name, options: &CameraOptions, notices: &Notices) -> Result<()> {
        let wanted = Wanted { size: options.size, rate: options.rate, format: options.pixel_format.clone() };
        let offered = modes(url, &wanted);
        let choice = choose(&offered, &wanted);
        if let Some(format) = options.pixel_format.as_ref().filter(|_| !offered.is_empty() && choice.is_none()) {
            bail!("{url}: the camera does not send {format} (`histeq-video devices` lists what it does)");
        }
        let (size, rate, format) = match choice {
            Some(choice) => {
                notices.note(&format!("{url}: {choice}"));
                (Some(choice.size), choice.rate, Some(choice.format))
            }
            None => (options.size, options.rate, options.pixel_format.clone()),
        };
        self.add("video_size", size.map(|(width, height)| format!("{width}x{height}")));
        self.add("framerate", rate.map(|rate| rate.to_string()));
        self.add("input_format", format);
        Ok(())
    }
}
