//! A GPU: its driver, its context, its kernels. Everything that can be missing is asked for here, in an order that
//! never makes the bindings panic.
#![allow(unsafe_code, reason = "asks the driver what no safe binding asks, and takes over the ordering of streams")]

use super::compiled::{self, LoadReport};
use super::error::{Doing, Error};
use super::kernels::KernelLaunchers;
use super::stage_kernels::{KernelChoice, StageKernels};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, result};
use std::sync::Arc;

/// The oldest CUDA whose drivers take the kernels' PTX (ISA 8.0), as `cuDriverGetVersion` counts.
const OLDEST_DRIVER: i32 = 12_000;

/// The oldest compute capability that the kernels are compiled for.
const OLDEST_DEVICE: (i32, i32) = (7, 5);

/// What waiting threads do, among a context's flags; and that they sleep.
const SCHEDULING: u32 = sys::CUctx_flags::CU_CTX_SCHED_MASK as u32;
const SLEEP: u32 = sys::CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32;

/// One GPU, ready to work.
pub struct Gpu {
    pub(crate) context: Arc<CudaContext>,
    pub(super) kernels: KernelLaunchers,
    /// What does some stages in place of `kernels`, if that was asked for.
    pub(super) stages: Option<Box<dyn StageKernels>>,
    multiprocessors: u32,
    most_pitch: usize,
    name: String,
}

impl Gpu {
    /// The GPU with this index, counted from 0 as `nvidia-smi` does unless `CUDA_VISIBLE_DEVICES` says otherwise.
    ///
    /// # Errors
    /// When there is no driver, it or the GPU is too old, there is no such GPU, or it cannot be used.
    pub fn open(index: usize) -> Result<Arc<Self>, Error> {
        Gpu::open_with(index, None)
    }

    /// The same, with other kernels for some stages if `choice` names any.
    ///
    /// # Errors
    /// As for [`open`](Gpu::open), and when these kernels cannot be launched as `choice` says.
    pub fn open_with(index: usize, choice: Option<&dyn KernelChoice>) -> Result<Arc<Self>, Error> {
        let count = count()?;
        if index >= count {
            return Err(Error::NoSuchDevice { index, count });
        }
        let_waiting_threads_sleep(index)?;
        let context = CudaContext::new(index).doing("opening the device")?;
        let name = context.name().doing("asking for the device's name")?;
        let (major, minor) = context.compute_capability().doing("asking for the compute capability")?;
        if (major, minor) < OLDEST_DEVICE {
            return Err(Error::DeviceTooOld { name, major, minor });
        }
        // SAFETY: from here on the bindings do not order streams among themselves. Buffers are allocated, used by
        // kernels and freed on one stream (`DevicePicture`), and copies on other streams are ordered against it by events
        // and waited for before a buffer goes (`Slot`).
        unsafe { context.disable_event_tracking() };
        let attribute = |which, doing| Ok(context.attribute(which).doing(doing)?.unsigned_abs());
        let multiprocessors =
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, "asking for the multiprocessors")?;
        let most_pitch = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH, "asking for the largest pitch")? as usize;
        let kernels = KernelLaunchers::load(&context)?;
        let stages = choice.map_or(Ok(None), |choice| choice.load(&context, multiprocessors))?;
        Ok(Arc::new(Gpu { context, kernels, stages, multiprocessors, most_pitch, name }))
    }

    /// Its product name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes lie at most between the rows of a plane that it copies.
    pub(super) fn most_pitch(&self) -> usize {
        self.most_pitch
    }

    /// Whether threads that wait for it sleep, for tests.
    ///
    /// # Errors
    /// When the driver does not say.
    #[doc(hidden)]
    pub fn waiting_threads_sleep(&self) -> Result<bool, Error> {
        self.context.bind_to_thread().doing("binding the context")?;
        let mut flags = 0;
        // SAFETY: a context is bound, and `flags` outlives the call.
        unsafe { sys::cuCtxGetFlags(&mut flags) }.result().doing("asking for the context's flags")?;
        Ok(flags & SCHEDULING == SLEEP)
    }

    /// Has the driver take all kernels that are for this GPU once more, for tests: as in a run, and after machine code
    /// that it has to refuse.
    ///
    /// # Errors
    /// When it does not take them in the end.
    #[doc(hidden)]
    pub fn load_all_kernels(&self) -> Result<Vec<LoadReport>, Error> {
        compiled::load_all(&self.context)
    }

    /// How many multiprocessors it has.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }
}

/// Has threads that wait for this device sleep, where they wait in the driver. With more cores than contexts they would spin
/// by default, and take a core from the decoder and the encoder.
fn let_waiting_threads_sleep(index: usize) -> Result<(), Error> {
    let doing = "setting up the device";
    let device = result::device::get(index as i32).doing(doing)?;
    // SAFETY: the driver has been started, and the device is there.
    match unsafe { sys::cuDevicePrimaryCtxSetFlags_v2(device, SLEEP) } {
        // Only drivers that cannot change a context in use say so; it is ours, from an earlier call.
        sys::CUresult::CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE => Ok(()),
        other => other.result().doing(doing),
    }
}

/// Makes sure that there is a driver that takes the kernels, without starting it: that is most of what opening takes.
///
/// # Errors
/// When there is none, or it is too old.
pub fn find_driver() -> Result<(), Error> {
    // SAFETY: loads libcuda and lets it go again; its initializers are those that every CUDA program runs.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoDriver);
    }
    let mut version = 0;
    // SAFETY: the library is there, this function is in every version of it, and `version` outlives the call.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().doing("asking for the driver's version")?;
    if version < OLDEST_DRIVER {
        return Err(Error::DriverTooOld { version });
    }
    Ok(())
}

/// How many GPUs there are, at least 1.
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
