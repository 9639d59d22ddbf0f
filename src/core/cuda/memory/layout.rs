//! The layout of a frame's device buffer. Only the planes that equalization rewrites are uploaded (chroma only where it
//! changes too), one plane after the other, rows without padding. The pinned buffers have the same layout, so a frame
//! takes one copy in each direction.

use crate::cuda::error::Error;
use crate::frame::{ChromaSamples, Component, Descriptor, Endian, Frame, Luminance, PixelFormat, Sample};
use crate::spec::Weights;
use std::ops::Range;

/// Alignment of planes in bytes: whole vectors for the kernels, whole cache lines on the host.
const ALIGNMENT: usize = 256;

/// Bytes after each plane that the kernels may access: they load whole groups of up to 4 vectors of 16 bytes.
const SLACK: usize = 64;

/// The most pixels of a picture: the kernels add a stride to pixel numbers of 32 bits.
const MAX_PIXELS: usize = 1 << 31;

/// One plane in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaneSpan {
    pub start: usize,
    pub row_bytes: usize,
    pub rows: usize,
}

impl PlaneSpan {
    pub fn bytes(self) -> usize {
        self.row_bytes * self.rows
    }
}

/// How the samples store luma or RGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// A plane of luma alone.
    Luma,
    /// Every other sample is luma, from sample `offset` on.
    Pairs { offset: usize },
    /// Pixels of three or four components; `rgb` are the positions of red, green and blue in a pixel.
    Packed { components: usize, rgb: [usize; 3] },
    /// Three planes; `rgb` are the numbers of the red, green and blue plane.
    Planar { rgb: [usize; 3] },
}

impl Arrangement {
    /// Samples from one luma sample to the next; 1 where the luminance is computed from RGB.
    pub fn luma_step(self) -> u32 {
        match self {
            Arrangement::Pairs { .. } => 2,
            Arrangement::Luma | Arrangement::Packed { .. } | Arrangement::Planar { .. } => 1,
        }
    }
}

/// The layout of chroma where equalization changes it too, in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChromaLayout {
    /// The first Cb sample, from the start of the buffer.
    pub cb: u64,
    /// The first Cr sample, from the start of the buffer.
    pub cr: u64,
    /// From one Cb (or Cr) sample to the next.
    pub step: usize,
    /// From one row of chroma to the next.
    pub pitch: usize,
    /// The first luma sample.
    pub luma: usize,
    /// From one luma sample to the next.
    pub luma_step: usize,
    /// From one row of luma to the next.
    pub luma_pitch: usize,
    /// Pixels in a row that share a pair of chroma samples, as a power of two.
    pub log2_width: u8,
    /// Rows that share a pair, as a power of two.
    pub log2_height: u8,
}

/// The layout of frames of one format and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferLayout {
    /// The planes of the frame that are uploaded.
    pub(crate) planes: Range<usize>,
    /// The uploaded planes in the buffer, in the order of `planes`.
    pub(crate) spans: Vec<PlaneSpan>,
    /// The layout of chroma, if it changes too.
    pub(crate) chroma: Option<ChromaLayout>,
    sample: Sample,
    arrangement: Arrangement,
    /// Width and height in pixels, without padding.
    pub(crate) size: (usize, usize),
    /// Pixels of the picture, with those that pad a row.
    pub(crate) pixels: u32,
    /// Pixels of a row if its last one is padding; 0 if rows have no padding.
    pub(crate) padded_row: u32,
}

impl BufferLayout {
    /// The layout of `frame`; chroma is uploaded only if `with_chroma`.
    ///
    /// # Errors
    /// When the frame has more than 2^31 pixels.
    pub fn new(frame: &Frame, with_chroma: bool) -> Result<Self, Error> {
        let descriptor = frame.format().descriptor();
        let planes = frame.rewritten_planes(with_chroma);
        let arrangement = arrangement(frame.format());
        let mut spans = Vec::new();
        let mut start = 0;
        for plane in &frame.planes()[planes.clone()] {
            let span = PlaneSpan { start, row_bytes: plane.row_bytes(), rows: plane.rows() };
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
        if pixels > MAX_PIXELS {
            return Err(Error::TooLarge { width: frame.width(), height: frame.height() });
        }
        // Pixels that share their chroma come in pairs: with an odd width, the last pixel of each row is padding.
        assert!(row - frame.width() <= 1);
        let padded_row = if row == frame.width() { 0 } else { row as u32 };
        let size = (frame.width(), frame.height());
        let chroma = if with_chroma { chroma_places(descriptor, &spans) } else { None };
        let sample = descriptor.sample;
        Ok(BufferLayout { planes, spans, chroma, size, sample, arrangement, pixels: pixels as u32, padded_row })
    }

    /// The layout of a picture without samples, for counts of another backend. `depth` is in bits per sample.
    pub(crate) fn for_counts(size: (usize, usize), depth: u8) -> Self {
        let bytes = if depth > 8 { 2 } else { 1 };
        BufferLayout {
            planes: 0..1,
            spans: vec![PlaneSpan { start: 0, row_bytes: ALIGNMENT, rows: 1 }],
            chroma: None,
            sample: Sample { bytes, depth, shift: 0, endian: Endian::Little },
            arrangement: Arrangement::Luma,
            size,
            pixels: (size.0 * size.1) as u32,
            padded_row: 0,
        }
    }

    /// The number of pairs of chroma samples.
    pub(crate) fn chroma_pairs(&self) -> usize {
        let (width, height) = self.size;
        self.chroma
            .map_or(0, |chroma| width.div_ceil(1 << chroma.log2_width) * height.div_ceil(1 << chroma.log2_height))
    }

    /// The storage format of a sample.
    pub fn sample(&self) -> Sample {
        self.sample
    }

    /// Whether samples have the other byte order than the GPU, which is little endian.
    pub(crate) fn swapped(&self) -> bool {
        self.sample.bytes == 2 && self.sample.endian == Endian::Big
    }

    /// How the samples store luma or RGB.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// Pixels from one row to the next.
    pub fn row_pixels(&self) -> u32 {
        self.pixels / self.size.1 as u32
    }

    /// The number of codes of a sample.
    pub fn codes(&self) -> usize {
        1 << self.sample.depth
    }

    /// Bytes from the start of the first plane to the end of the last one: the length of the copy.
    pub fn bytes(&self) -> usize {
        let last = self.spans[self.spans.len() - 1];
        last.start + last.bytes()
    }

    /// Bytes of a device buffer, including the bytes after the last plane that kernels access.
    pub(crate) fn buffer_bytes(&self) -> usize {
        (self.bytes() + SLACK).next_multiple_of(ALIGNMENT)
    }

    /// Bytes from one plane to the next.
    pub(crate) fn plane_distance(&self) -> usize {
        self.spans.get(1).map_or(0, |span| span.start)
    }

    /// Bytes of a device buffer for the luminance of RGB, including the bytes after it that kernels access.
    pub(crate) fn luma_bytes(&self) -> usize {
        (self.pixels as usize * usize::from(self.sample.bytes) + SLACK).next_multiple_of(ALIGNMENT)
    }

    /// The weights of a pixel's components in memory order; 0 for alpha.
    pub(crate) fn weights_in_order(&self, weights: Weights) -> [u32; 4] {
        self.in_order([weights.r, weights.g, weights.b])
    }

    /// Reorders values of red, green and blue to the order of a pixel's components in memory; 0 for alpha.
    pub(crate) fn in_order<T: Copy + Default>(&self, of_rgb: [T; 3]) -> [T; 4] {
        let mut in_order = [T::default(); 4];
        if let Arrangement::Packed { rgb, .. } | Arrangement::Planar { rgb } = self.arrangement {
            rgb.into_iter().zip(of_rgb).for_each(|(place, value)| in_order[place] = value);
        }
        in_order
    }
}

fn chroma_places(descriptor: &Descriptor, spans: &[PlaneSpan]) -> Option<ChromaLayout> {
    let (Some(chroma), Luminance::Stored(luma)) = (descriptor.chroma, descriptor.luminance) else { return None };
    let ChromaSamples { cb, cr, log2_width, log2_height } = chroma;
    let bytes = usize::from(descriptor.sample.bytes);
    let first = |component: Component| (spans[component.plane].start / bytes + component.offset) as u64;
    // Cb and Cr lie in one plane, or in two planes of the same size.
    Some(ChromaLayout {
        cb: first(cb),
        cr: first(cr),
        step: cb.step,
        pitch: spans[cb.plane].row_bytes / bytes,
        luma: luma.offset,
        luma_step: luma.step,
        luma_pitch: spans[luma.plane].row_bytes / bytes,
        log2_width,
        log2_height,
    })
}

fn arrangement(format: PixelFormat) -> Arrangement {
    match format.descriptor().luminance {
        Luminance::Stored(luma) if luma.step == 1 => Arrangement::Luma,
        Luminance::Stored(luma) => {
            assert!(luma.step == 2 && luma.offset < 2, "{format}: the kernels know no such arrangement");
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
    use crate::frame::{self, HostPool, Matrix};

    fn layout(format: PixelFormat, width: usize, height: usize) -> BufferLayout {
        layout_of(format, (width, height), false)
    }

    fn layout_of(format: PixelFormat, (width, height): (usize, usize), with_chroma: bool) -> BufferLayout {
        let pool = HostPool::default();
        let planes = (0..format.descriptor().planes().len())
            .map(|plane| pool.plane(format.row_bytes(plane, width), format.rows(plane, height)).freeze())
            .collect();
        let frame = Frame::new(format, (width, height), frame::Range::Full, Matrix::Bt601, planes).unwrap();
        BufferLayout::new(&frame, with_chroma).unwrap()
    }

    #[test]
    fn only_luma_travels_where_chroma_has_its_own_plane() {
        assert_eq!(layout(PixelFormat::Yuv420p10le, 1920, 1080).bytes(), 1920 * 1080 * 2);
        assert_eq!(layout(PixelFormat::Nv12, 1920, 1080).bytes(), 1920 * 1080);
    }

    #[test]
    fn all_but_alpha_travels_where_chroma_follows_luma() {
        let with_alpha = layout_of(PixelFormat::Yuva420p, (32, 16), true);
        assert_eq!((with_alpha.planes.clone(), with_alpha.chroma_pairs()), (0..3, 128));
        let chroma = layout_of(PixelFormat::P010le, (15, 3), true).chroma.unwrap();
        assert_eq!((chroma.cb, chroma.cr, chroma.step, chroma.pitch), (128, 129, 2, 16));
        assert_eq!((chroma.luma, chroma.luma_step, chroma.luma_pitch), (0, 1, 15));
        let packed = layout_of(PixelFormat::Uyvy422, (15, 3), true).chroma.unwrap();
        assert_eq!((packed.cb, packed.cr, packed.step, packed.pitch), (0, 2, 4, 32));
        assert_eq!((packed.luma, packed.luma_step, packed.luma_pitch), (1, 2, 32));
        assert_eq!(layout_of(PixelFormat::Gray, (8, 8), true).chroma, None);
        assert_eq!(layout_of(PixelFormat::Gbrap, (8, 8), true).chroma, None);
    }

    #[test]
    fn a_row_of_odd_width_ends_in_a_pixel_of_padding() {
        let odd = layout(PixelFormat::Yuyv422, 15, 2);
        assert_eq!((odd.pixels, odd.padded_row), (32, 16));
        assert_eq!(layout(PixelFormat::Yuyv422, 16, 2).padded_row, 0);
    }

    #[test]
    fn every_format_leaves_the_kernels_room_behind_each_plane() {
        let with_chroma = |with| PixelFormat::ALL.iter().map(move |&format| (format, with));
        for (format, with_chroma) in with_chroma(false).chain(with_chroma(true)) {
            let layout = layout_of(format, (15, 3), with_chroma);
            let mut ends: Vec<usize> = layout.spans[1..].iter().map(|span| span.start).collect();
            ends.push(layout.buffer_bytes());
            for (span, end) in layout.spans.iter().zip(ends) {
                assert!(span.start % 16 == 0 && span.start + span.bytes() + SLACK <= end, "{format}");
            }
        }
    }
}
