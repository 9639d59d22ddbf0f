//! Launches `kernels/motion.cu`: motion between two pictures.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{NULL, threads_for};
use crate::cuda::denoise::{DeviceField, DeviceSheet};
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Threads that find the vector of a block.
const LANES: usize = 32;

launcher! {
    MotionLauncher from MOTION {
        double: Kernel = "motion_double",
        search: Kernel = "motion_search",
    }
}

/// What vectors are searched by.
pub(in crate::cuda) struct MotionSearch<'a> {
    pub one: &'a DeviceSheet,
    pub other: &'a DeviceSheet,
    /// The vectors to begin with: of pictures of this size or half as large.
    pub parents: Option<&'a DeviceField>,
    /// What the pictures differ by where nothing moves, in 64ths of a level of 8 bits.
    pub calm: u32,
    /// How far to search everywhere around the best of these, in samples; with 0 one to each side.
    pub reach: u32,
    /// Whether vectors between samples are searched.
    pub is_finest: bool,
}

impl MotionLauncher {
    /// Enqueues the motion of `half` over twice the time, for pictures half as large.
    pub fn double(&self, stream: &Arc<CudaStream>, half: &DeviceField, to: &DeviceField) -> Result<(), Error> {
        let (from, into) = (half.address(), to.address());
        let [half_columns, half_rows, columns, rows] =
            [half.columns, half.rows, to.columns, to.rows].map(|count| count as u32);
        let mut launch = self.double.on(stream);
        launch.arg(&from).arg(&half_columns).arg(&half_rows).arg(&into).arg(&columns).arg(&rows);
        // SAFETY: the arguments are those of the kernel: each field has a word for each of its blocks. They are used on
        // this stream alone.
        unsafe { launch.launch(threads_for(to.blocks())) }.doing("launching motion_double")
    }

    /// Enqueues the search for the vectors of all blocks.
    pub fn search(&self, stream: &Arc<CudaStream>, search: &MotionSearch<'_>, to: &DeviceField) -> Result<(), Error> {
        let MotionSearch { one, other, parents, calm, reach, is_finest } = *search;
        assert_eq!((one.width, one.height), (other.width, other.height));
        assert_eq!((to.columns, to.rows), (one.width.div_ceil(8), one.height.div_ceil(8)));
        let (a, b, into) = (one.address(), other.address(), to.address());
        let (field, columns, rows) =
            parents.map_or((NULL, 0, 0), |field| (field.address(), field.columns as u32, field.rows as u32));
        // In the order of `Parents` in the kernel.
        let kind: u32 = match parents {
            None => 0,
            Some(field) if (field.columns, field.rows) == (to.columns, to.rows) && reach > 0 => 1,
            Some(_) => 2,
        };
        let (width, height, finest) = (one.width as u32, one.height as u32, u32::from(is_finest));
        let mut launch = self.search.on(stream);
        launch.arg(&a).arg(&b).arg(&width).arg(&height).arg(&field).arg(&columns).arg(&rows);
        launch.arg(&kind).arg(&calm).arg(&reach).arg(&finest).arg(&into);
        // SAFETY: the arguments are those of the kernel: sheets have room around them, and fields a word for each
        // block. They are used on this stream alone.
        unsafe { launch.launch(threads_for(to.blocks() * LANES)) }.doing("launching motion_search")
    }
}
