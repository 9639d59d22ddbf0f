//! The structures that kernels take by value, field for field as `kernels/spec.cuh` declares them.
#![allow(unsafe_code, reason = "promises the bindings that these structures are plain bytes")]

use super::layout::{Arrangement, Layout};
use crate::spec;
use cudarc::driver::DeviceRepr;

/// How samples lie in a plane.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Samples {
    pub pixels: u32,
    pub row: u32,
    pub offset: u32,
    pub shift: u32,
    pub swapped: u32,
    pub max: u32,
}

impl Samples {
    /// Those of the picture as it travels.
    pub fn of(layout: &Layout) -> Self {
        let sample = layout.sample();
        let offset = match layout.arrangement() {
            Arrangement::Pairs { offset } => offset as u32,
            _ => 0,
        };
        Samples {
            pixels: layout.pixels(),
            row: layout.padded_row(),
            offset,
            shift: sample.shift.into(),
            swapped: layout.swapped().into(),
            max: sample.max().into(),
        }
    }

    /// Those of the luminance that the GPU made of RGB: plain codes in its own byte order.
    pub fn of_luminance(layout: &Layout) -> Self {
        Samples { offset: 0, shift: 0, swapped: 0, ..Samples::of(layout) }
    }
}

/// Which codes are levels, and how far the picture goes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Levels {
    lo: u32,
    hi: u32,
    strength: u32,
}

impl Levels {
    pub fn new(levels: spec::Levels, strength: spec::Strength) -> Self {
        Levels { lo: levels.lo().into(), hi: levels.hi().into(), strength: strength.of_256() }
    }
}

/// The weights of components, in memory order.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Weights(pub [u32; 4]);

// SAFETY: `repr(C)`, `u32` fields only: the bytes that the kernel's structure has.
unsafe impl DeviceRepr for Samples {}
// SAFETY: as above.
unsafe impl DeviceRepr for Levels {}
// SAFETY: as above.
unsafe impl DeviceRepr for Weights {}
