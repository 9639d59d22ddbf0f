//! A frame in the caller's memory.

use crate::frame::{Frame, HostPool, PixelFormat, Plane, PlaneMut, Pool};
use crate::{Error, Result};

/// An input frame: borrowed bytes, which are copied, or a [`Frame`], whose memory is shared.
///
/// `into()` converts a slice of bytes: all planes of the format one after the other, row by row, without padding.
pub struct Input<'a> {
    source: Source<'a>,
    pts: Option<i64>,
}

enum Source<'a> {
    /// All planes one after the other, without padding.
    Packed(&'a [u8]),
    Planes(&'a [PlaneInput<'a>]),
    Frame(&'a Frame),
}

/// A plane in the caller's memory.
#[derive(Clone, Copy, Debug)]
pub struct PlaneInput<'a> {
    /// The bytes of the plane, padding included.
    pub bytes: &'a [u8],
    /// Bytes from one row to the next. Negative for a frame that is stored bottom up, whose last row is the first one
    /// in `bytes`.
    pub stride: isize,
}

impl<'a> Input<'a> {
    /// A frame of these planes, in the order of the format.
    pub fn planes(planes: &'a [PlaneInput<'a>]) -> Self {
        Input { source: Source::Planes(planes), pts: None }
    }

    /// Sets the timestamp of the frame, in any unit. The equalized frame has the same one.
    #[must_use]
    pub fn at(self, pts: i64) -> Self {
        Input { pts: Some(pts), ..self }
    }

    pub(super) fn pts(&self) -> Option<i64> {
        match self.source {
            Source::Frame(frame) => self.pts.or(frame.pts),
            _ => self.pts,
        }
    }

    /// The shared [`Frame`], if the input is one.
    pub(super) fn shared(&self) -> Option<&'a Frame> {
        match self.source {
            Source::Frame(frame) => Some(frame),
            Source::Packed(_) | Source::Planes(_) => None,
        }
    }

    /// Planes with copies of the input's bytes, in memory of `pool` if it is for that plane, otherwise of `host`.
    pub(super) fn copied(
        &self,
        (format, size): (PixelFormat, (usize, usize)),
        host: &HostPool,
        pool: Option<&dyn Pool>,
    ) -> Result<Vec<Plane>> {
        let count = format.descriptor().planes().len();
        let shape = |plane: usize| (format.row_bytes(plane, size.0), format.rows(plane, size.1));
        let copy = |index: usize, bytes: &[u8], stride: isize| {
            let (row_bytes, rows) = shape(index);
            let rows_in = InputRows::new(bytes, stride, (row_bytes, rows)).ok_or(Error::PlaneBytes {
                plane: index,
                needed: (row_bytes, rows),
                found: (bytes.len(), stride),
            })?;
            let pool = pool.filter(|pool| pool.planes(format).contains(&index)).unwrap_or(host);
            let target = PlaneMut::stride_for(row_bytes);
            let mut buffer = pool.buffer(target * rows)?;
            for (y, row) in rows_in.enumerate() {
                buffer[y * target..][..row_bytes].copy_from_slice(row);
            }
            let plane = Plane::new(buffer.freeze(), 0, target as isize, row_bytes, rows);
            plane.ok_or_else(|| Error::Worker("a pool's buffer is too short".to_owned()))
        };
        match self.source {
            Source::Frame(frame) => Ok(frame.planes().to_vec()),
            Source::Planes(planes) if planes.len() == count => {
                planes.iter().enumerate().map(|(index, plane)| copy(index, plane.bytes, plane.stride)).collect()
            }
            Source::Planes(planes) => Err(Error::PlaneCount { format, needed: count, found: planes.len() }),
            Source::Packed(bytes) => {
                let needed = packed_bytes(format, size);
                if bytes.len() != needed {
                    return Err(Error::FrameBytes { format, size, needed, found: bytes.len() });
                }
                let mut rest = bytes;
                let part = |index: usize| {
                    let (row_bytes, rows) = shape(index);
                    let (plane, behind) = rest.split_at(row_bytes * rows);
                    rest = behind;
                    copy(index, plane, row_bytes as isize)
                };
                (0..count).map(part).collect()
            }
        }
    }
}

/// The number of bytes of a frame without padding.
pub(super) fn packed_bytes(format: PixelFormat, (width, height): (usize, usize)) -> usize {
    let planes = 0..format.descriptor().planes().len();
    planes.map(|plane| format.row_bytes(plane, width) * format.rows(plane, height)).sum()
}

/// The rows of a plane, top row first.
struct InputRows<'a> {
    bytes: &'a [u8],
    row_bytes: usize,
    stride: isize,
    /// Offset of the next row in `bytes`.
    at: isize,
    left: usize,
}

impl<'a> InputRows<'a> {
    /// `None` unless all rows of this shape (bytes a row, rows) lie in `bytes`.
    fn new(bytes: &'a [u8], stride: isize, (row_bytes, rows): (usize, usize)) -> Option<Self> {
        let last = stride.unsigned_abs().checked_mul(rows.checked_sub(1)?)?;
        let fits = last.checked_add(row_bytes)? <= bytes.len() && (rows == 1 || stride.unsigned_abs() >= row_bytes);
        let start = if stride < 0 { isize::try_from(last).ok()? } else { 0 };
        fits.then_some(InputRows { bytes, row_bytes, stride, at: start, left: rows })
    }
}

impl<'a> Iterator for InputRows<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let row = &self.bytes[self.at as usize..][..self.row_bytes];
        self.at += self.stride;
        Some(row)
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Input<'a> {
    fn from(bytes: &'a T) -> Self {
        Input { source: Source::Packed(bytes.as_ref()), pts: None }
    }
}

impl<'a> Input<'a> {
    /// The input is this frame, whose memory is shared: no copy is made.
    pub fn frame(frame: &'a Frame) -> Self {
        Input { source: Source::Frame(frame), pts: None }
    }
}
