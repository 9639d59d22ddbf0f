//! An equalized frame.

use super::input::packed_bytes;
use crate::cuda::Gpu;
use crate::equalize::Equalized;
use crate::frame::{Frame, PixelFormat};
use crate::spec::time::Scene;
use crate::{Error, Result};
use std::sync::Arc;

/// An equalized frame.
pub struct Output {
    equalized: Equalized,
    number: u64,
    /// The GPU of the equalizer, if one equalizes.
    pub(super) gpu: Option<Arc<Gpu>>,
}

/// A plane in the caller's memory, to be written.
pub struct PlaneOutput<'a> {
    /// The bytes of the plane, padding included.
    pub bytes: &'a mut [u8],
    /// Bytes from one row to the next, top row first.
    pub stride: usize,
}

impl Output {
    pub(super) fn new(equalized: Equalized, number: u64, gpu: Option<Arc<Gpu>>) -> Self {
        Output { equalized, number, gpu }
    }

    /// The number of the frame, counted from 0 or from where [`Equalizer::restart`](super::Equalizer::restart) began.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The timestamp of the input frame.
    pub fn pts(&self) -> Option<i64> {
        self.frame().pts
    }

    /// The format of the frame: that of the input, unless `gray` or `output-depth` chose another one.
    pub fn format(&self) -> PixelFormat {
        self.frame().format()
    }

    /// Columns and rows of the frame.
    pub fn size(&self) -> (usize, usize) {
        (self.frame().width(), self.frame().height())
    }

    /// The number of bytes that [`copy_into`](Output::copy_into) writes.
    pub fn packed_bytes(&self) -> usize {
        packed_bytes(self.format(), self.size())
    }

    /// Copies all planes into `bytes`, one after the other, row by row, without padding.
    ///
    /// # Errors
    /// When `bytes` has another length than [`packed_bytes`](Output::packed_bytes), or the GPU that the frame is on
    /// fails.
    pub fn copy_into(&self, bytes: &mut [u8]) -> Result<()> {
        let needed = self.packed_bytes();
        if bytes.len() != needed {
            let (format, size, found) = (self.format(), self.size(), bytes.len());
            return Err(Error::FrameBytes { format, size, needed, found });
        }
        self.frame().bring_down()?;
        let mut rest = bytes;
        for plane in self.frame().planes() {
            for y in 0..plane.rows() {
                let (row, behind) = rest.split_at_mut(plane.row_bytes());
                row.copy_from_slice(plane.row(y));
                rest = behind;
            }
        }
        Ok(())
    }

    /// Copies the planes into those of the caller, in the order of the format. Bytes between rows stay as they are.
    ///
    /// # Errors
    /// When there are more or fewer planes, one has too few bytes, or the GPU that the frame is on fails.
    pub fn copy_into_planes(&self, planes: &mut [PlaneOutput<'_>]) -> Result<()> {
        let made = self.frame().planes();
        if planes.len() != made.len() {
            return Err(Error::PlaneCount { format: self.format(), needed: made.len(), found: planes.len() });
        }
        self.frame().bring_down()?;
        for (index, (source, target)) in made.iter().zip(planes).enumerate() {
            let (row_bytes, rows) = (source.row_bytes(), source.rows());
            let needed = (rows - 1).checked_mul(target.stride).and_then(|last| last.checked_add(row_bytes));
            let fits =
                needed.is_some_and(|needed| needed <= target.bytes.len()) && (rows == 1 || target.stride >= row_bytes);
            if !fits {
                let found = (target.bytes.len(), target.stride as isize);
                return Err(Error::PlaneBytes { plane: index, needed: (row_bytes, rows), found });
            }
            for y in 0..rows {
                target.bytes[y * target.stride..][..row_bytes].copy_from_slice(source.row(y));
            }
        }
        Ok(())
    }

    /// The scene that the frame belongs to, if one was decided.
    #[doc(hidden)]
    pub fn scene(&self) -> Option<Scene> {
        self.equalized.applied.scene
    }

    /// The frame itself, for callers who share its memory.
    pub fn frame(&self) -> &Frame {
        &self.equalized.frame
    }

    /// The frame itself.
    pub fn into_frame(self) -> Frame {
        self.equalized.frame
    }
}
