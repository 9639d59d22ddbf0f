//! The hook of normal runs: the variants that were chosen for them, in place of the tuned kernels.

use super::arguments::Area;
use super::kernels::{self, CountedRegion, Scan, Variety};
use super::shape::{self, Shape};
use super::{HistogramVariant, Variants};
use crate::cuda::arguments::Levels;
use crate::cuda::error::{Doing, Error};
use crate::cuda::picture::Picture;
use crate::cuda::task::Task;
use cudarc::driver::{CudaContext, CudaSlice};
use std::sync::Arc;

/// The variants of a run.
pub(in crate::cuda) struct Study {
    variety: Variety,
    variants: Variants,
    counting: Option<HistogramVariant>,
}

/// What a picture needs for the scan variant, once it has been asked for.
pub(in crate::cuda) struct ScanRoom {
    scan: Scan,
    cdf: CudaSlice<u32>,
    least: CudaSlice<u32>,
}

impl Study {
    /// The study of these variants; `None` if they are the tuned kernels.
    ///
    /// # Errors
    /// When there is no such launch.
    pub fn of(variants: &Variants, context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Option<Self>, Error> {
        if variants.is_default() {
            return Ok(None);
        }
        shape::check(variants)?;
        let variety = Variety::new(context, multiprocessors)?;
        Ok(Some(Study { variety, variants: *variants, counting: variants.counting() }))
    }

    /// Whether the histogram is a variant.
    pub fn counts(&self) -> bool {
        self.counting.is_some()
    }

    /// Whether the scan is a variant.
    pub fn scans(&self) -> bool {
        self.variants.scan.is_some()
    }

    /// Enqueues the counting of `picture`, whose counts have to be zero.
    ///
    /// # Errors
    /// When there is no such launch, or it fails.
    pub fn count(&self, picture: &Picture, task: &Task) -> Result<(), Error> {
        let layout = picture.layout();
        let counted = CountedRegion {
            plane: picture.luma.as_ref().unwrap_or(&picture.pixels),
            element_bytes: layout.sample().bytes,
            area: Area::counted(layout, task.counted, picture.luma.is_some()),
            levels: Levels::new(task.levels, task.settings.strength),
            counts: &picture.counts,
            codes: layout.codes() as u32,
        };
        let variants = Variants { histogram: self.counting, ..self.variants };
        kernels::histogram(&self.variety, picture.stream(), &counted, &variants, &Shape::USUAL)
    }

    /// Enqueues the curve of plain equalization, and empties the counts for the next frame.
    ///
    /// # Errors
    /// When there is no such launch, or it fails.
    pub fn make_curve(&self, picture: &mut Picture, task: &Task) -> Result<(), Error> {
        let stream = picture.stream().clone();
        let codes = picture.layout().codes();
        let room = match picture.scan_room.take() {
            Some(room) => room,
            None => self.room(picture)?,
        };
        kernels::scan(&stream, &room.scan, &picture.counts, &room.cdf)?;
        kernels::cdf_min(&self.variety, &stream, &room.cdf, &room.least, &self.variants, None)?;
        let levels = Levels::new(task.levels, task.settings.strength);
        let total = task.samples as u32;
        assert_eq!(picture.curve.len(), codes);
        kernels::curve(&self.variety, &stream, (&room.cdf, &room.least, total), &levels, None, &picture.curve)?;
        picture.scan_room = Some(room);
        stream.memset_zeros(&mut picture.counts).doing("clearing memory on the device")
    }

    fn room(&self, picture: &Picture) -> Result<ScanRoom, Error> {
        let (stream, codes) = (picture.stream(), picture.layout().codes());
        let zeros = |entries| stream.alloc_zeros(entries).doing("allocating memory on the device");
        let scan = Scan::new(&self.variety, stream, codes as u32, &self.variants, &Shape::USUAL, None)?;
        Ok(ScanRoom { scan, cdf: zeros(codes)?, least: zeros(1)? })
    }
}
