//! Launches `kernels/balance.cu`: stretches red, green and blue independently.
#![allow(unsafe_code, reason = "launches kernels")]

use super::chroma::config;
use super::{RgbVariants, Widths, luma_vectors, plane_vectors};
use crate::cuda::arguments::{Balance, BalanceOfYuv, BlendedLevels, ChromaPlaces, Colours, Samples, Weights};
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::spec::curves::tone;
use crate::spec::parameters::Strength;

launcher! {
    BalanceLauncher from BALANCE {
        stored: Widths = "balance",
        rgb: RgbVariants = "balance",
    }
}

impl BalanceLauncher {
    /// Enqueues the balance of `picture`, in place. Returns false for a grayscale frame, which the caller balances with
    /// a curve.
    pub fn launch(&self, picture: &mut DevicePicture, task: &Task, balance: &tone::Balance) -> Result<bool, Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let samples = Samples::new(&layout);
        if let Some(function) = self.rgb.kernel(&layout) {
            let weights = Weights { of: layout.weights_in_order(task.weights) };
            let (distance, balance) = (plane_vectors(&layout), Balance::new(balance, &layout));
            let mut launch = function.on(&stream);
            launch.arg(&*picture.pixels).arg(&distance).arg(&samples).arg(&weights).arg(&balance);
            // SAFETY: the arguments are those of the kernel. The planes have room for whole groups of vectors and
            // belong to this stream.
            unsafe { launch.launch(config(luma_vectors(&layout), picture)) }.doing("launching balance")?;
            return Ok(true);
        }
        let Some(places) = layout.chroma else { return Ok(false) };
        let levels = BlendedLevels::new(task.levels, Strength::FULL);
        let (colours, balance) = (Colours::new(task), BalanceOfYuv::new(balance, task));
        for places in ChromaPlaces::for_fields(places, layout.size, task.is_interlaced) {
            let mut launch = self.stored.kernel(&layout).on(&stream);
            launch.arg(&*picture.pixels).arg(&samples).arg(&levels).arg(&places).arg(&colours).arg(&balance);
            // SAFETY: the arguments are those of the kernel. The places are those of this layout, or of some of its
            // rows; `pixels` has its planes, and belongs to this stream.
            unsafe { launch.launch(config(places.pairs(), picture)) }.doing("launching balance")?;
        }
        Ok(true)
    }
}
