//! A picture on the device that the steps of a measurement work on.

use super::PixelOrder;
use super::arguments::Area;
use cudarc::driver::CudaSlice;

/// What the units of a plane are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// Numbers of this many bytes each.
    Elements(u8),
    Pixels(PixelOrder),
}

/// Elements on the device, maybe more than once: repetitions go from copy to copy, so that caches which are smaller than
/// all of them together do not help.
pub struct DevicePlane {
    pub(super) kind: ElementKind,
    pub(super) size: (u32, u32),
    pub(super) bins: u32,
    pub(super) copies: Vec<CudaSlice<u8>>,
}

impl DevicePlane {
    /// How many bins its elements belong to.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// How many elements it has.
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

    /// The copy for this launch.
    pub(super) fn copy(&self, launch: usize) -> &CudaSlice<u8> {
        &self.copies[launch % self.copies.len()]
    }
}
