//! The GPU backend: each kernel on frames that are on the device already, and the ring through pinned memory beside
//! plain copies both ways. Prints tables in Markdown; says so and stops where there is no GPU.
//!
//! `cargo bench --bench cuda`
#![allow(unsafe_code, reason = "the plain copies need pinned memory of their own")]

mod content;

use content::{Content, picture};
use cudarc::driver::sys::CU_MEMHOSTALLOC_PORTABLE;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, DriverError};
use histeq_video::cuda::{Error, Gpu, History, Layout, Picture, Ring, Task};
use histeq_video::equalize::{levels, weights, whole};
use histeq_video::frame::{Frame, PixelFormat};
use histeq_video::spec::{Gain, Method, Plateau, Settings, Smoothing, Strength, Threshold};
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(usize, usize); 4] = [(1280, 720), (1920, 1080), (3840, 2160), (7680, 4320)];

/// What the pictures of one measurement take together: more than any GPU's cache.
const SPREAD: usize = 400 << 20;

const REPETITIONS: usize = 9;

fn main() -> anyhow::Result<()> {
    let gpu = match Gpu::open(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("SKIPPED cuda: {error}");
            return Ok(());
        }
    };
    println!("{}, {} multiprocessors\n", gpu.name(), gpu.multiprocessors());
    kernels(&gpu)?;
    ring(&gpu)?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Strength 0 does all the work and leaves the picture as it is, so that it can be worked on again and again.
fn task(frame: &Frame, settings: Settings) -> Task {
    let settings = Settings { strength: Strength::from_share(0.0).expect("a share"), ..settings };
    Task { levels: levels(frame), weights: weights(frame), settings, counted: whole(frame) }
}

/// Everything that makes a curve from more than the plain histogram: the window of a second at 25 frames a second, scene
/// cuts, plateau and contrast limit.
fn modified() -> Settings {
    Settings {
        smoothing: Smoothing::of_seconds(1.0, 25.0),
        scene_threshold: Threshold::from_share(0.2).expect("a share"),
        plateau: Plateau::Millionths(50_000),
        max_gain: Gain::from_slope(3.0).expect("a slope"),
        ..Settings::default()
    }
}

/// Local equalization, with the same window.
fn tiles() -> Settings {
    Settings { method: Method::Clahe { columns: 8, rows: 8 }, plateau: Plateau::Off, ..modified() }
}

fn kernels(gpu: &Arc<Gpu>) -> anyhow::Result<()> {
    println!("Frames on the device, µs a frame, back-to-back launches (about 3 µs is what a launch costs the CPU)\n");
    println!(
        "| format | size | content | luminance | histogram | histogram + scan | map | all | all, modified | ratio | \
         clahe | ratio | batch |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (width, height) in SIZES {
        for content in Content::ALL {
            row(gpu, PixelFormat::Gray, (width, height), content)?;
        }
    }
    for format in [PixelFormat::Gray10le, PixelFormat::Gray12le, PixelFormat::Gray14le, PixelFormat::Gray16le] {
        for content in [Content::Photo, Content::Noise, Content::Flat] {
            row(gpu, format, (3840, 2160), content)?;
        }
    }
    for format in [
        PixelFormat::P010le,
        PixelFormat::Yuyv422,
        PixelFormat::Rgb24,
        PixelFormat::Bgra,
        PixelFormat::Gbrp10le,
        PixelFormat::Rgb48le,
    ] {
        row(gpu, format, (3840, 2160), Content::Photo)?;
    }
    println!();
    Ok(())
}

fn row(gpu: &Arc<Gpu>, format: PixelFormat, size: (usize, usize), content: Content) -> anyhow::Result<()> {
    let frame = picture(format, size, content);
    let (plain, tiles) = (&task(&frame, Settings::default()), &task(&frame, tiles()));
    let (task, modified) = (plain, &task(&frame, modified()));
    let layout = Layout::of(&frame, false)?;
    let mut pictures = Picture::several(gpu, &layout, SPREAD.div_ceil(layout.bytes()))?;
    let history = &mut History::on(pictures[0].stream())?;
    // The planes of these formats follow each other without a gap at these sizes, but for planar RGB.
    let bytes: Vec<u8> = frame.planes()[frame.rewritten_planes(false)]
        .iter()
        .flat_map(|plane| (0..plane.rows()).flat_map(|y| plane.row(y).iter().copied()))
        .collect();
    for picture in &mut pictures {
        picture.fill(&bytes)?;
        picture.equalize(history, task)?;
    }
    let luminance = if format.descriptor().model == histeq_video::frame::Model::Rgb {
        format!("{:.2}", each(&mut pictures, |picture| picture.make_luminance(task))?)
    } else {
        String::new()
    };
    let histogram = each(&mut pictures, |picture| picture.count(task))?;
    let with_scan =
        each(&mut pictures, |picture| picture.count(task).and_then(|()| picture.make_curve(history, task)))?;
    let map = each(&mut pictures, |picture| picture.map(task))?;
    // In turns, so that both see the same clocks.
    let (mut all, mut all_modified, mut all_tiles) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        all.push(each(&mut pictures, |picture| picture.equalize(history, task))?);
        all_modified.push(each(&mut pictures, |picture| picture.equalize(history, modified))?);
        all_tiles.push(each(&mut pictures, |picture| picture.equalize(history, tiles))?);
    }
    let batch = whole_batch(&mut pictures, history, task)?;
    let (all, all_modified, all_tiles) = (median(all), median(all_modified), median(all_tiles));
    println!(
        "| {format} | {}x{} | {} | {luminance} | {histogram:.2} | {with_scan:.2} | {map:.2} | {all:.2} | \
         {all_modified:.2} | {:.2} | {all_tiles:.2} | {:.2} | {batch} |",
        size.0,
        size.1,
        content.name(),
        all_modified / all,
        all_tiles / all,
    );
    Ok(())
}

/// Median µs that `work` takes on one of the pictures, all of which are gone through before one comes again.
fn each(pictures: &mut [Picture], mut work: impl FnMut(&mut Picture) -> Result<(), Error>) -> anyhow::Result<f64> {
    let stream = pictures[0].stream().clone();
    let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT));
    let (begin, end) = (event()?, event()?);
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        begin.record(&stream)?;
        pictures.iter_mut().try_for_each(&mut work)?;
        end.record(&stream)?;
        times.push(f64::from(begin.elapsed_ms(&end)?) * 1e3 / pictures.len() as f64);
    }
    Ok(median(times))
}

/// Median µs a picture where one launch does them all.
fn whole_batch(pictures: &mut [Picture], history: &mut History, task: &Task) -> anyhow::Result<String> {
    let stream = pictures[0].stream().clone();
    let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT));
    let (begin, end) = (event()?, event()?);
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        begin.record(&stream)?;
        if !Picture::equalize_batch(pictures, history, task)? {
            return Ok(String::new());
        }
        end.record(&stream)?;
        times.push(f64::from(begin.elapsed_ms(&end)?) * 1e3 / pictures.len() as f64);
    }
    Ok(format!("{:.2}", median(times)))
}

fn ring(gpu: &Arc<Gpu>) -> anyhow::Result<()> {
    println!("8-bit luma through pinned memory, µs a frame\n");
    println!("| size | ring depth | copies both ways alone | ring | ring, with the copy into pinned memory |");
    println!("|---|---|---|---|---|");
    for (width, height) in [(1280, 720), (1920, 1080), (3840, 2160), (7680, 4320)] {
        let frame = picture(PixelFormat::Gray, (width, height), Content::Photo);
        for depth in [1, 2, 3, 4] {
            let copies = both_ways(width * height)?;
            let staged = through(gpu, &frame, depth, Ring::submit_staged)?;
            let whole = through(gpu, &frame, depth, Ring::submit)?;
            println!("| {width}x{height} | {depth} | {copies:.1} | {staged:.1} | {whole:.1} |");
        }
    }
    println!();
    Ok(())
}

const FRAMES: usize = 300;

/// µs a frame through a ring.
fn through(
    gpu: &Arc<Gpu>,
    frame: &Frame,
    depth: usize,
    submit: fn(&mut Ring, Frame, Task) -> Result<(), Error>,
) -> anyhow::Result<f64> {
    let mut ring = Ring::new(gpu, depth)?;
    let mut begin = Instant::now();
    for index in 0..FRAMES + 10 * depth {
        // The first rounds allocate.
        if index == 10 * depth {
            begin = Instant::now();
        }
        if ring.in_flight() == depth {
            ring.collect()?;
        }
        submit(&mut ring, frame.clone(), task(frame, Settings::default()))?;
    }
    while ring.collect()?.is_some() {}
    Ok(begin.elapsed().as_secs_f64() * 1e6 / FRAMES as f64)
}

/// µs for as many bytes up and down at once, on two streams that wait for nobody.
fn both_ways(bytes: usize) -> Result<f64, DriverError> {
    let context = CudaContext::new(0)?;
    let (up, down) = (context.new_stream()?, context.new_stream()?);
    // SAFETY: nobody reads what is in there.
    let pinned = || unsafe { context.alloc_pinned_with_flags::<u8>(bytes, CU_MEMHOSTALLOC_PORTABLE) };
    let (from, mut to) = (pinned()?, pinned()?);
    let (mut above, below) = (up.alloc_zeros::<u8>(bytes)?, down.alloc_zeros::<u8>(bytes)?);
    context.synchronize()?;
    let begin = Instant::now();
    for _ in 0..FRAMES {
        up.memcpy_htod(&from, &mut above)?;
        down.memcpy_dtoh(&below, &mut to)?;
    }
    context.synchronize()?;
    Ok(begin.elapsed().as_secs_f64() * 1e6 / FRAMES as f64)
}
