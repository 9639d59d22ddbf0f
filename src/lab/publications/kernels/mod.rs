//! A launcher for each family of files in `kernels/variants/`: `scan.rs` launches `scan_*.cu`.
//! `kernels/variants/README.md` states the preconditions of the kernels; the launchers meet them.

pub(crate) mod cdf_min;
pub(crate) mod curve;
mod files;
pub(crate) mod histogram;
mod loaded;
pub(crate) mod luminance_histogram;
pub(crate) mod map;
pub(crate) mod pause;
pub(crate) mod saturation;
pub(crate) mod scan;

pub(super) use cdf_min::launch as cdf_min;
pub(super) use curve::launch as curve;
pub(super) use histogram::{CountedArea, launch as histogram};
pub(super) use loaded::LoadedKernels;
pub(super) use luminance_histogram::launch as luminance_histogram;
pub(super) use map::{launch as map, launch_computed as map_computed};
pub(super) use pause::launch as pause;
pub(super) use saturation::launch as saturation;
pub(super) use scan::{Scan, launch as scan};
