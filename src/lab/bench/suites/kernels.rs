//! `histeq-lab kernels`: frames that are on the GPU already, beside the bandwidth of its memory.

use crate::bench::Setup;
use crate::bench::content::{Content, first_plane, gray, picture};
use crate::bench::copies::{DeviceCopies, on_device, within_device};
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::{Expected, ahead, check, check_values, detail, local, modified};
use crate::bench::setup::size_name;
use anyhow::{Result, anyhow};
use histeq::Named;
use histeq::internal::cuda::Gpu;
use histeq::internal::cuda::memory::BufferLayout;
use histeq::internal::cuda::pipeline::{DevicePicture, History, Ring, Task};
use histeq::internal::frame::{Frame, Model, PixelFormat};
use histeq::internal::spec::parameters::{Settings, Strength};
use std::collections::VecDeque;
use std::sync::Arc;

/// Video sizes, and the square sizes of the publications.
const SIZES: [(usize, usize); 8] =
    [(1280, 720), (1920, 1080), (3840, 2160), (7680, 4320), (1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192)];

/// The size at which depths, contents and formats are compared.
const TYPICAL: (usize, usize) = (3840, 2160);

/// Further sizes at which depths are compared.
const SMALLER: [(usize, usize); 2] = [(1920, 1080), (1280, 720)];

/// Total bytes of the frames of one measurement: more than any GPU's cache.
const SPREAD: usize = 400 << 20;

/// The fewest frames of a measurement. With a look-ahead of 12 frames, a frame is mapped 3 turns before it is counted
/// again; in a video, the counted and the mapped frame always differ.
const MIN_PICTURES: usize = 15;

/// The columns of a case: names and settings. There are fewer where the reference takes long: for the squares of the
/// publications, and for all but one content at 8K.
fn columns((size, _, content): FrameCase) -> Vec<(&'static str, Settings)> {
    let mut columns = vec![
        ("exact", Settings::default()),
        ("modified", modified()),
        ("look-ahead", ahead()),
        ("clahe", local()),
        ("detail", detail()),
    ];
    columns.truncate(match size {
        (width, height) if width == height => 1,
        (7680, 4320) if content != Content::Photo => 3,
        _ => 5,
    });
    columns
}

/// Tables of frames by size, depth and content, and of single kernels by format.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let mut frames = Table::new("frames", "Frames on the device, one after the other", &["size", "bits", "content"])
        .note(
            "Time a frame, launches waiting in the queue, pictures in turns that take more memory than the cache. Copy \
             is a copy of the frame within the device; share is how much of the memory's bandwidth, measured by one \
             large copy, exact makes use of, if the frame is read and written once. batch is exact with as many frames \
             in one launch as it takes, 64 at most. modified has a window of 25 frames, scene cuts, plateau and \
             contrast limit, look-ahead the same, 12 frames of them behind the frame that is mapped, clahe 8x8 tiles \
             and the same window, detail 16x12 tiles and that window; what follows them is how many times exact they \
             take, in turns with it. What is timed has strength 0, which does all the work and leaves pictures as they are, and is read back; the same \
             kernels are verified at full strength.",
        )
        .measures(["copy", "exact"], Unit::Microseconds)
        .measures(["share of bandwidth"], Unit::Percent)
        .measures(["batch", "modified"], Unit::Microseconds)
        .measures(["modified / exact"], Unit::Times)
        .measures(["look-ahead"], Unit::Microseconds)
        .measures(["look-ahead / exact"], Unit::Times)
        .measures(["clahe"], Unit::Microseconds)
        .measures(["clahe / exact"], Unit::Times)
        .measures(["detail"], Unit::Microseconds)
        .measures(["detail / exact"], Unit::Times);
    let mut kernels = Table::new("kernels", "Kernel by kernel", &["format", "size", "content"])
        .note("Time a frame of each kernel by itself, launches waiting in the queue.")
        .measures(["luminance", "histogram", "histogram and curve", "map", "exact"], Unit::Microseconds);
    let Ok(gpu) = setup.gpu() else { return Ok(vec![frames, kernels]) };
    let stream = one_stream(gpu)?;
    let mut copies = within_device(&stream, spread(setup), setup.repeats)?;
    frames.notes.push(format!("One large copy: {:.0} GB/s read and written.", copies.bandwidth.median));
    let (cases, formats) = (cases(setup), formats());
    setup.steps.expect(cases.len() + formats.len());
    std::thread::scope(|scope| {
        // The CPU computes the references of the next cases while the GPU is measured.
        let (mut cases, mut started) = (cases.into_iter(), VecDeque::new());
        loop {
            while started.len() < references_at_once()
                && let Some(case) = cases.next()
            {
                started.push_back(scope.spawn(move || Referenced::new(case)));
            }
            let Some(next) = started.pop_front() else { return Ok::<(), anyhow::Error>(()) };
            let case = next.join().expect("a reference");
            let (size, depth, content) = case.case;
            setup.steps.next(format!("{} {depth} bits {}", size_name(size), content.name()))?;
            frames.push(frame_row(setup, gpu, &mut copies, &case)?);
        }
    })?;
    for format in formats {
        setup.steps.next(format.to_string())?;
        kernels.push(kernel_row(setup, gpu, format)?);
    }
    Ok(vec![frames, kernels])
}

type FrameCase = ((usize, usize), u8, Content);

/// A case with the reference's output of its frame, for each column.
struct Referenced {
    case: FrameCase,
    frame: Frame,
    /// For each column, the outputs of two frames in one temporal window.
    expected: Vec<[Frame; 2]>,
}

impl Referenced {
    fn new(case: FrameCase) -> Self {
        let (size, depth, content) = case;
        let frame = picture(gray(depth), size, content);
        let expected = std::thread::scope(|scope| {
            let columns = columns(case).into_iter().map(|(_, settings)| {
                let frame = &frame;
                scope.spawn(move || references(frame, settings))
            });
            let started: Vec<_> = columns.collect();
            started.into_iter().map(|column| column.join().expect("a reference")).collect()
        });
        Referenced { case, frame, expected }
    }
}

/// The number of cases whose references are computed at once: each takes one to five threads, one for each column.
fn references_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 4).max(1))
}

/// Every size at 8 bits; video sizes with every content; and every depth with every content at three sizes.
fn cases(setup: &Setup) -> Vec<FrameCase> {
    let typical = if setup.quick { (96, 64) } else { TYPICAL };
    let contents = |size: (usize, usize)| if size.0 == size.1 { &Content::ALL[..1] } else { Content::ALL };
    let sizes = setup.sizes(&SIZES).into_iter().flat_map(|size| contents(size).iter().map(move |&all| (size, 8, all)));
    let deep_sizes = [typical].into_iter().chain(setup.sizes(&SMALLER));
    let depths = [10, 12, 14, 16];
    let deep = deep_sizes.flat_map(|size| {
        depths.into_iter().flat_map(move |depth| Content::ALL.iter().map(move |&content| (size, depth, content)))
    });
    sizes.chain(deep).collect()
}

fn formats() -> [PixelFormat; 8] {
    [
        PixelFormat::Gray,
        PixelFormat::Gray10le,
        PixelFormat::Gray16le,
        PixelFormat::P010le,
        PixelFormat::Yuyv422,
        PixelFormat::Rgb24,
        PixelFormat::Bgra,
        PixelFormat::Gbrp10le,
    ]
}

fn spread(setup: &Setup) -> usize {
    if setup.quick { 4 << 20 } else { SPREAD }
}

/// The stream of a [`DevicePicture`], for copies.
fn one_stream(gpu: &Arc<Gpu>) -> Result<Arc<cudarc::driver::CudaStream>> {
    let frame = picture(PixelFormat::Gray, (16, 16), Content::Flat);
    let pictures = DevicePicture::several(gpu, &BufferLayout::new(&frame, false)?, 1)?;
    Ok(pictures[0].stream().clone())
}

/// A task of strength 0: it does all the work and leaves the frame unchanged, so that it can be equalized again.
fn task(frame: &Frame, settings: Settings) -> Result<Task> {
    let strength = Strength::from_share(0.0).expect("a share");
    let settings = Settings { strength, ..settings };
    Ok(Task::new(frame, settings, frame.whole())?)
}

/// Copies of this frame on the device, in total larger than the cache.
fn pictures(setup: &Setup, gpu: &Arc<Gpu>, frame: &Frame) -> Result<Vec<DevicePicture>> {
    let layout = BufferLayout::new(frame, false)?;
    let count = spread(setup).div_ceil(layout.bytes()).max(MIN_PICTURES);
    let mut pictures = DevicePicture::several(gpu, &layout, count)?;
    // At these sizes, the planes of these formats follow each other without a gap, except in planar RGB.
    let bytes: Vec<u8> = frame.planes()[frame.rewritten_planes(false)]
        .iter()
        .flat_map(|plane| (0..plane.rows()).flat_map(|y| plane.row(y).iter().copied()))
        .collect();
    pictures.iter_mut().try_for_each(|picture| picture.fill(&bytes))?;
    Ok(pictures)
}

/// Microseconds of `work` per frame, over all frames in turn. `work` gets all frames and the index of the current one.
fn each(
    setup: &Setup,
    pictures: &mut [DevicePicture],
    mut work: impl FnMut(&mut [DevicePicture], usize) -> Result<(), histeq::internal::cuda::Error>,
) -> Result<Value> {
    let stream = pictures[0].stream().clone();
    let count = pictures.len();
    let value =
        setup.repeats.value(|| on_device(&stream, || Ok((0..count).try_for_each(|index| work(pictures, index))?)))?;
    Ok(value.times(1.0 / count as f64))
}

/// Equalizes a frame; or with a look-ahead, counts it and maps the frame that has waited for its curve.
fn equalize(
    pictures: &mut [DevicePicture],
    index: usize,
    history: &mut History,
    task: &Task,
) -> Result<(), histeq::internal::cuda::Error> {
    let ahead = (task.look_ahead() as usize).min(pictures.len() - 1);
    if ahead == 0 {
        return pictures[index].equalize(history, task);
    }
    let waiting = (index + pictures.len() - ahead) % pictures.len();
    let [picture, waiting] = pictures.get_disjoint_mut([index, waiting]).expect("two pictures");
    picture.equalize_ahead(waiting, history, task)
}

fn frame_row(setup: &Setup, gpu: &Arc<Gpu>, copies: &mut DeviceCopies, referenced: &Referenced) -> Result<Row> {
    let Referenced { case, frame, expected } = referenced;
    let (size, depth, content) = *case;
    let mut row = Row::new([size_name(size), depth.to_string(), content.name().to_owned()]);
    let bytes = size.0 * size.1 * if depth == 8 { 1 } else { 2 };
    row.set("copy", copies.time_of(bytes)?);
    let mut pictures = pictures(setup, gpu, frame)?;
    let mut history = History::on(pictures[0].stream())?;
    for ((_, settings), expected) in columns(*case).into_iter().zip(expected) {
        verify(gpu, frame, settings, expected)?;
    }
    let exact = task(frame, Settings::default())?;
    for (name, settings) in columns(*case) {
        let task = task(frame, settings)?;
        // Each column is measured right before `exact`, so that both run at the same clock rates.
        let time = each(setup, &mut pictures, |pictures, index| equalize(pictures, index, &mut history, &task))?;
        if name == "exact" {
            let limit = 2.0 * bytes as f64 / 1e3 / copies.bandwidth.median;
            row.set("share of bandwidth", Value::derived(limit / time.median * 100.0));
        } else {
            let beside = each(setup, &mut pictures, |pictures, index| pictures[index].equalize(&mut history, &exact))?;
            row.set(&format!("{name} / exact"), Value::derived(time.median / beside.median));
        }
        row.set(name, time);
    }
    if let Some(time) = batch(setup, &mut pictures, &mut history, frame, &expected[0][0])? {
        row.set("batch", time);
    }
    let (unchanged, mut found) = (first_plane(frame), vec![0; bytes]);
    for picture in &pictures {
        picture.read(&mut found)?;
        check_values("a frame that was timed", &unchanged, &found)?;
    }
    Ok(row)
}

/// Microseconds per frame with many frames per launch; `None` if there is no such kernel. First verifies the output.
fn batch(
    setup: &Setup,
    pictures: &mut [DevicePicture],
    history: &mut History,
    frame: &Frame,
    expected: &Frame,
) -> Result<Option<Value>> {
    let full = Task::new(frame, Settings::default(), frame.whole())?;
    if !DevicePicture::equalize_batch(pictures, history, &full)? {
        return Ok(None);
    }
    let (before, expected) = (first_plane(frame), first_plane(expected));
    let mut found = vec![0; expected.len()];
    for picture in pictures.iter_mut() {
        picture.read(&mut found)?;
        check_values("a frame of a batch", &expected, &found)?;
        picture.fill(&before)?;
    }
    let (stream, count, task) =
        (pictures[0].stream().clone(), pictures.len() as f64, task(frame, Settings::default())?);
    let mut work = || Ok(DevicePicture::equalize_batch(pictures, history, &task).map(drop)?);
    Ok(Some(setup.repeats.value(|| on_device(&stream, &mut work))?.times(1.0 / count)))
}

fn kernel_row(setup: &Setup, gpu: &Arc<Gpu>, format: PixelFormat) -> Result<Row> {
    let size = if setup.quick { (96, 64) } else { TYPICAL };
    let frame = picture(format, size, Content::Photo);
    verify(gpu, &frame, Settings::default(), &references(&frame, Settings::default()))?;
    let task = task(&frame, Settings::default())?;
    let mut pictures = pictures(setup, gpu, &frame)?;
    let mut history = History::on(pictures[0].stream())?;
    let mut row = Row::new([format.to_string(), size_name(size), Content::Photo.name().to_owned()]);
    row.set("exact", each(setup, &mut pictures, |pictures, index| pictures[index].equalize(&mut history, &task))?);
    if format.descriptor().model == Model::Rgb {
        row.set("luminance", each(setup, &mut pictures, |pictures, index| pictures[index].make_luminance(&task))?);
    }
    row.set("histogram", each(setup, &mut pictures, |pictures, index| pictures[index].count(&task))?);
    let with_curve = each(setup, &mut pictures, |pictures, index| {
        pictures[index].count(&task)?;
        pictures[index].make_curve(&mut history, &task)
    })?;
    row.set("histogram and curve", with_curve);
    row.set("map", each(setup, &mut pictures, |pictures, index| pictures[index].map(&task))?);
    Ok(row)
}

/// The reference's outputs for a still picture: two frames in one temporal window.
fn references(frame: &Frame, settings: Settings) -> [Frame; 2] {
    let mut expected = Expected::new(frame, settings);
    // With a look-ahead, a frame gets the curve of a later one.
    expected.skip(settings.backend_look_ahead() as usize);
    [expected.after(1).clone(), expected.after(1).clone()]
}

/// Compares the output of the same kernels at full strength with the reference, for two frames in one temporal window.
fn verify(gpu: &Arc<Gpu>, frame: &Frame, settings: Settings, expected: &[Frame; 2]) -> Result<()> {
    let mut ring = Ring::new(gpu, 1)?;
    let ahead = settings.backend_look_ahead() as usize;
    for number in 0..ahead + 2 {
        let task = Task::new(frame, settings, frame.whole())?;
        ring.submit(frame.clone(), task)?;
        if number >= ahead {
            let found = ring.collect()?.ok_or_else(|| anyhow!("no frame came back"))?;
            check(&format!("{} on the GPU", frame.format()), &expected[number - ahead], &found.frame)?;
        }
    }
    Ok(())
}
