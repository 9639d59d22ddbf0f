//! Which encoder a video gets, and how it is set, out of what the user has said and [the table](super::encoder_table).

use super::encoder_table::ConstantQuality::{self, Lossless, Option as By, Quantizer};
use super::encoder_table::{
    KEEPING, KEEPS_MPEG2, LIVE, NETWORK, NVENC, Row, TABLE, TAKES_H264, WITHOUT_B_FRAMES, X26, X26_PRESETS, keep,
};
use crate::ffmpeg::{Container, Encoder};
use anyhow::{Context, Result, bail};
use ffmpeg_next::codec::Id;

/// What the user said about encoding.
#[derive(Clone, Debug, Default)]
pub struct EncoderChoice {
    /// An encoder's name.
    pub encoder: Option<String>,
    /// Quality or bit rate.
    pub quality: Quality,
    /// The encoder's own preset.
    pub preset: Option<String>,
    /// More options of the encoder's own.
    pub options: Vec<(String, String)>,
}

/// What the encoder aims at.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Quality {
    /// Near-transparent.
    #[default]
    Default,
    /// A constant quality, in the encoder's own scale.
    Constant(f32),
    /// Bits a second, as FFmpeg reads it (`5M`).
    BitRate(String),
}

/// What the encoder has to keep up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Nothing: it takes its time.
    Leisure,
    /// A camera.
    Camera,
    /// A camera, with as little delay as possible: for viewers of a live stream.
    Network,
}

/// An encoder and how it is set.
pub struct Plan {
    /// The encoder.
    pub encoder: Encoder,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// FFmpeg's common quantizer, for encoders that have no option of their own for it.
    pub quantizer: Option<f32>,
}

impl EncoderChoice {
    /// The encoders to try for a video of codec `input` (`None` for still images, which are no codec of a video) in
    /// this container, best first, and the reason why the codec changes, where the user should know. `on_gpu` says whether
    /// there is a GPU that may be able to encode, and is asked only where an encoder for it is to choose from.
    ///
    /// # Errors
    /// When the encoder asked for is not here, or the container cannot hold what it makes.
    pub fn candidates(
        &self,
        input: Option<Id>,
        container: Container,
        file: &str,
        on_gpu: &mut dyn FnMut() -> bool,
    ) -> Result<(Vec<Encoder>, Option<&'static str>)> {
        let holds = |encoder: &Encoder| container.is_images() || container.holds_codec(encoder.codec());
        if let Some(name) = &self.encoder {
            let encoder = Encoder::find(name).with_context(|| match Encoder::for_codec_named(name) {
                Some(encoder) => format!("{name} is a codec, not an encoder (--encoder {} makes it)", encoder.name()),
                None => format!("no encoder {name} here (`ffmpeg -encoders` lists those of this FFmpeg)"),
            })?;
            if !holds(&encoder) {
                bail!("{file}: {} cannot hold what {name} makes (use .mkv, or another encoder)", container.name());
            }
            return Ok((vec![encoder], None));
        }
        // What still images are coded as follows from the name that they are given.
        let by_container = container.default_codec(file);
        if container.is_images() {
            let found = by_container.and_then(Encoder::for_codec);
            let encoder = found.with_context(|| format!("{file}: no encoder here for this kind of image"))?;
            return Ok((vec![encoder], None));
        }
        // What throws everything away takes pictures as they are: that is its own codec.
        if let Some(encoder) = by_container.filter(|_| container.discards()).and_then(Encoder::for_codec) {
            return Ok((vec![encoder], None));
        }
        let mut nvenc = |codec: Id| {
            let row = NVENC.iter().find(|(id, _)| *id == codec);
            row.and_then(|(_, name)| Encoder::find(name)).filter(holds).filter(|_| on_gpu())
        };
        let is_for_mpeg2 = input == Some(Id::MPEG2VIDEO) && KEEPS_MPEG2.contains(&container.name().as_str());
        let mpeg2 = Encoder::find("mpeg2video").filter(|_| is_for_mpeg2);
        let kept = input.into_iter().flat_map(|input| [nvenc(input), keep(input).filter(holds), mpeg2]);
        let mut found: Vec<Encoder> = kept.flatten().collect();
        if !found.is_empty() {
            return Ok((found, None));
        }
        let for_h264 = TAKES_H264.contains(&container.name().as_str()) || by_container.is_none();
        let usual = if for_h264 { Some(Id::H264) } else { by_container };
        for codec in [usual, Some(Id::H264), by_container].into_iter().flatten() {
            let encoders = [nvenc(codec), keep(codec), Encoder::for_codec(codec)].into_iter().flatten();
            found.extend(encoders.filter(holds).take(2));
            if !found.is_empty() {
                let kept_after_all = found.first().map(|encoder| encoder.codec()) == input;
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

    /// How `encoder` is set for pictures of this size, or of any size as long as it is not known, in this container, at
    /// this pace.
    ///
    /// # Errors
    /// When it has no such thing as the quality or the preset asked for.
    pub fn plan(
        &self,
        encoder: Encoder,
        container: Container,
        size: Option<(usize, usize)>,
        pace: Pace,
    ) -> Result<Plan> {
        let name = encoder.name();
        let row = TABLE.iter().find(|row| row.encoder == name);
        let mut options: Vec<(String, String)> = Vec::new();
        let mut set = |key: &str, value: &str| {
            options.retain(|(k, _)| k != key);
            options.push((key.to_owned(), value.to_owned()));
        };
        // FFV1 cuts neither a picture of a few pixels into slices, nor, where pixels share chroma, one of an odd size.
        let is_whole = |(width, height): (usize, usize)| width.min(height) < 16 || (width | height) % 2 == 1;
        let unsliced = name == "ffv1" && size.is_some_and(is_whole);
        for (key, value) in row.filter(|_| !unsliced).map_or(&[][..], |row| row.options) {
            set(key, value);
        }
        if WITHOUT_B_FRAMES.contains(&container.name().as_str()) {
            set("bf", "0");
        }
        let live = LIVE.iter().filter(|_| pace != Pace::Leisure);
        let network = NETWORK.iter().filter(|_| pace == Pace::Network);
        for (_, options) in live.chain(network).filter(|(encoder, _)| *encoder == name) {
            options.iter().for_each(|(key, value)| set(key, value));
        }
        let mut quantizer = None;
        let quality = match &self.quality {
            Quality::Constant(quality) => Some(*quality),
            Quality::Default => row.and_then(|row| row.default_quality),
            Quality::BitRate(rate) => {
                set("b", rate);
                None
            }
        };
        if let Some(quality) = quality {
            match constant_quality(encoder, row)? {
                By(option) => set(option, &quality.to_string()),
                Quantizer => quantizer = Some(quality),
                Lossless => bail!("encoder {name} is lossless and has no quality setting (drop --crf)"),
            }
        }
        if let Some(preset) = &self.preset {
            let option = row.map_or_else(|| encoder.has_option("preset").then_some("preset"), |row| row.preset);
            let option = option.with_context(|| format!("encoder {name} has no presets (drop --preset)"))?;
            // They count them, too.
            let is_number = preset.parse::<u8>().is_ok_and(|number| number < 10);
            if X26.contains(&name.as_str()) && !is_number && !X26_PRESETS.contains(&preset.as_str()) {
                bail!("encoder {name} has no preset {preset} (it has {})", X26_PRESETS.join(", "));
            }
            set(option, preset);
        }
        for (key, value) in &self.options {
            set(key, value);
        }
        Ok(Plan { encoder, options, quantizer })
    }
}

fn constant_quality(encoder: Encoder, row: Option<&Row>) -> Result<ConstantQuality> {
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
