//! The parameters and the results of a measurement.

use super::kernels::{self, LoadedKernels};
use super::{Formula, LaunchShape, Variants};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use histeq::internal::cuda::error::{Doing, Error};
use histeq::named;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The elements of an image: rows without padding. An element above the last bin is counted and mapped as the last
/// bin.
#[derive(Clone, Copy, Debug)]
pub enum Elements<'a> {
    /// One byte each.
    U8(&'a [u8]),
    /// Two bytes each.
    U16(&'a [u16]),
    /// Four bytes each.
    U32(&'a [u32]),
}

/// The byte order of colour pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelOrder {
    /// Four bytes: blue, green, red, and one that is ignored.
    Bgra,
    /// Three bytes: red, green, blue.
    Rgb,
}

impl Elements<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Elements::U8(elements) => elements,
            Elements::U16(elements) => bytemuck::cast_slice(elements),
            Elements::U32(elements) => bytemuck::cast_slice(elements),
        }
    }

    pub(super) fn element_bytes(&self) -> u8 {
        match self {
            Elements::U8(_) => 1,
            Elements::U16(_) => 2,
            Elements::U32(_) => 4,
        }
    }
}

impl PixelOrder {
    /// Bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            PixelOrder::Bgra => 4,
            PixelOrder::Rgb => 3,
        }
    }
}

/// The number of runs of a step.
#[derive(Clone, Copy, Debug)]
pub struct KernelRepeats {
    /// Runs before the timed ones, which warm up the GPU.
    pub warm_up: u32,
    /// Timed runs, each of which is one entry of the times.
    pub measured: u32,
    /// Launches per time, at least 1; the time is divided by them. With 1, the time includes the delay from event to
    /// kernel to event, a µs or two. With many, it is the time of a launch that follows another one. All launches are
    /// enqueued before the device begins.
    pub launches: u32,
}

impl Default for KernelRepeats {
    fn default() -> Self {
        KernelRepeats { warm_up: 3, measured: 20, launches: 1 }
    }
}

/// The parameters of a measurement. A variant that is `None` is replaced by the one with the algorithm of the tuned
/// kernel (replicated, warp-shuffle, first-nonzero, wide); [`KernelBench::tuned`](super::KernelBench::tuned) measures
/// the tuned kernels themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Experiment {
    /// The kernels.
    pub variants: Variants,
    /// The shape of their launches.
    pub shape: LaunchShape,
    /// The value at which the counts saturate, if any.
    pub saturated_at: Option<u32>,
    /// The arithmetic; `None` is that of the specification.
    pub formula: Option<Formula>,
}

/// The result of a step, and its times.
#[derive(Clone, Debug)]
pub struct Measured<T> {
    /// The result of a separate run before the timed ones.
    pub result: T,
    /// The times in µs, one for each repetition, in their order.
    pub times: Vec<f64>,
}

named! {
    /// A step of equalization.
    pub enum KernelStep {
        Histogram = "histogram", "From elements, or from the luminance of pixels, to counts";
        Saturation = "saturation", "Limiting counts to a value";
        Scan = "scan", "From counts to cumulative counts";
        CdfMin = "cdf-min", "The cumulative count of the first occupied bin";
        /// Among the tuned kernels, this step includes the scan: it begins with counts.
        Curve = "curve", "From cumulative counts to the curve";
        Map = "map", "Elements through the curve";
    }
}

/// The times of a step.
#[derive(Clone, Debug)]
pub struct StepTimes {
    /// The step.
    pub step: KernelStep,
    /// The times in µs, one for each repetition, in their order.
    pub times: Vec<f64>,
}

/// The result and the times of a whole equalization.
#[derive(Clone, Debug)]
pub struct Run {
    /// The times of each step alone, in the order of the steps.
    pub steps: Vec<StepTimes>,
    /// The times of all steps together, with the clearing of the counts before them, in µs. This is not the sum of
    /// `steps`, each of which includes the delay of its events.
    pub total: Vec<f64>,
    /// The count of each bin, after saturation.
    pub counts: Vec<u32>,
    /// The inclusive prefix sums of the counts; empty for the tuned kernels, which do not write them.
    pub cdf: Vec<u32>,
    /// The curve: an output for each bin.
    pub curve: Vec<u16>,
    /// The mapped elements, with the width of the input, in this machine's byte order.
    pub picture: Vec<u8>,
}

/// The kind of host memory from which and to which copies are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMemory {
    /// Memory of the allocator, which the driver copies to pinned memory first.
    Pageable,
    /// Memory that the copy engines access directly.
    Pinned,
}

/// The times of copies to and from the GPU.
#[derive(Clone, Debug)]
pub struct BusTimes {
    /// The times of uploads, in µs.
    pub upload: Vec<f64>,
    /// The times of downloads, in µs.
    pub download: Vec<f64>,
}

const RUNNING: &str = "running kernel variants";

/// The length of a pause in addition to twice the measured time of enqueueing.
const SPARE: Duration = Duration::from_micros(20);

/// Runs `work` once and waits until it is done.
pub(super) fn once(stream: &Arc<CudaStream>, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    work()?;
    stream.synchronize().doing(RUNNING)
}

/// The times of the repetitions of kernels, in µs per launch. `work` gets the number of the launch. The device pauses
/// until a whole repetition is enqueued, so that small kernels do not wait for the CPU.
pub(super) fn measured(
    loaded: &LoadedKernels,
    stream: &Arc<CudaStream>,
    repeats: KernelRepeats,
    work: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<f64>, Error> {
    times(stream, repeats, |length| kernels::pause(loaded, stream, length + SPARE), work)
}

/// The times of the repetitions of copies, which may include work of the CPU.
pub(super) fn copied(
    stream: &Arc<CudaStream>,
    repeats: KernelRepeats,
    work: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<f64>, Error> {
    times(stream, repeats, |_| Ok(()), work)
}

/// Times repetitions of `work`. Before each, calls `before` with the time for which the GPU has to be busy.
fn times(
    stream: &Arc<CudaStream>,
    repeats: KernelRepeats,
    before: impl Fn(Duration) -> Result<(), Error>,
    mut work: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<f64>, Error> {
    let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT)).doing("making an event");
    let (begin, end) = (event()?, event()?);
    let launches = repeats.launches.max(1) as usize;
    let clock = Instant::now();
    (0..repeats.warm_up as usize).try_for_each(&mut work)?;
    let mut enqueueing = clock.elapsed() / repeats.warm_up.max(1) * launches as u32;
    let mut times = Vec::with_capacity(repeats.measured as usize);
    for repeat in 0..repeats.measured as usize {
        stream.synchronize().doing(RUNNING)?;
        before(2 * enqueueing)?;
        let clock = Instant::now();
        begin.record(stream).doing("recording an event")?;
        (repeat * launches..(repeat + 1) * launches).try_for_each(&mut work)?;
        end.record(stream).doing("recording an event")?;
        enqueueing = clock.elapsed();
        let milliseconds = begin.elapsed_ms(&end).doing("reading an event's time")?;
        times.push(f64::from(milliseconds) * 1e3 / launches as f64);
    }
    stream.synchronize().doing(RUNNING)?;
    Ok(times)
}
