//! The image in GPU memory that the steps of a measurement process.

use super::PixelOrder;
use super::arguments::Area;
use cudarc::driver::CudaSlice;

/// The kind of a plane's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// Numbers of this many bytes each.
    Elements(u8),
    Pixels(PixelOrder),
}

/// Elements in GPU memory, in one or more copies, used in turn, so that a cache smaller than all copies does not help.
pub struct DevicePlane {
    pub(super) kind: ElementKind,
    pub(super) size: (u32, u32),
    pub(super) bins: u32,
    pub(super) copies: Vec<CudaSlice<u8>>,
}

impl DevicePlane {
    /// The number of its elements.
    pub fn elements(&self) -> u32 {
        self.size.0 * self.size.1
    }

    /// Bytes of one copy.
    pub fn bytes(&self) -> usize {
        self.copies[0].len()
    }

    pub(super) fn area(&self) -> Area {
        Area::tight(self.size, self.bins - 1)
    }

    /// The copy for the launch with this number.
    pub(super) fn copy(&self, launch: usize) -> &CudaSlice<u8> {
        &self.copies[launch % self.copies.len()]
    }
}
