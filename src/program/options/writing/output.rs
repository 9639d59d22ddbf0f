//! Options that choose how to write a file.

use crate::options::values::number;
use clap::{ArgAction, Args};
use histeq_media::ffmpeg::frame::RawFormat;
use histeq_media::ffmpeg::parse_number;
use histeq_media::sink::OutputOptions;
use histeq_media::sink::encoder::{EncoderChoice, PixelChoice, Quality};
use histeq_media::sink::files::Overwrite;
use histeq_media::sink::kept::StreamChoice;
use histeq_media::sys::files::Name;

/// What to do if the output exists, as typed.
#[derive(Args, Clone, Copy, Debug)]
pub struct OverwriteArgs {
    /// Overwrite an existing output [default: ask on a terminal, else refuse]
    #[arg(short = 'y', conflicts_with = "no_overwrite")]
    pub yes: bool,

    /// Do nothing if the output exists: exit code 3
    #[arg(short = 'n', help_heading = "Output", hide_short_help = true)]
    pub no_overwrite: bool,
}

impl OverwriteArgs {
    /// What to do if the output exists. With the video on stdin, the user cannot be asked.
    pub(crate) fn choice(self, from_stdin: bool) -> Overwrite {
        match (self.yes, self.no_overwrite) {
            (true, _) => Overwrite::Yes,
            (false, true) => Overwrite::Skip,
            (false, false) if from_stdin => Overwrite::No,
            (false, false) => Overwrite::Ask,
        }
    }
}

/// How to write a file, as typed.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Video encoder, by FFmpeg's name [default: fits input and container]
    ///
    /// For files, the default keeps the input's codec where the container can hold it, else it is the container's usual
    /// one.
    #[arg(long, value_name = "NAME")]
    pub encoder: Option<String>,

    /// Constant quality, on the encoder's own scale [default: near-transparent]
    ///
    /// With x264 and x265, a lower value gives a better picture and a larger file; their defaults are 18 and 20.
    #[arg(long, value_parser = number::<f32>, value_name = "Q", conflicts_with = "bitrate")]
    pub crf: Option<f32>,

    /// What to do if the output exists.
    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Bits per second to aim at instead of a quality, like 5M or 800k
    #[arg(long, value_name = "B", value_parser = bit_rate, help_heading = "Output", hide_short_help = true)]
    pub bitrate: Option<String>,

    /// The encoder's preset, like fast or slow [default: by encoder; for cameras one that keeps up]
    #[arg(long, value_name = "P", help_heading = "Output", hide_short_help = true)]
    pub preset: Option<String>,

    /// An option of the encoder's own, like bf=0; may be repeated
    #[arg(long, value_name = "K=V", value_parser = key_value, action = ArgAction::Append)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub encoder_option: Vec<(String, String)>,

    /// An option of the container's own, like movflags=-faststart; may be repeated
    ///
    /// mp4 and mov files have their index in front (faststart), except recordings of live.
    #[arg(long, value_name = "K=V", value_parser = key_value, action = ArgAction::Append)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub output_option: Vec<(String, String)>,

    /// Which streams to keep beside the equalized one: 1,4 by number, a or s by kind (v, a, s, d, t), a:0 or a:eng of a
    /// kind; with a minus, what to leave out, as in -a:1 [default: all]
    ///
    /// Numbers count from 0, as in messages, and within a kind as in ffmpeg -map. A later word takes precedence:
    /// -a,a:eng leaves out all sound but English. What the container cannot hold is left out in any case, with a
    /// warning unless it is left out here.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = "Output", hide_short_help = true)]
    pub streams: Option<StreamChoice>,

    /// Pixel format to encode, by FFmpeg's name; keep is the one nearest to the input's [default: keep; for live, 4:2:0
    /// where the codec is for players, and of 8 bits with H.264]
    #[arg(long, value_name = "P", value_parser = pixel_choice, help_heading = "Output", hide_short_help = true)]
    pub output_pixel_format: Option<PixelChoice>,

    /// Container, by FFmpeg's name, or rawvideo or yuv4mpegpipe [default: by file name; y4m on stdout]
    ///
    /// null writes nothing, for measurements and --stats.
    #[arg(long, value_name = "F", help_heading = "Output", hide_short_help = true)]
    pub output_format: Option<String>,
}

/// A pixel format by FFmpeg's name, or `keep`.
fn pixel_choice(text: &str) -> Result<PixelChoice, String> {
    match (text, RawFormat::from_name(text)) {
        ("keep", _) => Ok(PixelChoice::NearInput),
        (_, Some(format)) => Ok(PixelChoice::Exactly(format)),
        _ => Err("no such pixel format (`ffmpeg -pix_fmts` lists them)".to_owned()),
    }
}

/// The lowest accepted bit rate, in bits per second: for a lower one, the unit has probably been forgotten.
const MIN_BITS: f64 = 1000.0;

/// A bit rate in FFmpeg's notation.
fn bit_rate(text: &str) -> Result<String, String> {
    match parse_number(text) {
        Some(rate) if rate >= MIN_BITS => Ok(text.to_owned()),
        Some(rate) if rate > 0.0 => Err(format!("{rate} bits a second are no video: {rate}M are megabits")),
        _ => Err("bits a second look like 5M or 800k".to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// A file to write.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// Its name; `-` is stdout.
    pub name: Name,
    /// How to encode and mux it.
    pub options: OutputOptions,
    /// What to do if it exists.
    pub overwrite: Overwrite,
    /// The most bytes that it may have.
    pub most_bytes: Option<u64>,
    /// Whether its folder is made if it does not exist.
    pub makes_folder: bool,
    /// Whether the program, not the user, has chosen its name.
    pub is_made_up: bool,
}

impl OutputArgs {
    /// How to encode the output.
    pub(crate) fn encoder(&self) -> EncoderChoice {
        EncoderChoice {
            encoder: self.encoder.clone(),
            quality: match (self.crf, self.bitrate.clone()) {
                (Some(crf), _) => Quality::Constant(crf),
                (None, Some(rate)) => Quality::BitRate(rate),
                (None, None) => Quality::Default,
            },
            preset: self.preset.clone(),
            options: self.encoder_option.clone(),
            ..EncoderChoice::default()
        }
    }

    /// The file `name`, written with these options.
    pub(crate) fn file(self, name: Name, from_stdin: bool) -> OutputFile {
        let (encoder, overwrite) = (self.encoder(), self.overwrite.choice(from_stdin));
        let pixels = self.output_pixel_format.unwrap_or_default();
        OutputFile {
            name,
            options: OutputOptions {
                encoder,
                container: self.output_option,
                streams: self.streams,
                format: self.output_format,
                pixels,
                ..OutputOptions::default()
            },
            overwrite,
            most_bytes: None,
            makes_folder: false,
            is_made_up: false,
        }
    }
}
