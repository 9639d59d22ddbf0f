//! Pixels to be shown, 0RGB in 32 bits each: what pictures are copied to and charts are drawn on.

use crate::frame::{Frame, FrameError, HostPool, Matrix, PixelFormat, Range};
use embedded_graphics::Pixel;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, OriginDimensions, RgbColor, Size};
use embedded_graphics::primitives::Rectangle;
use std::convert::Infallible;

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

    /// Copies these columns of a `bgr0` frame whose upper left corner is at `at`.
    pub fn copy(&mut self, frame: &Frame, at: (usize, usize), columns: std::ops::Range<usize>) {
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

    /// Darkens what lies in `area`, so that what is drawn on it can be seen.
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

    /// A `bgr0` frame of these pixels, in memory of `pool`.
    ///
    /// # Errors
    /// When the canvas is empty.
    pub fn to_frame(&self, pool: &HostPool) -> Result<Frame, FrameError> {
        let mut plane = pool.plane(4 * self.width, self.height);
        for (y, pixels) in self.pixels.chunks_exact(self.width.max(1)).enumerate() {
            for (bytes, pixel) in plane.row_mut(y).chunks_exact_mut(4).zip(pixels) {
                bytes.copy_from_slice(&pixel.to_le_bytes());
            }
        }
        let size = (self.width, self.height);
        Frame::new(PixelFormat::Bgr0, size, Range::Full, Matrix::Bt601, vec![plane.freeze()])
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
