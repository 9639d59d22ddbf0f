//! A launcher for each family of files in `kernels/variants/`: `scan.rs` launches `scan_*.cu`. `kernels/variants/README.md`
//! says what a kernel expects; its launcher sees to it.

mod cdf_min;
mod curve;
mod histogram;
mod luminance_histogram;
mod map;
mod pause;
mod saturation;
mod scan;

pub(super) use cdf_min::launch as cdf_min;
pub(super) use curve::launch as curve;
pub(super) use histogram::{CountedRegion, launch as histogram};
pub(super) use luminance_histogram::launch as luminance_histogram;
pub(super) use map::{launch as map, launch_computed as map_computed};
pub(super) use pause::launch as pause;
pub(super) use saturation::launch as saturation;
pub(super) use scan::{Scan, launch as scan};

use super::shape::refused;
use crate::cuda::Gpu;
use crate::cuda::compiled::{Compiled, Module};
use crate::cuda::error::{Doing, Error};
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, CudaFunction, LaunchConfig};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A null pointer, for what a kernel is to do without.
const NOTHING: u64 = 0;

/// Dynamic shared memory that every kernel may have unasked.
const UNASKED: u32 = 48 << 10;

/// The kernels of the variants, each loaded when it is first asked for: nobody uses all of them.
pub(in crate::cuda) struct Variety {
    context: Arc<CudaContext>,
    modules: Mutex<HashMap<&'static [u8], Arc<Module>>>,
    /// Each with the dynamic shared memory that it may have, in bytes.
    functions: Mutex<HashMap<String, (CudaFunction, u32)>>,
    /// The most dynamic shared memory of a block, in bytes.
    shared: u32,
    multiprocessors: u32,
}

impl Variety {
    pub fn new(context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Self, Error> {
        let shared = context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let shared = shared.doing("asking for the shared memory of a block")?.unsigned_abs();
        Ok(Variety {
            context: context.clone(),
            modules: Mutex::default(),
            functions: Mutex::default(),
            shared,
            multiprocessors,
        })
    }

    pub fn of(gpu: &Gpu) -> Result<Self, Error> {
        Variety::new(&gpu.context, gpu.multiprocessors())
    }

    /// The most dynamic shared memory of a block, in bytes.
    pub fn shared(&self) -> u32 {
        self.shared
    }

    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The kernel `name` of this archive, ready for blocks with so many bytes of dynamic shared memory.
    fn kernel(&self, archive: &'static [u8], name: &str, bytes: u32) -> Result<CudaFunction, Error> {
        if bytes > self.shared {
            let reason = format!("{name} takes {bytes} bytes of shared memory a block; this GPU has {}", self.shared);
            return Err(refused(reason));
        }
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if !functions.contains_key(name) {
            let loaded = self.module(archive)?.function(name)?;
            functions.insert(name.to_owned(), (loaded, UNASKED));
        }
        let (function, allowed) = functions.get_mut(name).expect("just put there");
        if bytes > *allowed {
            function
                .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
                .doing("asking for shared memory")?;
            *allowed = bytes;
        }
        Ok(function.clone())
    }

    fn module(&self, archive: &'static [u8]) -> Result<Arc<Module>, Error> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(archive) {
            return Ok(module.clone());
        }
        let module = Arc::new(Compiled::new("a variant", archive).load(&self.context)?);
        modules.insert(archive, module.clone());
        Ok(module)
    }
}

/// One thread for each of `count` entries.
fn each(count: u32, threads: u32, shared_mem_bytes: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (count.div_ceil(threads), 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes }
}

/// The end of a kernel's name for elements of so many bytes.
fn suffix(element_bytes: u8) -> &'static str {
    match element_bytes {
        1 => "u8",
        2 => "u16",
        _ => "u32",
    }
}

#[cfg(test)]
mod tests {
    use crate::cuda::kernels::tests::stems;
    use std::collections::BTreeSet;

    #[test]
    fn every_variant_has_its_launcher_and_its_archive() {
        let kernels = stems("kernels/variants", "cu");
        assert_eq!(kernels, stems("kernels/built/variants", "kernels"));
        let mut launchers = stems("src/cuda/variants/kernels", "rs");
        launchers.remove("mod");
        let mut launched = BTreeSet::new();
        for launcher in &launchers {
            let file = format!("{}/src/cuda/variants/kernels/{launcher}.rs", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(file).unwrap();
            let named = text.split("built/variants/").skip(1).filter_map(|rest| rest.split_once(".kernels\""));
            let named: BTreeSet<String> = named.map(|(stem, _)| stem.to_owned()).collect();
            assert!(!named.is_empty(), "{launcher} launches nothing");
            for stem in &named {
                assert!(stem == launcher || stem.starts_with(&format!("{launcher}_")), "{launcher} launches {stem}");
            }
            launched.extend(named);
        }
        assert_eq!(launched, kernels);
    }
}
