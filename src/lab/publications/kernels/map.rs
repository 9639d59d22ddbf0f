//! Launches `kernels/variants/map/map_*.cu`: maps elements by a curve.
#![allow(unsafe_code, reason = "launches kernels")]

use super::files;
use super::loaded::{LoadedKernels, suffix};
use crate::publications::arguments::Area;
use crate::publications::shape::{self, DefaultShape, refused};
use crate::publications::{CdfMin, Formula, LaunchShape, MapVariant, Variants, Walk};
use cudarc::driver::{CudaSlice, CudaStream, LaunchConfig};
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;

/// Enqueues the mapping of elements of `element_bytes` bytes, which lie in `source` without padding, to `target`.
///
/// # Errors
/// When the launch is not possible, or fails.
pub(in crate::publications) fn launch(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (source, target): (&CudaSlice<u8>, &CudaSlice<u8>),
    (element_bytes, area): (u8, Area),
    curve: &CudaSlice<u16>,
    (variants, shape): (&Variants, &LaunchShape),
) -> Result<(), Error> {
    let variant = variants.map.unwrap_or(MapVariant::Wide);
    let area = if shape.walk == Walk::Tiles { area } else { area.in_one_row() };
    let bytes = area.width as usize * area.height as usize * usize::from(element_bytes);
    assert!(source.len() >= bytes && target.len() >= bytes && curve.len() > area.max as usize);
    let is_wide = variant == MapVariant::Wide;
    if is_wide && shape.walk == Walk::Tiles {
        return Err(refused("loads of 16 bytes go over rows, not over tiles"));
    }
    let at_once = if is_wide { 16 / u32::from(element_bytes) } else { 1 };
    let defaults = DefaultShape::for_map(variant, loaded.multiprocessors);
    let launch = shape::over(area.size(), variants, shape, defaults, at_once)?;
    let lut = 2 * (area.max + 1);
    let (ptx, kernel, shared) = match variant {
        MapVariant::Computed | MapVariant::Factored | MapVariant::GroupMin => {
            return Err(refused("a computed map has no curve: it takes cumulative counts"));
        }
        MapVariant::Bytes | MapVariant::Coarsened => (&files::MAP_BYTES, "map_bytes", 0),
        MapVariant::SharedLut => (&files::MAP_SHARED_LUT, "map_shared_lut", lut),
        MapVariant::Wide => (&files::MAP_WIDE, "map_wide", lut),
    };
    let function = loaded.kernel(ptx, &format!("{kernel}_{}", suffix(element_bytes)), shared)?;
    let config = LaunchConfig { grid_dim: launch.grid, block_dim: launch.block, shared_mem_bytes: shared };
    let mut builder = function.on(stream);
    builder.arg(source).arg(target).arg(&area).arg(curve).arg(&launch.run);
    // SAFETY: the arguments are those of the kernel. Both planes have the area's elements, beginning at whole vectors;
    // the curve has an entry for each code up to `area.max`, and shared memory holds it if it goes there. All buffers
    // belong to this stream.
    unsafe { builder.launch(config) }.doing("launching a map variant")?;
    Ok(())
}

/// Enqueues the mapping directly from cumulative counts of `total` samples; `least` is the first of them above 0, which
/// `group-min` finds itself.
///
/// # Errors
/// When the launch is not possible, or fails.
pub(in crate::publications) fn launch_computed(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (source, target): (&CudaSlice<u8>, &CudaSlice<u8>),
    (element_bytes, area): (u8, Area),
    (cdf, least, total): (&CudaSlice<u32>, &CudaSlice<u32>, u32),
    (variants, shape): (&Variants, &LaunchShape),
    formula: Option<Formula>,
) -> Result<(), Error> {
    let variant = variants.map.unwrap_or(MapVariant::Computed);
    let bytes = area.width as usize * area.height as usize * usize::from(element_bytes);
    assert!(source.len() >= bytes && target.len() >= bytes && cdf.len() > area.max as usize);
    let defaults = DefaultShape::for_map(variant, loaded.multiprocessors);
    if variant == MapVariant::GroupMin {
        if shape.walk != Walk::Tiles {
            return Err(refused("group-min maps a pixel a thread, in tiles"));
        }
        return launch_group_min(
            loaded,
            stream,
            (source, target),
            (element_bytes, area),
            (cdf, total),
            variants,
            formula,
        );
    }
    let in_tiles = shape.walk == Walk::Tiles;
    // The factored map has a fixed number of elements per thread; the chosen number applies to the histogram only.
    let variants =
        &if variant == MapVariant::Factored { Variants { pixels_per_thread: None, ..*variants } } else { *variants };
    let area = if in_tiles { area } else { area.in_one_row() };
    let launch = shape::over(area.size(), variants, shape, defaults, 1)?;
    let kernel = match formula {
        Some(Formula::FloorInteger) => "floor_integer",
        Some(Formula::FloorNoMin) if variant == MapVariant::Factored => "factor",
        Some(Formula::FloorNoMin) => "floor_no_min",
        Some(Formula::FloatRound | Formula::WrongMin) => "float_round",
        Some(Formula::EquationFloor) => "equation_floor",
        Some(Formula::Product32 | Formula::StaleBuffer) => "product_32",
        None | Some(Formula::FloatScan | Formula::TruncatedLuminance) => "exact",
    };
    let function =
        loaded.kernel(&files::MAP_COMPUTED, &format!("map_computed_{kernel}_{}", suffix(element_bytes)), 0)?;
    let config = LaunchConfig { grid_dim: launch.grid, block_dim: launch.block, shared_mem_bytes: 0 };
    let mut builder = function.on(stream);
    builder.arg(source).arg(target).arg(&area).arg(cdf).arg(least).arg(&total).arg(&launch.run);
    // SAFETY: the arguments are those of the kernel. Both planes have the area's elements; there is a sum for each code
    // up to `area.max`, and one `least`. All buffers belong to this stream.
    unsafe { builder.launch(config) }.doing("launching map_computed")?;
    Ok(())
}

/// Enqueues the map whose blocks look for the first occupied bin. The caller has checked the sizes of the buffers.
fn launch_group_min(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    (source, target): (&CudaSlice<u8>, &CudaSlice<u8>),
    (element_bytes, area): (u8, Area),
    (cdf, total): (&CudaSlice<u32>, u32),
    variants: &Variants,
    formula: Option<Formula>,
) -> Result<(), Error> {
    let rounds = match formula {
        Some(Formula::FloatRound | Formula::WrongMin) => "float_round",
        None | Some(Formula::FloatScan | Formula::TruncatedLuminance) => "exact",
        Some(other) => return Err(refused(format!("group-min is not made for the formula {other}"))),
    };
    let is_wrong = formula == Some(Formula::WrongMin);
    let by_reduction = variants.cdf_min == Some(CdfMin::Reduction) && !is_wrong;
    let search = if by_reduction { "reduction" } else { "first_nonzero" };
    let first_bin = u32::from(is_wrong);
    // The first dimension of the grid counts rows.
    let defaults = DefaultShape::for_map(MapVariant::GroupMin, loaded.multiprocessors);
    let tiles = LaunchShape { walk: Walk::Tiles, ..LaunchShape::DEFAULT };
    let launch = shape::over((area.height, area.width), variants, &tiles, defaults, 1)?;
    let name = format!("map_group_min_{search}_{rounds}_{}", suffix(element_bytes));
    let function = loaded.kernel(&files::MAP_GROUP_MIN, &name, 0)?;
    let config = LaunchConfig { grid_dim: launch.grid, block_dim: launch.block, shared_mem_bytes: 0 };
    let mut builder = function.on(stream);
    builder.arg(source).arg(target).arg(&area).arg(cdf).arg(&total).arg(&first_bin);
    // SAFETY: the arguments are those of the kernel. Both planes have the area's elements, without padding; there is a
    // sum for each code up to `area.max`. Blocks have a power of two threads, at most 1024. All buffers belong to this
    // stream.
    unsafe { builder.launch(config) }.doing("launching map_group_min")?;
    Ok(())
}
