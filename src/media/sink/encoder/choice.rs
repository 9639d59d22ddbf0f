//! Chooses the encoder of a video and its settings from the user's options and [the table](super::table).

use super::table::ConstantQuality::{self, Lossless, Option as By, Quantizer};
use super::table::{
    ANIMATIONS, EncoderRow, KEEPING, KEEPS_MPEG2, LIVE, NETWORK, NVENC, TABLE, TAKES_H264, WITHOUT_B_FRAMES, X26,
    X26_PRESETS, keep,
};
use super::two_pass::Pass;
use crate::ffmpeg::encode::{Encoder, is_lossless};
use crate::ffmpeg::mux::Container;
use crate::pipeline::{FailureKind, Input};
use crate::sink::kept::table::is_of_images;
use crate::sys::files::Name;
use anyhow::{Context, Result, bail, ensure};
use ffmpeg_next::codec::Id;

/// The user's options for encoding.
#[derive(Clone, Debug, Default)]
pub struct EncoderChoice {
    /// FFmpeg's name of the encoder, if the user chooses one.
    pub encoder: Option<String>,
    /// The codec to encode to instead of the input's, if `encoder` is `None`.
    pub codec: Option<Id>,
    /// Quality or bit rate.
    pub quality: Quality,
    /// The default quality, instead of the one in the encoder table.
    pub usual_quality: Option<f32>,
    /// The encoder's own preset.
    pub preset: Option<String>,
    /// The profile of a DNxHR input, which determines its bit depth. Without a profile, the encoder makes DNxHD, which
    /// supports only a few sizes.
    pub dnxhr_profile: Option<i32>,
    /// Whether the input's codec is lossless.
    pub is_lossless: bool,
    /// Whether the output should be lossless like the input.
    pub keeps_samples: bool,
    /// The pass, if the video is encoded in two passes.
    pub pass: Option<Pass>,
    /// Further private options of the encoder.
    pub options: Vec<(String, String)>,
}

/// The quality target of the encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Quality {
    /// Near-transparent.
    #[default]
    Default,
    /// A constant quality, on the encoder's own scale.
    Constant(f32),
    /// A bit rate in FFmpeg's syntax (`5M`).
    BitRate(String),
}

/// The speed requirement of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// No real-time requirement: the input waits for the encoder.
    Offline,
    /// Real time: a recording of a live input.
    Recording,
    /// Real time with low delay: a live stream to a server.
    Network,
}

/// An encoder and its settings.
pub struct EncoderSettings {
    /// The encoder.
    pub encoder: Encoder,
    /// The encoder's options.
    pub options: Vec<(String, String)>,
    /// A constant quantizer (`-q:v`), for encoders without a private quality option.
    pub quantizer: Option<f32>,
}

impl EncoderChoice {
    /// Stores the properties of `input` that decide the choice. Returns its codec if the output may keep that.
    pub fn regard(&mut self, input: &Input, pace: Pace) -> Option<Id> {
        let (media, stream) = (&input.media, input.video_stream());
        let codec = stream.parameters.id();
        self.dnxhr_profile = stream.dnxhr_profile();
        // A single image or numbered images become a video, and raw frames are usually meant for an encoder: their
        // output need not be lossless. A stack (several images in one file) is data, which must be kept.
        let is_stack = input.sequence.is_none() && !input.is_image();
        let is_stored = if media.is_images() { is_stack } else { !media.is_raw() };
        self.is_lossless = pace == Pace::Offline
            && self.codec.is_none()
            && !media.is_raw()
            && is_lossless(codec)
            && !ANIMATIONS.contains(&codec);
        self.keeps_samples = self.is_lossless && is_stored;
        (!media.is_images() && !media.is_raw()).then_some(codec)
    }

    /// The encoders to try for a video of codec `input` (`None` for still images and raw video) in this container, best
    /// first, and the reason for a change of codec, if there is one to report. `on_gpu` returns whether there is a GPU;
    /// it is called only if there is an encoder for it.
    ///
    /// # Errors
    /// When this FFmpeg lacks the requested encoder, or the container, or an image of this name, cannot hold its codec.
    pub fn candidates(
        &self,
        input: Option<Id>,
        container: Container,
        file: &Name,
        on_gpu: &mut dyn FnMut() -> bool,
    ) -> Result<(Vec<Encoder>, Option<&'static str>)> {
        let input = self.codec.or(input);
        if self.pass.is_some() {
            return Ok((vec![self.two_pass_encoder(input, container, file)?], None));
        }
        let holds = |encoder: &Encoder| container.is_images() || container.holds_codec(encoder.codec());
        if let Some(name) = &self.encoder {
            let encoder = Encoder::find(name).with_context(|| match Encoder::for_codec_named(name) {
                Some(encoder) => format!("{name} is a codec, not an encoder (--encoder {} makes it)", encoder.name()),
                None => format!("no encoder {name} here (`ffmpeg -encoders` lists those of this FFmpeg)"),
            })?;
            // FFmpeg would write any codec into an image file of any extension.
            let is_image = container.is_images() && Container::guess(None, file).is_some_and(Container::is_images);
            let is_other = is_image && container.default_codec(file) != Some(encoder.codec());
            if is_other || !holds(&encoder) {
                let kind = if is_of_images(container) { FailureKind::Usage } else { FailureKind::Failed };
                let extension = file.path().extension().unwrap_or_default().to_string_lossy().into_owned();
                let holder = if is_image { extension } else { container.name() };
                let message = format!("{file}: {holder} cannot hold what {name} makes (use .mkv, or another encoder)");
                return Err(kind.error(message));
            }
            return Ok((vec![encoder], None));
        }
        // For still images, the file name decides the codec.
        let by_container = container.default_codec(file);
        if container.is_images() {
            let found = by_container.and_then(Encoder::for_codec);
            let encoder = found.with_context(|| format!("{file}: no encoder here for this kind of image"))?;
            return Ok((vec![encoder], None));
        }
        // AVIF files may have 4:4:4 chroma and small images: libsvtav1 makes only 4:2:0 of at least 64x64.
        if let Some(encoder) = Encoder::find("libaom-av1").filter(|_| container.name() == "avif") {
            return Ok((vec![encoder], None));
        }
        // The default codec of a container that discards packets is raw video.
        if let Some(encoder) = by_container.filter(|_| container.discards()).and_then(Encoder::for_codec) {
            return Ok((vec![encoder], None));
        }
        let mut nvenc = |codec: Id| {
            let row = NVENC.iter().find(|(id, _)| *id == codec);
            row.and_then(|(_, name)| Encoder::find(name)).filter(holds).filter(|_| on_gpu())
        };
        let is_for_mpeg2 = input == Some(Id::MPEG2VIDEO) && KEEPS_MPEG2.contains(&container.name().as_str());
        let mpeg2 = Encoder::find("mpeg2video").filter(|_| is_for_mpeg2);
        let suits = |codec: Id| match codec {
            Id::DNXHD => self.dnxhr_profile.is_some(),
            // FFmpeg 9 writes these codecs into mp4, but only FFmpeg reads them.
            Id::FFV1 | Id::PNG => container.name() != "mp4",
            // Containers other than AVI and NUT signal raw pixel formats differently, or not at all.
            Id::RAWVIDEO => self.keeps_samples && matches!(container.name().as_str(), "avi" | "nut"),
            _ => true,
        };
        let chosen = |codec: Id| keep(codec).filter(holds).filter(|_| suits(codec));
        let kept = input.into_iter().flat_map(|input| [nvenc(input), chosen(input), mpeg2]);
        let mut found: Vec<Encoder> = kept.flatten().collect();
        // libaom-av1 accepts small frames and all pixel formats of AV1, which libsvtav1 does not.
        let libaom = Encoder::find("libaom-av1").filter(holds).filter(|libaom| input == Some(libaom.codec()));
        let is_new = libaom.filter(|libaom| found.iter().all(|other| other.name() != libaom.name()));
        found.extend(is_new);
        // FFV1 accepts pixel formats that the encoder of the input's codec does not.
        if self.keeps_samples && input != Some(Id::FFV1) {
            found.extend(chosen(Id::FFV1));
        }
        if let Some(first) = found.first() {
            let is_other = self.keeps_samples && input.is_some_and(|input| input != first.codec());
            return Ok((found, is_other.then_some("which loses no sample either")));
        }
        let for_h264 = TAKES_H264.contains(&container.name().as_str()) || by_container.is_none();
        let default = if for_h264 { Some(Id::H264) } else { by_container };
        for codec in [default, Some(Id::H264), by_container].into_iter().flatten() {
            let encoders = [nvenc(codec), keep(codec), Encoder::for_codec(codec)].into_iter().flatten();
            found.extend(encoders.filter(holds).take(2));
            if !found.is_empty() {
                let kept_after_all = found.first().map(|encoder| encoder.codec()) == input;
                let loses = self.is_lossless && found.first().is_some_and(|encoder| !is_lossless(encoder.codec()));
                if loses {
                    let why = "which is lossy, and the input is not: --encoder ffv1 in an .mkv file loses nothing";
                    return Ok((found, Some(why)));
                }
                let why = input.filter(|_| !kept_after_all).map(|input| {
                    let missing = KEEPING.iter().any(|(id, _)| *id == input) && keep(input).is_none();
                    if missing { "no encoder for its own codec is here" } else { "its own codec is not kept" }
                });
                return Ok((found, why));
            }
        }
        bail!(
            "{file}: no available encoder makes video that a {} file can hold (name one with --encoder)",
            container.name()
        )
    }

    /// The encoder for two passes over a video of codec `input`.
    fn two_pass_encoder(&self, input: Option<Id>, container: Container, file: &Name) -> Result<Encoder> {
        let by_codec = if input == Some(Id::HEVC) { ["libx265", "libx264"] } else { ["libx264", "libx265"] };
        let wanted = self.encoder.as_deref().filter(|name| !by_codec.contains(name));
        if let Some(name) = wanted {
            bail!("--target-size: encoder {name} is not run in two passes here (use libx264 or libx265)");
        }
        let named = by_codec.into_iter().filter(|name| self.encoder.as_deref().is_none_or(|wanted| wanted == *name));
        let found = named.filter_map(Encoder::find).find(|encoder| container.holds_codec(encoder.codec()));
        found.with_context(|| {
            format!("--target-size: neither libx264 nor libx265 makes a {} file here ({file})", container.name())
        })
    }

    /// The settings of `encoder` for frames of this size (`None` while unknown) in this container and at this pace.
    ///
    /// # Errors
    /// When the encoder lacks a quality or preset option that the user has given.
    pub fn settings(
        &self,
        encoder: Encoder,
        container: Container,
        size: Option<(usize, usize)>,
        pace: Pace,
    ) -> Result<EncoderSettings> {
        let name = encoder.name();
        let row = TABLE.iter().find(|row| row.encoder == name);
        let mut options: Vec<(String, String)> = Vec::new();
        let mut set = |key: &str, value: &str| {
            options.retain(|(k, _)| k != key);
            options.push((key.to_owned(), value.to_owned()));
        };
        // FFV1 cannot slice very small frames, nor subsampled frames of odd size.
        let is_unsliced = |(width, height): (usize, usize)| width.min(height) < 16 || (width | height) % 2 == 1;
        let unsliced = name == "ffv1" && size.is_some_and(is_unsliced);
        for (key, value) in row.filter(|_| !unsliced).map_or(&[][..], |row| row.options) {
            set(key, value);
        }
        if let Some(profile) = self.dnxhr_profile.filter(|_| name == "dnxhd") {
            set("profile", &profile.to_string());
        }
        if WITHOUT_B_FRAMES.contains(&container.name().as_str()) {
            set("bf", "0");
        }
        let live = LIVE.iter().filter(|_| pace != Pace::Offline);
        let network = NETWORK.iter().filter(|_| pace == Pace::Network);
        for (_, options) in live.chain(network).filter(|(encoder, _)| *encoder == name) {
            options.iter().for_each(|(key, value)| set(key, value));
        }
        let mut quantizer = None;
        let bit_rate = self.pass.as_ref().and_then(|pass| pass.bit_rate);
        let quality = match &self.quality {
            _ if bit_rate.is_some() => {
                bit_rate.into_iter().for_each(|rate| set("b", &rate.to_string()));
                None
            }
            Quality::Constant(quality) => Some(*quality),
            Quality::Default => {
                row.and_then(|row| row.default_quality).map(|usual| self.usual_quality.unwrap_or(usual))
            }
            Quality::BitRate(_) if matches!(constant_quality(encoder, row), Ok(Lossless)) => {
                bail!("encoder {name} is lossless and has no bit rate (drop --bitrate)");
            }
            Quality::BitRate(rate) => {
                set("b", rate);
                None
            }
        };
        if let Some(quality) = quality {
            let scale = constant_quality(encoder, row)?;
            if let (Quality::Constant(_), Some((least, most))) = (&self.quality, range_of_quality(encoder, scale)) {
                let is_on_it = (least..=most).contains(&f64::from(quality));
                let message = || format!("--crf is a number from {least} to {most} with encoder {name}, not {quality}");
                ensure!(is_on_it, FailureKind::Usage.error(message()));
            }
            match scale {
                By(option) => set(option, &quality.to_string()),
                Quantizer => quantizer = Some(quality),
                Lossless => bail!("encoder {name} is lossless and has no quality setting (drop --crf)"),
            }
        }
        if let Some(preset) = &self.preset {
            let option = row.map_or_else(|| encoder.has_option("preset").then_some("preset"), |row| row.preset);
            let option = option.with_context(|| format!("encoder {name} has no presets (drop --preset)"))?;
            // x264 and x265 also accept preset numbers.
            let is_number = preset.parse::<u8>().is_ok_and(|number| number < 10);
            if X26.contains(&name.as_str()) && !is_number && !X26_PRESETS.contains(&preset.as_str()) {
                bail!("encoder {name} has no preset {preset} (it has {})", X26_PRESETS.join(", "));
            }
            set(option, preset);
        }
        for (key, value) in &self.options {
            set(key, value);
        }
        if let Some(pass) = &self.pass {
            pass.add_to(&name, &mut options);
        }
        Ok(EncoderSettings { encoder, options, quantizer })
    }
}

/// The smallest width and height that libsvtav1 accepts.
const SVT_MIN: usize = 64;

/// Whether `encoder` accepts frames of this size. SVT-AV1 prints an error message to stderr if it is tried with a
/// smaller one.
pub(crate) fn takes_size(encoder: Encoder, (width, height): (usize, usize)) -> bool {
    encoder.name() != "libsvtav1" || width.min(height) >= SVT_MIN
}

/// The first of `candidates` that accepts size and colours of `input`, as far as known; else the first one.
pub(crate) fn expected(candidates: &[Encoder], input: &Input) -> Option<Encoder> {
    let suits = |encoder: &&Encoder| {
        let Some((format, size)) = input.picture.filter(|_| encoder.codec() == Id::AV1) else { return true };
        takes_size(**encoder, size) && encoder.formats().into_iter().any(|target| !format.loses_colour_in(target))
    };
    candidates.iter().find(suits).or(candidates.first()).copied()
}

/// The smallest and largest constant quality of an encoder, if known.
fn range_of_quality(encoder: Encoder, scale: ConstantQuality) -> Option<(f64, f64)> {
    match (scale, encoder.name().as_str()) {
        // FFmpeg does not check the value. The scale of x264 ends at 51 for 8 bits, and at 63 for 10 bits.
        (By(_), "libx264" | "libx264rgb") => Some((0.0, 63.0)),
        (By(_), "libx265") => Some((0.0, 51.0)),
        (By(option), _) => {
            encoder.range(option).map(|(least, most)| (least.max(0.0), most)).filter(|(_, most)| *most < 1e6)
        }
        (Quantizer, "libtheora") => Some((0.0, 10.0)),
        (Quantizer, "prores_ks") | (Lossless, _) => None,
        (Quantizer, _) => Some((0.0, 31.0)),
    }
}

fn constant_quality(encoder: Encoder, row: Option<&EncoderRow>) -> Result<ConstantQuality> {
    if let Some(row) = row {
        return Ok(row.quality);
    }
    let known = ["crf", "cq", "qp", "global_quality", "quality"];
    match known.into_iter().find(|option| encoder.has_option(option)) {
        Some(option) => Ok(By(option)),
        None => {
            bail!("encoder {} has no constant quality (use --bitrate, or --encoder-option)", encoder.name())
        }
    }
}
