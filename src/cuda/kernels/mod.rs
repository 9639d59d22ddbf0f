//! A launcher for each file in `kernels/`, by the same name. `kernels/README.md` says what a kernel expects; its
//! launcher sees to it, and can therefore be called without further care.

mod chroma;
mod equalization;
mod fused;
mod histogram;
mod look_ahead;
mod luminance;
mod map;
mod scan;
mod tile_curves;
mod tile_histogram;
mod tile_map;

pub(super) use chroma::Chroma;
pub(super) use equalization::Equalization;
pub(super) use fused::Fused;
pub(super) use histogram::Histogram;
pub(super) use look_ahead::LookAhead;
pub(super) use luminance::Luminance;
pub(super) use map::Map;
pub(super) use scan::Scan;
pub(super) use tile_curves::TileCurves;
pub(super) use tile_histogram::TileHistogram;
pub(super) use tile_map::TileMap;

use super::error::{Doing, Error};
use super::layout::{Arrangement, Layout};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;

/// Bytes that a thread loads at once.
const VECTOR: usize = 16;

/// A null pointer, for what a kernel is to do without.
const NOTHING: u64 = 0;

/// All kernels, loaded.
pub(super) struct Kernels {
    pub luminance: Luminance,
    pub histogram: Histogram,
    pub scan: Scan,
    pub equalization: Equalization,
    /// `None` where the GPU is too old for it.
    pub fused: Option<Fused>,
    pub look_ahead: LookAhead,
    pub map: Map,
    pub chroma: Chroma,
    pub tile_histogram: TileHistogram,
    pub tile_curves: TileCurves,
    pub tile_map: TileMap,
}

impl Kernels {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        Ok(Kernels {
            luminance: Luminance::load(context)?,
            histogram: Histogram::load(context)?,
            scan: Scan::load(context)?,
            equalization: Equalization::load(context)?,
            fused: Fused::load(context)?,
            look_ahead: LookAhead::load(context)?,
            map: Map::load(context)?,
            chroma: Chroma::load(context)?,
            tile_histogram: TileHistogram::load(context)?,
            tile_curves: TileCurves::load(context)?,
            tile_map: TileMap::load(context)?,
        })
    }
}

fn module(context: &Arc<CudaContext>, ptx: &str) -> Result<Arc<CudaModule>, Error> {
    context.load_module(Ptx::from_src(ptx)).doing("loading the kernels")
}

fn function(module: &Arc<CudaModule>, name: &str) -> Result<CudaFunction, Error> {
    module.load_function(name).doing("finding a kernel")
}

/// The variants of a kernel for one arrangement of the samples: one byte wide and two.
struct Widths {
    one: CudaFunction,
    two: CudaFunction,
}

impl Widths {
    fn load(module: &Arc<CudaModule>, kernel: &str, suffix: &str) -> Result<Self, Error> {
        Ok(Widths {
            one: function(module, &format!("{kernel}_u8{suffix}"))?,
            two: function(module, &format!("{kernel}_u16{suffix}"))?,
        })
    }

    fn of(&self, layout: &Layout) -> &CudaFunction {
        if layout.sample().bytes == 1 { &self.one } else { &self.two }
    }
}

/// The variants of a kernel that reads RGB.
struct RgbVariants {
    packed3: Widths,
    packed4: Widths,
    planar: Widths,
}

impl RgbVariants {
    fn load(module: &Arc<CudaModule>, kernel: &str) -> Result<Self, Error> {
        Ok(RgbVariants {
            packed3: Widths::load(module, kernel, "_packed3")?,
            packed4: Widths::load(module, kernel, "_packed4")?,
            planar: Widths::load(module, kernel, "_planar")?,
        })
    }

    /// The variant for this layout; `None` where luma is stored.
    fn of(&self, layout: &Layout) -> Option<&CudaFunction> {
        match layout.arrangement() {
            Arrangement::Luma | Arrangement::Pairs { .. } => None,
            Arrangement::Packed { components: 3, .. } => Some(self.packed3.of(layout)),
            Arrangement::Packed { .. } => Some(self.packed4.of(layout)),
            Arrangement::Planar { .. } => Some(self.planar.of(layout)),
        }
    }
}

/// The variants of a kernel that reads stored luma.
struct LumaVariants {
    plain: Widths,
    pairs: Widths,
}

impl LumaVariants {
    fn load(module: &Arc<CudaModule>, kernel: &str) -> Result<Self, Error> {
        Ok(LumaVariants { plain: Widths::load(module, kernel, "")?, pairs: Widths::load(module, kernel, "_pairs")? })
    }

    /// The variant for this layout. The luminance that was made of RGB is plain.
    fn of(&self, layout: &Layout) -> &CudaFunction {
        match layout.arrangement() {
            Arrangement::Pairs { .. } => self.pairs.of(layout),
            _ => self.plain.of(layout),
        }
    }
}

/// How many vectors hold the luma of `layout`, with what lies beside it.
fn luma_vectors(layout: &Layout) -> u32 {
    let step = if let Arrangement::Pairs { .. } = layout.arrangement() { 2 } else { 1 };
    (layout.pixels() as usize * step * usize::from(layout.sample().bytes)).div_ceil(VECTOR) as u32
}

/// How many vectors lie between planes.
fn plane_vectors(layout: &Layout) -> u32 {
    (layout.plane_distance() / VECTOR) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let matching = files.filter(|path| path.extension().is_some_and(|found| found == extension));
        matching.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_kernel_has_its_launcher_and_its_ptx() {
        let mut launchers = stems("src/cuda/kernels", "rs");
        launchers.remove("mod");
        assert_eq!(stems("kernels", "cu"), launchers);
        assert_eq!(stems("kernels", "ptx"), launchers);
    }
}
