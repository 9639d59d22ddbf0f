//! Brings frames to the size and the pixels of the window.

use crate::ffmpeg::{Picture, RawFormat, Scaler};
use crate::frame::{Frame, PixelFormat};
use anyhow::{Context, Result};

/// A conversion to `bgr0`, set up anew when the size changes.
#[derive(Default)]
pub struct Projector {
    scaler: Option<((usize, usize), Scaler)>,
}

impl Projector {
    /// `frame` at this size.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn project(&mut self, frame: &Frame, size: (usize, usize)) -> Result<Frame> {
        let picture = Picture::from_frame(frame)?;
        if self.scaler.as_ref().is_none_or(|(known, _)| *known != size) {
            let to = RawFormat::from(PixelFormat::Bgr0);
            let colour = picture.colour().converted(picture.format(), to, frame.height() >= 720);
            self.scaler = Some((size, Scaler::quick(to, size, colour)));
        }
        let (_, scaler) = self.scaler.as_mut().context("set up above")?;
        let scaled = scaler.run(&picture).context("the window cannot show this pixel format")?;
        scaled.to_frame()?.context("bgr0 is native")
    }
}

/// The size at which a picture fits into a window, and where its upper left corner is then.
pub fn fit(picture: (usize, usize), window: (usize, usize)) -> ((usize, usize), (usize, usize)) {
    let ((width, height), (most_wide, most_high)) = (picture, window);
    let size = if width * most_high > height * most_wide {
        (most_wide, (height * most_wide / width).max(1))
    } else {
        ((width * most_high / height).max(1), most_high)
    };
    (size, ((most_wide - size.0) / 2, (most_high - size.1) / 2))
}
