//! A source whose frames are converted to RGB, each independently of the others.

use crate::ffmpeg::frame::Picture;
use crate::pipeline::{Delivery, Input, Source};
use anyhow::{Context, Result};
use histeq::internal::frame::{Frame, PixelFormat};

/// Converts a frame to RGB of the same size. The caller copies time and metadata of the frame to the result.
pub type Colourer = Box<dyn FnMut(&Frame) -> Result<Frame> + Send>;

/// `source` with its frames converted by `colour` to pictures of `format`, and the description of the output. Times and
/// metadata stay; the former colour tags are replaced.
pub fn coloured(
    (source, mut input): (Box<dyn Source>, Input),
    format: PixelFormat,
    colour: Colourer,
) -> (Box<dyn Source>, Input) {
    input.picture = input.picture.map(|(_, size)| (format.into(), size));
    (Box::new(ColouredSource { source, colour }), input)
}

struct ColouredSource {
    source: Box<dyn Source>,
    colour: Colourer,
}

impl Source for ColouredSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        let Some(mut delivery) = self.source.next()? else { return Ok(None) };
        if let Some(frame) = &delivery.frame {
            let mut of_colours = (self.colour)(frame)?;
            (of_colours.pts, of_colours.attachment) = (frame.pts, frame.attachment.clone());
            let mut picture = Picture::from_frame(&of_colours)?;
            picture.become_display_rgb();
            delivery.frame = Some(picture.to_frame()?.context("colours in a format that is not native")?);
        }
        Ok(Some(delivery))
    }
}
