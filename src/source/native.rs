//! Frames from decoded pictures: by reference where the pixel format is native, else by swscale.

use crate::ffmpeg::{Converter, Picture, RawFormat, VideoFormat, nearest_format};
use crate::frame::{Frame, PixelFormat};
use crate::pipeline::Notices;
use anyhow::{Context, Result, bail};

/// Converts pictures to native frames.
pub struct ToNative {
    notices: Notices,
    converter: Converter,
    /// The format of the last picture that was not native, and its conversion.
    conversion: Option<(RawFormat, VideoFormat)>,
    /// Has there been a picture?
    begun: bool,
}

impl ToNative {
    /// Conversions, and HDR video, are reported through `notices`.
    pub fn new(notices: Notices) -> Self {
        ToNative { notices, converter: Converter::default(), conversion: None, begun: false }
    }

    /// The frame of `picture`.
    ///
    /// # Errors
    /// When its format cannot be converted.
    pub fn frame(&mut self, picture: &Picture) -> Result<Frame> {
        if !std::mem::replace(&mut self.begun, true) && picture.colour().is_hdr() {
            self.notices.note("HDR video is equalized in its own code values (PQ or HLG)");
        }
        if let Some(frame) = picture.to_frame()? {
            return Ok(frame);
        }
        let (from, size) = (picture.format(), picture.size());
        let to = match self.conversion {
            Some((known, to)) if (known, to.size) == (from, size) => to,
            known => {
                let native: Vec<RawFormat> =
                    PixelFormat::ALL.iter().filter_map(|format| RawFormat::from_name(format.name())).collect();
                let Some(format) = nearest_format(&native, from) else {
                    bail!("pixel format {from} cannot be equalized");
                };
                if known.is_none_or(|(known, _)| known != from) {
                    self.notices.note(&format!("pixel format {from} is converted to {format} to be equalized"));
                }
                VideoFormat { format, size, colour: picture.colour().converted(from, format, size.1 >= 720) }
            }
        };
        self.conversion = Some((from, to));
        let converted = self.converter.picture(picture, to);
        let converted = converted.with_context(|| format!("cannot convert pixel format {from}"))?;
        converted.to_frame()?.context("a conversion gave a format that is not native")
    }
}
