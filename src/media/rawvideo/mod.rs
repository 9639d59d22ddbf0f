//! Raw video: the properties of raw frames, and their header in YUV4MPEG2 (y4m).

mod y4m;

pub use y4m::{FRAME, HEADER, MAX_LINE, header, is_carried, parse};

use crate::ffmpeg::{ChromaLocation, Rational};
use histeq::internal::frame::{PixelFormat, Range};

/// The properties of raw frames, which the frames do not contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawVideo {
    /// Pixel format.
    pub format: PixelFormat,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Frames a second.
    pub rate: Rational,
    /// Range of the codes; `None` for the default of the pixel format.
    pub range: Option<Range>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// `Some(top field first?)` for interlaced frames.
    pub interlaced: Option<bool>,
    /// Where the chroma samples of 4:2:0 are between the luma samples.
    pub chroma_location: ChromaLocation,
}

impl RawVideo {
    /// Bytes of a frame: its planes one after the other, without padding.
    pub fn frame_bytes(&self) -> usize {
        (0..self.format.descriptor().planes().len()).map(|plane| self.plane_bytes(plane)).sum()
    }

    /// Bytes of one plane.
    pub fn plane_bytes(&self, plane: usize) -> usize {
        self.format.row_bytes(plane, self.size.0) * self.format.rows(plane, self.size.1)
    }
}
