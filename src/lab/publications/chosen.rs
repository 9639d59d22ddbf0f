//! The publications' kernels in normal runs: [`Variants`] implement the product's interface for other kernels.

use super::arguments::Area;
use super::kernels::{self, CountedArea, LoadedKernels, Scan};
use super::shape::{self, LaunchShape};
use super::{HistogramVariant, Variants};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use histeq::internal::cuda::arguments::BlendedLevels;
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::cuda::{KernelChoice, StageBuffers, StageKernels};
use std::sync::Arc;

impl KernelChoice for Variants {
    fn load(&self, context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Option<Box<dyn StageKernels>>, Error> {
        if self.is_default() {
            return Ok(None);
        }
        shape::check(self)?;
        let loaded = LoadedKernels::new(context, multiprocessors)?;
        Ok(Some(Box::new(ChosenKernels { loaded, variants: *self, counting: self.counting() })))
    }
}

/// The chosen variants, loaded on the GPU of the run.
struct ChosenKernels {
    loaded: LoadedKernels,
    variants: Variants,
    counting: Option<HistogramVariant>,
}

/// The buffers that a scan needs besides those of the picture.
struct ScanScratch {
    scan: Scan,
    cdf: CudaSlice<u32>,
    least: CudaSlice<u32>,
}

impl StageKernels for ChosenKernels {
    fn count(&self, picture: StageBuffers<'_>) -> Result<bool, Error> {
        if self.counting.is_none() {
            return Ok(false);
        }
        let counted = CountedArea {
            plane: picture.plane,
            element_bytes: picture.layout.sample().bytes,
            area: Area::counted(&picture.layout, picture.counted, picture.is_made),
            levels: BlendedLevels::new(picture.levels, picture.strength),
            counts: picture.counts,
            codes: picture.layout.codes() as u32,
        };
        let variants = Variants { histogram: self.counting, ..self.variants };
        kernels::histogram(&self.loaded, &picture.stream, &counted, &variants, &LaunchShape::DEFAULT)?;
        Ok(true)
    }

    fn make_curve(&self, picture: StageBuffers<'_>) -> Result<bool, Error> {
        if self.variants.scan.is_none() {
            return Ok(false);
        }
        let StageBuffers { stream, layout, counted, levels, strength, counts, curve, state, .. } = picture;
        let state = match state {
            Some(state) => state,
            None => state.insert(Box::new(self.scratch(&stream, layout.codes())?)),
        };
        let scratch: &ScanScratch = state.downcast_ref().expect("nothing else is kept there");
        kernels::scan(&stream, &scratch.scan, counts, &scratch.cdf)?;
        kernels::cdf_min(&self.loaded, &stream, &scratch.cdf, &scratch.least, &self.variants, None)?;
        let levels = BlendedLevels::new(levels, strength);
        let total = (counted.width * counted.height) as u32;
        kernels::curve(&self.loaded, &stream, (&scratch.cdf, Some(&scratch.least), total), &levels, None, curve)?;
        stream.memset_zeros(counts).doing("clearing memory on the device")?;
        Ok(true)
    }
}

impl ChosenKernels {
    fn scratch(&self, stream: &Arc<CudaStream>, codes: usize) -> Result<ScanScratch, Error> {
        let zeros = |entries| stream.alloc_zeros(entries).doing("allocating memory on the device");
        let scan = Scan::new(&self.loaded, stream, codes as u32, &self.variants, &LaunchShape::DEFAULT, None)?;
        Ok(ScanScratch { scan, cdf: zeros(codes)?, least: zeros(1)? })
    }
}
