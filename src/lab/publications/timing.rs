//! Times from events on the device.

use super::KernelRepeats;
use super::kernels::{self, LoadedKernels};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use histeq::internal::cuda::error::{Doing, Error};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
