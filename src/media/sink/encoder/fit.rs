//! Chooses the pixel format of the encoder, and converts frames to the format and size for which it was opened.

use super::steady::Steady;
use super::table::RAW_IN_AVI;
use crate::ffmpeg::encode::{Encoder, is_lossless, nearest_format};
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::mux::{Container, Signalling};
use crate::pipeline::Notices;
use crate::sink::kept::table::is_of_images;
use anyhow::{Context, Result, bail};
use ffmpeg_next::codec::Id;

/// The choice of the encoded pixel format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PixelChoice {
    /// The encoder's pixel format that is closest to the input's.
    #[default]
    NearInput,
    /// For codecs that players decode: limited-range 4:2:0, with 8 bits for H.264. Many browsers, phones and
    /// televisions do not play other formats correctly.
    ForPlayers,
    /// As `ForPlayers`, but 8 bits for all of these codecs.
    ForBrowsers,
    /// This pixel format.
    Exactly(RawFormat),
}

/// The format that frames like `first` are converted to for `encoder` and `container`. `fit` is the size that larger
/// frames are scaled down to.
///
/// # Errors
/// When the encoder accepts no similar format; with `--strict`, when bits or colour are lost.
pub fn format_for(
    encoder: Encoder,
    container: Container,
    (choice, fit): (PixelChoice, Option<(usize, usize)>),
    first: &Picture,
    notices: &Notices,
) -> Result<VideoFormat> {
    let source = first.format();
    let asked_for = matches!(choice, PixelChoice::Exactly(_));
    let mut formats = match choice {
        PixelChoice::Exactly(format) if encoder.takes(format) => vec![format],
        PixelChoice::Exactly(format) => bail!("encoder {} does not take pixel format {format}", encoder.name()),
        _ => formats_in(encoder, container),
    };
    formats.retain(|&format| format == source || Converter::makes(format));
    let carries_alpha = container.carries_alpha(encoder.codec());
    let (name, codec) = (container.name(), encoder.name());
    if let Some(format) = formats.iter().find(|format| asked_for && format.has_alpha() && !carries_alpha) {
        bail!("{name} does not carry the alpha of {codec}'s video, which {format} has (.mkv and .webm files do)");
    }
    if !carries_alpha {
        formats.retain(|format| !format.has_alpha());
    }
    let loses_alpha = source.has_alpha() && !carries_alpha && encoder.takes(source);
    let signalling = Signalling::new(encoder.codec(), container);
    let (signals_range, is_always_full) = (signalling.says_full_range(), signalling.is_always_full());
    let is_full_yuv = first.is_full_range() && !source.is_rgb() && !source.is_gray();
    let for_range = container.is_images() && !signals_range && is_full_yuv;
    let plays_anywhere =
        matches!(choice, PixelChoice::ForPlayers | PixelChoice::ForBrowsers) && is_players_codec(encoder);
    let has_8_bits = encoder.codec() == Id::H264 || choice == PixelChoice::ForBrowsers;
    let for_players = plays_anywhere || source.is_rgb() && is_for_players(container, encoder);
    let is_deep_enough = |format: &RawFormat| !plays_anywhere || !has_8_bits || format.depth() == 8;
    for (asks, suits) in [
        (
            !plays_anywhere && takes_even_sizes(encoder) && is_odd(first.size()),
            &without_subsampling as &dyn Fn(&RawFormat) -> bool,
        ),
        (for_players && (plays_anywhere || !is_odd(first.size())), &|format| {
            let is_plain = !(format.has_alpha() || plays_anywhere && format.is_full_range_yuv());
            format.chroma_resolution() == 4 && is_plain && is_deep_enough(format)
        }),
        // AVIF images in RGB are several times as large.
        (source.is_rgb() && container.name() == "avif", &|format| !format.is_rgb()),
        // Image files cannot signal the range of YUV; RGB always has full range.
        (for_range, &|format| format.is_rgb()),
        // JPEG 2000 readers interpret YUV differently.
        (container.is_images() && encoder.codec() == Id::JPEG2000, &|format| format.is_rgb() || format.is_gray()),
    ] {
        if asks && !asked_for && formats.iter().any(suits) {
            formats.retain(suits);
        }
    }
    let full = first.is_full_range() && signals_range || is_always_full;
    let format = match full_range_variant(source, full, &formats) {
        Some(variant) => variant,
        None if formats.is_empty() => source,
        None => nearest_format(&formats, source)
            .with_context(|| format!("encoder {} supports no pixel format close to {source}", encoder.name()))?,
    };
    let colour = first.colour().converted(source, format, first.size());
    let is_yuv = !format.is_rgb() && !format.is_gray();
    // Untagged gray is full range, but decoders of H.264 and similar codecs assume limited range.
    let full_gray = format.is_gray() && (first.is_full_range() || !signals_range);
    let colour = match full_gray || is_always_full {
        true => colour.full_range(),
        false
            if is_yuv && first.is_full_range() && !source.is_rgb() && !format.is_full_range_yuv() && !signals_range =>
        {
            notices.warn(&format!(
                "{codec} in {name} cannot signal full range: it becomes limited (an .mkv file of \
                 H.264 or FFV1 keeps it)"
            ))?;
            colour.limited_range()
        }
        // Some players ignore the range tag, and assume limited range.
        false if plays_anywhere && is_yuv && !format.is_full_range_yuv() => colour.limited_range(),
        false => colour,
    };
    let loses = loses(first, format);
    // Losing an alpha plane that is fully opaque is not reported.
    let alpha_is_lost = source.has_alpha() && !format.has_alpha() && !first.is_opaque();
    let differs = format.native() != source.native() || format.native().is_none() && format != source;
    let bytes_swapped = |format: RawFormat| format.name().trim_end_matches("le").trim_end_matches("be").to_owned();
    if differs && !asked_for && bytes_swapped(source) != bytes_swapped(format) {
        if loses_alpha && alpha_is_lost {
            notices.warn(&format!(
                "{name} does not carry the alpha of {codec}'s video: {source} becomes {format}, which is opaque (.mkv \
                 and .webm files keep it)"
            ))?;
        } else if alpha_is_lost {
            let keeps = match container.is_images() || encoder.codec() == Id::GIF {
                true => ".png and .apng files keep it",
                false => "--encoder ffv1 in an .mkv file and prores_ks in a .mov file keep it",
            };
            notices.warn(&format!(
                "encoder {codec} does not take the alpha of {source}: the video becomes {format}, which is opaque \
                 ({keeps})"
            ))?;
        } else if plays_anywhere && loses {
            notices.note(&format!(
                "{source} is encoded as {format}, which all players take (--output-pixel-format keep keeps more)"
            ));
        } else if for_players && format.chroma_resolution() == 4 {
            // Few players decode H.264 with more than 8 bits.
            let takes = if format.depth() == 8 { "which all players take" } else { "4:2:0 as players take it" };
            notices.note(&format!("the video becomes {format}, {takes} (.mkv files keep more colour)"));
        } else if for_range && format.is_rgb() {
            notices.note(&format!("the video becomes {format}: {codec} cannot signal the full range of {source}"));
        } else if loses {
            let remedy = match Encoder::find("ffv1").filter(|ffv1| ffv1.takes(source)) {
                _ if container.is_images() => " (.png and .tif files keep more)",
                Some(_) => " (--encoder ffv1 in an .mkv file keeps all of it)",
                None => "",
            };
            notices
                .warn(&format!("encoder {codec} does not take {source}: the video is narrowed to {format}{remedy}"))?;
        } else {
            notices.note(&format!("encoder {codec} does not take {source}: the video becomes {format}"));
        }
    }
    // If the encoder or the device does not accept odd sizes, the frame is scaled to the next smaller even size.
    let (width, height) = fit.map_or(first.size(), |fit| scaled_down(first.size(), fit));
    let is_scaled = (width, height) != first.size();
    if is_scaled && choice == PixelChoice::ForBrowsers {
        let (source, target) = (first.size(), (width & !1, height & !1));
        notices.note(&format!(
            "scaled down from {}x{} to {}x{} (--fit off keeps the size)",
            source.0, source.1, target.0, target.1
        ));
    }
    // The virtual camera driver rounds the width down, but not the row stride of the data.
    let is_rounded = container.is_virtual_camera() || (plays_anywhere || is_scaled) && takes_even_sizes(encoder);
    let size = match is_rounded && !without_subsampling(&format) {
        true => (width & !1, height & !1),
        false => (width, height),
    };
    let video = VideoFormat { format, size, colour };
    if !video.is_yuv() {
        return Ok(video);
    }
    // With a lossless codec, the samples keep their matrix.
    let converts = source.is_rgb() || is_of_images(container) || !is_lossless(encoder.codec());
    Ok(VideoFormat { colour: signalling.sayable(colour, size, converts), ..video })
}

/// The pixel formats that `encoder` accepts for this container; empty if it accepts any.
fn formats_in(encoder: Encoder, container: Container) -> Vec<RawFormat> {
    match container.name() == "avi" && encoder.codec() == Id::RAWVIDEO {
        true => RAW_IN_AVI.iter().filter_map(|name| RawFormat::from_name(name)).collect(),
        false => encoder.formats(),
    }
}

/// Whether `encoder` can encode frames like `picture` for this container without losing bits or colour.
pub fn holds_all(encoder: Encoder, container: Container, picture: &Picture) -> bool {
    let formats = formats_in(encoder, container);
    formats.is_empty() || formats.into_iter().any(|format| !loses(picture, format))
}

/// Whether the conversion to `target` loses bits, colour, or alpha that is not fully opaque.
pub fn loses(picture: &Picture, target: RawFormat) -> bool {
    let source = picture.format();
    source.loses_colour_in(target) || source.has_alpha() && !target.has_alpha() && !picture.is_opaque()
}

/// `size`, scaled down to fit into `fit` or into `fit` with width and height swapped, whichever gives the larger size.
fn scaled_down(size: (usize, usize), fit: (usize, usize)) -> (usize, usize) {
    let share = |(width, height): (usize, usize)| (width as f64 / size.0 as f64).min(height as f64 / size.1 as f64);
    let share = share(fit).max(share((fit.1, fit.0)));
    // Rounds to an even number, which all encoders accept.
    let scaled = |length: usize| ((length as f64 * share / 2.0).round() as usize * 2).max(2);
    if share < 1.0 { (scaled(size.0), scaled(size.1)) } else { size }
}

/// The `yuvj` variant of a YUV format, if the encoder accepts it, and either `full` is set or the encoder does not
/// accept the format itself.
fn full_range_variant(raw_format: RawFormat, full: bool, formats: &[RawFormat]) -> Option<RawFormat> {
    let is_variant = |format: &RawFormat| format.is_full_range_yuv() && format.native() == raw_format.native();
    formats.iter().copied().find(is_variant).filter(|_| full || !formats.contains(&raw_format))
}

/// Whether the output is H.264 or HEVC in a container for players and browsers, most of which decode only 4:2:0.
fn is_for_players(container: Container, encoder: Encoder) -> bool {
    let is_players = matches!(encoder.codec(), Id::H264 | Id::HEVC) && encoder.name() != "libx264rgb";
    is_players && matches!(container.name().as_str(), "mp4" | "mov" | "ipod" | "flv" | "mpegts" | "hls" | "dash")
}

/// Whether `encoder` makes a codec that players and browsers decode only in 4:2:0.
fn is_players_codec(encoder: Encoder) -> bool {
    let is_players = matches!(encoder.codec(), Id::H264 | Id::HEVC | Id::VP8 | Id::VP9 | Id::AV1 | Id::MPEG4);
    is_players && encoder.name() != "libx264rgb"
}

/// Whether `encoder` refuses odd sizes with subsampled chroma.
fn takes_even_sizes(encoder: Encoder) -> bool {
    ["libx264", "libx265"].contains(&encoder.name().as_str())
}

fn is_odd((width, height): (usize, usize)) -> bool {
    (width | height) % 2 == 1
}

fn without_subsampling(format: &RawFormat) -> bool {
    matches!(format.chroma_resolution(), 0 | 16)
}

/// Converts frames to the encoder's format and size.
pub struct Fitter {
    target: VideoFormat,
    converter: Converter,
    steady: Steady,
    notices: Notices,
    /// Whether the user has been told that the matrix changes. Set from the start if all frames are converted anyway.
    warned_matrix: bool,
    /// The size of the first frame; `None` once the size has changed.
    first_size: Option<(usize, usize)>,
    first_format: RawFormat,
    /// Whether `target` has held all bits and colours of the frames so far.
    is_whole: bool,
    /// Whether the user has been warned that fields are blended.
    warned_fields: bool,
}

impl Fitter {
    /// Converts to the format `target`, which was chosen for `first`. `fields` is `Some(top field first?)` if the
    /// encoder codes fields. Causes of a warning: a frame of another size, one with more bits or colour than `target`
    /// holds, and one whose metadata differs from that of the first.
    pub fn new(target: VideoFormat, first: &Picture, fields: Option<bool>, notices: Notices) -> Self {
        Fitter {
            target,
            converter: Converter::default(),
            steady: Steady::new(first, fields, notices.clone()),
            notices,
            warned_matrix: first.colour().other_matrix(target.colour).is_some(),
            first_size: Some(first.size()),
            first_format: first.format(),
            is_whole: !loses(first, target.format),
            warned_fields: false,
        }
    }

    /// The format that frames are converted to.
    pub fn video(&self) -> VideoFormat {
        self.target
    }

    /// Adapts the metadata of `picture`. Returns whether its format, range, matrix and size are already right.
    ///
    /// # Errors
    /// A warning, with `--strict`.
    pub fn check(&mut self, picture: &mut Picture) -> Result<bool> {
        self.steady.check(picture)?;
        let same_samples = picture.format() == self.target.format
            || picture.format().native().is_some() && picture.format().native() == self.target.format.native();
        let same_range = picture.is_full_range() == self.target.colour.is_full_range(self.target.format);
        let is_yuv = |format: RawFormat| !format.is_rgb() && !format.is_gray();
        let other_matrix = match is_yuv(picture.format()) && is_yuv(self.target.format) {
            true => picture.colour().other_matrix(self.target.colour),
            false => None,
        };
        if let Some((is, was)) = other_matrix.as_ref().filter(|_| !std::mem::replace(&mut self.warned_matrix, true)) {
            self.notices
                .note(&format!("the matrix changes from {was} to {is}: from there on, it is converted to {was}"));
        }
        Ok(same_samples && same_range && other_matrix.is_none() && picture.size() == self.target.size)
    }

    /// Converts `picture`; returns it unchanged if format, range, matrix and size are already right.
    ///
    /// # Errors
    /// When swscale cannot convert it; with `--strict`, a warning.
    pub fn fit(&mut self, mut picture: Picture) -> Result<Picture> {
        if self.check(&mut picture)? {
            picture.rename(self.target.format);
            return Ok(picture);
        }
        if self.first_size.take_if(|size| *size != picture.size()).is_some() {
            let ((w, h), (to_w, to_h)) = (picture.size(), self.target.size);
            self.notices
                .warn(&format!("the video changes size to {w}x{h}; from there on it is scaled to {to_w}x{to_h}"))?;
        }
        let is_blended = picture.interlaced().is_some() && picture.size().1 != self.target.size.1;
        if is_blended && !std::mem::replace(&mut self.warned_fields, true) {
            self.notices.warn(&format!(
                "scaled from {} to {} rows, interlaced video becomes progressive: its fields are blended (--filter \
                 yadif makes frames of them first)",
                picture.size().1,
                self.target.size.1
            ))?;
        }
        let (source, target) = (picture.format(), self.target.format);
        if self.is_whole && loses(&picture, target) {
            self.is_whole = false;
            if source == self.first_format {
                self.notices.warn(&format!(
                    "the video becomes transparent, which {target} is not: from there on alpha is lost"
                ))?;
            } else {
                self.notices.warn(&format!(
                    "the video changes to {source}; from there on it is narrowed to {target} (--filter format={source} keeps \
                     all of it)"
                ))?;
            }
        }
        self.converter
            .picture(&picture, self.target)
            .with_context(|| format!("cannot convert pixel format {source} to {target}"))
    }
}
