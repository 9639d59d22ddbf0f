//! Launches kernels. On GPUs that support programmatic dependent launches, a kernel begins while the kernel before it
//! in the stream ends (`kernels/headers/device/launch.cuh` is the device side).
#![allow(unsafe_code, reason = "launches that the bindings do not have")]

use super::compiled::Module;
use super::error::{Doing, Error};
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::sys::{self, CUfunction_attribute_enum, CUlaunchAttributeID as Attribute};
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, CudaView, DevicePtr, DeviceRepr, DriverError, LaunchConfig};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The oldest architecture whose code itself waits for the previous kernel of the stream.
const OVERLAPS_FROM: (i32, i32) = (9, 0);

/// The stream of each device that last received a kernel whose blocks wait for each other. Once a process, not in a
/// [`Gpu`](super::Gpu): two of one device share its multiprocessors, on which such kernels of both would wait for
/// blocks that have no room.
static LAST_STREAMS: Mutex<BTreeMap<usize, Arc<CudaStream>>> = Mutex::new(BTreeMap::new());

fn last_streams() -> MutexGuard<'static, BTreeMap<usize, Arc<CudaStream>>> {
    LAST_STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes this stream from [`LAST_STREAMS`], after waiting for its kernels: it gets no more kernels whose blocks wait
/// for each other. Until then the entry keeps the stream and its context alive, because other streams may have to wait
/// for it.
pub(super) fn retire(stream: &Arc<CudaStream>) {
    let mut last_streams = last_streams();
    let device = stream.context().ordinal();
    if last_streams.get(&device).is_some_and(|last| Arc::ptr_eq(last, stream)) {
        // If waiting fails, the context is broken and nothing runs in it.
        let _ = stream.synchronize();
        last_streams.remove(&device);
    }
}

/// A kernel, ready to be launched.
pub struct Kernel {
    function: CudaFunction,
    /// Whether the kernel's code waits for the previous kernel, so that the launch may overlap with it.
    pub(super) overlaps: bool,
}

impl Kernel {
    /// The kernel of this name.
    ///
    /// # Errors
    /// When the module has no kernel of this name.
    pub fn new(module: &Module, name: &str) -> Result<Self, Error> {
        let overlaps = module.code.architecture() >= OVERLAPS_FROM && !is_shared();
        Ok(Kernel { function: module.function(name)?, overlaps })
    }

    /// Allows the kernel this much dynamic shared memory, in bytes.
    ///
    /// # Errors
    /// When the GPU has less.
    pub fn allow_shared(&self, bytes: i32) -> Result<(), Error> {
        let most = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.function.set_attribute(most, bytes).doing("asking for shared memory")
    }

    /// Starts a launch on this stream; [`Launch::arg`] adds the arguments.
    pub fn on<'a>(&'a self, stream: &'a Arc<CudaStream>) -> Launch<'a> {
        Launch { kernel: self, stream, arguments: Vec::new(), borrowed: PhantomData }
    }
}

impl Deref for Kernel {
    type Target = CudaFunction;
    fn deref(&self) -> &CudaFunction {
        &self.function
    }
}

/// An argument that a kernel takes by value. Its bytes are those of the kernel's type, as [`DeviceRepr`] promises.
pub trait KernelValue: DeviceRepr {}

impl KernelValue for u32 {}
impl KernelValue for u64 {}

/// An argument of a kernel: a [`KernelValue`] or a buffer.
pub trait Argument<'a> {
    /// The address or value for the driver.
    fn place(self, stream: &CudaStream) -> ArgumentAddress;
}

/// Where the driver reads an argument from.
pub enum ArgumentAddress {
    /// The driver reads the argument at this address of the host.
    Host(*const c_void),
    /// The argument is this device address.
    Device(sys::CUdeviceptr),
}

impl<'a, T: KernelValue> Argument<'a> for &'a T {
    fn place(self, _: &CudaStream) -> ArgumentAddress {
        ArgumentAddress::Host(std::ptr::from_ref(self).cast())
    }
}

macro_rules! buffer_arguments {
    ($($buffer:ty),*) => {
        $(impl<'a, T> Argument<'a> for $buffer {
            fn place(self, stream: &CudaStream) -> ArgumentAddress {
                ArgumentAddress::Device(self.device_ptr(stream).0)
            }
        })*
    };
}
buffer_arguments!(&'a CudaSlice<T>, &'a mut CudaSlice<T>, &'a CudaView<'_, T>);

/// The builder of a launch.
pub struct Launch<'a> {
    kernel: &'a Kernel,
    stream: &'a Arc<CudaStream>,
    arguments: Vec<ArgumentAddress>,
    borrowed: PhantomData<&'a ()>,
}

impl<'a> Launch<'a> {
    /// Adds the next argument.
    pub fn arg(&mut self, argument: impl Argument<'a>) -> &mut Self {
        self.arguments.push(argument.place(self.stream));
        self
    }

    /// Enqueues the kernel.
    ///
    /// # Errors
    /// When the driver refuses it.
    ///
    /// # Safety
    /// The arguments are those of the kernel. Buffers have the lengths that it expects, and nothing else uses them
    /// until the kernel has run.
    pub unsafe fn launch(&mut self, config: LaunchConfig) -> Result<(), DriverError> {
        let overlaps =
            self.kernel.overlaps.then(|| attribute(Attribute::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
        // SAFETY: by the caller's promise.
        unsafe { self.enqueue(config, overlaps) }
    }

    /// Enqueues a kernel whose blocks wait for each other, so that all of them are resident at once.
    ///
    /// A cooperative launch guarantees that, but cannot overlap with the launch before. An overlapping launch with at
    /// most as many blocks as multiprocessors has all of its blocks resident in the end, too: all other kernels end
    /// without waiting, so every multiprocessor gets room for a block; and kernels whose blocks wait for each other run
    /// one after the other, because each stream waits for the last one of another stream ([`LAST_STREAMS`]).
    ///
    /// # Errors
    /// When the driver refuses it, or the GPU has no room for all blocks at once.
    ///
    /// # Safety
    /// As for [`launch`](Launch::launch).
    pub unsafe fn launch_together(&mut self, config: LaunchConfig) -> Result<(), DriverError> {
        let context = self.stream.context();
        let multiprocessors = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs();
        let overlaps = self.kernel.overlaps && config.grid_dim.0 <= multiprocessors;
        let device = context.ordinal();
        let mut last_streams = last_streams();
        if let Some(last) = last_streams.get(&device).filter(|last| !Arc::ptr_eq(last, self.stream)) {
            self.stream.wait(&last.record_event(None)?)?;
        }
        last_streams.insert(device, self.stream.clone());
        if overlaps {
            // SAFETY: by the caller's promise.
            return unsafe { self.launch(config) };
        }
        // SAFETY: as above.
        unsafe { self.enqueue(config, Some(attribute(Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE))) }?;
        // The next launch must not overlap with this one: a launch after an event never overlaps.
        self.stream.record_event(None).map(drop)
    }

    /// # Safety
    /// As for [`launch`](Launch::launch), and the kernel meets the preconditions of the attribute.
    unsafe fn enqueue(
        &mut self,
        config: LaunchConfig,
        attribute: Option<sys::CUlaunchAttribute>,
    ) -> Result<(), DriverError> {
        let mut arguments: Vec<*mut c_void> = self.arguments.iter().map(pointer).collect();
        let mut attributes = attribute;
        let launch = sys::CUlaunchConfig {
            gridDimX: config.grid_dim.0,
            gridDimY: config.grid_dim.1,
            gridDimZ: config.grid_dim.2,
            blockDimX: config.block_dim.0,
            blockDimY: config.block_dim.1,
            blockDimZ: config.block_dim.2,
            sharedMemBytes: config.shared_mem_bytes,
            hStream: self.stream.cu_stream(),
            attrs: attributes.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut),
            numAttrs: attribute.is_some().into(),
        };
        self.stream.context().bind_to_thread()?;
        // SAFETY: the function and the stream are alive, as are the attribute and everything that arguments point to;
        // the caller promises the rest.
        unsafe {
            sys::cuLaunchKernelEx(&launch, self.kernel.cu_function(), arguments.as_mut_ptr(), std::ptr::null_mut())
        }
        .result()
    }
}

/// The address of an argument.
fn pointer(place: &ArgumentAddress) -> *mut c_void {
    match place {
        ArgumentAddress::Host(value) => value.cast_mut(),
        ArgumentAddress::Device(address) => std::ptr::from_ref(address).cast_mut().cast(),
    }
}

/// The launch attribute `id`, switched on.
fn attribute(id: Attribute) -> sys::CUlaunchAttribute {
    let mut value = sys::CUlaunchAttributeValue { pad: [0; 64] };
    match id {
        Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => value.cooperative = 1,
        _ => value.programmaticStreamSerializationAllowed = 1,
    }
    sys::CUlaunchAttribute { id, pad: [0; 4], value }
}

/// Whether kernels of other processes may run on the GPU at the same time: whether a control daemon of MPS runs at the
/// path at which the driver looks for it.
fn is_shared() -> bool {
    // Once a process: the driver looks for the daemon when it starts, and never again.
    static SHARED: OnceLock<bool> = OnceLock::new();
    *SHARED.get_or_init(|| {
        let folder = std::env::var_os("CUDA_MPS_PIPE_DIRECTORY").unwrap_or_else(|| "/tmp/nvidia-mps".into());
        Path::new(&folder).join("control").exists()
    })
}
