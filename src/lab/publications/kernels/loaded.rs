//! Loads the publications' kernels, each on its first launch, with the product's loader.

use crate::publications::shape::refused;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, LaunchConfig};
use histeq::internal::cuda::compiled::{Compiled, Module};
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::cuda::launch::Kernel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A null pointer, with which a kernel omits an optional output.
pub(super) const NULL: u64 = 0;

/// The most dynamic shared memory that a kernel may use without setting an attribute, in bytes.
const GRANTED: u32 = 48 << 10;

/// The kernels of `kernels/variants/`, each loaded on its first launch, because a run needs few of them.
pub(in crate::publications) struct LoadedKernels {
    context: Arc<CudaContext>,
    modules: Mutex<HashMap<&'static str, Module>>,
    /// Kernels by name, each with its current limit of dynamic shared memory, in bytes.
    kernels: Mutex<HashMap<String, (Arc<Kernel>, u32)>>,
    /// The most dynamic shared memory of a block, in bytes.
    pub shared: u32,
    pub multiprocessors: u32,
}

impl LoadedKernels {
    /// A set in which no kernel is loaded yet.
    pub fn new(context: &Arc<CudaContext>, multiprocessors: u32) -> Result<Self, Error> {
        let shared = context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        Ok(LoadedKernels {
            context: context.clone(),
            modules: Mutex::default(),
            kernels: Mutex::default(),
            shared: shared.doing("asking for the shared memory of a block")?.unsigned_abs(),
            multiprocessors,
        })
    }

    /// The kernel `name` of this file, ready for blocks with `bytes` of dynamic shared memory.
    pub(super) fn kernel(&self, file: &'static Compiled, name: &str, bytes: u32) -> Result<Arc<Kernel>, Error> {
        if bytes > self.shared {
            let reason = format!("{name} takes {bytes} bytes of shared memory a block; this GPU has {}", self.shared);
            return Err(refused(reason));
        }
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if !kernels.contains_key(name) {
            kernels.insert(name.to_owned(), (Arc::new(self.load(file, name)?), GRANTED));
        }
        let (kernel, granted) = kernels.get_mut(name).expect("just put there");
        if bytes > *granted {
            kernel
                .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
                .doing("asking for shared memory")?;
            *granted = bytes;
        }
        Ok(kernel.clone())
    }

    fn load(&self, file: &'static Compiled, name: &str) -> Result<Kernel, Error> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if !modules.contains_key(file.name()) {
            modules.insert(file.name(), file.load(&self.context)?);
        }
        Kernel::new(&modules[file.name()], name)
    }
}

/// A launch with one thread for each of `count` entries.
pub(super) fn each(count: u32, threads: u32, shared_mem_bytes: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (count.div_ceil(threads), 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes }
}

/// The suffix of a kernel's name for elements of `element_bytes` bytes.
pub(super) fn suffix(element_bytes: u8) -> &'static str {
    match element_bytes {
        1 => "u8",
        2 => "u16",
        _ => "u32",
    }
}
