//! Launches `kernels/denoise/motion.cu`: motion between two pictures.
#![allow(unsafe_code, reason = "launches kernels")]

use crate::cuda::denoise::{DeviceField, DeviceSheet};
use crate::cuda::error::{Doing, Error};
use crate::cuda::kernels::{NULL, threads_for};
use crate::cuda::launch::Kernel;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Threads that find the vector of a block.
const LANES: usize = 32;

launcher! {
    MotionLauncher from MOTION {
        farther: Kernel = "motion_farther",
        search: Kernel = "motion_search",
    }
}

/// The arguments of a motion search.
pub(in crate::cuda) struct MotionSearch<'a> {
    pub one: &'a DeviceSheet,
    pub other: &'a DeviceSheet,
    /// The vectors to begin with.
    pub parents: Parents<'a>,
    /// The difference between the two pictures where nothing moves, in 64ths of an 8-bit level.
    pub calm: u32,
    /// The radius of the exhaustive search around the best of the parents, in samples.
    pub reach: u32,
    /// Whether vectors in quarters of a sample are wanted.
    pub is_finest: bool,
}

/// The vectors that a search begins with.
#[derive(Clone, Copy)]
pub(in crate::cuda) enum Parents<'a> {
    None,
    SameSize(&'a DeviceField),
    /// The field of pictures half as large.
    HalfAsLarge(&'a DeviceField),
}

impl MotionLauncher {
    /// Enqueues the motion to a distant frame: the sum of the motion to the frame `between` and the step from there.
    /// `step` is the motion from a frame to the one before it; with `is_forth` it is inverted.
    pub fn farther(
        &self,
        stream: &Arc<CudaStream>,
        between: Option<&DeviceField>,
        (step, is_forth): (&DeviceField, bool),
        target: &DeviceField,
    ) -> Result<(), Error> {
        let size = |field: &DeviceField| (field.columns, field.rows);
        assert!(size(step) == size(target) && between.is_none_or(|between| size(between) == size(target)));
        let (near, by, into) = (between.map_or(NULL, DeviceField::address), step.address(), target.address());
        let (columns, rows, forth) = (target.columns as u32, target.rows as u32, u32::from(is_forth));
        let mut launch = self.farther.on(stream);
        launch.arg(&near).arg(&by).arg(&columns).arg(&rows).arg(&forth).arg(&into);
        // SAFETY: the arguments are those of the kernel: each field has a word for each of its blocks. They are used on
        // this stream alone.
        unsafe { launch.launch(threads_for(target.blocks())) }.doing("launching motion_farther")
    }

    /// Enqueues the search for the vectors of all blocks.
    pub fn search(
        &self,
        stream: &Arc<CudaStream>,
        search: &MotionSearch<'_>,
        target: &DeviceField,
    ) -> Result<(), Error> {
        let MotionSearch { one, other, parents, calm, reach, is_finest } = *search;
        assert_eq!((one.width, one.height), (other.width, other.height));
        assert_eq!((target.columns, target.rows), (one.width.div_ceil(8), one.height.div_ceil(8)));
        let (a, b, into) = (one.address(), other.address(), target.address());
        // The numbers are those of `Parents` in the kernel.
        let (kind, field) = match parents {
            Parents::None => (0u32, None),
            Parents::SameSize(field) => (1, Some(field)),
            Parents::HalfAsLarge(field) => (2, Some(field)),
        };
        let (field, columns, rows) =
            field.map_or((NULL, 0, 0), |field| (field.address(), field.columns as u32, field.rows as u32));
        let (width, height, finest) = (one.width as u32, one.height as u32, u32::from(is_finest));
        let mut launch = self.search.on(stream);
        launch.arg(&a).arg(&b).arg(&width).arg(&height).arg(&field).arg(&columns).arg(&rows);
        launch.arg(&kind).arg(&calm).arg(&reach).arg(&finest).arg(&into);
        // SAFETY: the arguments are those of the kernel: sheets have margins around them, and fields a word for each
        // block. They are used on this stream alone.
        unsafe { launch.launch(threads_for(target.blocks() * LANES)) }.doing("launching motion_search")
    }
}
