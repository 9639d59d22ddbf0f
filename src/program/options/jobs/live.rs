//! `histeq-video live`: the options of equalizing a camera.

use super::file::DecoderArg;
use crate::options::picture::backend_args::BackendArgs;
use crate::options::picture::equalize::{EqualizeArgs, EqualizeOptions};
use crate::options::picture::filter::FilterOptions;
use crate::options::picture::option_args::{LIVE, OUTPUT, OptionArgs};
use crate::options::picture::palette::PaletteOptions;
use crate::options::reading::limits::{RunLimits, ThreadArgs};
use crate::options::reading::sandbox::SandboxArgs;
use crate::options::values::{duration, input_name, output_name, parse_count, rate, seconds, size, span, usage, value};
use crate::options::writing::output::OutputArgs;
use crate::options::writing::stderr::{StderrArgs, StderrOptions};
use crate::options::writing::web::{WebOptions, WebTokenArg, web_address};
use anyhow::anyhow;
use clap::Args;
use clap::error::ErrorKind;
use histeq::Limits;
use histeq::internal::equalize::OutputDepth;
use histeq::internal::equalize::backend::BackendChoice;
use histeq_media::ffmpeg::decode::DecodeOn;
use histeq_media::sink::encoder::{EncoderChoice, PixelChoice};
use histeq_media::sink::files::{Overwrite, Target, is_free, next_names};
use histeq_media::sink::live::network_format;
use histeq_media::sink::{OutputKind, Retention};
use histeq_media::source::live::CameraOptions;
use histeq_media::sys::files::{Name, number_pattern, numbered};
use jiff::civil::Time;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

/// The options of `live`, as typed.
#[derive(Args, Debug)]
#[command(after_help = "histeq-video live --help shows all other options. Keys in the window: press F1.")]
#[command(
    after_long_help = "Times are written as 90 (seconds), 1:30, 00:01:30.5, 5m or 1h30m. Keys in the window: press F1."
)]
pub struct LiveArgs {
    /// Camera (/dev/video0), URL (rtsp://, udp://, http://), file, or - for stdin [default: the first camera]
    ///
    /// Several are equalized at the same time, without a window, and on one GPU. Each has outputs of its own: %d in
    /// their names (--record 'cam-%d.mkv') is its number, from 1. All options hold for each. One that fails or ends
    /// leaves the others alone.
    pub camera: Vec<Name>,

    /// Equalize the cameras that this file describes
    ///
    /// It is TOML: [camera.NAME] with source = "URL" and these options. The file is read again on SIGHUP: what has not
    /// changed goes on. A camera that fails begins again after a minute. docs/live.md has an example.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "camera")]
    pub config: Option<String>,

    /// Check the cameras' options, outputs and encoders, and open no camera
    ///
    /// With --config, all of the file is checked; a fault is told with its line.
    #[arg(long)]
    pub dry_run: bool,

    /// Also record into this file; mp4 and mkv stay playable even after a crash
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub record: Option<Name>,

    /// Record in files of this length (10m, 1h), each whole by itself; the name has the time: cam-%Y%m%d-%H%M%S.mkv
    ///
    /// Where a day has a whole number of them, they end by the clock: those of 1h on the hour. Each begins with a key
    /// frame, and no frame is lost or twice between them. When the disk is full or away, recording waits and goes on.
    /// %d is the day of the month, and no counter: a name that is taken gets a number by itself.
    #[arg(long, value_name = "T", value_parser = span, requires = "record")]
    pub segment: Option<Duration>,

    /// Remove files of --segment that ended this long ago (12h, 7d)
    ///
    /// Only recordings that this program has named by this pattern go, of earlier runs as well; one that is renamed
    /// stays. With it or --keep-size, the oldest one also goes when the disk is full.
    #[arg(long, value_name = "T", value_parser = span, requires = "segment")]
    pub keep: Option<Duration>,

    /// Remove the oldest files of --segment when all of them have more bytes than this (500M, 200G)
    ///
    /// With --config, it counts those of all cameras together where it stands at the head of the file or on the command
    /// line, and those of one camera in its table.
    #[arg(long, value_name = "SIZE", requires = "segment")]
    #[arg(help_heading = "Recording", hide_short_help = true)]
    pub keep_size: Option<String>,

    /// Also write here: - for stdout (y4m), or a URL (rtsp://, rtmp://, srt://, udp://, tcp://, rtp://)
    ///
    /// The stream goes on when a server that was away comes back; window and recording lose nothing meanwhile.
    #[arg(short = 'o', long, value_name = "URL")]
    pub output: Option<Name>,

    /// Also feed a virtual camera (v4l2loopback) like /dev/video10
    #[arg(long, value_name = "DEV")]
    pub loopback: Option<Name>,

    /// Draw this text into the equalized picture, with the time as strftime has it: '%F %T gate'
    #[arg(long, value_name = "TEXT", help_heading = "Filters", hide_short_help = true)]
    pub osd: Option<String>,

    /// Open no window; several cameras never have one
    #[arg(long)]
    pub no_preview: bool,

    /// Show original and equalized picture in a browser instead, at this address [default: 127.0.0.1:8100]
    ///
    /// A port (8080) is one of this machine alone; 0.0.0.0 or 0.0.0.0:8080 can be opened from others, by the address
    /// with a token that is printed. Look and strength can be changed there. docs/live.md has the rest.
    #[arg(long, value_name = "ADDRESS", value_parser = web_address, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "")]
    pub web: Option<SocketAddr>,

    /// The access token of the view in the browser.
    #[command(flatten)]
    pub web_token: WebTokenArg,

    /// Size to film in; the camera's nearest is taken [default: 1280x720]
    #[arg(short = 's', long, value_name = "WxH")]
    pub size: Option<String>,

    /// Frames per second; the camera's nearest are taken [default: 30]
    #[arg(short = 'r', long, value_name = "R")]
    pub rate: Option<String>,

    /// Microphone to record: default, or one that `histeq-video devices` lists; none records no sound
    /// [default: the sound that comes with the pictures]
    #[arg(long, value_name = "DEV")]
    pub audio: Option<String>,

    /// Wait this long for a source that is not there [default: until it comes]
    ///
    /// One that refuses name or password is an error at once.
    #[arg(long, value_name = "T", value_parser = seconds, num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<f64>>,

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

    /// Where to decode
    ///
    /// nvdec uses the decoder of --gpu (4:2:0 video in H.264, HEVC, AV1, VP9 and others), which leaves the CPU free,
    /// but damaged frames are not reported; auto therefore takes the CPU.
    #[arg(long, value_enum, ignore_case = true, default_value_t = DecoderArg::Auto)]
    #[arg(help_heading = "Camera", hide_short_help = true)]
    pub decoder: DecoderArg,

    /// How to equalize.
    #[command(flatten)]
    pub equalize: EqualizeArgs<LIVE>,

    /// Filters before equalization.
    #[command(flatten)]
    pub filters: FilterOptions,

    /// False colours after equalization.
    #[command(flatten)]
    pub palette: PaletteOptions,

    /// Options of all of these outputs.
    #[command(flatten)]
    pub output_options: OutputArgs,

    /// Options of the equalized frames.
    #[command(flatten)]
    pub equalized: OptionArgs<OUTPUT>,

    /// Leave out of the metadata of recordings that this program made them, and with which settings
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub no_provenance: bool,

    /// The sandbox.
    #[command(flatten)]
    pub sandbox: SandboxArgs,

    /// The number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// What is printed on stderr, and what is an error.
    #[command(flatten)]
    pub stderr: StderrArgs,

    /// Where equalization runs.
    #[command(flatten)]
    pub device: BackendArgs,
}

/// How a camera is equalized at some times of the day.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The time of the day at which it begins.
    pub start: Time,
    /// The time at which it ends: on the next day, if that is earlier than `start`.
    pub until: Time,
    /// How to equalize then.
    pub equalize: EqualizeOptions,
    /// The options of this entry, for messages.
    pub text: String,
}

impl Scheduled {
    /// Whether this entry applies at this time of the day.
    pub fn holds_at(&self, now: Time) -> bool {
        match self.start <= self.until {
            true => (self.start..self.until).contains(&now),
            false => now >= self.start || now < self.until,
        }
    }
}

/// The checked options of one source of `live`.
#[derive(Clone, Debug)]
pub struct LiveJob {
    /// The camera, and how to open it.
    pub camera: CameraOptions,
    /// A file to record into.
    pub record: Option<Name>,
    /// The length of segments, and which of them are kept; `record` is then a pattern for their names.
    pub segments: Option<(Duration, Retention)>,
    /// What to do if an output exists.
    pub overwrite: Overwrite,
    /// How to encode the recording and the output.
    pub encoder: EncoderChoice,
    /// Container options of the recording and the output.
    pub container: Vec<(String, String)>,
    /// Pixel format to encode.
    pub pixels: PixelChoice,
    /// A virtual camera to feed.
    pub loopback: Option<Name>,
    /// A pipe or a URL, and its container.
    pub output: Option<(Name, Option<String>)>,
    /// The settings that apply only at some times of the day.
    pub schedule: Vec<Scheduled>,
    /// Colours that are applied after equalization.
    pub palette: PaletteOptions,
    /// A text to draw into the picture.
    pub osd: Option<String>,
    /// Whether the metadata of recordings names this program and its settings.
    pub has_provenance: bool,
    /// Whether to check the job without opening the camera.
    pub dry_run: bool,
    /// Whether to open a window.
    pub preview: bool,
    /// The view in a browser.
    pub web: Option<WebOptions>,
    /// A microphone to record.
    pub microphone: Option<String>,
    /// Filters before equalization.
    pub filters: FilterOptions,
    /// How to equalize.
    pub equalize: EqualizeOptions,
    /// Where to equalize.
    pub backend: BackendChoice,
    /// The limits: only the number of threads is set.
    pub limits: RunLimits,
    pub stderr: StderrOptions,
}

impl LiveJob {
    /// Checks and converts `args`: a job for each source, at least one.
    pub fn from_args(mut args: LiveArgs) -> Result<Vec<Self>, clap::Error> {
        let cameras: Vec<Name> = std::mem::take(&mut args.camera).into_iter().map(input_name).collect();
        let mut job = LiveJob::without_camera(args)?;
        if cameras.len() < 2 {
            let camera = CameraOptions { camera: cameras.into_iter().next(), ..job.camera };
            return Ok(vec![LiveJob { camera, ..job }]);
        }
        job.check_several(&cameras)?;
        job.shares_with(cameras.len());
        Ok((1..).zip(cameras).map(|(number, camera)| job.for_source(number, camera)).collect())
    }

    fn without_camera(mut args: LiveArgs) -> Result<Self, clap::Error> {
        let segments = segments(&mut args)?;
        let output = args.output.map(output_name).map(|url| {
            let format =
                args.output_options.output_format.clone().or_else(|| network_format(url.text()?).map(str::to_owned));
            (url, format)
        });
        let mut equalize = EqualizeOptions::for_live(args.equalize, args.equalized)?;
        equalize.options.gray |= args.palette.palette.is_some();
        let backend = args.device.choice(false);
        let ten_bits = equalize.options.output_depth == OutputDepth::Ten;
        let keeps_sound = args.record.is_some() || output.as_ref().is_some_and(|(url, _)| *url != "-");
        let microphone = args.audio.clone().filter(|name| name != "none" && keeps_sound);
        Ok(LiveJob {
            camera: CameraOptions {
                camera: None,
                format: args.format,
                size: size(args.size)?,
                rate: rate(args.rate)?,
                pixel_format: args.pixel_format,
                duration: duration(args.duration)?,
                frames: args.frames,
                wait: wait(args.wait)?,
                with_sound: keeps_sound && args.audio.is_none(),
                decode_on: args.decoder.on(args.device.gpu),
                isolation: args.sandbox.sandbox,
                limits: Limits::default(),
            },
            record: args.record.map(output_name),
            segments,
            overwrite: args.output_options.overwrite.choice(false),
            encoder: args.output_options.encoder(),
            container: args.output_options.output_option,
            // --strict refuses formats with fewer bits or less chroma. Requested 10 bits stay 10.
            pixels: args.output_options.output_pixel_format.unwrap_or(match args.stderr.strict || ten_bits {
                true => PixelChoice::NearInput,
                false => PixelChoice::ForPlayers,
            }),
            loopback: args.loopback,
            schedule: Vec::new(),
            palette: args.palette,
            osd: args.osd,
            output,
            has_provenance: !args.no_provenance,
            dry_run: args.dry_run,
            preview: !args.no_preview && args.web.is_none(),
            web: args.web_token.view(args.web),
            microphone,
            filters: args.filters,
            equalize,
            backend,
            limits: args.threads.limits(),
            stderr: args.stderr.into(),
        })
    }

    /// Checks that the options go with several sources.
    fn check_several(&self, cameras: &[Name]) -> Result<(), clap::Error> {
        let conflict = |message: &str| Err(usage(ErrorKind::ArgumentConflict, message));
        let count = cameras.len();
        if cameras.iter().filter(|camera| **camera == "-").count() > 1 {
            return conflict("- is stdin, which is one source: name it once");
        }
        if self.microphone.is_some() {
            return conflict("--audio takes one microphone for one source: leave it out, or give none");
        }
        if self.segments.is_some() {
            return conflict("--segment names files by the time, those of several sources alike (use --config FILE)");
        }
        let curves = self.equalize.save_curves.as_ref();
        let output = self.output.as_ref().map(|(name, _)| name);
        let outputs = [
            ("--record", self.record.as_ref()),
            ("--output", output),
            ("--loopback", self.loopback.as_ref()),
            ("--save-curves", curves),
        ];
        for (option, name) in outputs {
            let Some(name) = name.filter(|name| number_pattern(name).is_none()) else { continue };
            return conflict(&format!(
                "{option} {name} is one place for {count} sources: the last part of the name needs %d, the number of \
                 the source (as in cam-%d.mkv)"
            ));
        }
        if outputs[..3].iter().all(|(_, name)| name.is_none()) && self.web.is_none() {
            let message = "several sources have no window: say where the pictures go (--record 'cam-%d.mkv'), or \
                           show them in a browser (--web)";
            return conflict(message);
        }
        let format = self.output.as_ref().and_then(|(_, format)| format.as_deref());
        for (name, format) in [(self.record.as_ref(), None), (output, format)] {
            if let Some(name) = name.filter(|name| OutputKind::for_name(name, format) == OutputKind::Segments) {
                return conflict(&format!(
                    "{name}: the segments of several sources would have the same names (use .mkv, or a process for \
                     each source)"
                ));
            }
        }
        Ok(())
    }

    /// The job of the source with this number, from 1, of several.
    fn for_source(&self, number: usize, camera: Name) -> Self {
        let place = |name: &Name| numbered(name, number as u64);
        let mut job = self.clone();
        job.record = self.record.as_ref().map(place);
        job.loopback = self.loopback.as_ref().map(place);
        job.output = self.output.as_ref().map(|(name, format)| (place(name), format.clone()));
        job.equalize.save_curves = self.equalize.save_curves.as_ref().map(place);
        job.preview = false;
        job.camera.camera = Some(camera);
        job
    }

    /// The same job for a camera that starts again: files that exist and that this run has `written` are not replaced;
    /// the next free number is added to their names.
    pub fn with_new_names(&self, written: &BTreeSet<Name>) -> Self {
        let mut job = self.clone();
        let output = job.output.iter_mut().map(|(name, _)| name);
        for name in job.record.iter_mut().chain(output).chain(&mut job.equalize.save_curves) {
            if written.contains(name) && name.path().is_file() {
                *name = next_name(name);
            }
        }
        job
    }

    /// Leaves to each of `count` sources its share of the machine's cores.
    pub fn shares_with(&mut self, count: usize) {
        self.backend.sources = count;
        let threads = self.backend.threads_for_each();
        // Inserted first, so that an option of the user replaces it.
        self.encoder.options.insert(0, ("threads".to_owned(), threads.to_string()));
        if self.camera.decode_on == DecodeOn::Cpu {
            self.camera.decode_on = DecodeOn::Threads(u16::try_from(threads).unwrap_or(u16::MAX));
        }
    }

    /// Whether it has no output but a window.
    pub fn has_no_output(&self) -> bool {
        self.record.is_none() && self.loopback.is_none() && self.output.is_none() && self.web.is_none()
    }

    /// Checks that no two jobs write to the same file or device, and that none writes to a source.
    ///
    /// # Errors
    /// The index in `jobs` of the job at fault, and the error.
    pub fn check_apart(jobs: &[&LiveJob]) -> Result<(), (usize, anyhow::Error)> {
        for (index, job) in jobs.iter().enumerate() {
            for name in job.written_files().chain(&job.loopback) {
                let mut cameras = jobs.iter().filter_map(|job| job.camera.camera.as_ref());
                cameras.try_for_each(|camera| Target::differs(name, camera)).map_err(|error| (index, error))?;
                for (other_index, other) in jobs.iter().enumerate().skip(index + 1) {
                    let mut rest = other.written_files().chain(&other.loopback);
                    if let Some(other) = rest.find(|other| Target::are_one(name, other)) {
                        let error = anyhow!("{name} and {other} are one file for two sources (give each its own)");
                        return Err((other_index, error));
                    }
                }
            }
        }
        Ok(())
    }

    /// Names of all files that it reads and writes.
    pub fn files(&self) -> impl Iterator<Item = &Name> {
        self.written_files().chain(&self.camera.camera).chain(self.read_files())
    }

    /// Names of all files that the run reads beside its input.
    pub fn read_files(&self) -> impl Iterator<Item = &Name> {
        self.equalize.read_files().chain(&self.filters.lut)
    }

    /// Names of the recording and the output.
    pub fn encoded_files(&self) -> impl Iterator<Item = &Name> {
        self.record.iter().chain(self.output.as_ref().map(|(url, _)| url))
    }

    /// Names of all files that the run writes.
    pub fn written_files(&self) -> impl Iterator<Item = &Name> {
        self.encoded_files().chain(&self.equalize.save_curves)
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether the name has a day of the month (`cam-%d.mkv`, `cam-%03d.mkv`) and no other part of a time.
fn has_day_alone(name: &Name) -> bool {
    let file = name.path().file_name().unwrap_or_default().as_encoded_bytes();
    number_pattern(name).is_some() && file.iter().filter(|byte| **byte == b'%').count() == 1
}

/// `NAME.2.EXT`, or with the first larger number of which no file exists.
fn next_name(name: &Name) -> Name {
    next_names(name.path()).skip(1).find(|name| is_free(name)).unwrap_or_default().into()
}

/// The length of segments, and which of them are kept; `None` without `--segment`.
fn segments(args: &mut LiveArgs) -> Result<Option<(Duration, Retention)>, clap::Error> {
    let (Some(name), Some(length)) = (&args.record, args.segment) else { return Ok(None) };
    if OutputKind::for_name(name, None) != OutputKind::File {
        let message = format!("{name}: --segment writes files of video (as in cam-%Y%m%d-%H%M%S.mkv)");
        return Err(usage(ErrorKind::ArgumentConflict, &message));
    }
    if has_day_alone(name) && length < DAY {
        let message = format!(
            "{name}: %d is the day of the month, and no counter: all files of a day would have one name (as in \
             cam-%Y%m%d-%H%M%S.mkv)"
        );
        return Err(usage(ErrorKind::ValueValidation, &message));
    }
    // A forgotten unit (`7` for `7d`) would remove nearly all recordings.
    if let Some(keep) = args.keep.filter(|keep| *keep < length) {
        let seconds = keep.as_secs_f64();
        let message = format!("--keep: {seconds} seconds are less than one file of --segment (7d are days, 12h hours)");
        return Err(usage(ErrorKind::ValueValidation, &message));
    }
    let size = args.keep_size.clone().unwrap_or_default();
    let bytes = value("--keep-size", "a number of bytes like 500M or 200G", args.keep_size.take(), parse_count)?;
    if bytes.is_some_and(|bytes| bytes < 1_000_000) && size.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("--keep-size: {size} is {size} bytes ({size}G are gigabytes)");
        return Err(usage(ErrorKind::ValueValidation, &message));
    }
    Ok(Some((length, Retention { time: args.keep, bytes, is_shared: false })))
}

/// How long to wait for a missing source: until it comes if no number is given, not at all with 0.
fn wait(seconds: Option<Option<f64>>) -> Result<Option<Duration>, clap::Error> {
    let wait = match seconds {
        Some(Some(seconds)) if seconds < 0.0 => {
            return Err(usage(ErrorKind::ValueValidation, "--wait is a number of seconds from 0, or stands alone"));
        }
        Some(Some(seconds)) => Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        Some(None) => Some(Duration::MAX),
        None => None,
    };
    Ok(wait.filter(|wait| !wait.is_zero()))
}
