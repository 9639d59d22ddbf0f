//! Makes frames small: upright, with square pixels, in RGB of 8 bits.

use anyhow::Result;
use histeq::internal::frame::Frame;
use histeq_media::ffmpeg::Rational;
use histeq_media::ffmpeg::filter::Converter;
use histeq_media::ffmpeg::frame::{AutoRotate, Picture};
use histeq_media::pipeline::Input;

/// Makes the frames of one video small.
pub struct Miniatures {
    upright: AutoRotate,
    /// The pixel aspect ratio of the stream, for frames that have none.
    sample_aspect_ratio: Option<Rational>,
    to_rgb: Converter,
    /// Width and height that pictures fit in, in pixels.
    room: (usize, usize),
    /// Whether to swap the sides of `room` for frames that are taller than wide.
    turns: bool,
}

impl Miniatures {
    /// Fits the frames of `input` into `room`: columns and rows.
    pub fn new(input: &Input, room: (usize, usize)) -> Self {
        let stream = input.video_stream();
        let sample_aspect_ratio = stream.sample_aspect_ratio;
        let (upright, to_rgb) = (AutoRotate::new(stream, false, &input.limits), Converter::default());
        Miniatures { upright, sample_aspect_ratio, to_rgb, room, turns: false }
    }

    /// Swaps the sides of the room for pictures that are taller than wide, so that they have as many pixels as others.
    pub fn turning(self) -> Self {
        Miniatures { turns: true, ..self }
    }

    /// `frame` as large as fits, in `bgr0`, as players show it: upright, and with its aspect ratio. HDR is not
    /// tone-mapped, and alpha is dropped.
    ///
    /// # Errors
    /// When it cannot be converted.
    pub fn miniature(&mut self, frame: &Frame) -> Result<Frame> {
        let upright = self.upright.frame(frame.clone())?;
        let current = Picture::from_frame(frame)?.sample_aspect_ratio();
        let wide =
            current.or(self.sample_aspect_ratio).map(f64::from).filter(|ratio| ratio.is_normal() && *ratio > 0.0);
        let aspect = frame.width() as f64 * wide.unwrap_or(1.0) / frame.height() as f64;
        let aspect = if upright.width() != frame.width() { 1.0 / aspect } else { aspect };
        let (width, height) = self.room;
        let room = if self.turns && aspect < 1.0 { (height, width) } else { self.room };
        self.to_rgb.rgb(&upright, fitted(aspect, room))
    }
}

/// The largest size in `room` with this ratio of width to height, at least one pixel each way.
fn fitted(aspect: f64, (width, height): (usize, usize)) -> (usize, usize) {
    let rounded = |length: f64| (length.round() as usize).max(1);
    (rounded(height as f64 * aspect).min(width), rounded(width as f64 / aspect).min(height))
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn pictures_of_all_shapes_fit() {
        for (aspect, size) in [
            (16.0 / 9.0, (320, 180)),
            (4.0 / 3.0, (320, 240)),
            (9.0 / 16.0, (135, 240)),
            (1000.0, (320, 1)),
            (0.001, (1, 240)),
        ] {
            assert_eq!(fitted(aspect, (320, 240)), size);
        }
    }
}
