//! Frames: planes of shared, immutable memory, with their format, size, range and matrix.
//!
//! [`Frame::new`] checks that the planes match format and size. Backends rely on that and slice rows without further
//! checks.

mod device;
mod fields;
mod format;
mod idle;
pub mod limits;
mod memory;
mod plane;
mod pool;

pub use device::{Adopted, DevicePlanes, DeviceRows, Surface};
pub(crate) use fields::FieldRows;
pub(crate) use format::in_byte_order;
pub use format::{
    ChromaSamples, Component, Descriptor, Endian, FrameError, Luminance, Model, PixelFormat, PlaneShape, Sample,
};
#[cfg(feature = "cuda")]
pub(crate) use idle::Idle;
pub use limits::{Limits, NoRoom};
pub use memory::{Buffer, ErrorKind, Memory, MemoryError, OnDevice};
pub use plane::{Plane, PlaneMut, SomeRows};
pub use pool::{HostBuffer, HostPool, LatePool, Pool, host_room};

pub use crate::spec::Transfer;
use crate::spec::Weights;
use crate::spec::chroma::Colours;
use crate::spec::clahe::Tiles;
use crate::spec::curves::Levels;
use crate::spec::parameters::{Method, Rect, named};
use std::any::Any;
use std::sync::Arc;

named! {
    /// The range of luma codes from black to white: all codes, or those from 16 to 235 (times a power of two).
    pub enum Range {
        Limited = "limited", "`tv`, `mpeg`: 16 to 235 at 8 bits";
        Full = "full", "`pc`, `jpeg`: every code";
    }
}

named! {
    /// The matrix between RGB and YUV: the weights of red, green and blue in luminance.
    pub enum Matrix {
        Bt601 = "bt601", "SD video";
        Bt709 = "bt709", "HD video";
        Bt2020 = "bt2020", "UHD video";
    }
}

impl Matrix {
    /// The matrix that players assume for untagged video: BT.709 for YUV in HD, otherwise BT.601.
    pub fn usual(model: Model, (width, height): (usize, usize)) -> Self {
        let is_hd = width >= 1280 || height > 576;
        if model == Model::Yuv && is_hd { Matrix::Bt709 } else { Matrix::Bt601 }
    }

    /// The weights of red, green and blue in luminance.
    #[doc(hidden)]
    pub fn weights(self) -> Weights {
        match self {
            Matrix::Bt601 => Weights::BT601,
            Matrix::Bt709 => Weights::BT709,
            Matrix::Bt2020 => Weights::BT2020,
        }
    }
}

/// Data that a source attaches to a frame for the sink, such as side data; backends pass it on unchanged.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// One video frame. Its planes are shared and immutable, so a clone does not copy pixels.
#[derive(Clone)]
pub struct Frame {
    format: PixelFormat,
    width: usize,
    height: usize,
    range: Range,
    matrix: Matrix,
    planes: Vec<Plane>,
    /// The transfer function of the codes: SDR, or HDR by PQ or HLG.
    pub transfer: Transfer,
    /// Whether the rows of two fields alternate, in each plane, chroma included.
    pub is_interlaced: bool,
    /// Presentation time in the units of the stream that the frame comes from.
    pub pts: Option<i64>,
    /// Data that the source attaches for the sink.
    #[doc(hidden)]
    pub attachment: Option<Attachment>,
}

impl Frame {
    /// A frame of these planes.
    ///
    /// `range` applies to YUV and gray; RGB is always full range.
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
        format.check_planes((width, height), planes.iter().map(|plane| (plane.row_bytes(), plane.rows())))?;
        let range = if format.descriptor().model == Model::Rgb { Range::Full } else { range };
        let transfer = Transfer::Sdr;
        let (is_interlaced, pts, attachment) = (false, None, None);
        Ok(Frame { format, width, height, range, matrix, planes, transfer, is_interlaced, pts, attachment })
    }

    /// A copy of the frame with each plane replaced by the result of `replace`; `None` keeps a plane.
    ///
    /// # Panics
    /// When a new plane differs in size from the plane that it replaces: a bug of a backend.
    #[doc(hidden)]
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

    /// A frame with these finished planes in place of those in `range`.
    ///
    /// # Panics
    /// As [`with_planes`](Frame::with_planes).
    pub(crate) fn replacing(&self, range: std::ops::Range<usize>, planes: Vec<PlaneMut>) -> Frame {
        let mut planes = planes.into_iter().map(PlaneMut::freeze);
        self.with_planes(|plane| if range.contains(&plane) { planes.next() } else { None })
    }

    /// A frame of these planes in another format, otherwise like this one.
    ///
    /// # Errors
    /// When the planes are not those of `format` at this size.
    pub(crate) fn with_format(&self, format: PixelFormat, planes: Vec<Plane>) -> Result<Frame, FrameError> {
        let mut other = Frame::new(format, (self.width, self.height), self.range, self.matrix, planes)?;
        (other.transfer, other.is_interlaced) = (self.transfer, self.is_interlaced);
        (other.pts, other.attachment) = (self.pts, self.attachment.clone());
        Ok(other)
    }

    /// Copies planes that lie on a GPU to host memory.
    ///
    /// # Errors
    /// When the GPU fails.
    pub fn bring_down(&self) -> Result<(), MemoryError> {
        self.planes.iter().try_for_each(|plane| plane.memory().bring_down())
    }

    /// Copies the planes from which luminance is read to host memory, if they are on a GPU.
    ///
    /// # Errors
    /// When the GPU fails.
    #[doc(hidden)]
    pub fn bring_luminance_down(&self) -> Result<(), MemoryError> {
        self.planes[self.rewritten_planes(false)].iter().try_for_each(|plane| plane.memory().bring_down())
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

    /// The range of its luma.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The matrix between RGB and YUV.
    pub fn matrix(&self) -> Matrix {
        self.matrix
    }

    /// The levels of its luminance: which codes are black, white and between.
    #[doc(hidden)]
    pub fn levels(&self) -> Levels {
        match self.range {
            Range::Limited => Levels::limited(self.format.depth()),
            Range::Full => Levels::full(self.format.depth()),
        }
    }

    /// The weights of red, green and blue in its luminance.
    #[doc(hidden)]
    pub fn weights(&self) -> Weights {
        self.matrix.weights()
    }

    /// The factors from chroma to RGB, for YUV.
    #[doc(hidden)]
    pub fn colours(&self) -> Colours {
        Colours::new(self.levels(), self.weights())
    }

    /// The tiles of the frame; `None` if `method` has one curve for the whole frame.
    #[doc(hidden)]
    pub fn tiles(&self, method: Method) -> Option<Tiles> {
        let (columns, rows) = method.grid()?;
        Some(Tiles::new(columns, rows, (self.width, self.height)))
    }

    /// The rectangle of all its pixels.
    #[doc(hidden)]
    pub fn whole(&self) -> Rect {
        Rect::whole((self.width, self.height))
    }

    /// The bytes of all planes, without padding.
    pub fn bytes(&self) -> usize {
        self.planes.iter().map(|plane| plane.row_bytes() * plane.rows()).sum()
    }

    /// Its planes, in FFmpeg's order.
    pub fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// The planes that equalization rewrites: the one with luma, or all three of planar RGB, and with `with_chroma`
    /// those with chroma. The others are passed on.
    #[doc(hidden)]
    pub fn rewritten_planes(&self, with_chroma: bool) -> std::ops::Range<usize> {
        self.format.rewritten_planes(with_chroma)
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({} {}x{} {:?}, pts {:?})", self.format, self.width, self.height, self.range, self.pts)
    }
}
