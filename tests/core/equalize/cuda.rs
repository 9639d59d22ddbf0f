//! Properties of the GPU backend alone: its errors, the lifetime of its memory, and the overlap of its stages. Other
//! tests compare its bytes.

use crate::backends::{Sequence, by_reference, gpu};
use crate::failing::guarded;
use crate::pictures::{Content, Picture, difference};
use histeq::internal::cuda::memory::BufferLayout;
use histeq::internal::cuda::pipeline::{DevicePicture, History, Ring, Task, Timeline};
use histeq::internal::cuda::{Code, Error, Gpu};
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::frame::{Buffer, Frame, PixelFormat, Plane, Pool};
use histeq::internal::spec::parameters::{Gain, Rect, Settings};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn task(frame: &Frame) -> Task {
    Task::new(frame, Settings::default(), frame.whole()).unwrap()
}

#[test]
fn a_gpu_that_is_not_there_is_an_error_with_a_remedy() {
    let error = Cuda::new(99, 3).err().expect("no hundredth GPU");
    assert!(
        matches!(
            error,
            Error::NoDriver | Error::NoDevice | Error::NoSuchDevice { index: 99, .. } | Error::DriverTooOld { .. }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("use backend cpu"), "{error}");
}

#[test]
fn frames_that_take_many_blocks_are_equalized_like_the_reference() {
    let Some(gpu) = gpu() else { return };
    let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 3).unwrap()), Settings::default());
    for format in [
        PixelFormat::Gray,
        PixelFormat::Yuyv422,
        PixelFormat::Yuv420p9be,
        PixelFormat::P010le,
        PixelFormat::Gray12le,
        PixelFormat::Gray14le,
        PixelFormat::Gray16be,
        PixelFormat::Ya16le,
        PixelFormat::Y210le,
        PixelFormat::Rgb24,
        PixelFormat::Bgra,
        PixelFormat::Gbrp,
        PixelFormat::Gbrp12be,
        PixelFormat::Rgb48be,
        PixelFormat::Rgba64le,
    ] {
        for content in Content::ALL {
            let picture = Picture { content, ..Picture::new(format, (3841, 1083)) };
            let frame = picture.make();
            cuda.submit(frame.clone()).unwrap();
            let found = cuda.collect().unwrap().unwrap();
            let expected = by_reference(Settings::default()).equalize(&frame);
            assert_eq!(difference(&expected, &found), None, "{picture:?}");
        }
    }
}

#[test]
fn planes_that_are_too_large_for_shared_memory_are_equalized_like_the_reference() {
    let Some(gpu) = gpu() else { return };
    let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 2).unwrap()), Settings::default());
    for format in [PixelFormat::Gray, PixelFormat::Yuv420p9be, PixelFormat::P010le, PixelFormat::Gray12le] {
        let picture = Picture { content: Content::Noise, ..Picture::new(format, (7681, 4321)) };
        let frame = picture.make();
        cuda.submit(frame.clone()).unwrap();
        let found = cuda.collect().unwrap().unwrap();
        let expected = by_reference(Settings::default()).equalize(&frame);
        assert_eq!(difference(&expected, &found), None, "{picture:?}");
    }
}

#[test]
fn a_batch_becomes_what_its_frames_become_one_by_one() {
    let Some(gpu) = gpu() else { return };
    // Planes of less than a block up to more than fits into shared memory; batches that take several rounds of teams of
    // blocks, or several launches.
    for (size, count) in
        [((1, 1), 3), ((15, 1), 70), ((321, 77), 300), ((1283, 721), 41), ((3841, 2161), 9), ((7681, 4320), 3)]
    {
        let pictures: Vec<Picture> = (0..count)
            .map(|index| {
                let content = Content::ALL[index % Content::ALL.len()];
                Picture { content, ..Picture::new(PixelFormat::Gray, size) }
            })
            .collect();
        let frames: Vec<Frame> = pictures.iter().map(|picture| picture.make()).collect();
        let expected: Vec<Vec<u8>> =
            frames.iter().map(|frame| samples(&by_reference(Settings::default()).equalize(frame))).collect();
        let layout = BufferLayout::new(&frames[0], false).unwrap();
        let mut on_device = DevicePicture::several(gpu, &layout, count).unwrap();
        let mut history = History::on(on_device[0].stream()).unwrap();
        // The batch runs twice, because the state that it leaves must not affect the next one.
        for _ in 0..2 {
            for (picture, frame) in on_device.iter_mut().zip(&frames) {
                picture.fill(&samples(frame)).unwrap();
            }
            assert!(DevicePicture::equalize_batch(&mut on_device, &mut history, &task(&frames[0])).unwrap());
            for (index, picture) in on_device.iter().enumerate() {
                let mut found = vec![0; size.0 * size.1];
                picture.read(&mut found).unwrap();
                assert!(found == expected[index], "picture {index} of {size:?}: {:?}", pictures[index]);
            }
        }
    }
}

/// The samples of a gray frame, without padding.
fn samples(frame: &Frame) -> Vec<u8> {
    let plane = &frame.planes()[0];
    (0..plane.rows()).flat_map(|y| plane.row(y).iter().copied()).collect()
}

#[test]
fn frames_on_several_streams_at_once_all_come_to_an_end() {
    let Some(gpu) = gpu() else { return };
    // Each launch needs the whole GPU: two that are each half resident would wait for each other forever. The cases: 8
    // bits, 8 bits with a modified histogram, 16 bits, whose curve blocks also wait for each other, and another `Gpu`.
    let modified = Settings { max_gain: Gain::from_slope(3.0).unwrap(), ..Settings::default() };
    let (plain, other) = (Settings::default(), Gpu::open(0).unwrap());
    let kinds = [
        (gpu, PixelFormat::Gray, plain),
        (gpu, PixelFormat::Gray, modified),
        (gpu, PixelFormat::Gray16le, modified),
        (&other, PixelFormat::Gray, plain),
    ];
    std::thread::scope(|scope| {
        for (gpu, format, settings) in kinds {
            scope.spawn(move || keep_busy(gpu, format, settings));
        }
    });
}

/// Equalizes large frames many times on a separate stream, and compares them with the reference.
fn keep_busy(gpu: &Arc<Gpu>, format: PixelFormat, settings: Settings) {
    let frames =
        [Content::Noise, Content::Ramp].map(|content| Picture { content, ..Picture::new(format, (3841, 2161)) }.make());
    let expected = frames.each_ref().map(|frame| samples(&by_reference(settings).equalize(frame)));
    let task = task(&frames[0]).with(settings).unwrap();
    let layout = BufferLayout::new(&frames[0], false).unwrap();
    let frames = frames.each_ref().map(samples);
    let mut pictures = DevicePicture::several(gpu, &layout, 8).unwrap();
    let mut history = History::on(pictures[0].stream()).unwrap();
    let mut found = vec![0; expected[0].len()];
    for _ in 0..5 {
        for (picture, frame) in pictures.iter_mut().zip(frames.iter().cycle()) {
            picture.fill(frame).unwrap();
        }
        pictures.iter_mut().for_each(|picture| picture.equalize(&mut history, &task).unwrap());
        for (picture, expected) in pictures.iter().zip(expected.iter().cycle()) {
            picture.read(&mut found).unwrap();
            assert!(found == *expected, "{format}");
        }
    }
}

#[test]
fn a_cuda_error_is_survived_with_the_same_bytes() {
    let Some(gpu) = gpu() else { return };
    // Contents and sizes differ, so that mixed-up frames are detected.
    let pictures = (1..=12).map(|seed| {
        let size = if seed < 8 { (64, 48) } else { (33, 17) };
        Picture { seed, ..Picture::new(PixelFormat::Yuv420p, size) }
    });
    let mut reference = by_reference(Settings::default());
    let mut cuda = Cuda::on(gpu, 4).unwrap();
    cuda.refuse_next();
    let (mut equalizer, said) = guarded(Box::new(cuda), Settings::default());
    for picture in pictures {
        assert_eq!(difference(&reference.equalize(&picture.make()), &equalizer.equalize(&picture.make())), None);
    }
    let said = said.lock().unwrap();
    assert!(said.len() == 1 && said[0].contains("going on with reference: GPU: launching scan:"), "{said:?}");
    println!("{}", said[0]);
}

#[test]
fn a_ring_goes_on_after_a_refused_launch() {
    let Some(gpu) = gpu() else { return };
    let mut ring = Ring::new(gpu, 2).unwrap();
    let picture = Picture::new(PixelFormat::Yuv420p10le, (640, 360));
    let frame = picture.make();
    ring.refuse_next();
    assert!(ring.submit(frame.clone(), task(&frame)).is_err());
    assert_eq!(ring.in_flight(), 0);
    for _ in 0..4 {
        ring.submit(frame.clone(), task(&frame)).unwrap();
        let found = ring.collect().unwrap().unwrap().frame;
        assert_eq!(difference(&by_reference(Settings::default()).equalize(&frame), &found), None);
    }
}

#[test]
fn a_task_for_another_kind_of_picture_never_reaches_the_kernels() {
    let Some(gpu) = gpu() else { return };
    let make = |format, size| Picture::new(format, size).make();
    let (narrow, wide) = (make(PixelFormat::Gray, (64, 48)), make(PixelFormat::Gray16le, (64, 48)));
    let larger = make(PixelFormat::Gray, (640, 480));
    // With the other frame's task, there would be more levels than counters, or a region beyond the plane.
    for (frame, of_another) in [(&narrow, &wide), (&narrow, &larger), (&wide, &narrow)] {
        let mut ring = Ring::new(gpu, 1).unwrap();
        let submitted = catch_unwind(AssertUnwindSafe(|| ring.submit(frame.clone(), task(of_another))));
        assert!(submitted.is_err());
        let mut pictures = DevicePicture::several(gpu, &BufferLayout::new(frame, false).unwrap(), 1).unwrap();
        let mut history = History::on(pictures[0].stream()).unwrap();
        let equalized = catch_unwind(AssertUnwindSafe(|| pictures[0].equalize(&mut history, &task(of_another))));
        assert!(equalized.is_err());
    }
    let beyond = Rect { x: 60, y: 40, width: 1000, height: usize::MAX };
    let within = Rect { x: 60, y: 40, width: 4, height: 8 };
    let found = [beyond, within].map(|counted| {
        let mut ring = Ring::new(gpu, 1).unwrap();
        ring.submit(narrow.clone(), Task::new(&narrow, Settings::default(), counted).unwrap()).unwrap();
        ring.collect().unwrap().unwrap().frame
    });
    assert_eq!(difference(&found[0], &found[1]), None, "a region is cut off where the frame ends");
}

#[test]
fn a_frame_outlives_its_backend_and_can_be_let_go_anywhere() {
    let Some(gpu) = gpu() else { return };
    let picture = Picture::new(PixelFormat::Yuv420p, (320, 200));
    let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 2).unwrap()), Settings::default());
    cuda.submit(picture.make()).unwrap();
    let frame = cuda.collect().unwrap().unwrap();
    cuda.submit(picture.make()).unwrap();
    drop(cuda);
    let expected = by_reference(Settings::default()).equalize(&picture.make());
    std::thread::spawn(move || assert_eq!(difference(&expected, &frame), None)).join().unwrap();
}

#[test]
fn a_thread_that_waits_for_the_gpu_sleeps() {
    let Some(gpu) = gpu() else { return };
    assert!(gpu.waiting_threads_sleep().unwrap());
}

#[test]
fn the_driver_takes_machine_code_for_its_gpu_and_else_ptx() {
    let Some(gpu) = gpu() else { return };
    let all = gpu.load_all_kernels().unwrap();
    assert!(all.iter().any(|taken| taken.name == "map"), "{all:?}");
    for taken in all {
        assert_eq!(taken.loaded, taken.offered, "{taken:?}");
        assert!(matches!(taken.instead, Code::Ptx(_)), "{taken:?}");
        assert!(!taken.versions.is_empty() && taken.versions_instead.len() == taken.versions.len(), "{taken:?}");
        if let Code::Cubin((major, minor)) = taken.loaded {
            assert!(taken.versions.iter().all(|&version| version == major * 10 + minor), "{taken:?}");
        }
    }
}

/// `frame` with its rewritten planes in pinned memory, with `padding` bytes between rows, and bottom up if so wished.
fn pinned(pool: &dyn Pool, frame: &Frame, padding: usize, bottom_up: bool) -> Frame {
    let travelling = frame.rewritten_planes(false);
    frame.with_planes(|index| {
        let plane = travelling.contains(&index).then(|| &frame.planes()[index])?;
        let stride = plane.row_bytes() + padding;
        // The plane begins after the buffer's first byte, as in cropped frames.
        let mut buffer = pool.buffer(64 + stride * plane.rows()).unwrap();
        assert!(buffer.is_pinned());
        let place = |y: usize| 64 + stride * if bottom_up { plane.rows() - 1 - y } else { y };
        for y in 0..plane.rows() {
            buffer[place(y)..][..plane.row_bytes()].copy_from_slice(plane.row(y));
        }
        let stride = if bottom_up { -(stride as isize) } else { stride as isize };
        Plane::new(buffer.freeze(), place(0), stride, plane.row_bytes(), plane.rows())
    })
}

#[test]
fn rows_with_padding_go_up_from_pinned_memory_like_any_others() {
    let Some(gpu) = gpu() else { return };
    let mut ring = Ring::new(gpu, 2).unwrap();
    for format in [PixelFormat::Yuv420p, PixelFormat::Yuv420p10le, PixelFormat::Yuyv422, PixelFormat::Gbrp] {
        for size in [(1, 1), (15, 1), (1, 1000), (854, 480), (1921, 1083)] {
            let plain = Picture::new(format, size).make();
            let expected = by_reference(Settings::default()).equalize(&plain);
            for (padding, bottom_up) in [(0, false), (2, false), (64, false), (4096, false), (0, true), (64, true)] {
                let pool = ring.input_pool(false);
                let frame = pinned(&pool, &plain, padding, bottom_up);
                ring.submit(frame.clone(), task(&frame)).unwrap();
                let found = ring.collect().unwrap().unwrap().frame;
                let what = format!("{format} {size:?}, padding {padding}, bottom up: {bottom_up}");
                assert_eq!(difference(&expected, &found), None, "{what}");
            }
        }
    }
}

#[test]
fn memory_for_frames_on_their_way_up_is_pinned_within_bounds_and_never_runs_out() {
    if gpu().is_none() {
        return;
    }
    // A separate `Gpu`, because other tests use the pinned memory of the shared one.
    let gpu = Gpu::open(0).unwrap();
    let [pool, other] = [(); 2].map(|()| Ring::new(&gpu, 1).unwrap().input_pool(false));
    let len = 64 << 20;
    let lent: Vec<_> = (0..10).map(|number| [&pool, &other][number % 2].buffer(len).unwrap()).collect();
    let pinned = |lent: &[Box<dyn Buffer>]| lent.iter().filter(|buffer| buffer.is_pinned()).count();
    assert_eq!(pinned(&lent), 8, "of all rings together");
    drop(lent);
    let again: Vec<_> = (0..8).map(|_| pool.buffer(len).unwrap()).collect();
    assert_eq!(pinned(&again), 8, "those that came back are used again");
    drop(again);
    assert!(pool.buffer(len / 2).unwrap().is_pinned(), "those of another size make room");
}

/// The error of CUDA's event timestamps, in milliseconds.
const TICK: f32 = 0.01;

fn overlap(a: &Range<f32>, b: &Range<f32>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Runs a 4K plane through a ring of four frames. Returns the frames' timelines.
fn run(gpu: &Arc<Gpu>, staged: bool) -> Vec<Timeline> {
    let frame = Picture::new(PixelFormat::Gray, (3840, 2160)).make();
    let expected = by_reference(Settings::default()).equalize(&frame);
    let mut ring = Ring::timed(gpu, 4).unwrap();
    for _ in 0..60 {
        if ring.in_flight() == ring.depth() {
            ring.collect().unwrap();
        }
        if staged { ring.submit_staged(frame.clone(), task(&frame)) } else { ring.submit(frame.clone(), task(&frame)) }
            .unwrap();
    }
    while let Some(found) = ring.collect().unwrap() {
        assert_eq!(difference(&expected, &found.frame), None);
    }
    ring.timelines().to_vec()
}

#[test]
fn a_frame_goes_up_while_its_neighbours_are_worked_on_and_come_down() {
    let Some(gpu) = gpu() else { return };
    // Staged runs are repeated, because other tests may delay them on the GPU.
    for staged in [false, true, true, true, true] {
        let timelines = run(gpu, staged);
        let limit = if staged { "the device and the bus alone" } else { "with the copy on the host" };
        println!("3840x2160 gray, ring of 4, {limit}; ms since the start");
        println!("frame  upload           kernels          download");
        for (index, Timeline { upload, kernels, download }) in timelines.iter().enumerate().skip(20).take(12) {
            println!(
                "{index:5}  {:7.3}-{:7.3}  {:7.3}-{:7.3}  {:7.3}-{:7.3}",
                upload.start, upload.end, kernels.start, kernels.end, download.start, download.end
            );
        }
        let (mut with_kernels, mut with_download) = (0, 0);
        for (index, next) in timelines.iter().enumerate().skip(1) {
            let before = &timelines[index.saturating_sub(3)..index];
            with_kernels += usize::from(before.iter().any(|frame| overlap(&next.upload, &frame.kernels)));
            with_download += usize::from(before.iter().any(|frame| overlap(&next.upload, &frame.download)));
        }
        println!("of {} uploads, {with_kernels} overlap kernels and {with_download} a download", timelines.len());
        assert!(timelines.iter().all(|frame| {
            frame.upload.end <= frame.kernels.start + TICK && frame.kernels.end <= frame.download.start + TICK
        }));
        // Without staging, whether the GPU is still busy depends on how fast the host copies the next upload.
        if staged && with_download > 0 && with_kernels > 0 {
            return;
        }
    }
    panic!("no upload is under way while a frame before it is worked on, and comes down");
}
