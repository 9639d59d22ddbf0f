//! The bandwidth of memory and bus, measured in the same run, as the upper limit: no equalizer is faster than a copy.
#![allow(unsafe_code, reason = "copies between plain pinned buffers, device memory that is not set first, a callback")]

use super::output::value::microseconds;
use super::output::{Repeats, Value};
use anyhow::Result;
use cudarc::driver::result::stream::launch_host_function;
use cudarc::driver::sys::CU_MEMHOSTALLOC_PORTABLE;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice, result};
use histeq::internal::frame::Frame;
use std::ffi::c_void;
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// Microseconds per copy of a frame's luma, by `threads` threads with separate targets that make `rounds` copies each.
pub fn memcpy(frames: &[Frame], threads: usize, rounds: usize, repeats: Repeats) -> Value {
    let sources: Vec<Vec<u8>> = frames.iter().map(super::content::first_plane).collect();
    // Two targets per thread, so that a target is not in a near cache when it is written again.
    let mut targets: Vec<[Vec<u8>; 2]> = (0..threads).map(|_| [(); 2].map(|()| vec![0; sources[0].len()])).collect();
    let Ok(value) = repeats.value(|| Ok::<f64, std::convert::Infallible>(copied_once(&sources, &mut targets, rounds)));
    value.times(1.0 / (threads * rounds) as f64)
}

/// Microseconds from the start of the first thread's copies to the end of the last thread's, without the creation of
/// threads.
fn copied_once(sources: &[Vec<u8>], targets: &mut [[Vec<u8>; 2]], rounds: usize) -> f64 {
    let start = Barrier::new(targets.len());
    let work = |thread: usize, targets: &mut [Vec<u8>; 2]| {
        start.wait();
        let begin = Instant::now();
        for round in 0..rounds {
            let source = &sources[(thread + round * 3) % sources.len()];
            black_box(&mut targets[round % 2]).copy_from_slice(black_box(source));
        }
        (begin, Instant::now())
    };
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = targets
            .iter_mut()
            .enumerate()
            .map(|(thread, targets)| scope.spawn(move || work(thread, targets)))
            .collect();
        let times = threads.into_iter().map(|thread| thread.join().expect("a copy does not panic"));
        let (begin, end) = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).expect("at least one thread");
        (end - begin).as_secs_f64() * 1e6
    })
}

/// The pause of a stream before it is timed. Launches queue up meanwhile, so that a slow CPU core does not limit the
/// speed. (A launch takes the CPU 4 µs; equalizing a 720p frame takes the GPU little more.)
const HOLD: Duration = Duration::from_millis(5);

/// Blocks a stream for [`HOLD`].
unsafe extern "C" fn hold(_: *mut c_void) {
    std::thread::sleep(HOLD);
}

/// Microseconds between two events on `stream`; `work` is enqueued between them before the first one is reached.
///
/// # Errors
/// When a call fails.
pub fn on_device(stream: &Arc<CudaStream>, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT));
    let (begin, end) = (event()?, event()?);
    // SAFETY: the stream is alive, and the function uses no argument and calls no function of CUDA.
    unsafe { launch_host_function(stream.cu_stream(), hold, std::ptr::null_mut()) }?;
    begin.record(stream)?;
    work()?;
    end.record(stream)?;
    Ok(f64::from(begin.elapsed_ms(&end)?) * 1e3)
}

/// The bandwidth of the device's memory, by one copy of `bytes` bytes. The returned [`DeviceCopies`] measures smaller
/// copies over the same memory.
///
/// # Errors
/// When the device has no memory left or a copy fails.
pub fn within_device(stream: &Arc<CudaStream>, bytes: usize, repeats: Repeats) -> Result<DeviceCopies> {
    // SAFETY: only copies read these buffers, and any bytes are valid for them.
    let (source, target) = unsafe { (stream.alloc::<u8>(bytes)?, stream.alloc::<u8>(bytes)?) };
    let mut copies = DeviceCopies { stream: stream.clone(), source, target, repeats, bandwidth: Value::derived(1.0) };
    let time = copies.time_of(bytes)?;
    copies.bandwidth = time.into_rate(2.0 * bytes as f64 / 1e3);
    Ok(copies)
}

/// Copies within the device.
pub struct DeviceCopies {
    stream: Arc<CudaStream>,
    source: cudarc::driver::CudaSlice<u8>,
    target: cudarc::driver::CudaSlice<u8>,
    repeats: Repeats,
    /// GB/s of one large copy, where reading and writing both count.
    pub bandwidth: Value,
}

impl DeviceCopies {
    /// Microseconds of a copy of `bytes` bytes, launched back to back over the whole memory.
    ///
    /// # Errors
    /// When a copy fails.
    pub fn time_of(&mut self, bytes: usize) -> Result<Value> {
        let DeviceCopies { stream, source, target, repeats, .. } = self;
        let copies = (source.len() / bytes).max(1);
        let value = repeats.value(|| {
            on_device(stream, || {
                for copy in 0..copies {
                    let part = copy * bytes..(copy + 1) * bytes;
                    stream.memcpy_dtod(&source.slice(part.clone()), &mut target.slice_mut(part))?;
                }
                Ok(())
            })
        })?;
        Ok(value.times(1.0 / copies as f64))
    }
}

/// Pinned buffers for each direction.
const BUFFERS: usize = 8;

/// Microseconds per round of an upload and a simultaneous download of `bytes` bytes, on two independent streams, over
/// `rounds` rounds.
///
/// # Errors
/// When memory is short or a copy fails.
pub fn both_ways(context: &Arc<CudaContext>, bytes: usize, rounds: usize, repeats: Repeats) -> Result<Value> {
    let (up, down) = (context.new_stream()?, context.new_stream()?);
    // SAFETY: only copies read these buffers, and any bytes are valid for them.
    let pinned = || unsafe { context.alloc_pinned_with_flags::<u8>(bytes, CU_MEMHOSTALLOC_PORTABLE) };
    // Several buffers in turn, so that none is in a cache.
    let several = || (0..BUFFERS).map(|_| pinned()).collect::<Result<Vec<_>, _>>();
    let (source, mut target) = (several()?, several()?);
    let (mut above, below) = (up.alloc_zeros::<u8>(bytes)?, down.alloc_zeros::<u8>(bytes)?);
    // The bindings would record an event after each copy, which stalls the bus.
    let source = source.iter().map(PinnedHostSlice::as_slice).collect::<Result<Vec<_>, _>>()?;
    let mut target = target.iter_mut().map(PinnedHostSlice::as_mut_slice).collect::<Result<Vec<_>, _>>()?;
    let (above, _written) = above.device_ptr_mut(&up);
    let (below, _read) = below.device_ptr(&down);
    let value = repeats.value(|| {
        context.synchronize()?;
        let begin = Instant::now();
        for round in 0..rounds {
            let buffer = round % BUFFERS;
            // SAFETY: source and target have this many bytes, and live until the context is synchronized.
            unsafe {
                result::memcpy_htod_async(above, source[buffer], up.cu_stream())?;
                result::memcpy_dtoh_async(target[buffer], below, down.cu_stream())?;
            }
        }
        context.synchronize()?;
        Ok::<f64, anyhow::Error>(microseconds(begin))
    })?;
    Ok(value.times(1.0 / rounds as f64))
}
