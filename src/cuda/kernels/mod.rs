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
mod surface;
mod tile_curves;
mod tile_histogram;
mod tile_map;

pub(super) use chroma::ChromaLauncher;
pub(super) use equalization::EqualizationLauncher;
pub(super) use fused::FusedLauncher;
pub(super) use histogram::HistogramLauncher;
pub(super) use look_ahead::LookAheadLauncher;
pub(super) use luminance::LuminanceLauncher;
pub(super) use map::MapLauncher;
pub(super) use scan::ScanLauncher;
pub(super) use surface::SurfaceLauncher;
pub(super) use tile_curves::TileCurvesLauncher;
pub(super) use tile_histogram::TileHistogramLauncher;
pub(super) use tile_map::TileMapLauncher;

use super::compiled::{self, Compiled, Module};
use super::error::Error;
use super::launch::Kernel;
use super::layout::{Arrangement, BufferLayout};
use cudarc::driver::CudaContext;
use std::sync::{Arc, OnceLock};

/// Bytes that a thread loads at once.
const VECTOR: usize = 16;

/// A null pointer, for what a kernel is to do without.
const NOTHING: u64 = 0;

/// Declares [`KernelLaunchers`]: a field, and a function of the same name, for each kernel.
macro_rules! kernels {
    ($($name:ident: $kernel:ident,)*) => {
        /// All kernels. Each is loaded when it is first needed, as few videos need all of them. A GPU that there is no
        /// machine code for has the driver compile it on its first run on a machine, which takes 90 ms (0.3 ms from
        /// then on).
        pub(super) struct KernelLaunchers {
            context: Arc<CudaContext>,
            $($name: OnceLock<$kernel>,)*
        }

        impl KernelLaunchers {
            fn none_yet(context: &Arc<CudaContext>) -> Self {
                KernelLaunchers { context: context.clone(), $($name: OnceLock::new(),)* }
            }

            $(
                /// Loads it, unless that has been done.
                pub fn $name(&self) -> Result<&$kernel, Error> {
                    once(&self.$name, || $kernel::load(&self.context))
                }
            )*
        }
    };
}

kernels! {
    luminance: LuminanceLauncher,
    histogram: HistogramLauncher,
    scan: ScanLauncher,
    equalization: EqualizationLauncher,
    fused: FusedLauncher,
    look_ahead: LookAheadLauncher,
    map: MapLauncher,
    chroma: ChromaLauncher,
    tile_histogram: TileHistogramLauncher,
    tile_curves: TileCurvesLauncher,
    tile_map: TileMapLauncher,
    surface: SurfaceLauncher,
}

impl KernelLaunchers {
    /// Finds out whether the driver takes kernels as ours are, by one that nearly every frame needs.
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let kernels = KernelLaunchers::none_yet(context);
        kernels.map()?;
        Ok(kernels)
    }
}

/// What is in the cell, made by `make` if there is nothing yet. Threads that come at the same time may make it twice.
fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    match cell.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}

fn module(context: &Arc<CudaContext>, compiled: &Compiled) -> Result<Module, Error> {
    compiled.load(context)
}

fn function(module: &Module, name: &str) -> Result<Kernel, Error> {
    Kernel::new(module, name)
}

/// The variants of a kernel for one arrangement of the samples: one byte wide and two.
struct Widths {
    one: Kernel,
    two: Kernel,
}

impl Widths {
    fn load(module: &Module, kernel: &str, suffix: &str) -> Result<Self, Error> {
        Ok(Widths {
            one: function(module, &format!("{kernel}_u8{suffix}"))?,
            two: function(module, &format!("{kernel}_u16{suffix}"))?,
        })
    }

    fn of(&self, layout: &BufferLayout) -> &Kernel {
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
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Ok(RgbVariants {
            packed3: Widths::load(module, kernel, "_packed3")?,
            packed4: Widths::load(module, kernel, "_packed4")?,
            planar: Widths::load(module, kernel, "_planar")?,
        })
    }

    /// The variant for this layout; `None` where luma is stored.
    fn of(&self, layout: &BufferLayout) -> Option<&Kernel> {
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
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Ok(LumaVariants { plain: Widths::load(module, kernel, "")?, pairs: Widths::load(module, kernel, "_pairs")? })
    }

    /// The variant for this layout. The luminance that was made of RGB is plain.
    fn of(&self, layout: &BufferLayout) -> &Kernel {
        match layout.arrangement() {
            Arrangement::Pairs { .. } => self.pairs.of(layout),
            _ => self.plain.of(layout),
        }
    }
}

/// How many pixels of the luma of `layout`, with what lies beside it, are in a vector.
fn pixels_of_vector(layout: &BufferLayout) -> u32 {
    let step = if let Arrangement::Pairs { .. } = layout.arrangement() { 2 } else { 1 };
    VECTOR as u32 / (step * u32::from(layout.sample().bytes))
}

/// How many vectors hold the luma of `layout`, with what lies beside it.
fn luma_vectors(layout: &BufferLayout) -> u32 {
    layout.pixels().div_ceil(pixels_of_vector(layout))
}

/// How many vectors lie between planes.
fn plane_vectors(layout: &BufferLayout) -> u32 {
    (layout.plane_distance() / VECTOR) as u32
}

#[cfg(test)]
pub(in crate::cuda) mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of the files in a folder that have this extension, without it.
    pub(in crate::cuda) fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let stem = |name: String| Some(name.strip_suffix(extension)?.strip_suffix('.')?.to_owned());
        names.filter_map(stem).collect()
    }

    #[test]
    fn every_kernel_has_its_launcher_and_its_archive() {
        let mut launchers = stems("src/cuda/kernels", "rs");
        launchers.remove("mod");
        assert_eq!(stems("kernels", "cu"), launchers);
        assert_eq!(stems("kernels/built", "kernels"), launchers);
    }
}
