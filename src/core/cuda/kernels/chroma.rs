//! Launches `kernels/chroma.cu`: multiplies chroma, or the colour of RGB, by gains.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{NULL, RgbVariants, Widths, grid, luma_vectors, plane_vectors};
use crate::cuda::arguments::{ChromaPlaces, Colours, Gains, Samples, Weights};
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning;
use cudarc::driver::LaunchConfig;

launcher! {
    ChromaLauncher from CHROMA {
        stored: Widths = "chroma_follow",
        rgb: RgbVariants = "chroma",
    }
}

impl ChromaLauncher {
    /// Enqueues the multiplication of the chroma samples of `picture` by `gains`; does nothing if there are none.
    pub fn launch(&self, picture: &mut DevicePicture, task: &Task, gains: &Gains) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout().clone();
        let Some(places) = layout.chroma else { return Ok(()) };
        let (samples, colours) = (Samples::new(&layout), Colours::new(task));
        let places = ChromaPlaces::new(places, layout.size);
        let mut launch = self.stored.kernel(&layout).on(&stream);
        launch.arg(&*picture.pixels).arg(&samples).arg(&places).arg(&colours).arg(gains);
        // SAFETY: the arguments are those of the kernel. The places are those of this layout, whose planes `pixels`
        // has, and which belongs to this stream.
        unsafe { launch.launch(config(layout.chroma_pairs() as u32, picture)) }.doing("launching chroma")
    }

    /// Enqueues the mapping of `picture`, an RGB frame, with these gains of its colour: through its curve, or with
    /// `locally` to the luminance that `tile_map` has mapped.
    ///
    /// # Panics
    /// When `picture` is not RGB.
    pub fn launch_rgb(
        &self,
        picture: &mut DevicePicture,
        task: &Task,
        (locally, gains): (bool, &Gains),
    ) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout();
        let function = self.rgb.kernel(layout).expect("red, green and blue");
        let samples = Samples::new(layout);
        let weights = Weights { of: layout.weights_in_order(task.weights) };
        let distance = plane_vectors(layout);
        let luma = picture.luma.as_ref().expect("a luminance plane beside RGB");
        let mapped = picture.local.as_ref().and_then(|local| local.mapped.as_ref()).filter(|_| locally);
        let mut launch = function.on(&stream);
        launch.arg(&*picture.pixels).arg(&distance).arg(luma);
        match mapped {
            Some(mapped) => launch.arg(mapped),
            None => launch.arg(&NULL),
        };
        let curve = picture.curve_address();
        launch.arg(&samples).arg(&weights).arg(&curve).arg(gains);
        // SAFETY: the arguments are those of the kernel. The planes have room for whole groups of vectors, the curve
        // has an entry for each code up to `samples.max`, and all buffers belong to this stream.
        unsafe { launch.launch(config(luma_vectors(layout), picture)) }.doing("launching chroma")
    }
}

/// A launch over `items` items; a thread may process several.
pub(super) fn config(items: u32, picture: &DevicePicture) -> LaunchConfig {
    let most = picture.gpu.multiprocessors * tuning::CHROMA_BLOCKS;
    let blocks = items.div_ceil(tuning::CHROMA_THREADS).min(most);
    grid(blocks, tuning::CHROMA_THREADS)
}
