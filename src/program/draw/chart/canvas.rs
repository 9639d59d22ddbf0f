//! The canvas for pictures, charts and overlays: pixels of 32 bits, 0RGB.

use embedded_graphics::Pixel;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, OriginDimensions, RgbColor, Size};
use embedded_graphics::primitives::Rectangle;
use histeq::internal::frame::{Frame, FrameError, HostPool, Matrix, PixelFormat, Range as Codes};
use std::convert::Infallible;
use std::ops::Range;

/// A picture that is drawn. Frames are copied in pixels; overlays are drawn in points of `scale` x `scale` pixels, so
/// that text has the same size on high-density displays.
pub struct Canvas<'a> {
    pixels: &'a mut [u32],
    width: usize,
    height: usize,
    /// Width and height of a point, in pixels.
    pub scale: usize,
}

impl<'a> Canvas<'a> {
    /// A black canvas on `width * height` pixels.
    pub fn new(pixels: &'a mut [u32], (width, height): (usize, usize), scale: usize) -> Self {
        pixels.fill(0);
        Canvas { pixels, width, height, scale: scale.max(1) }
    }

    /// Copies these columns of a `bgr0` frame; `place` is the position of its upper left corner. All in pixels.
    pub fn copy(&mut self, frame: &Frame, place: (usize, usize), columns: Range<usize>) {
        let end = columns.end.min(frame.width()).min(self.width.saturating_sub(place.0));
        let columns = columns.start.min(end)..end;
        for y in 0..frame.height().min(self.height.saturating_sub(place.1)) {
            let start = (place.1 + y) * self.width + place.0;
            let target = &mut self.pixels[start + columns.start..start + columns.end];
            let source = &frame.planes()[0].row(y)[4 * columns.start..4 * columns.end];
            for (pixel, bytes) in target.iter_mut().zip(source.chunks_exact(4)) {
                *pixel = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            }
        }
    }

    /// Darkens `area`, in points, as a background for text.
    pub fn shade(&mut self, area: Rectangle) {
        let area = area.intersection(&self.bounding_box());
        let all = |range: Range<i32>| range.start as usize * self.scale..range.end as usize * self.scale;
        let (rows, columns) = (all(area.rows()), all(area.columns()));
        for y in rows {
            for pixel in &mut self.pixels[y * self.width + columns.start..y * self.width + columns.end] {
                // A quarter of each component.
                *pixel = (*pixel >> 2) & 0x3f_3f3f;
            }
        }
    }

    /// A copy of the canvas as a `bgr0` frame, in memory of `pool`.
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
        Frame::new(PixelFormat::Bgr0, size, Codes::Full, Matrix::Bt601, vec![plane.freeze()])
    }
}

impl OriginDimensions for Canvas<'_> {
    /// The size in points; pixels beyond the last whole point are not drawn on.
    fn size(&self) -> Size {
        Size::new((self.width / self.scale) as u32, (self.height / self.scale) as u32)
    }
}

impl DrawTarget for Canvas<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, points: I) -> Result<(), Infallible> {
        let bounds = self.bounding_box();
        for Pixel(point, colour) in points.into_iter().filter(|Pixel(point, _)| bounds.contains(*point)) {
            let value = u32::from_be_bytes([0, colour.r(), colour.g(), colour.b()]);
            let (x, y) = (point.x as usize * self.scale, point.y as usize * self.scale);
            for y in y..y + self.scale {
                self.pixels[y * self.width + x..][..self.scale].fill(value);
            }
        }
        Ok(())
    }
}
