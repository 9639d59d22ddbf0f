//! Launches `kernels/map.cu`: maps the pixels through the curve, in place.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{Load, LumaVariants, NULL, RgbVariants, compiled, luma_vectors, most_shared, plane_vectors};
use crate::cuda::arguments::{Samples, Weights};
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::tuning;
use crate::spec;
use cudarc::driver::{CudaContext, LaunchConfig};
use std::sync::Arc;

pub(in crate::cuda) struct MapLauncher {
    stored: LumaVariants,
    rgb: RgbVariants,
    /// The most shared memory of a block, in bytes.
    most_shared: usize,
}

impl MapLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let module = compiled::MAP.load(context)?;
        let (stored, rgb) = (LumaVariants::load(&module, "map")?, RgbVariants::load(&module, "map")?);
        let most_shared = most_shared(context)?;
        stored.allow_shared(most_shared)?;
        Ok(MapLauncher { stored, rgb, most_shared: most_shared as usize })
    }

    /// Enqueues the mapping of `picture` through its curve, or with `locally` to the luminance that `tile_map` has
    /// mapped.
    pub fn launch(&self, picture: &mut DevicePicture, weights: spec::Weights, locally: bool) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let layout = picture.layout();
        let rgb = self.rgb.kernel(layout);
        let depth = layout.sample().depth;
        let curve_bytes = layout.codes() * usize::from(layout.sample().bytes);
        let row = match rgb {
            Some(_) => tuning::map_rgb(depth),
            None if curve_bytes <= self.most_shared => tuning::map(depth),
            None => &tuning::MAP_THROUGH_CACHES,
        };
        let shared = if row.shared { curve_bytes } else { 0 };
        let config = LaunchConfig {
            grid_dim: (luma_vectors(layout).div_ceil(row.threads).min(picture.gpu.multiprocessors * row.blocks), 1, 1),
            block_dim: (row.threads, 1, 1),
            shared_mem_bytes: shared as u32,
        };
        let samples = Samples::new(layout);
        let weights = Weights { of: layout.weights_in_order(weights) };
        let distance = plane_vectors(layout);
        let mapped = picture.local.as_ref().and_then(|local| local.mapped.as_ref()).filter(|_| locally);
        let in_shared = u32::from(row.shared && mapped.is_none());
        let mut launch = rgb.unwrap_or_else(|| self.stored.kernel(layout)).on(&stream);
        launch.arg(&*picture.pixels).arg(&*picture.pixels);
        if rgb.is_some() {
            let luma = picture.luma.as_ref().expect("a luminance plane beside RGB");
            launch.arg(&distance).arg(luma);
            match mapped {
                Some(mapped) => launch.arg(mapped),
                None => launch.arg(&NULL),
            };
            launch.arg(&samples).arg(&weights);
        } else {
            launch.arg(&samples);
        }
        let curve = picture.curve_address();
        launch.arg(&curve).arg(&in_shared);
        // SAFETY: the arguments are those of the kernel, which allows source and target to be one. The planes have room
        // for whole groups of vectors, the curve has an entry for each code up to `samples.max`, shared memory holds it
        // if `in_shared`, and all buffers belong to this stream.
        unsafe { launch.launch(config) }.doing("launching map")
    }
}
