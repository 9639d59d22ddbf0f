//! A GPU: its driver, its context, its kernels. Everything that can be missing is checked here, in an order in which
//! the bindings never panic.
#![allow(unsafe_code, reason = "driver calls without a safe binding, and streams that are ordered by hand")]

use super::compiled::{self, LoadReport};
use super::denoise::NoiseMemory;
use super::error::{Doing, Error};
use super::kernels::KernelLaunchers;
use super::memory::device_memory::DevicePool;
use super::memory::pinned::PinnedPool;
use super::stage_kernels::{KernelChoice, StageKernels};
use crate::frame::Limits;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, CudaStream, result};
use std::sync::{Arc, OnceLock};

/// The oldest CUDA version whose drivers accept the kernels' PTX (ISA 8.0), as `cuDriverGetVersion` returns it.
const OLDEST_DRIVER: i32 = 12_000;

/// The oldest compute capability that the kernels are compiled for.
const OLDEST_DEVICE: (i32, i32) = (7, 5);

/// The bits of a context's flags that set how threads wait for the GPU, and their value for sleeping.
const SCHEDULING: u32 = sys::CUctx_flags::CU_CTX_SCHED_MASK as u32;
const SLEEP: u32 = sys::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32;

/// One GPU, ready to work.
pub struct Gpu {
    /// The GPU's primary context.
    pub context: Arc<CudaContext>,
    pub(super) kernels: KernelLaunchers,
    /// Kernels that replace those of `kernels` in some stages, if a [`KernelChoice`] chose any.
    pub(super) stages: Option<Box<dyn StageKernels>>,
    /// Pinned memory for frames that wait for upload, shared by all rings.
    pub(super) input: PinnedPool,
    /// The memory of frames that callers copy to the GPU, and of results that stay there; made on first use.
    pub(super) pictures: OnceLock<Arc<DevicePool>>,
    /// The stream and memory for denoising; made on first use.
    pub(super) noise: OnceLock<NoiseMemory>,
    /// The number of the GPU's multiprocessors.
    pub multiprocessors: u32,
    /// The largest pitch of a plane that the GPU's copy engines accept, in bytes.
    pub(super) most_pitch: usize,
    /// Whether GPU and host use the same memory (Jetson): kernels change frames in place, without upload and download.
    pub(super) shares_memory: bool,
    /// The GPU's product name.
    pub name: String,
    /// The limits of memory on the host, and of threads.
    pub(super) limits: Limits,
}

impl Gpu {
    /// Opens the GPU with this index, counted from 0 as in `nvidia-smi` unless `CUDA_VISIBLE_DEVICES` changes the
    /// order.
    ///
    /// # Errors
    /// When there is no driver, it or the GPU is too old, there is no such GPU, or it cannot be used.
    pub fn open(index: usize) -> Result<Arc<Self>, Error> {
        Gpu::open_within(index, &Limits::default())
    }

    /// As [`open`](Gpu::open), for work within these limits.
    ///
    /// # Errors
    /// As for [`open`](Gpu::open).
    pub fn open_within(index: usize, limits: &Limits) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Gpu::opened(index, None, limits)?))
    }

    /// As [`open`](Gpu::open), with the kernels that `choice` selects for some stages.
    ///
    /// # Errors
    /// As for [`open`](Gpu::open), and when these kernels cannot be launched as chosen.
    pub fn open_with(index: usize, choice: Option<&dyn KernelChoice>) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Gpu::opened(index, choice, &Limits::default())?))
    }

    /// As [`open`](Gpu::open), but treats the GPU as one that shares the host's memory, for tests. If the GPU is behind
    /// a bus, every access of a kernel to a sample crosses the bus.
    ///
    /// # Errors
    /// As for [`open`](Gpu::open).
    #[doc(hidden)]
    pub fn open_sharing_memory(index: usize) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Gpu { shares_memory: true, ..Gpu::opened(index, None, &Limits::default())? }))
    }

    fn opened(index: usize, choice: Option<&dyn KernelChoice>, limits: &Limits) -> Result<Self, Error> {
        let count = count()?;
        if index >= count {
            return Err(Error::NoSuchDevice { index, count });
        }
        set_blocking_sync(index)?;
        let context = CudaContext::new(index).doing("opening the device")?;
        let name = context.name().doing("asking for the device's name")?;
        let (major, minor) = context.compute_capability().doing("asking for the compute capability")?;
        if (major, minor) < OLDEST_DEVICE {
            return Err(Error::DeviceTooOld { name, major, minor });
        }
        // SAFETY: from here on the bindings do not order streams among themselves. Buffers are allocated, used by
        // kernels and freed on one stream (`DevicePicture`), and copies on other streams are ordered against it by
        // events and waited for before a buffer goes (`Slot`).
        unsafe { context.disable_event_tracking() };
        let attribute = |which, doing| Ok(context.attribute(which).doing(doing)?.unsigned_abs());
        let multiprocessors =
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "asking for the multiprocessors")?;
        let most_pitch = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH, "asking for the largest pitch")? as usize;
        let is_integrated = attribute(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED, "asking for the kind of its memory")?;
        let maps_host =
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, "asking for access to the host's memory")?;
        let shares_memory = is_integrated != 0 && maps_host != 0;
        let kernels = KernelLaunchers::load(&context)?;
        let stages = choice.map_or(Ok(None), |choice| choice.load(&context, multiprocessors))?;
        let input = PinnedPool::new(&context, limits);
        let (pictures, noise) = (OnceLock::new(), OnceLock::new());
        let limits = limits.clone();
        Ok(Gpu {
            context,
            kernels,
            stages,
            input,
            pictures,
            noise,
            multiprocessors,
            most_pitch,
            shares_memory,
            name,
            limits,
        })
    }

    /// The handle of its context (`CUcontext`): the GPU's primary context, which the CUDA runtime and what builds on it
    /// use.
    pub fn handle(&self) -> usize {
        self.context.cu_ctx() as usize
    }

    /// Whether threads that wait for the GPU sleep, for tests.
    ///
    /// # Errors
    /// When the query fails.
    #[doc(hidden)]
    pub fn waiting_threads_sleep(&self) -> Result<bool, Error> {
        self.context.bind_to_thread().doing("binding the context")?;
        let mut flags = 0;
        // SAFETY: a context is bound, and `flags` outlives the call.
        unsafe { sys::cuCtxGetFlags(&mut flags) }.result().doing("asking for the context's flags")?;
        Ok(flags & SCHEDULING == SLEEP)
    }

    /// Loads all kernels twice, for tests: once as in a run, and once after offering machine code that the driver has
    /// to refuse.
    ///
    /// # Errors
    /// When a file cannot be loaded.
    #[doc(hidden)]
    pub fn load_all_kernels(&self) -> Result<Vec<LoadReport>, Error> {
        compiled::load_all(&self.context)
    }
}

/// Makes threads sleep that wait for this device in the driver. By default they spin if there are more cores than
/// contexts, and take a core from the decoder and the encoder.
fn set_blocking_sync(index: usize) -> Result<(), Error> {
    let doing = "setting up the device";
    let device = result::device::get(index as i32).doing(doing)?;
    // SAFETY: the driver has been started, and the device is there.
    match unsafe { sys::cuDevicePrimaryCtxSetFlags_v2(device, SLEEP) } {
        // Some drivers cannot change a context in use; then an earlier call of this function has set the flag.
        sys::CUresult::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE => Ok(()),
        other => other.result().doing(doing),
    }
}

/// Checks that there is a driver that accepts the kernels, without starting the driver, because starting takes most of
/// the time of opening a GPU.
///
/// # Errors
/// When there is no driver, or it is too old.
pub fn find_driver() -> Result<(), Error> {
    // SAFETY: loads libcuda and unloads it; its initializers are those that every CUDA program runs.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let mut version = 0;
    // SAFETY: the library is loaded, every version of it has this function, and `version` outlives the call.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().doing("asking for the driver's version")?;
    if version < OLDEST_DRIVER {
        return Err(Error::DriverTooOld { version });
    }
    Ok(())
}

/// A stream for a decoder that shares the primary context of a GPU.
pub struct DecoderStream(Arc<CudaStream>);

impl DecoderStream {
    /// A stream of the GPU with this index; `None` where it cannot be made, or `context` (`CUcontext`) is not the
    /// GPU's primary context.
    pub fn open(gpu: usize, context: usize) -> Option<Self> {
        let primary = CudaContext::new(gpu).ok()?;
        (primary.cu_ctx() as usize == context).then(|| primary.new_stream().ok().map(DecoderStream)).flatten()
    }

    /// The handle of the stream (`CUstream`).
    pub fn handle(&self) -> usize {
        self.0.cu_stream() as usize
    }
}

/// Does `work`, which makes the context of a GPU current on this thread, and then makes the previous context current
/// again, for host programs whose own GPU library relies on it. Without a driver, only does `work`.
pub fn keeping_current<R>(work: impl FnOnce() -> R) -> R {
    // Once a process: so is the driver's library, which is found or not.
    static HAS_DRIVER: OnceLock<bool> = OnceLock::new();
    // SAFETY: as in `find_driver`.
    if !HAS_DRIVER.get_or_init(|| unsafe { sys::is_culib_present() }) {
        return work();
    }
    let mut before = std::ptr::null_mut();
    // SAFETY: the library is loaded, every version of it has this function, and `before` outlives the call. It fails
    // where nothing has started the driver, and so made no context.
    let is_known = unsafe { sys::cuCtxGetCurrent(&mut before) }.result().is_ok();
    let done = work();
    if is_known {
        // SAFETY: the context was current, and its owner keeps it while calls of this thread are under way; null is
        // none. It fails only if the driver has failed, which the next call reports.
        let _ = unsafe { sys::cuCtxSetCurrent(before) };
    }
    done
}

/// The number of GPUs, at least 1.
fn count() -> Result<usize, Error> {
    find_driver()?;
    match result::init() {
        Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => return Err(Error::NoDevice),
        other => other.doing("starting the driver")?,
    }
    let count = CudaContext::device_count().doing("counting the devices")?;
    match usize::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Error::NoDevice),
    }
}
