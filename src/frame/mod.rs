//! A picture on its way through the program: planes of shared, immutable memory, and what is known of them.
//!
//! Everything that a backend relies on is checked once, in [`Frame::new`]; behind that door rows can be sliced
//! without further checks.

mod device;
mod format;
mod memory;
mod plane;
mod pool;

pub use device::{Adopted, DeviceRows, Surface};
pub use format::{ChromaSamples, Component, Descriptor, Endian, Luminance, Model, PixelFormat, PlaneShape, Sample};
pub use memory::{Buffer, Memory, OnDevice};
pub use plane::{Plane, PlaneMut};
pub use pool::{HostBuffer, HostPool, LatePool, Pool};

use crate::spec::chroma::Colours;
use crate::spec::clahe::Tiles;
use crate::spec::{Levels, Method, Rect, Weights};
use std::any::Any;
use std::sync::Arc;

/// Which codes of a luma sample are picture: all of them, or those from 16 to 235 (times a power of two).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// `tv`, `mpeg`: 16 to 235 at 8 bits.
    Limited,
    /// `pc`, `jpeg`: every code.
    Full,
}

/// Which weights turn RGB into luminance, and luma and chroma into RGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// SD video, and whatever says nothing.
    Bt601,
    /// HD video.
    Bt709,
    /// UHD video.
    Bt2020,
}

/// What another module attaches to a frame (side data, say); it is handed through untouched.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// One picture. Its planes are shared and immutable, so a clone costs no copy of pixels.
#[derive(Clone)]
pub struct Frame {
    format: PixelFormat,
    width: usize,
    height: usize,
    range: Range,
    matrix: Matrix,
    planes: Vec<Plane>,
    /// Presentation time in the units of the stream that the frame comes from.
    pub pts: Option<i64>,
    /// Whatever its source wants its sink to have.
    pub attachment: Option<Attachment>,
}

/// A picture whose planes do not fit its format and size.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FrameError {
    /// Zero in one direction.
    #[error("a picture of {width}x{height} pixels")]
    Empty {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Too few or too many planes.
    #[error("{format} has {expected} planes, not {found}")]
    PlaneCount {
        /// The format that was asked for.
        format: PixelFormat,
        /// Its planes.
        expected: usize,
        /// The planes that were given.
        found: usize,
    },
    /// A plane of the wrong shape.
    #[error("plane {plane} of a {format} picture has {expected:?} (bytes a row, rows), not {found:?}")]
    PlaneSize {
        /// The format that was asked for.
        format: PixelFormat,
        /// Which plane.
        plane: usize,
        /// Bytes a row and rows, as the format has them.
        expected: (usize, usize),
        /// The same of the plane given.
        found: (usize, usize),
    },
}

impl Frame {
    /// A frame of these planes.
    ///
    /// `range` is that of a YUV picture; RGB is always full range.
    ///
    /// # Errors
    /// When a dimension is zero, or the planes are not those of `format` at this size.
    pub fn new(
        format: PixelFormat,
        (width, height): (usize, usize),
        range: Range,
        matrix: Matrix,
        planes: Vec<Plane>,
    ) -> Result<Self, FrameError> {
        if width == 0 || height == 0 {
            return Err(FrameError::Empty { width, height });
        }
        let expected = format.descriptor().planes().len();
        if planes.len() != expected {
            return Err(FrameError::PlaneCount { format, expected, found: planes.len() });
        }
        for (index, plane) in planes.iter().enumerate() {
            let expected = (format.row_bytes(index, width), format.rows(index, height));
            let found = (plane.row_bytes(), plane.rows());
            if expected != found {
                return Err(FrameError::PlaneSize { format, plane: index, expected, found });
            }
        }
        let range = if format.descriptor().model == Model::Rgb { Range::Full } else { range };
        Ok(Frame { format, width, height, range, matrix, planes, pts: None, attachment: None })
    }

    /// The same frame with the planes that `replace` gives in place of its own (`None` keeps a plane).
    ///
    /// # Panics
    /// When a new plane has another shape than the one it replaces, which is a bug in a backend.
    pub fn with_planes(&self, mut replace: impl FnMut(usize) -> Option<Plane>) -> Frame {
        let mut frame = self.clone();
        for (index, plane) in frame.planes.iter_mut().enumerate() {
            if let Some(new) = replace(index) {
                assert_eq!((new.row_bytes(), new.rows()), (plane.row_bytes(), plane.rows()), "plane {index}");
                *plane = new;
            }
        }
        frame
    }

    /// Sees to it that all of it lies in the host's memory.
    ///
    /// # Errors
    /// When a GPU that a plane lies on fails.
    pub fn bring_down(&self) -> anyhow::Result<()> {
        self.planes.iter().try_for_each(|plane| plane.memory().bring_down())
    }

    /// The pixel format.
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Which codes of its luma are picture.
    pub fn range(&self) -> Range {
        self.range
    }

    /// Which weights make its luminance if it is RGB, and its colours if it is YUV.
    pub fn matrix(&self) -> Matrix {
        self.matrix
    }

    /// The levels of its luminance: which codes are black, white and what lies between.
    pub fn levels(&self) -> Levels {
        match self.range {
            Range::Limited => Levels::limited(self.format.depth()),
            Range::Full => Levels::full(self.format.depth()),
        }
    }

    /// The weights of red, green and blue in its luminance.
    pub fn weights(&self) -> Weights {
        match self.matrix {
            Matrix::Bt601 => Weights::BT601,
            Matrix::Bt709 => Weights::BT709,
            Matrix::Bt2020 => Weights::BT2020,
        }
    }

    /// The meaning of its chroma samples; of a YUV picture.
    pub fn colours(&self) -> Colours {
        Colours::new(self.levels(), self.weights())
    }

    /// Its tiles; `None` if `method` has one curve for the whole frame.
    pub fn tiles(&self, method: Method) -> Option<Tiles> {
        match method {
            Method::Global => None,
            Method::Clahe { columns, rows } => Some(Tiles::new(columns, rows, (self.width, self.height))),
        }
    }

    /// The rectangle of all its pixels.
    pub fn whole(&self) -> Rect {
        Rect::whole((self.width, self.height))
    }

    /// Its planes, in the order of FFmpeg's.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// Which planes equalization rewrites: the one with the luma, or all three of planar RGB; those with chroma too if
    /// `with_chroma`. The others are passed on.
    pub fn rewritten_planes(&self, with_chroma: bool) -> std::ops::Range<usize> {
        self.format.rewritten_planes(with_chroma)
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({} {}x{} {:?}, pts {:?})", self.format, self.width, self.height, self.range, self.pts)
    }
}
