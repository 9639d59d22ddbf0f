//! What of a frame travels to the GPU, and where it lies in the buffer there: only the planes that equalization
//! rewrites, rows without padding, one plane after the other. The pinned buffers on either end have the same layout, so
//! a frame is one copy each way.

use super::error::Error;
use crate::frame::{Endian, Frame, Luminance, PixelFormat, Sample};
use crate::spec::Weights;

/// Planes begin at multiples of this: whole vectors for the kernels, whole cache lines for everybody.
const ALIGNMENT: usize = 256;

/// The kernels load whole groups of vectors, and so touch up to 4 of them (16 bytes each) behind a plane's last byte.
const SLACK: usize = 64;

/// The kernels count pixels in 32 bits, with room for a stride.
const MOST_PIXELS: usize = 1 << 31;

/// One plane in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub row_bytes: usize,
    pub rows: usize,
}

impl Span {
    pub fn bytes(self) -> usize {
        self.row_bytes * self.rows
    }
}

/// How the luminance lies among the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// A plane of nothing else.
    Luma,
    /// Every other sample, beginning at this one.
    Pairs { offset: usize },
    /// Pixels of three or four components, in each of which red, green and blue are these.
    Packed { components: usize, rgb: [usize; 3] },
    /// Three planes, of which red, green and blue are these.
    Planar { rgb: [usize; 3] },
}

/// The layout of frames of one format and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spans: Vec<Span>,
    sample: Sample,
    arrangement: Arrangement,
    size: (usize, usize),
    pixels: u32,
    padded_row: u32,
}

impl Layout {
    /// The layout of `frame`.
    ///
    /// # Errors
    /// When it has more than 2^31 pixels.
    pub fn of(frame: &Frame) -> Result<Self, Error> {
        let descriptor = frame.format().descriptor();
        let arrangement = arrangement(frame.format());
        let mut spans = Vec::new();
        let mut start = 0;
        for plane in &frame.planes()[frame.rewritten_planes()] {
            let span = Span { start, row_bytes: plane.row_bytes(), rows: plane.rows() };
            start = (span.start + span.bytes() + SLACK).next_multiple_of(ALIGNMENT);
            spans.push(span);
        }
        let pixel_bytes = usize::from(descriptor.sample.bytes)
            * match arrangement {
                Arrangement::Luma | Arrangement::Planar { .. } => 1,
                Arrangement::Pairs { .. } => 2,
                Arrangement::Packed { components, .. } => components,
            };
        let row = spans[0].row_bytes / pixel_bytes;
        let pixels = row * frame.height();
        if pixels > MOST_PIXELS {
            return Err(Error::TooLarge { width: frame.width(), height: frame.height() });
        }
        // Pixels that share their chroma come in twos: with an odd width, each row ends in one that is not there.
        assert!(row - frame.width() <= 1);
        let padded_row = if row == frame.width() { 0 } else { row as u32 };
        let size = (frame.width(), frame.height());
        Ok(Layout { spans, size, sample: descriptor.sample, arrangement, pixels: pixels as u32, padded_row })
    }

    /// The planes that travel, in the order of [`Frame::rewritten_planes`].
    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// How a sample is stored.
    pub(super) fn sample(&self) -> Sample {
        self.sample
    }

    /// Whether two-byte samples have to be swapped on a little-endian GPU.
    pub(super) fn swapped(&self) -> bool {
        self.sample.bytes == 2 && self.sample.endian == Endian::Big
    }

    /// How the luminance lies among the samples.
    pub(super) fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// Pixels of the picture, those included that pad a row.
    pub fn pixels(&self) -> u32 {
        self.pixels
    }

    /// Pixels of a row whose last one is padding; 0 if rows have no padding.
    pub(super) fn padded_row(&self) -> u32 {
        self.padded_row
    }

    /// Pixels in a row and rows, without padding.
    pub(super) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Pixels from one row to the next.
    pub(super) fn row_pixels(&self) -> u32 {
        self.pixels / self.size.1 as u32
    }

    /// How many codes a sample can have.
    pub(super) fn codes(&self) -> usize {
        1 << self.sample.depth
    }

    /// Bytes from the start of the first plane to the end of the last one: what is copied.
    pub fn bytes(&self) -> usize {
        let last = self.spans[self.spans.len() - 1];
        last.start + last.bytes()
    }

    /// Bytes of a buffer for it, which the kernels may touch all of.
    pub(super) fn buffer_bytes(&self) -> usize {
        (self.bytes() + SLACK).next_multiple_of(ALIGNMENT)
    }

    /// Bytes from one plane to the next.
    pub(super) fn plane_distance(&self) -> usize {
        self.spans.get(1).map_or(0, |span| span.start)
    }

    /// Bytes of a buffer for the luminance of RGB, which the kernels may touch all of.
    pub(super) fn luma_bytes(&self) -> usize {
        (self.pixels as usize * usize::from(self.sample.bytes) + SLACK).next_multiple_of(ALIGNMENT)
    }

    /// The weights of a pixel's components in the order they lie in; 0 for alpha.
    pub(super) fn weights_in_order(&self, weights: Weights) -> [u32; 4] {
        let mut in_order = [0; 4];
        if let Arrangement::Packed { rgb, .. } | Arrangement::Planar { rgb } = self.arrangement {
            for (place, weight) in rgb.into_iter().zip([weights.r, weights.g, weights.b]) {
                in_order[place] = weight;
            }
        }
        in_order
    }
}

fn arrangement(format: PixelFormat) -> Arrangement {
    match format.descriptor().luminance {
        Luminance::Stored(luma) if luma.step == 1 => Arrangement::Luma,
        Luminance::Stored(luma) => {
            assert!(luma.step == 2 && luma.offset < 2);
            Arrangement::Pairs { offset: luma.offset }
        }
        Luminance::FromRgb { r, g, b } if r.step == 1 => Arrangement::Planar { rgb: [r.plane, g.plane, b.plane] },
        Luminance::FromRgb { r, g, b } => {
            assert!(r.step == 3 || r.step == 4);
            Arrangement::Packed { components: r.step, rgb: [r.offset, g.offset, b.offset] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{HostPool, Matrix, Range};

    fn layout(format: PixelFormat, width: usize, height: usize) -> Layout {
        let pool = HostPool::default();
        let planes = (0..format.descriptor().planes().len())
            .map(|plane| pool.plane(format.row_bytes(plane, width), format.rows(plane, height)).freeze())
            .collect();
        Layout::of(&Frame::new(format, (width, height), Range::Full, Matrix::Bt601, planes).unwrap()).unwrap()
    }

    #[test]
    fn only_luma_travels_where_chroma_has_its_own_plane() {
        assert_eq!(layout(PixelFormat::Yuv420p10le, 1920, 1080).bytes(), 1920 * 1080 * 2);
        assert_eq!(layout(PixelFormat::Nv12, 1920, 1080).bytes(), 1920 * 1080);
    }

    #[test]
    fn a_row_of_odd_width_ends_in_a_pixel_of_padding() {
        let odd = layout(PixelFormat::Yuyv422, 15, 2);
        assert_eq!((odd.pixels(), odd.padded_row()), (32, 16));
        assert_eq!(layout(PixelFormat::Yuyv422, 16, 2).padded_row(), 0);
    }

    #[test]
    fn every_format_leaves_the_kernels_room_behind_each_plane() {
        for &format in PixelFormat::ALL {
            let layout = layout(format, 15, 3);
            let mut ends: Vec<usize> = layout.spans()[1..].iter().map(|span| span.start).collect();
            ends.push(layout.buffer_bytes());
            for (span, end) in layout.spans().iter().zip(ends) {
                assert!(span.start % 16 == 0 && span.start + span.bytes() + SLACK <= end, "{format}");
            }
        }
    }
}
