//! Pixels to be shown, 0RGB in 32 bits each: what pictures are copied to and overlays are drawn on.

use crate::frame::Frame;
use embedded_graphics::Pixel;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, OriginDimensions, RgbColor, Size};
use embedded_graphics::primitives::Rectangle;
use std::convert::Infallible;
use std::ops::Range;

/// A picture in the making.
#[derive(Default)]
pub struct Canvas {
    pixels: Vec<u32>,
    width: usize,
    height: usize,
}

impl Canvas {
    /// Black, of this size.
    pub fn clear_to(&mut self, (width, height): (usize, usize)) {
        self.pixels.clear();
        self.pixels.resize(width * height, 0);
        (self.width, self.height) = (width, height);
    }

    /// The pixels, row by row.
    pub fn pixels(&self) -> &[u32] {
        &self.pixels
    }

    /// Pixels in a row and rows.
    pub fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Copies these columns of a `bgr0` frame whose upper left corner is at `at`.
    pub fn copy(&mut self, frame: &Frame, at: (usize, usize), columns: Range<usize>) {
        let end = columns.end.min(frame.width()).min(self.width.saturating_sub(at.0));
        let columns = columns.start.min(end)..end;
        for y in 0..frame.height().min(self.height.saturating_sub(at.1)) {
            let start = (at.1 + y) * self.width + at.0;
            let to = &mut self.pixels[start + columns.start..start + columns.end];
            let from = &frame.planes()[0].row(y)[4 * columns.start..4 * columns.end];
            for (pixel, bytes) in to.iter_mut().zip(from.chunks_exact(4)) {
                *pixel = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            }
        }
    }

    /// Darkens what lies in `area`, so that text on it can be read.
    pub fn shade(&mut self, area: Rectangle) {
        let area = area.intersection(&self.bounding_box());
        for y in area.rows() {
            let row = y as usize * self.width;
            for x in area.columns() {
                let pixel = &mut self.pixels[row + x as usize];
                // A quarter of each component.
                *pixel = (*pixel >> 2) & 0x3f_3f3f;
            }
        }
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width as u32, self.height as u32)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let bounds = self.bounding_box();
        for Pixel(point, colour) in pixels.into_iter().filter(|Pixel(point, _)| bounds.contains(*point)) {
            let value = u32::from_be_bytes([0, colour.r(), colour.g(), colour.b()]);
            self.pixels[point.y as usize * self.width + point.x as usize] = value;
        }
        Ok(())
    }
}
