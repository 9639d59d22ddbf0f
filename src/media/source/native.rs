//! Frames from decoded pictures: by reference where the pixel format is native, else by swscale.

use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::encode::nearest_format;
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::pipeline::Notices;
use anyhow::{Context, Result, bail};
use histeq::Limits;
use histeq::internal::frame::{Frame, HostPool, PixelFormat, Plane};

/// Converts pictures to native frames.
pub struct ToNative {
    notices: Notices,
    converter: Converter,
    /// The format of the last picture that was not native, and its conversion.
    conversion: Option<(RawFormat, VideoFormat)>,
    /// Whether alpha is to be ignored: FFmpeg decodes CMYK JPEG files to a format with alpha, which is opaque.
    is_jpeg: bool,
    /// Whether the pictures are stored uncompressed, so that samples may be above their depth.
    is_raw: bool,
    /// Whether samples above their depth were lowered, and reported.
    has_clamped: bool,
    /// Memory for frames whose samples are lowered.
    pool: HostPool,
}

impl ToNative {
    /// Frames of this stream, within these limits. Conversions are reported through `notices`.
    pub fn new(stream: &Stream, notices: Notices, limits: &Limits) -> Self {
        ToNative {
            notices,
            converter: Converter::default(),
            conversion: None,
            is_jpeg: stream.codec == "mjpeg",
            is_raw: stream.codec == "rawvideo",
            has_clamped: false,
            pool: HostPool::new(limits),
        }
    }

    /// The frame of `picture`.
    ///
    /// # Errors
    /// When its format cannot be converted.
    pub fn frame(&mut self, picture: &Picture) -> Result<Frame> {
        let (source, size) = (picture.format(), picture.size());
        let opaque = self.opaque(picture);
        if opaque.is_none()
            && let Some(frame) = picture.to_frame()?
        {
            return if self.is_raw { self.clamped(frame) } else { Ok(frame) };
        }
        let target = match self.conversion {
            Some((known, target))
                if (known, target.size) == (source, size) && opaque.is_none_or(|alpha| alpha == target.format) =>
            {
                target
            }
            known => {
                let Some(format) = opaque.or(nearest_format(&RawFormat::natives(), source)) else {
                    bail!("pixel format {source} cannot be equalized");
                };
                if known.is_none_or(|(known, _)| known != source) && !self.is_jpeg {
                    let message = format!("pixel format {source} is converted to {format} to be equalized");
                    match source.is_float() {
                        true => self.notices.warn(&format!(
                            "{message}: what lies below 0 or above 1 is cut off (ImageMagick's `convert IN -evaluate \
                             divide 8 OUT` brings an image that is too bright into that, and one number for all images \
                             keeps them alike)"
                        ))?,
                        false => self.notices.note(&message),
                    }
                }
                VideoFormat { format, size, colour: picture.colour().converted(source, format, size) }
            }
        };
        self.conversion = Some((source, target));
        let converted = self.converter.picture(picture, target);
        let converted = converted.with_context(|| format!("cannot convert pixel format {source}"))?;
        converted.to_frame()?.context("a conversion gave a format that is not native")
    }

    /// The format without alpha for a picture that is opaque although its format has alpha: a palette of opaque
    /// colours, or a CMYK JPEG.
    fn opaque(&self, picture: &Picture) -> Option<RawFormat> {
        let source = picture.format();
        let name = match source.name().as_str() {
            "pal8" => "rgb24".to_owned(),
            name if self.is_jpeg && source.has_alpha() => name.replacen("yuva", "yuv", 1).replacen("gbrap", "gbrp", 1),
            _ => return None,
        };
        RawFormat::from_name(&name).filter(|format| *format != source && picture.is_opaque())
    }

    /// The frame with samples above their depth lowered to the highest code.
    fn clamped(&mut self, frame: Frame) -> Result<Frame> {
        let sample = frame.format().descriptor().sample;
        let rows = |plane: &Plane| (0..plane.rows()).any(|y| sample.exceeds(plane.row(y)));
        if !sample.may_exceed() || !frame.planes().iter().any(rows) {
            return Ok(frame);
        }
        if !std::mem::replace(&mut self.has_clamped, true) {
            self.notices.warn(&exceeding("the input", frame.format()))?;
        }
        Ok(frame.with_planes(|index| {
            let plane = &frame.planes()[index];
            let mut copy = self.pool.plane(plane.row_bytes(), plane.rows());
            for y in 0..plane.rows() {
                copy.row_mut(y).copy_from_slice(plane.row(y));
                sample.clamp(copy.row_mut(y));
            }
            Some(copy.freeze())
        }))
    }
}

/// A warning that samples of `place` are above the depth of their format.
pub fn exceeding(place: &str, format: PixelFormat) -> String {
    let sample = format.descriptor().sample;
    format!("{place}: samples above the {} bits of {format} are lowered to {}", sample.depth, sample.max())
}
