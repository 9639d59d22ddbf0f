//! Times by the device's own clock.

use super::Repeats;
use crate::cuda::error::{Doing, Error};
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaEvent, CudaStream};
use std::sync::Arc;

const FAILED: &str = "running kernel variants";

/// Does it once and waits until it is done.
pub(super) fn once(stream: &Arc<CudaStream>, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    work()?;
    stream.synchronize().doing(FAILED)
}

/// What each repetition took, in µs a launch. `work` is told the number of the launch.
pub(super) fn measured(
    stream: &Arc<CudaStream>,
    repeats: Repeats,
    mut work: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<f64>, Error> {
    let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT)).doing("making an event");
    let (begin, end) = (event()?, event()?);
    (0..repeats.warm_up as usize).try_for_each(&mut work)?;
    let launches = repeats.launches.max(1) as usize;
    let mut times = Vec::with_capacity(repeats.measured as usize);
    for repeat in 0..repeats.measured as usize {
        // The launches come to a device that has nothing else to do.
        stream.synchronize().doing(FAILED)?;
        record(&begin, stream)?;
        (repeat * launches..(repeat + 1) * launches).try_for_each(&mut work)?;
        record(&end, stream)?;
        let milliseconds = begin.elapsed_ms(&end).doing("reading an event's time")?;
        times.push(f64::from(milliseconds) * 1e3 / launches as f64);
    }
    stream.synchronize().doing(FAILED)?;
    Ok(times)
}

fn record(event: &CudaEvent, stream: &CudaStream) -> Result<(), Error> {
    event.record(stream).doing("recording an event")
}
