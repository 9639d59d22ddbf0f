//! Makes frames of decoded pictures: by reference where the format is native, through swscale once where it is not.

use crate::ffmpeg::{Picture, RawFormat, Scaler, nearest_format};
use crate::frame::{Frame, PixelFormat};
use crate::pipeline::Notices;
use anyhow::{Context, Result, bail};

/// The conversion to native frames; it is set up again when the pictures change.
pub struct ToNative {
    notices: Notices,
    conversion: Option<Conversion>,
    /// Has there been a picture?
    begun: bool,
}

struct Conversion {
    from: RawFormat,
    size: (usize, usize),
    scaler: Scaler,
}

impl ToNative {
    /// Says through `notices` when pictures have to be converted, and when they are not what the rules are made for.
    pub fn new(notices: Notices) -> Self {
        ToNative { notices, conversion: None, begun: false }
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
        if !matches!(&self.conversion, Some(conversion) if conversion.from == from && conversion.size == size) {
            let native: Vec<RawFormat> = PixelFormat::ALL.iter().map(|&format| format.into()).collect();
            let Some(to) = nearest_format(&native, from) else {
                bail!("pixel format {from} cannot be equalized");
            };
            if self.conversion.as_ref().is_none_or(|conversion| conversion.from != from) {
                self.notices.note(&format!("pixel format {from} is converted to {to} to be equalized"));
            }
            let colour = picture.colour().converted(from, to, size.1 >= 720);
            self.conversion = Some(Conversion { from, size, scaler: Scaler::to(to, size, colour) });
        }
        let Some(conversion) = &mut self.conversion else { unreachable!("set up above") };
        let converted =
            conversion.scaler.run(picture).with_context(|| format!("cannot convert pixel format {from}"))?;
        converted.to_frame()?.context("a conversion gave a format that is not native")
    }
}
