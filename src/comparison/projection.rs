//! Brings frames to another size, format and colour by swscale, set up anew when what comes changes.

use crate::ffmpeg::{Colour, Picture, RawFormat, Scaler};
use crate::frame::{Frame, PixelFormat};
use anyhow::{Context, Result};

/// Format, size and colour of what comes out.
type Shape = (PixelFormat, (usize, usize), Colour);

/// A conversion of frames.
#[derive(Default)]
pub struct Projection {
    scaler: Option<(Shape, Scaler)>,
}

impl Projection {
    /// `frame` in this format, size and colour.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn project(&mut self, frame: &Frame, to: PixelFormat, size: (usize, usize), colour: Colour) -> Result<Frame> {
        let picture = Picture::from_frame(frame)?;
        if self.scaler.as_ref().is_none_or(|(known, _)| *known != (to, size, colour)) {
            self.scaler = Some(((to, size, colour), Scaler::to(to.into(), size, colour)));
        }
        let (_, scaler) = self.scaler.as_mut().context("set up above")?;
        let from = frame.format();
        let scaled = scaler.run(&picture).with_context(|| format!("cannot convert pixel format {from} to {to}"))?;
        scaled.to_frame()?.with_context(|| format!("{to} is not native"))
    }

    /// `frame` in pixels of red, green and blue, 8 bits each, with the colours that it has.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn rgb(&mut self, frame: &Frame, size: (usize, usize)) -> Result<Frame> {
        let picture = Picture::from_frame(frame)?;
        let colour = picture.colour().converted(picture.format(), RawFormat::from(PixelFormat::Bgr0), false);
        self.project(frame, PixelFormat::Bgr0, size, colour)
    }
}
