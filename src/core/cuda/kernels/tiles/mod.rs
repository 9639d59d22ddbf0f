//! Launchers of the kernels for tiles and regions.

pub(crate) mod tile_curves;
pub(crate) mod tile_histogram;
pub(crate) mod tile_map;
pub(crate) mod veil_curves;

pub(in crate::cuda) use tile_curves::TileCurvesLauncher;
pub(in crate::cuda) use tile_histogram::TileHistogramLauncher;
pub(in crate::cuda) use tile_map::TileMapLauncher;
pub(in crate::cuda) use veil_curves::VeilCurvesLauncher;
