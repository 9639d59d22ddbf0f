//! Chooses the pixel format, the colours and the size of encoded pictures, and tells what that changes.

use super::table::RAW_IN_AVI;
use crate::ffmpeg::encode::{Encoder, is_lossless, nearest_format};
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Colour, Picture, RawFormat};
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
    let output = FormatChoice { encoder, container, choice, signalling: Signalling::new(encoder.codec(), container) };
    let chosen = output.choose(first, fit)?;
    output.tell(&chosen, notices)?;
    Ok(chosen.video)
}

/// What pictures are encoded by and into, and what is asked of their pixel format.
struct FormatChoice {
    encoder: Encoder,
    container: Container,
    choice: PixelChoice,
    signalling: Signalling,
}

/// What was chosen for pictures of the format `source`, and why it differs from what they are.
struct Chosen {
    source: RawFormat,
    video: VideoFormat,
    /// Whether full range becomes limited, because the output cannot signal it.
    is_limited: bool,
    change: Option<Change>,
    /// The size before and behind scaling.
    scaled: Option<[(usize, usize); 2]>,
}

/// Why the pixel format changes.
enum Change {
    /// The encoder takes alpha, but the container does not carry it.
    AlphaOfContainer,
    AlphaOfEncoder,
    /// Bits or colour that players do not take are lost.
    ForPlayers,
    /// Players take 4:2:0 alone.
    ChromaForPlayers,
    /// Images cannot signal the range of YUV, so they become RGB.
    RangeOfImages,
    /// Bits or colour are lost that the encoder does not take.
    Narrowed,
    /// The encoder does not take the format; nothing is lost.
    Taken,
}

impl FormatChoice {
    fn choose(&self, first: &Picture, fit: Option<(usize, usize)>) -> Result<Chosen> {
        let source = first.format();
        let formats = self.preferred(self.acceptable(source)?, first);
        let full = first.is_full_range() && self.signalling.says_full_range() || self.signalling.is_always_full();
        let format = match full_range_variant(source, full, &formats) {
            Some(variant) => variant,
            None if formats.is_empty() => source,
            None => nearest_format(&formats, source).with_context(|| {
                format!("encoder {} supports no pixel format close to {source}", self.encoder.name())
            })?,
        };
        let (colour, is_limited) = self.colour(first, format);
        let fitted = fit.map_or(first.size(), |fit| scaled_down(first.size(), fit));
        let is_scaled = fitted != first.size();
        // If the encoder or the device does not accept odd sizes, the frame is scaled to the next smaller even size. The
        // virtual camera driver rounds the width down, but not the row stride of the data.
        let even = (fitted.0 & !1, fitted.1 & !1);
        let is_rounded = self.container.is_virtual_camera()
            || (self.plays_anywhere() || is_scaled) && takes_even_sizes(self.encoder);
        let size = if is_rounded && !without_subsampling(&format) { even } else { fitted };
        let mut video = VideoFormat { format, size, colour };
        if video.is_yuv() {
            // With a lossless codec, the samples keep their matrix.
            let converts = source.is_rgb() || is_of_images(self.container) || !is_lossless(self.encoder.codec());
            video.colour = self.signalling.sayable(colour, size, converts);
        }
        let is_told = is_scaled && self.choice == PixelChoice::ForBrowsers;
        let scaled = is_told.then(|| [first.size(), even]);
        Ok(Chosen { source, video, is_limited, change: self.change(first, format), scaled })
    }

    fn asks_for_format(&self) -> bool {
        matches!(self.choice, PixelChoice::Exactly(_))
    }

    /// Whether all players are to play it.
    fn plays_anywhere(&self) -> bool {
        matches!(self.choice, PixelChoice::ForPlayers | PixelChoice::ForBrowsers) && is_players_codec(self.encoder)
    }

    fn is_for_players(&self, source: RawFormat) -> bool {
        self.plays_anywhere() || source.is_rgb() && is_for_players(self.container, self.encoder)
    }

    /// Whether the output is an image that cannot signal the range which `first` has.
    fn lacks_range(&self, first: &Picture) -> bool {
        let is_full_yuv = first.is_full_range() && !first.format().is_rgb() && !first.format().is_gray();
        self.container.is_images() && !self.signalling.says_full_range() && is_full_yuv
    }

    /// The formats that encoder and container take, and that are asked for; empty if they take any.
    fn acceptable(&self, source: RawFormat) -> Result<Vec<RawFormat>> {
        let (name, codec) = (self.container.name(), self.encoder.name());
        let mut formats = match self.choice {
            PixelChoice::Exactly(format) if self.encoder.takes(format) => vec![format],
            PixelChoice::Exactly(format) => bail!("encoder {codec} does not take pixel format {format}"),
            _ => formats_in(self.encoder, self.container),
        };
        formats.retain(|&format| format == source || Converter::makes(format));
        if !self.container.carries_alpha(self.encoder.codec()) {
            if let Some(format) = formats.iter().find(|format| self.asks_for_format() && format.has_alpha()) {
                bail!(
                    "{name} does not carry the alpha of {codec}'s video, which {format} has (.mkv and .webm files do)"
                );
            }
            formats.retain(|format| !format.has_alpha());
        }
        Ok(formats)
    }

    /// Those of `formats` that suit the output best, unless one was asked for.
    fn preferred(&self, mut formats: Vec<RawFormat>, first: &Picture) -> Vec<RawFormat> {
        let (source, plays_anywhere) = (first.format(), self.plays_anywhere());
        let has_8_bits = self.encoder.codec() == Id::H264 || self.choice == PixelChoice::ForBrowsers;
        let is_deep_enough = |format: &RawFormat| !plays_anywhere || !has_8_bits || format.depth() == 8;
        let is_jpeg_2000 = self.container.is_images() && self.encoder.codec() == Id::JPEG2000;
        for (asks, suits) in [
            (
                !plays_anywhere && takes_even_sizes(self.encoder) && is_odd(first.size()),
                &without_subsampling as &dyn Fn(&RawFormat) -> bool,
            ),
            (self.is_for_players(source) && (plays_anywhere || !is_odd(first.size())), &|format| {
                let is_plain = !(format.has_alpha() || plays_anywhere && format.is_full_range_yuv());
                format.chroma_resolution() == 4 && is_plain && is_deep_enough(format)
            }),
            // AVIF images in RGB are several times as large.
            (source.is_rgb() && self.container.name() == "avif", &|format| !format.is_rgb()),
            // Image files cannot signal the range of YUV; RGB always has full range.
            (self.lacks_range(first), &|format| format.is_rgb()),
            // JPEG 2000 readers interpret YUV differently.
            (is_jpeg_2000, &|format| format.is_rgb() || format.is_gray()),
        ] {
            if asks && !self.asks_for_format() && formats.iter().any(suits) {
                formats.retain(suits);
            }
        }
        formats
    }

    /// The colours of `first` in this format, and whether its full range is lost.
    fn colour(&self, first: &Picture, format: RawFormat) -> (Colour, bool) {
        let source = first.format();
        let (signals_range, is_full) = (self.signalling.says_full_range(), first.is_full_range());
        let colour = first.colour().converted(source, format, first.size());
        let is_ranged = !format.is_rgb() && !format.is_gray() && !format.is_full_range_yuv();
        // Untagged gray is full range, but decoders of H.264 and similar codecs assume limited range.
        let full_gray = format.is_gray() && (is_full || !signals_range);
        if full_gray || self.signalling.is_always_full() {
            (colour.full_range(), false)
        } else if is_ranged && is_full && !source.is_rgb() && !signals_range {
            (colour.limited_range(), true)
        } else if is_ranged && self.plays_anywhere() {
            // Some players ignore the range tag, and assume limited range.
            (colour.limited_range(), false)
        } else {
            (colour, false)
        }
    }

    /// Why `format` differs from that of `first`, if that was not asked for and there is something to tell.
    fn change(&self, first: &Picture, format: RawFormat) -> Option<Change> {
        let source = first.format();
        let differs = format.native() != source.native() || format.native().is_none() && format != source;
        let without_order = |format: RawFormat| format.name().trim_end_matches("le").trim_end_matches("be").to_owned();
        if !differs || self.asks_for_format() || without_order(source) == without_order(format) {
            return None;
        }
        // Losing an alpha plane that is fully opaque is not reported.
        let loses_alpha = source.has_alpha() && !format.has_alpha() && !first.is_opaque();
        let is_taken = !self.container.carries_alpha(self.encoder.codec()) && self.encoder.takes(source);
        let loses = loses(first, format);
        Some(match () {
            () if loses_alpha && is_taken => Change::AlphaOfContainer,
            () if loses_alpha => Change::AlphaOfEncoder,
            () if self.plays_anywhere() && loses => Change::ForPlayers,
            () if self.is_for_players(source) && format.chroma_resolution() == 4 => Change::ChromaForPlayers,
            () if self.lacks_range(first) && format.is_rgb() => Change::RangeOfImages,
            () if loses => Change::Narrowed,
            () => Change::Taken,
        })
    }

    /// Tells what changes.
    fn tell(&self, chosen: &Chosen, notices: &Notices) -> Result<()> {
        let (name, codec) = (self.container.name(), self.encoder.name());
        if chosen.is_limited {
            notices.warn(&format!(
                "{codec} in {name} cannot signal full range: it becomes limited (an .mkv file of \
                 H.264 or FFV1 keeps it)"
            ))?;
        }
        if let Some(change) = &chosen.change {
            self.tell_change(change, chosen.source, chosen.video.format, notices)?;
        }
        if let Some([(width, height), (scaled_width, scaled_height)]) = chosen.scaled {
            notices.note(&format!(
                "scaled down from {width}x{height} to {scaled_width}x{scaled_height} (--fit off keeps the size)"
            ));
        }
        Ok(())
    }

    fn tell_change(&self, change: &Change, source: RawFormat, format: RawFormat, notices: &Notices) -> Result<()> {
        let (name, codec, is_image) = (self.container.name(), self.encoder.name(), self.container.is_images());
        match change {
            Change::AlphaOfContainer => notices.warn(&format!(
                "{name} does not carry the alpha of {codec}'s video: {source} becomes {format}, which is opaque (.mkv \
                 and .webm files keep it)"
            ))?,
            Change::AlphaOfEncoder => {
                let keeps = match is_image || self.encoder.codec() == Id::GIF {
                    true => ".png and .apng files keep it",
                    false => "--encoder ffv1 in an .mkv file and prores_ks in a .mov file keep it",
                };
                notices.warn(&format!(
                    "encoder {codec} does not take the alpha of {source}: the video becomes {format}, which is opaque \
                     ({keeps})"
                ))?;
            }
            Change::ForPlayers => notices.note(&format!(
                "{source} is encoded as {format}, which all players take (--output-pixel-format keep keeps more)"
            )),
            Change::ChromaForPlayers => {
                // Few players decode H.264 with more than 8 bits.
                let takes = if format.depth() == 8 { "which all players take" } else { "4:2:0 as players take it" };
                notices.note(&format!("the video becomes {format}, {takes} (.mkv files keep more colour)"));
            }
            Change::RangeOfImages => {
                notices.note(&format!("the video becomes {format}: {codec} cannot signal the full range of {source}"));
            }
            Change::Narrowed => {
                let remedy = match Encoder::find("ffv1").filter(|ffv1| ffv1.takes(source)) {
                    _ if is_image => " (.png and .tif files keep more)",
                    Some(_) => " (--encoder ffv1 in an .mkv file keeps all of it)",
                    None => "",
                };
                notices.warn(&format!(
                    "encoder {codec} does not take {source}: the video is narrowed to {format}{remedy}"
                ))?;
            }
            Change::Taken => {
                notices.note(&format!("encoder {codec} does not take {source}: the video becomes {format}"));
            }
        }
        Ok(())
    }
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
