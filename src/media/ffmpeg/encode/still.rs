//! A frame as the bytes of an image file.

use super::{Encoder, VideoEncoder, VideoOptions};
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::mux::Signalling;
use anyhow::{Context, Result};
use ffmpeg_next::Rational;
use histeq::internal::frame::Frame;

/// The format of an image file.
#[derive(Clone, Copy, Debug)]
pub enum Still {
    /// JPEG.
    Jpeg,
    /// PNG with alpha.
    Png,
}

impl Still {
    /// Encodes `frame`.
    ///
    /// # Errors
    /// When this FFmpeg lacks the encoder, or the frame cannot be converted.
    pub fn encode(self, frame: &Frame) -> Result<Vec<u8>> {
        let (name, format) = match self {
            Still::Jpeg => ("mjpeg", "yuvj420p"),
            Still::Png => ("png", "rgba"),
        };
        let encoder = Encoder::find(name).with_context(|| format!("this FFmpeg has no encoder {name}"))?;
        let format = RawFormat::from_name(format).context("a format of this FFmpeg")?;
        let mut picture = Picture::from_frame(frame)?;
        let source = VideoFormat::from_picture(&picture);
        let mut target =
            VideoFormat { format, colour: source.colour.converted(source.format, format, source.size), ..source };
        if target.is_yuv() {
            target.colour = Signalling::in_pictures(encoder.codec()).sayable(target.colour, target.size, true);
        }
        if source.format != format {
            picture = Converter::default().picture(&picture, target)?;
        }
        picture.set_time(Some(0));
        let options = VideoOptions {
            quantizer: matches!(self, Still::Jpeg).then_some(4.0),
            // One thread: starting more takes longer than encoding one picture.
            options: vec![("threads".to_owned(), "1".to_owned())],
            ..VideoOptions::new(target, Rational::new(1, 25))
        };
        let mut encoder = VideoEncoder::open(encoder, &options)?;
        encoder.send(Some(&mut picture))?;
        encoder.send(None)?;
        Ok(encoder.receive()?.context("no packet of a picture")?.data().to_vec())
    }
}
