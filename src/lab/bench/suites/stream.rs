//! `histeq-lab stream`: frames in pinned memory through the program's ring, beside the bandwidth of the bus.

use crate::bench::Setup;
use crate::bench::content::{Content, first_plane, picture, several};
use crate::bench::copies::both_ways;
use crate::bench::output::value::microseconds;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::{Expected, check};
use crate::bench::setup::size_name;
use anyhow::{Result, anyhow};
use histeq::internal::cuda::Gpu;
use histeq::internal::cuda::pipeline::{Ring, Task};
use histeq::internal::frame::{Frame, PixelFormat, Plane, Pool};
use histeq::internal::spec::parameters::Settings;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(usize, usize); 4] = [(1280, 720), (1920, 1080), (3840, 2160), (7680, 4320)];

const DEPTHS: [usize; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// The number of frames that are used in turn.
const FRAMES: usize = 8;

/// The approximate number of bytes that are uploaded in one run.
const LOAD: usize = 1 << 29;

/// The memory of the submitted frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputMemory {
    /// Pinned memory, as with a source that reads into the ring's memory.
    Pinned,
    /// Pageable memory, from which frames are copied first, as with a decoder.
    Copied,
}

/// A table of frame sizes and ring depths.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let mut table = Table::new("ring", "8-bit luma up, equalized, down", &["size", "ring"])
        .note(
            "Frames a second. Ring is how many frames are under way. Rate is what goes up and down together; share is \
             that rate in the one that copies of as many bytes reach, both ways at once, with nothing else to do. \
             copied has one thread copy every frame into pinned memory first, as frames from a decoder are.",
        )
        .measures(["pinned", "copied"], Unit::FramesASecond)
        .measures(["rate", "bus"], Unit::GigabytesASecond)
        .measures(["share of bus"], Unit::Percent)
        .measures(["a frame"], Unit::Microseconds);
    let Ok(gpu) = setup.gpu() else { return Ok(vec![table]) };
    let sizes = setup.sizes(&SIZES);
    setup.steps.expect(sizes.len() * DEPTHS.len());
    for size in sizes {
        let frame = picture(PixelFormat::Gray, size, Content::Photo);
        for depth in DEPTHS {
            setup.steps.next(format!("{}, ring of {depth}", size_name(size)))?;
            table.push(row(setup, gpu, &frame, depth)?);
        }
    }
    Ok(vec![table])
}

fn row(setup: &Setup, gpu: &Arc<Gpu>, frame: &Frame, depth: usize) -> Result<Row> {
    let bytes = frame.width() * frame.height();
    let pinned = through(setup, gpu, frame, depth, InputMemory::Pinned)?;
    let copied = through(setup, gpu, frame, depth, InputMemory::Copied)?;
    let context = cudarc::driver::CudaContext::new(setup.gpu_index.unwrap_or(0))?;
    let bus = both_ways(&context, bytes, count(setup, bytes), setup.repeats)?;
    let rate = |time: Value| time.into_rate(2.0 * bytes as f64 / 1e3);
    Ok(Row::new([size_name((frame.width(), frame.height())), depth.to_string()])
        .with("pinned", pinned.into_rate(1e6))
        .with("copied", copied.into_rate(1e6))
        .with("rate", rate(pinned))
        .with("bus", rate(bus))
        .with("share of bus", Value::derived(bus.median / pinned.median * 100.0))
        .with("a frame", pinned))
}

fn count(setup: &Setup, bytes: usize) -> usize {
    if setup.quick { 20 } else { (LOAD / bytes).clamp(24, 400) }
}

/// Microseconds per frame through a ring of this depth.
fn through(setup: &Setup, gpu: &Arc<Gpu>, frame: &Frame, depth: usize, memory: InputMemory) -> Result<Value> {
    let mut ring = Ring::new(gpu, depth)?;
    // Several frames in turn, so that none is in a cache.
    let sources: Vec<Frame> = match memory {
        InputMemory::Pinned => (0..FRAMES).map(|_| pinned(&ring, frame)).collect::<Result<_>>()?,
        InputMemory::Copied => several(frame, FRAMES),
    };
    let task = Task::new(frame, Settings::default(), frame.whole())?;
    let frames = count(setup, frame.width() * frame.height());
    let mut expected = Expected::new(frame, Settings::default());
    // The first round allocates memory, so it is not measured.
    send(&mut ring, &sources, &task, 2 * depth)?;
    let value = setup.repeats.value(|| {
        let begin = Instant::now();
        let last = send(&mut ring, &sources, &task, frames)?;
        let time = microseconds(begin);
        check("a frame from the ring", expected.after(1), &last)?;
        Ok::<f64, anyhow::Error>(time)
    })?;
    Ok(value.times(1.0 / frames as f64))
}

/// Sends `frames` frames through the ring, and returns the last one.
fn send(ring: &mut Ring, sources: &[Frame], task: &Task, frames: usize) -> Result<Frame> {
    let mut last = None;
    for frame in sources.iter().cycle().take(frames) {
        if ring.in_flight() == ring.depth() {
            last = ring.collect()?;
        }
        ring.submit(frame.clone(), task.clone())?;
    }
    while let Some(collected) = ring.collect()? {
        last = Some(collected);
    }
    Ok(last.ok_or_else(|| anyhow!("no frame came back"))?.frame)
}

/// A copy of the frame in pinned memory of the ring.
fn pinned(ring: &Ring, frame: &Frame) -> Result<Frame> {
    let bytes = first_plane(frame);
    let mut buffer = ring.input_pool(false).buffer(bytes.len())?;
    buffer[..bytes.len()].copy_from_slice(&bytes);
    let (width, rows) = (frame.width(), frame.height());
    let plane =
        Plane::new(buffer.freeze(), 0, width as isize, width, rows).ok_or_else(|| anyhow!("a plane too long"))?;
    let mut plane = Some(plane);
    Ok(frame.with_planes(|_| plane.take()))
}
