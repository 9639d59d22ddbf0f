//! A launcher for each file in `kernels/`, with the same name. The comment above each kernel in its `.cu` file states
//! its preconditions; the launchers meet them, so calling a launcher is safe.

/// Declares a launcher: the kernels, or variants of them, that it loads from a compiled file.
macro_rules! launcher {
    ($name:ident from $file:ident { $($(#[$attribute:meta])* $field:ident: $type:ty = $kernel:literal,)* }) => {
        pub(in crate::cuda) struct $name {
            $($(#[$attribute])* $field: $type,)*
        }

        impl $name {
            pub fn load(context: &std::sync::Arc<cudarc::driver::CudaContext>) -> Result<Self, crate::cuda::error::Error> {
                let module = crate::cuda::compiled::$file.load(context)?;
                Ok($name { $($field: crate::cuda::kernels::Load::load(&module, $kernel)?,)* })
            }
        }
    };
}

mod balance;
mod chroma;
pub mod denoise;
mod equalization;
mod fused;
mod histogram;
mod luminance;
mod map;
mod scan;
mod surface;
pub mod tiles;

pub(super) use balance::BalanceLauncher;
pub(super) use chroma::ChromaLauncher;
pub(super) use equalization::EqualizationLauncher;
pub(super) use fused::FusedLauncher;
pub(super) use histogram::HistogramLauncher;
pub(super) use luminance::LuminanceLauncher;
pub(super) use map::MapLauncher;
pub(super) use scan::ScanLauncher;
pub(super) use surface::SurfaceLauncher;

use super::compiled::{self, Module};
use super::error::{Doing, Error};
use super::launch::Kernel;
use super::memory::layout::{Arrangement, BufferLayout};
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::{CudaContext, LaunchConfig};
use denoise::{MergeLauncher, MotionLauncher, PyramidLauncher};
use std::sync::{Arc, OnceLock};
use tiles::{TileCurvesLauncher, TileHistogramLauncher, TileMapLauncher, VeilCurvesLauncher};

/// Bytes that a thread loads at once.
const VECTOR: usize = 16;

/// A null pointer, for an optional buffer that a kernel is launched without.
const NULL: u64 = 0;

/// Declares [`KernelLaunchers`]: a field, and a method of the same name, for each launcher.
macro_rules! kernels {
    ($($name:ident: $kernel:ident,)*) => {
        /// All launchers. Each is loaded on first use, because few videos need all of them. For a GPU without machine
        /// code in the archive, the driver compiles the PTX on the first run on a machine, which takes 90 ms (0.3 ms
        /// after that).
        pub(super) struct KernelLaunchers {
            context: Arc<CudaContext>,
            $($name: OnceLock<$kernel>,)*
        }

        impl KernelLaunchers {
            fn unloaded(context: &Arc<CudaContext>) -> Self {
                KernelLaunchers { context: context.clone(), $($name: OnceLock::new(),)* }
            }

            $(
                /// The launcher, loaded on first use.
                pub fn $name(&self) -> Result<&$kernel, Error> {
                    get_or_load(&self.$name, || $kernel::load(&self.context))
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
    map: MapLauncher,
    chroma: ChromaLauncher,
    balance: BalanceLauncher,
    tile_histogram: TileHistogramLauncher,
    tile_curves: TileCurvesLauncher,
    tile_map: TileMapLauncher,
    veil_curves: VeilCurvesLauncher,
    surface: SurfaceLauncher,
    pyramid: PyramidLauncher,
    motion: MotionLauncher,
    merge: MergeLauncher,
}

impl KernelLaunchers {
    /// Loads the launcher that nearly every frame needs, to check that the driver accepts the kernels.
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let kernels = KernelLaunchers::unloaded(context);
        kernels.map()?;
        Ok(kernels)
    }
}

/// The value of the cell, made by `make` on first use. Two threads that call this at the same time may both make it.
pub(super) fn get_or_load<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    match cell.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}

/// The most shared memory of a block, in bytes.
fn most_shared(context: &CudaContext) -> Result<i32, Error> {
    context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).doing("asking for what the device can do")
}

/// The launch of this many blocks of this many threads, without dynamic shared memory.
fn grid(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// A launch with one thread for each item of `work`, in blocks of 256, up to 2^24 threads; beyond that, each thread
/// processes several items (a grid-stride loop).
fn threads_for(work: usize) -> LaunchConfig {
    const THREADS: usize = 256;
    grid(work.div_ceil(THREADS).clamp(1, 1 << 16) as u32, THREADS as u32)
}

/// A kernel, or variants of it, which are loaded by its name.
trait Load: Sized {
    fn load(module: &Module, kernel: &str) -> Result<Self, Error>;
}

impl Load for Kernel {
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Kernel::new(module, kernel)
    }
}

/// The variants of a kernel for samples of one byte and of two.
struct Widths {
    one: Kernel,
    two: Kernel,
}

impl Load for Widths {
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Widths::with_suffix(module, kernel, "")
    }
}

impl Widths {
    fn with_suffix(module: &Module, kernel: &str, suffix: &str) -> Result<Self, Error> {
        Ok(Widths {
            one: Kernel::new(module, &format!("{kernel}_u8{suffix}"))?,
            two: Kernel::new(module, &format!("{kernel}_u16{suffix}"))?,
        })
    }

    fn kernel(&self, layout: &BufferLayout) -> &Kernel {
        if layout.sample().bytes == 1 { &self.one } else { &self.two }
    }
}

/// The variants of a kernel that reads RGB.
struct RgbVariants {
    packed3: Widths,
    packed4: Widths,
    planar: Widths,
}

impl Load for RgbVariants {
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Ok(RgbVariants {
            packed3: Widths::with_suffix(module, kernel, "_packed3")?,
            packed4: Widths::with_suffix(module, kernel, "_packed4")?,
            planar: Widths::with_suffix(module, kernel, "_planar")?,
        })
    }
}

impl RgbVariants {
    /// The variant for this layout; `None` where luma is stored.
    fn kernel(&self, layout: &BufferLayout) -> Option<&Kernel> {
        match layout.arrangement() {
            Arrangement::Luma | Arrangement::Pairs { .. } => None,
            Arrangement::Packed { components: 3, .. } => Some(self.packed3.kernel(layout)),
            Arrangement::Packed { .. } => Some(self.packed4.kernel(layout)),
            Arrangement::Planar { .. } => Some(self.planar.kernel(layout)),
        }
    }
}

/// The variants of a kernel that reads stored luma.
struct LumaVariants {
    plain: Widths,
    pairs: Widths,
}

impl Load for LumaVariants {
    fn load(module: &Module, kernel: &str) -> Result<Self, Error> {
        Ok(LumaVariants { plain: Widths::load(module, kernel)?, pairs: Widths::with_suffix(module, kernel, "_pairs")? })
    }
}

impl LumaVariants {
    /// Allows the variants for samples of two bytes this much dynamic shared memory, in bytes.
    fn allow_shared(&self, bytes: i32) -> Result<(), Error> {
        self.plain.two.allow_shared(bytes)?;
        self.pairs.two.allow_shared(bytes)
    }

    /// The variant for this layout. The luminance of RGB is plain.
    fn kernel(&self, layout: &BufferLayout) -> &Kernel {
        match layout.arrangement() {
            Arrangement::Pairs { .. } => self.pairs.kernel(layout),
            _ => self.plain.kernel(layout),
        }
    }
}

/// Pixels of `layout` per vector of the plane with the luma.
fn pixels_of_vector(layout: &BufferLayout) -> u32 {
    VECTOR as u32 / (layout.arrangement().luma_step() * u32::from(layout.sample().bytes))
}

/// Vectors of the plane with the luma.
fn luma_vectors(layout: &BufferLayout) -> u32 {
    layout.pixels.div_ceil(pixels_of_vector(layout))
}

/// Vectors from one plane to the next.
fn plane_vectors(layout: &BufferLayout) -> u32 {
    (layout.plane_distance() / VECTOR) as u32
}

#[cfg(test)]
pub(in crate::cuda) mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of the files that have this extension, without it: of those in a folder and below, but for variants.
    pub(in crate::cuda) fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
        let (mut found, mut folders) =
            (BTreeSet::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)]);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.extension().is_some_and(|found| found == extension) {
                    found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
                } else if path.is_dir() && !path.ends_with("variants") {
                    folders.push(path);
                }
            }
        }
        found
    }

    #[test]
    fn every_kernel_has_its_launcher_and_its_archive() {
        let mut launchers = stems("src/core/cuda/kernels", "rs");
        launchers.remove("mod");
        assert_eq!(stems("kernels", "cu"), launchers);
        assert_eq!(stems("kernels/built", "kernels"), launchers);
    }
}
