//! The structures that kernel variants take by value, field for field as `kernels/variants/elements.cuh` declares them.
#![allow(unsafe_code, reason = "promises the bindings that these structures are plain bytes")]

use cudarc::driver::DeviceRepr;
use histeq::internal::cuda::arguments::Samples;
use histeq::internal::cuda::launch::KernelValue;
use histeq::internal::cuda::memory::layout::BufferLayout;
use histeq::internal::spec::parameters::Rect;

/// The layout of the elements in a plane, in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Area {
    pub first: u32,
    pub width: u32,
    pub height: u32,
    pub pitch: u32,
    pub step: u32,
    pub shift: u32,
    pub swapped: u32,
    pub max: u32,
}

impl Area {
    /// A plane without padding between rows, whose elements are codes without unused bits.
    pub fn tight((width, height): (u32, u32), max: u32) -> Self {
        Area { first: 0, width, height, pitch: width, step: 1, shift: 0, swapped: 0, max }
    }

    /// The counted region of a frame: of its stored luma, or with `is_made` of the luminance computed from RGB.
    pub fn counted(layout: &BufferLayout, counted: Rect, is_made: bool) -> Self {
        let samples = if is_made { Samples::for_luminance(layout) } else { Samples::new(layout) };
        let step = if is_made { 1 } else { layout.arrangement().luma_step() };
        let pitch = layout.row_pixels() * step;
        let Rect { x, y, width, height } = counted;
        Area {
            first: y as u32 * pitch + x as u32 * step + samples.offset,
            width: width as u32,
            height: height as u32,
            pitch,
            step,
            shift: samples.shift,
            swapped: samples.swapped,
            max: samples.max,
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The area as one row, if there is no padding between rows, so that kernels need no row numbers.
    pub fn in_one_row(self) -> Self {
        if u64::from(self.pitch) != u64::from(self.width) * u64::from(self.step) {
            return self;
        }
        Area { width: self.width * self.height, height: 1, ..self }
    }

    /// Whether vectors of samples from the start of the plane contain only elements of the area.
    pub fn is_plain(&self) -> bool {
        self.first == 0 && self.height == 1 && self.step == 1
    }
}

/// The parameters of a histogram kernel.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Counting {
    pub codes: u32,
    pub window: u32,
    pub log2_copies: u32,
    pub run: u32,
}

// SAFETY: `repr(C)` with fields of 32 bits only, the same bytes as the kernel's structure.
unsafe impl DeviceRepr for Area {}
// SAFETY: as above.
unsafe impl DeviceRepr for Counting {}

impl KernelValue for Area {}
impl KernelValue for Counting {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_follow_each_other_are_one_row() {
        let whole = Area::tight((15, 4), 255).in_one_row();
        assert_eq!((whole.size(), whole.is_plain()), ((60, 1), true));
        let part = Area { first: 3, width: 9, ..Area::tight((15, 4), 255) };
        assert_eq!((part.in_one_row(), part.is_plain()), (part, false));
    }
}
