//! Video with nothing but pixels: what has to be said about raw frames, and how YUV4MPEG2 (y4m) says it.

mod y4m;

pub use y4m::{FRAME, HEADER, HeaderError, LONGEST_LINE, header, is_carried, parse};

use crate::ffmpeg::{Rational, Siting};
use crate::frame::{PixelFormat, Range};

/// What raw frames are, which the frames themselves do not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawVideo {
    /// Pixel format.
    pub format: PixelFormat,
    /// Pixels in a row and rows.
    pub size: (usize, usize),
    /// Frames a second.
    pub rate: Rational,
    /// Which codes are picture; `None` when nothing is said, which the format then decides.
    pub range: Option<Range>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// `Some(top field first?)` when a frame holds two fields.
    pub interlaced: Option<bool>,
    /// Where chroma samples lie between luma samples, if known.
    pub siting: Option<Siting>,
}

/// The most pixels of a frame: those that FFmpeg takes.
const MOST_PIXELS: usize = 1 << 28;

impl RawVideo {
    /// Are its frames larger than anything that can be decoded or encoded?
    pub fn is_too_large(&self) -> bool {
        self.size.0.checked_mul(self.size.1).is_none_or(|pixels| pixels > MOST_PIXELS)
    }

    /// Bytes of a frame: its planes one after the other, without padding.
    pub fn frame_bytes(&self) -> usize {
        (0..self.format.descriptor().planes().len()).map(|plane| self.plane_bytes(plane)).sum()
    }

    /// Bytes of one plane.
    pub fn plane_bytes(&self, plane: usize) -> usize {
        self.format.row_bytes(plane, self.size.0) * self.format.rows(plane, self.size.1)
    }
}
