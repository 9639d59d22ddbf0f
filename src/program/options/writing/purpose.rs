//! `--for`: one word that sets encoder, quality, pixel format and sound for a purpose.

use super::output::OutputFile;
use crate::options::values::{parse_count, usage, value};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use histeq::internal::equalize::OutputDepth;
use histeq_media::ffmpeg::mux::Container;
use histeq_media::ffmpeg::{CodecId as Id, parse_size};
use histeq_media::sink::encoder::PixelChoice;

/// What an output is for, as typed.
#[derive(Args, Debug)]
pub struct PurposeArgs {
    /// What the output is for
    ///
    /// It sets encoder, quality, pixel format, size and sound; options like --encoder and --crf replace what it sets.
    #[arg(long = "for", value_enum, ignore_case = true, value_name = "PURPOSE")]
    pub purpose: Option<Purpose>,

    /// Scale the video down to fit into this size, upright or lying; off is its own size
    /// [default: off; 1920x1080 with --for web]
    #[arg(long, value_name = "WxH", help_heading = "Output", hide_short_help = true)]
    pub fit: Option<String>,

    /// The most bytes that the file may have, like 50M, for which it is encoded in two passes
    ///
    /// If the usual quality takes less, that is kept. With libx264 and libx265; the input is read at least twice.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["crf", "bitrate"])]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub target_size: Option<String>,
}

/// What an output is for.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Browsers, phones, posts: 8-bit 4:2:0 H.264 and AAC in .mp4, or VP9 and Opus in .webm, at most 1080p; HDR becomes
    /// SDR.
    Web,
    /// Keeping it: FFV1 in .mkv, to the bit, with checksums.
    Archive,
    /// Editing: ProRes in .mov, of 10 bits.
    Edit,
    /// Watching it at its best: slow H.265 of 10 bits, without bands.
    Quality,
}

/// The smallest accepted size, in bytes: for a smaller one, the unit has probably been forgotten.
const MIN_BYTES: u64 = 10_000;

/// The size that web video is scaled down to.
const WEB_SIZE: (usize, usize) = (1920, 1080);

impl Purpose {
    /// Its containers, and the extensions of its files.
    fn containers(self) -> (&'static [&'static str], &'static str) {
        match self {
            Purpose::Web => (&["mp4", "mov", "ipod", "webm"], ".mp4 or .webm"),
            Purpose::Archive => (&["matroska"], ".mkv"),
            Purpose::Edit => (&["mov"], ".mov"),
            Purpose::Quality => (&["mp4", "mov", "ipod", "matroska"], ".mp4 or .mkv"),
        }
    }

    /// The extension of its files.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Purpose::Web => "mp4",
            Purpose::Archive | Purpose::Quality => "mkv",
            Purpose::Edit => "mov",
        }
    }

    /// Whether files for it are meant to be large.
    pub fn is_large(self) -> bool {
        self != Purpose::Web
    }
}

impl PurposeArgs {
    /// Sets the options of the purpose that no other option sets.
    pub(crate) fn apply(self, output: &mut OutputFile, depth: &mut OutputDepth) -> Result<(), clap::Error> {
        let parse_fit = |text: &str| if text == "off" { Some(None) } else { parse_size(text).map(Some) };
        let fit = value("--fit", "a size like 1280x720, or off", self.fit, parse_fit)?;
        output.most_bytes = value("--target-size", "a number of bytes like 50M or 8Mi", self.target_size, parse_count)?;
        if let Some(bytes @ ..MIN_BYTES) = output.most_bytes {
            let message = format!("--target-size {bytes} is {bytes} bytes: {bytes}M are megabytes");
            return Err(usage(ErrorKind::ValueValidation, &message));
        }
        let options = &mut output.options;
        options.fit = fit.unwrap_or(None);
        let Some(purpose) = self.purpose else { return Ok(()) };
        let container = Container::guess(options.format.as_deref(), &output.name).map(Container::name);
        let (containers, names) = purpose.containers();
        let Some(container) = container.filter(|name| containers.contains(&name.as_str())) else {
            let word = purpose.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let message = format!("--for {word} makes a {names} file, which {} is not", output.name);
            return Err(usage(ErrorKind::ValueValidation, &message));
        };
        let encoder = &mut options.encoder;
        let is_given = encoder.encoder.is_some();
        let mut set = |name: &str, quality: Option<f32>| {
            if !is_given {
                encoder.encoder = Some(name.to_owned());
                encoder.usual_quality = quality;
            }
        };
        match purpose {
            Purpose::Web => {
                let is_webm = container == "webm";
                if !is_given {
                    encoder.codec = Some(if is_webm { Id::VP9 } else { Id::H264 });
                    encoder.usual_quality = Some(if is_webm { 31.0 } else { 21.0 });
                }
                options.sound = Some(if is_webm { "opus" } else { "aac" });
                options.fit = fit.unwrap_or(Some(WEB_SIZE));
                if options.pixels == PixelChoice::NearInput {
                    options.pixels = PixelChoice::ForBrowsers;
                }
            }
            Purpose::Archive => {
                set("ffv1", None);
                if !is_given {
                    // Keyframes only: damage does not spread.
                    encoder.options.insert(0, ("g".to_owned(), "1".to_owned()));
                }
            }
            Purpose::Edit => set("prores_ks", None),
            Purpose::Quality => {
                set("libx265", Some(16.0));
                if !is_given && encoder.preset.is_none() {
                    encoder.preset = Some("slow".to_owned());
                }
                if *depth == OutputDepth::AsInput {
                    *depth = OutputDepth::Ten;
                }
            }
        }
        Ok(())
    }
}
