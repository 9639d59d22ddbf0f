//! Frames in GPU memory: imported, equalized on the GPU, kept there and exported with the bytes of the CPU, within
//! memory limits; and errors that say what to do instead.
#![allow(unsafe_code, reason = "hands addresses on the GPU to the library, as its callers do")]

use crate::backends::{by_reference, gpu};
use crate::failing::{Call, Failing, guarded};
use crate::pictures::{Content, Picture, Placement, difference, placement_and_range};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};
use histeq::internal::cuda::{Error, Gpu};
use histeq::internal::equalize::backend::Failover;
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::counting::{Mask, measure};
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::equalize::{EqualizeStage, Executor, OutputDepth, Work};
use histeq::internal::frame::{
    DevicePlanes, DeviceRows, Frame, FrameError, Matrix, Memory, MemoryError, OnDevice, PixelFormat, Plane, Range,
};
use histeq::internal::spec::natural::Assumed;
use histeq::internal::spec::parameters::{
    Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Strength, Stretch,
};
use histeq::{Backend, Equalizer, Input, Look, Output};
use std::sync::{Arc, Mutex};

/// A frame in GPU memory that the test, not the library, has allocated.
struct Place {
    stream: Arc<CudaStream>,
    buffers: Vec<CudaSlice<u8>>,
    /// The source bytes of asynchronous copies into `buffers`, which may still be read after `new` returns.
    _filled: Vec<Vec<u8>>,
    planes: DevicePlanes,
}

/// The value of padding bytes between rows.
const PADDING: u8 = 0xa5;

impl Place {
    /// Allocates buffers for a frame, with `padding` bytes between rows, and fills them with `frame` if there is one.
    /// The copies are only enqueued.
    fn new(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        (format, size): (PixelFormat, (usize, usize)),
        padding: usize,
        frame: Option<&Frame>,
    ) -> Self {
        let (mut buffers, mut filled, mut planes) = (Vec::new(), Vec::new(), Vec::new());
        for plane in 0..format.descriptor().planes().len() {
            let (row_bytes, rows) = (format.row_bytes(plane, size.0), format.rows(plane, size.1));
            let pitch = row_bytes + padding;
            let mut bytes = vec![PADDING; pitch * rows];
            if let Some(frame) = frame {
                for (y, row) in bytes.chunks_exact_mut(pitch).enumerate() {
                    row[..row_bytes].copy_from_slice(frame.planes()[plane].row(y));
                }
            }
            let buffer = stream.clone_htod(&bytes).unwrap();
            let address = buffer.device_ptr(stream).0;
            planes.push(DeviceRows { address, pitch, row_bytes, rows });
            buffers.push(buffer);
            filled.push(bytes);
        }
        let planes = DevicePlanes { context: gpu.handle(), stream: stream.cu_stream() as usize, planes };
        Place { stream: stream.clone(), buffers, _filled: filled, planes }
    }

    fn for_frame(gpu: &Gpu, stream: &Arc<CudaStream>, frame: &Frame, padding: usize) -> Self {
        Place::new(gpu, stream, (frame.format(), (frame.width(), frame.height())), padding, Some(frame))
    }

    /// Enqueues clearing of all planes.
    fn clear(&mut self) {
        self.buffers.iter_mut().for_each(|buffer| self.stream.memset_zeros(buffer).unwrap());
    }

    /// Reads the planes into a frame like `frame`. Panics if padding bytes have changed.
    fn read(&self, frame: &Frame) -> Frame {
        let bytes: Vec<Vec<u8>> = self.buffers.iter().map(|buffer| self.stream.clone_dtoh(buffer).unwrap()).collect();
        self.stream.synchronize().unwrap();
        frame.with_planes(|index| {
            let DeviceRows { pitch, row_bytes, rows, .. } = self.planes.planes[index];
            for row in bytes[index].chunks_exact(pitch) {
                assert!(row[row_bytes..].iter().all(|&byte| byte == PADDING), "{frame:?}: padding of plane {index}");
            }
            let memory = Arc::new(crate::pictures::Bytes(bytes[index].clone()));
            Plane::new(memory, 0, pitch as isize, row_bytes, rows)
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}

/// Imports the frame into GPU memory of the library.
fn imported(gpu: &Gpu, place: &Place, frame: &Frame) -> Result<Frame, Error> {
    // SAFETY: the place has these planes until it is dropped, and nothing but its own stream writes them.
    let planes = unsafe { gpu.import(frame.format(), (frame.width(), frame.height()), &place.planes) }?;
    let mut planes: Vec<Option<Plane>> = planes.into_iter().map(Some).collect();
    Ok(frame.with_planes(|index| planes[index].take()))
}

fn export(gpu: &Gpu, frame: &Frame, place: &Place) -> Result<(), Error> {
    // SAFETY: as above.
    unsafe { gpu.export(frame, &place.planes) }
}

/// Equalizes the frames with the stage at full queue depth.
fn through(stage: &mut EqualizeStage, frames: impl IntoIterator<Item = Frame>) -> Vec<Frame> {
    let mut found = Vec::new();
    for frame in frames {
        while !stage.has_room() {
            found.extend(stage.collect().unwrap());
        }
        stage.submit(frame).unwrap();
    }
    stage.finish().unwrap();
    while let Some(equalized) = stage.collect().unwrap() {
        found.push(equalized);
    }
    found.into_iter().map(|equalized| equalized.frame).collect()
}

fn gain(slope: f64) -> Gain {
    Gain::from_slope(slope).unwrap()
}

/// Exact equalization, the program's defaults, and settings that rewrite other planes.
fn all_settings() -> Vec<Settings> {
    let by_default = Settings {
        smoothing: Smoothing::new(6, 2).looking_ahead(3),
        stretch: Stretch::Unused { most: gain(4.0), fades: true },
        max_gain: gain(3.0),
        hides_noise: true,
        chroma: Chroma::Follow,
        plateau: Plateau::Millionths(20_000),
        ..Settings::default()
    };
    let in_tiles = Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..by_default };
    let natural = |assumed| Method::Natural { assumed, most: Gain::OFF, faithful: false };
    vec![
        Settings::default(),
        by_default,
        in_tiles,
        Settings {
            chroma: Chroma::Follow,
            stretch: Stretch::Full { share: Strength::from_share(0.5).unwrap() },
            strength: Strength::from_share(0.5).unwrap(),
            ..Settings::default()
        },
        Settings { method: natural(Assumed::Veil), ..by_default },
        Settings { method: natural(Assumed::Cast), smoothing: Smoothing::OFF, ..by_default },
        Settings { method: Method::Deflicker, smoothing: Smoothing::new(4, 1), ..by_default },
    ]
}

const SIZES: [(usize, usize); 5] = [(1, 1), (2, 1), (33, 17), (130, 6), (321, 90)];

/// Bytes of padding between rows. With 31, rows begin at odd addresses.
const PITCHES: [usize; 3] = [0, 31, 256];

#[test]
fn pictures_on_the_gpu_stay_there_and_become_what_they_become_on_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    for (turn, settings) in all_settings().into_iter().enumerate() {
        for (number, &format) in PixelFormat::ALL.iter().enumerate() {
            // Exact equalization is tested with all sizes, other settings with every third one.
            let sizes = SIZES.iter().enumerate().filter(|(index, _)| turn == 0 || (index + number + turn) % 3 == 0);
            for (index, &size) in sizes {
                let padding = PITCHES[(number + index) % PITCHES.len()];
                let what = format!("{format} {size:?}, padding {padding}, {settings:?}");
                let frames: Vec<Frame> = (0..5)
                    .map(|frame| {
                        let (_, range) = placement_and_range(number);
                        let content = [Content::NearZero, Content::Ramp, Content::Noise][frame % 3];
                        let seed = frame as u64 + 1;
                        Picture { seed, content, range, matrix: Matrix::Bt709, ..Picture::new(format, size) }.make()
                    })
                    .collect();
                let expected = through(&mut EqualizeStage::new(Box::new(Cpu::new(1)), settings), frames.clone());
                let backend = Box::new(Cuda::on(gpu, 3).unwrap());
                let mut stage = EqualizeStage::new(backend, settings).staying_on_device(true);
                let on_gpu: Vec<Frame> = frames
                    .iter()
                    .map(|frame| {
                        let mut place = Place::for_frame(gpu, &stream, frame, padding);
                        let imported = imported(gpu, &place, frame).unwrap();
                        // The caller may reuse its memory as soon as `import` returns.
                        place.clear();
                        imported
                    })
                    .collect();
                let found = through(&mut stage, on_gpu.clone());
                assert_eq!(found.len(), expected.len(), "{what}");
                for ((before, found), expected) in on_gpu.iter().zip(&found).zip(&expected) {
                    for (index, (before, after)) in before.planes().iter().zip(found.planes()).enumerate() {
                        assert!(!before.memory().is_on_host(), "{what}: plane {index} came down to be equalized");
                        assert!(after.on_device().is_some() && !after.memory().is_on_host(), "{what}: plane {index}");
                    }
                    let target = Place::new(gpu, &stream, (format, size), PITCHES[(number + index + 1) % 3], None);
                    export(gpu, found, &target).unwrap();
                    let out = target.read(found);
                    assert_eq!(difference(expected, &out), None, "{what}");
                    assert!(found.planes().iter().all(|plane| !plane.memory().is_on_host()), "{what}: came down");
                    found.bring_down().unwrap();
                    assert!(found.planes().iter().all(|plane| plane.memory().is_on_host()), "{what}");
                    assert_eq!(difference(expected, found), None, "{what}, read on the host");
                }
            }
        }
    }
}

#[test]
fn planes_that_are_not_rewritten_are_passed_on_where_they_lie() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    let frame = Picture::new(PixelFormat::Yuva420p, (320, 200)).make();
    let on_gpu = imported(gpu, &Place::for_frame(gpu, &stream, &frame, 0), &frame).unwrap();
    for (chroma, rewritten) in [(Chroma::Keep, 0..1), (Chroma::Follow, 0..3)] {
        let settings = Settings { chroma, ..Settings::default() };
        let backend = Box::new(Cuda::on(gpu, 1).unwrap());
        let mut stage = EqualizeStage::new(backend, settings).staying_on_device(true);
        let found = through(&mut stage, [on_gpu.clone()]).pop().unwrap();
        for (index, (before, after)) in on_gpu.planes().iter().zip(found.planes()).enumerate() {
            assert_eq!(Arc::ptr_eq(before.memory(), after.memory()), !rewritten.contains(&index), "plane {index}");
        }
        // A frame left on the GPU can be equalized there again, and then copied to the host.
        let again = through(&mut EqualizeStage::new(Box::new(Cuda::on(gpu, 1).unwrap()), settings), [found]);
        let by_reference = |frame: Frame| {
            through(&mut EqualizeStage::new(Box::<Reference>::default(), settings), [frame]).pop().unwrap()
        };
        assert_eq!(difference(&by_reference(by_reference(frame.clone())), &again[0]), None);
        assert!(again[0].planes()[rewritten].iter().all(|plane| plane.on_device().is_none()));
    }
}

#[test]
fn what_is_told_of_a_frame_comes_down_without_it() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    let frames: Vec<Frame> =
        (1..6).map(|seed| Picture { seed, ..Picture::new(PixelFormat::Yuv420p, (130, 60)) }.make()).collect();
    for settings in all_settings() {
        let settings = Settings { smoothing: Smoothing::new(3, 1), ..settings };
        let works = |frames: &[Frame]| {
            let work =
                |frame: &Frame| Work::new(frame.clone(), settings).reporting_everything().staying_on_device(true);
            let works = frames.iter().map(work).enumerate();
            works.map(|(index, work)| if index < 2 { work.warming_up() } else { work }).collect::<Vec<_>>()
        };
        let results = |backend: &mut dyn Executor, works: Vec<Work>| {
            let value_of = |work| {
                backend.submit(work).unwrap();
                backend.collect().unwrap().unwrap()
            };
            works.into_iter().map(value_of).collect::<Vec<_>>()
        };
        let expected = results(&mut Reference::default(), works(&frames));
        let on_gpu =
            frames.iter().map(|frame| imported(gpu, &Place::for_frame(gpu, &stream, frame, 1), frame).unwrap());
        let found = results(&mut Cuda::on(gpu, 2).unwrap(), works(&on_gpu.collect::<Vec<_>>()));
        for (expected, found) in expected.iter().zip(&found) {
            assert!(found.frame.planes().iter().all(|plane| !plane.memory().is_on_host()), "{settings:?}");
            assert_eq!(difference(&expected.frame, &found.frame), None, "{settings:?}");
            let (expected, found) = (&expected.applied, &found.applied);
            assert_eq!((&expected.counts, &expected.scene), (&found.counts, &found.scene), "{settings:?}");
            assert_eq!((&expected.curves, expected.chroma_gain), (&found.curves, found.chroma_gain), "{settings:?}");
        }
    }
}

#[test]
fn copies_wait_for_the_work_on_the_callers_stream() {
    let Some(gpu) = gpu() else { return };
    let frame = Picture::new(PixelFormat::Nv12, (640, 360)).make();
    for stream in [gpu.context.new_stream().unwrap(), gpu.context.default_stream()] {
        let source = Place::for_frame(gpu, &stream, &frame, 16);
        let mut place = Place::new(gpu, &stream, (frame.format(), (640, 360)), 16, None);
        let mut large = stream.alloc_zeros::<u8>(256 << 20).unwrap();
        stream.synchronize().unwrap();
        // The stream is busy for some milliseconds before it copies the frame.
        (0..50).for_each(|_| stream.memset_zeros(&mut large).unwrap());
        for (origin, destination) in source.buffers.iter().zip(&mut place.buffers) {
            stream.memcpy_dtod(origin, destination).unwrap();
        }
        let found = imported(gpu, &place, &frame).unwrap();
        assert_eq!(difference(&frame, &found), None);
        (0..50).for_each(|_| stream.memset_zeros(&mut large).unwrap());
        place.clear();
        export(gpu, &found, &source).unwrap();
        let mut target = Place::new(gpu, &stream, (frame.format(), (640, 360)), 0, None);
        (0..50).for_each(|_| stream.memset_zeros(&mut large).unwrap());
        target.clear();
        export(gpu, &found, &target).unwrap();
        assert_eq!(difference(&frame, &target.read(&frame)), None, "an export overtook the work before it");
        assert_eq!(difference(&frame, &source.read(&frame)), None);
    }
}

#[test]
fn frames_on_the_host_are_exported_however_their_rows_lie() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    for format in [PixelFormat::Yuv420p, PixelFormat::P010le, PixelFormat::Rgb24, PixelFormat::Gbrap] {
        for size in [(1, 1), (15, 1), (33, 17), (640, 360)] {
            for placement in Placement::ALL {
                let frame = Picture { placement, ..Picture::new(format, size) }.make();
                let target = Place::new(gpu, &stream, (format, size), 7, None);
                export(gpu, &frame, &target).unwrap();
                assert_eq!(difference(&frame, &target.read(&frame)), None, "{format} {size:?} {placement:?}");
            }
        }
    }
    // A frame whose luma is in pinned memory and whose other planes are on the GPU can be exported.
    let settings = Settings::default();
    let frame = Picture::new(PixelFormat::Yuv444p, (321, 90)).make();
    let on_gpu = imported(gpu, &Place::for_frame(gpu, &stream, &frame, 0), &frame).unwrap();
    let mut stage = EqualizeStage::new(Box::new(Cuda::on(gpu, 1).unwrap()), settings);
    let found = through(&mut stage, [on_gpu]).pop().unwrap();
    assert!(found.planes()[0].memory().is_pinned() && found.planes()[1].on_device().is_some());
    let target = Place::new(gpu, &stream, (PixelFormat::Yuv444p, (321, 90)), 3, None);
    export(gpu, &found, &target).unwrap();
    assert_eq!(difference(&by_reference(settings).equalize(&frame), &target.read(&found)), None);
}

#[test]
fn what_needs_the_host_brings_frames_down() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    let size = (130, 60);
    let mask = Arc::new(Mask::new(size, (0..130 * 60).map(|index| (index % 3) as u8).collect()).unwrap());
    let auto = Settings { region: Region::Auto, ..Settings::default() };
    type Prepare = Box<dyn Fn(EqualizeStage) -> EqualizeStage>;
    let stages: Vec<(&str, Settings, Prepare)> = vec![
        ("gray", Settings::default(), Box::new(|stage| stage.gray(true))),
        ("depth", Settings::default(), Box::new(|stage| stage.with_output_depth(OutputDepth::Ten))),
        ("depth and back", Settings::default(), Box::new(|stage| stage.with_output_depth(OutputDepth::Eight))),
        ("mask", Settings::default(), Box::new(move |stage| stage.with_mask(Some(mask.clone())))),
        ("bars", auto, Box::new(|stage| stage)),
    ];
    for format in [PixelFormat::Yuv420p, PixelFormat::Yuv444p, PixelFormat::Gbrp, PixelFormat::Rgb24] {
        let frames: Vec<Frame> = (1..4).map(|seed| Picture { seed, ..Picture::new(format, size) }.make()).collect();
        for (name, settings, prepare) in &stages {
            if name.starts_with("depth") && format == PixelFormat::Rgb24 {
                continue;
            }
            let expected = through(&mut prepare(EqualizeStage::new(Box::new(Cpu::new(1)), *settings)), frames.clone());
            let on_gpu =
                frames.iter().map(|frame| imported(gpu, &Place::for_frame(gpu, &stream, frame, 5), frame).unwrap());
            let stage = EqualizeStage::new(Box::new(Cuda::on(gpu, 2).unwrap()), *settings).staying_on_device(true);
            let found = through(&mut prepare(stage), on_gpu.collect::<Vec<_>>());
            assert_eq!(found.len(), expected.len());
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(difference(expected, found), None, "{name}, {format}");
            }
        }
    }
}

#[test]
fn planes_of_another_context_or_shape_are_refused_with_the_way_out() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    let frame = Picture::new(PixelFormat::Yuv420p, (64, 48)).make();
    let mut place = Place::for_frame(gpu, &stream, &frame, 0);
    place.planes.context += 8;
    let errors = [imported(gpu, &place, &frame).map(drop), export(gpu, &frame, &place)].map(|done| done.unwrap_err());
    for error in errors {
        assert!(matches!(error, Error::OtherContext) && error.to_string().contains("primary context"), "{error}");
    }
    place.planes.context -= 8;
    place.planes.planes[1].rows -= 1;
    let errors = [imported(gpu, &place, &frame).map(drop), export(gpu, &frame, &place)].map(|done| done.unwrap_err());
    for error in errors {
        assert!(matches!(error, Error::Planes(FrameError::PlaneSize { plane: 1, .. })), "{error}");
    }
}

#[test]
fn pictures_on_the_gpu_take_no_more_memory_than_they_may() {
    if gpu().is_none() {
        return;
    }
    // A separate `Gpu`, because frames of other tests would count against the limit.
    let gpu = Gpu::open(0).unwrap();
    let stream = gpu.context.new_stream().unwrap();
    gpu.allow_for_pictures(1 << 20).unwrap();
    let frame = Picture::new(PixelFormat::Gray, (512, 512)).make();
    let place = Place::for_frame(&gpu, &stream, &frame, 0);
    let mut held: Vec<Frame> = (0..4).map(|_| imported(&gpu, &place, &frame).unwrap()).collect();
    let error = imported(&gpu, &place, &frame).unwrap_err();
    assert!(matches!(error, Error::PicturesFull { needed: 1, in_use: 1, most: 1 }), "{error}");
    assert!(error.to_string().contains("release some of them"), "{error}");
    held.pop();
    held.push(imported(&gpu, &place, &frame).unwrap());
    drop(held);
    // Idle memory of another size is freed for a new frame.
    let large = Picture::new(PixelFormat::Gray, (1024, 1024)).make();
    let found = imported(&gpu, &Place::for_frame(&gpu, &stream, &large, 0), &large).unwrap();
    assert_eq!(difference(&large, &found), None);
    drop(found);
    // A ring limits its frames in flight, so that the caller's frames find memory.
    gpu.allow_for_pictures(4 << 20).unwrap();
    let backend = Box::new(Cuda::on(&gpu, 8).unwrap());
    let mut stage = EqualizeStage::new(backend, Settings::default()).staying_on_device(true);
    let expected = by_reference(Settings::default()).equalize(&frame);
    let mut most = 0;
    for _ in 0..40 {
        while !stage.has_room() {
            let found = stage.collect().unwrap().unwrap().frame;
            assert!(found.planes()[0].on_device().is_some());
            assert_eq!(difference(&expected, &found), None);
        }
        stage.submit(imported(&gpu, &place, &frame).unwrap()).unwrap();
        most = most.max(stage.in_flight());
    }
    assert_eq!(most, 4);
}

/// A GPU backend that fails at the first frame, with a CPU fallback; and the list of messages.
fn failing_stage(gpu: &Arc<Gpu>) -> (EqualizeStage, Arc<Mutex<Vec<String>>>) {
    let mut cuda = Cuda::on(gpu, 3).unwrap();
    cuda.refuse_next();
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = said.clone();
    let tell = Box::new(move |line: &str| list.lock().unwrap().push(line.to_owned()));
    let failover = Failover::new(Box::new(cuda), Box::new(|| Box::new(Cpu::new(1))), tell);
    (EqualizeStage::new(Box::new(failover), Settings::default()).staying_on_device(true), said)
}

#[test]
fn frames_are_on_the_host_once_the_cpu_goes_on() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    let frames: Vec<Frame> =
        (1..9).map(|seed| Picture { seed, ..Picture::new(PixelFormat::Yuv420p, (64, 48)) }.make()).collect();
    let on_gpu: Vec<Frame> =
        frames.iter().map(|frame| imported(gpu, &Place::for_frame(gpu, &stream, frame, 0), frame).unwrap()).collect();
    let (mut stage, said) = failing_stage(gpu);
    let found = through(&mut stage, on_gpu);
    assert_eq!(found.len(), frames.len());
    let mut reference = by_reference(Settings::default());
    for (frame, found) in frames.iter().zip(&found) {
        assert!(found.planes()[0].on_device().is_none());
        assert!(found.planes().iter().all(|plane| plane.memory().is_on_host()));
        assert_eq!(difference(&reference.equalize(frame), found), None);
    }
    let said = said.lock().unwrap();
    assert!(said.len() == 1 && said[0].contains("going on with cpu"), "{said:?}");
}

#[test]
fn a_result_that_is_to_stay_is_on_the_host_where_a_cpu_makes_it() {
    let frame = Picture::new(PixelFormat::Yuv420p, (64, 48)).make();
    for backend in [Box::new(Cpu::new(1)) as Box<dyn Executor>, Box::new(Reference::default())] {
        let mut stage = EqualizeStage::new(backend, Settings::default()).staying_on_device(true);
        let found = through(&mut stage, [frame.clone()]).pop().unwrap();
        assert_eq!(difference(&by_reference(Settings::default()).equalize(&frame), &found), None);
        assert!(found.planes().iter().all(|plane| plane.on_device().is_none() && plane.memory().is_on_host()));
    }
}

#[test]
fn a_setting_that_the_gpu_does_not_know_is_left_to_the_cpu_with_a_note() {
    let not_known = || Error::Unsupported { setting: "sharpness" };
    let failing = Failing::new(Box::new(Reference::default()), move |call| match call {
        Call::Submit(2) => Err(not_known().into()),
        _ => Ok(()),
    });
    let (mut equalizer, said) = guarded(Box::new(failing), Settings::default());
    let mut reference = by_reference(Settings::default());
    for seed in 1..5 {
        let frame = Picture { seed, ..Picture::new(PixelFormat::Gray, (20, 10)) }.make();
        assert_eq!(difference(&reference.equalize(&frame), &equalizer.equalize(&frame)), None);
    }
    let note = "failing failed, going on with reference: the GPU backend does not know the setting sharpness (use \
                backend cpu)";
    assert_eq!(*said.lock().unwrap(), [note]);
}

#[test]
fn planes_on_a_gpu_are_checked_against_format_and_size() {
    let rows = |pitch, row_bytes, rows| DeviceRows { address: 4096, pitch, row_bytes, rows };
    let planes_of = |planes: Vec<DeviceRows>| DevicePlanes { context: 8, stream: 0, planes };
    let nv12 = planes_of(vec![rows(64, 33, 17), rows(64, 34, 9)]);
    let (format, size) = (PixelFormat::Nv12, (33, 17));
    assert_eq!(nv12.check(format, size), Ok(()));
    assert_eq!(nv12.check(format, (33, 0)), Err(FrameError::Empty { width: 33, height: 0 }));
    let planes = nv12.check(PixelFormat::Yuv420p, size);
    assert!(matches!(planes, Err(FrameError::PlaneCount { expected: 3, found: 2, .. })), "{planes:?}");
    let wider = nv12.check(format, (35, 17));
    assert!(
        matches!(wider, Err(FrameError::PlaneSize { plane: 0, expected: (35, 17), found: (33, 17), .. })),
        "{wider:?}"
    );
    let overlapping = planes_of(vec![rows(64, 33, 17), rows(33, 34, 9)]).check(format, size);
    assert!(matches!(overlapping, Err(FrameError::PlanePlace { plane: 1, pitch: 33, .. })), "{overlapping:?}");
    let nowhere = planes_of(vec![DeviceRows { address: 0, ..rows(64, 33, 17) }, rows(64, 34, 9)]).check(format, size);
    assert!(matches!(nowhere, Err(FrameError::PlanePlace { plane: 0, .. })), "{nowhere:?}");
    // With a single row, the pitch does not matter.
    assert_eq!(planes_of(vec![rows(0, 2, 1), rows(0, 2, 1)]).check(format, (2, 1)), Ok(()));
}

/// Memory that claims to be on a GPU, and panics if all of it is copied to the host.
struct Distant(Arc<dyn Memory>);

impl Memory for Distant {
    fn bytes(&self) -> &[u8] {
        panic!("the whole plane came down");
    }

    fn rows(&self, starts: &[usize], row_bytes: usize) -> std::result::Result<Vec<u8>, MemoryError> {
        self.0.rows(starts, row_bytes)
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn on_device(&self) -> Option<OnDevice> {
        Some(OnDevice { context: 8, address: 4096 })
    }

    fn is_on_host(&self) -> bool {
        false
    }
}

#[test]
fn measuring_takes_some_rows_of_planes_on_a_gpu_whatever_the_format() {
    for (number, &format) in PixelFormat::ALL.iter().enumerate() {
        for size in [(1, 1), (2, 2), (33, 17), (130, 61), (320, 144)] {
            let (placement, range) = placement_and_range(number);
            let frame = Picture { placement, range, ..Picture::new(format, size) }.make();
            let distant = frame.with_planes(|index| {
                let plane = &frame.planes()[index];
                let start = if plane.stride() < 0 { plane.stride().unsigned_abs() * (plane.rows() - 1) } else { 0 };
                let memory = Arc::new(Distant(plane.memory().clone()));
                Plane::new(memory, start, plane.stride(), plane.row_bytes(), plane.rows())
            });
            let part = Rect { x: size.0 / 3, y: size.1 / 4, width: size.0 / 2 + 1, height: size.1 / 2 + 1 };
            for counted in [frame.whole(), part.within(size).unwrap()] {
                let measures = [&frame, &distant].map(|frame| measure(frame, counted, None).unwrap());
                assert_eq!(measures[0], measures[1], "{format} {size:?} {counted:?}");
            }
        }
    }
}

#[test]
fn measuring_on_the_gpu_takes_some_rows_whatever_the_format() {
    let Some(gpu) = gpu() else { return };
    let stream = gpu.context.new_stream().unwrap();
    for &format in PixelFormat::ALL {
        for size in [(1, 1), (2, 2), (33, 17), (130, 61), (320, 144)] {
            let frame = Picture { range: Range::Full, ..Picture::new(format, size) }.make();
            let found = imported(gpu, &Place::for_frame(gpu, &stream, &frame, 9), &frame).unwrap();
            let measures = [&frame, &found].map(|frame| measure(frame, frame.whole(), None).unwrap());
            assert_eq!(measures[0], measures[1], "{format} {size:?}");
            assert!(found.planes().iter().all(|plane| !plane.memory().is_on_host()), "{format} {size:?}");
        }
    }
}

#[test]
fn a_frame_on_the_gpu_outlives_its_gpu_and_can_be_read_anywhere() {
    if gpu().is_none() {
        return;
    }
    let gpu = Gpu::open(0).unwrap();
    let stream = gpu.context.new_stream().unwrap();
    let frame = Picture::new(PixelFormat::Yuv420p10le, (320, 200)).make();
    let on_gpu = imported(&gpu, &Place::for_frame(&gpu, &stream, &frame, 0), &frame).unwrap();
    let backend = Box::new(Cuda::on(&gpu, 2).unwrap());
    let mut stage = EqualizeStage::new(backend, Settings::default()).staying_on_device(true);
    let found = through(&mut stage, [on_gpu]).pop().unwrap();
    drop((stage, stream, gpu));
    let expected = by_reference(Settings::default()).equalize(&frame);
    std::thread::spawn(move || assert_eq!(difference(&expected, &found), None)).join().unwrap();
}

#[test]
fn the_front_takes_pictures_on_the_gpu_and_leaves_results_there() {
    let size = (98, 62);
    for (format, look) in [
        (PixelFormat::Yuv420p, Look::Natural),
        (PixelFormat::Nv12, Look::Haze),
        (PixelFormat::P010le, Look::Underwater),
        (PixelFormat::Rgb24, Look::Night),
        (PixelFormat::Gray16le, Look::Thermal),
        (PixelFormat::Yuv444p, Look::Exact),
    ] {
        let picture = |seed| Picture { seed, content: Content::Ramp, range: Range::Full, ..Picture::new(format, size) };
        let frames: Vec<Frame> = (1..40).map(|seed| picture(seed).make()).collect();
        let build = |backend| {
            let builder = Equalizer::builder(format, size.0, size.1).range(Range::Full).rate(10.0).look(look);
            builder.backend(backend).stay_on_gpu().build().unwrap()
        };
        let mut cpu = build(Backend::Cpu);
        let mut expected: Vec<Output> = Vec::new();
        for frame in &frames {
            expected.extend(cpu.push(Input::frame(frame)).unwrap());
        }
        expected.extend(cpu.finish().unwrap().map(Result::unwrap));
        let nowhere = DevicePlanes { context: 0, stream: 0, planes: Vec::new() };
        // SAFETY: nothing is copied where there is no GPU.
        assert!(matches!(unsafe { cpu.push_device(&nowhere) }, Err(histeq::Error::NotOnGpu)));
        // SAFETY: as above.
        assert!(matches!(unsafe { expected[0].copy_to_device(&nowhere) }, Err(histeq::Error::NotOnGpu)));

        let Some(gpu) = gpu() else { return };
        let stream = gpu.context.new_stream().unwrap();
        let mut equalizer = build(Backend::Cuda);
        let mut found = Vec::new();
        for frame in &frames {
            let mut place = Place::for_frame(gpu, &stream, frame, 31);
            // SAFETY: the place has these planes until it is dropped, and nothing but its own stream writes them.
            found.extend(unsafe { equalizer.push_device(&place.planes) }.unwrap());
            place.clear();
        }
        found.extend(equalizer.finish().unwrap().map(Result::unwrap));
        assert_eq!(found.len(), frames.len());
        for (found, expected) in found.iter().zip(&expected) {
            let target = Place::new(gpu, &stream, (format, size), 256, None);
            // SAFETY: as above.
            unsafe { found.copy_to_device(&target.planes) }.unwrap();
            assert!(found.frame().planes().iter().all(|plane| !plane.memory().is_on_host()), "{format}: came down");
            let out = target.read(expected.frame());
            assert_eq!(difference(expected.frame(), &out), None, "{format} {look}, frame {}", found.number());
        }
    }
}
