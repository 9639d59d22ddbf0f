//! Every backend produces the reference's bytes: for all formats, for sizes, strides and contents that often break
//! kernels, and with several frames in flight.

use crate::backends::{Backend, Sequence, available, by_reference};
use crate::pictures::{Bytes, Content, Picture, Placement, difference, placement_and_range};
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::frame::{Frame, Matrix, Memory, PixelFormat, Plane, Range};
use histeq::internal::spec::parameters::{Settings, Strength};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One format for each memory layout of luminance.
pub const LAYOUTS: &[PixelFormat] = &[
    PixelFormat::Gray,
    PixelFormat::Yuv420p,
    PixelFormat::Nv12,
    PixelFormat::Uyvy422,
    PixelFormat::Yuyv422,
    PixelFormat::Ya8,
    PixelFormat::Yuv420p9le,
    PixelFormat::Yuv420p10le,
    PixelFormat::Yuv422p10be,
    PixelFormat::P010le,
    PixelFormat::P010be,
    PixelFormat::Gray12le,
    PixelFormat::Gray16le,
    PixelFormat::Gray16be,
    PixelFormat::Y210le,
    PixelFormat::Rgb24,
    PixelFormat::Bgra,
    PixelFormat::Argb,
    PixelFormat::Gbrp,
    PixelFormat::Gbrp10le,
    PixelFormat::Gbrp16be,
    PixelFormat::Rgb48le,
];

const SIZES: [(usize, usize); 9] =
    [(1, 1), (2, 1), (15, 1), (1, 10_000), (33, 17), (63, 5), (64, 2), (130, 3), (1919, 3)];

/// Equalizes the frames with `equalizer` at full queue depth, and compares them with the reference.
pub fn check(backend: &str, equalizer: &mut Sequence, settings: Settings, pictures: &[Picture]) {
    let mut reference = by_reference(settings);
    pictures.iter().for_each(|picture| reference.submit(picture.make()).unwrap());
    reference.finish().unwrap();
    let mut collected = 0;
    let mut collect = |equalizer: &mut Sequence| {
        let found = equalizer.collect().unwrap().expect("a frame under way");
        let picture = pictures[collected];
        if let Some(difference) = difference(&reference.collect().unwrap().unwrap(), &found) {
            panic!("{backend}, frame {collected}: {difference}\n{picture:?}");
        }
        collected += 1;
    };
    for picture in pictures {
        while equalizer.in_flight() >= equalizer.capacity() {
            collect(equalizer);
        }
        equalizer.submit(picture.make()).unwrap();
    }
    equalizer.finish().unwrap();
    while equalizer.in_flight() > 0 {
        collect(equalizer);
    }
    assert!(equalizer.collect().unwrap().is_none());
    assert_eq!(collected, pictures.len());
}

fn check_all(backends: &[Backend], pictures: &[Picture]) {
    for backend in backends {
        let settings = Settings::default();
        check(&backend.name, &mut backend.make(settings, 2), settings, pictures);
    }
}

#[test]
fn every_format_is_equalized_like_the_reference() {
    let mut pictures = Vec::new();
    for &format in PixelFormat::ALL {
        for (size, content) in
            [((33, 17), Content::Noise), ((1, 1), Content::Ramp), ((150, 4), Content::Ramp), ((67, 2), Content::Flat)]
        {
            for range in [Range::Limited, Range::Full] {
                let placement = Placement::Padded(13);
                pictures.push(Picture { range, content, placement, ..Picture::new(format, size) });
            }
        }
    }
    check_all(&available(), &pictures);
}

#[test]
fn sizes_strides_and_contents_that_break_kernels() {
    let mut pictures = Vec::new();
    for &format in LAYOUTS {
        for size in SIZES {
            for content in Content::ALL {
                let (placement, range) = placement_and_range(pictures.len());
                pictures.push(Picture { range, content, placement, ..Picture::new(format, size) });
            }
        }
    }
    check_all(&available(), &pictures);
}

#[test]
fn every_placement_of_every_layout_in_both_ranges() {
    let mut pictures = Vec::new();
    for &format in LAYOUTS {
        for placement in Placement::ALL {
            for range in [Range::Limited, Range::Full] {
                pictures.push(Picture { range, placement, ..Picture::new(format, (131, 9)) });
            }
        }
    }
    check_all(&available(), &pictures);
}

#[test]
fn rgb_is_weighed_by_its_matrix() {
    let mut pictures = Vec::new();
    for format in
        [PixelFormat::Rgb24, PixelFormat::Bgr0, PixelFormat::Gbrp, PixelFormat::Gbrp16le, PixelFormat::Bgr48be]
    {
        for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020] {
            pictures.push(Picture { matrix, ..Picture::new(format, (77, 13)) });
        }
    }
    check_all(&available(), &pictures);
}

#[test]
fn frames_of_7680x4320_do_not_overflow() {
    let settings = Settings::default();
    let backends = available();
    for format in [PixelFormat::Gray, PixelFormat::Gray10le, PixelFormat::Gray16le] {
        // The results are known in advance; the reference would take seconds for each frame.
        for (content, equalized) in [(Content::Flat, Content::Flat), (Content::TwoLevel, Content::BlackAndWhite)] {
            let picture = Picture { range: Range::Full, content, ..Picture::new(format, (7680, 4320)) };
            let frame = picture.make();
            let expected = Picture { content: equalized, ..picture }.make();
            for backend in &backends {
                let mut equalizer = backend.make(settings, 2);
                equalizer.submit(frame.clone()).unwrap();
                let found = equalizer.collect().unwrap().expect("a frame under way");
                assert_eq!(difference(&expected, &found), None, "{}: {picture:?}", backend.name);
            }
        }
    }
}

#[test]
fn frames_come_out_in_order_from_any_number_of_threads() {
    // Large and small frames alternate, so that later frames are finished before earlier ones.
    let pictures: Vec<Picture> = (0..24)
        .map(|index| {
            let size = if index % 3 == 0 { (400, 300) } else { (8, 8) };
            Picture { seed: index + 1, ..Picture::new(PixelFormat::Yuv420p, size) }
        })
        .collect();
    for backend in available() {
        for threads in [1, 2, 3] {
            let settings = Settings::default();
            let name = format!("{} with {threads} threads", backend.name);
            check(&name, &mut backend.make(settings, threads), settings, &pictures);
        }
    }
}

#[test]
fn strength_reaches_every_backend() {
    for backend in available() {
        for share in [0.0, 0.004, 0.5] {
            let settings = Settings { strength: Strength::from_share(share).unwrap(), ..Settings::default() };
            let pictures: Vec<Picture> = LAYOUTS.iter().map(|&format| Picture::new(format, (101, 7))).collect();
            check(&backend.name, &mut backend.make(settings, 2), settings, &pictures);
        }
    }
}

#[test]
fn planes_without_luminance_are_shared_and_frame_properties_are_kept() {
    for backend in available() {
        let mut equalizer = backend.make(Settings::default(), 1);
        for format in [PixelFormat::Yuv420p, PixelFormat::Nv12, PixelFormat::Yuva444p10le, PixelFormat::Gbrap] {
            let mut frame = Picture::new(format, (34, 18)).make();
            frame.pts = Some(812);
            frame.attachment = Some(Arc::new("side data"));
            equalizer.submit(frame.clone()).unwrap();
            let equalized = equalizer.collect().unwrap().unwrap();
            assert_eq!(equalized.pts, Some(812));
            assert!(equalized.attachment.is_some());
            for plane in (0..frame.planes().len()).filter(|plane| !frame.rewritten_planes(false).contains(plane)) {
                let (before, after) = (frame.planes()[plane].memory(), equalized.planes()[plane].memory());
                assert!(Arc::ptr_eq(before, after), "{}: plane {plane} of {format} was copied", backend.name);
            }
        }
    }
}

#[test]
fn dropping_a_backend_with_frames_under_way_ends_it() {
    for backend in available() {
        let mut equalizer = backend.make(Settings::default(), 3);
        let frame = Picture::new(PixelFormat::Gray, (640, 480)).make();
        for _ in 0..equalizer.capacity() {
            equalizer.submit(frame.clone()).unwrap();
        }
        let (over, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(equalizer);
            let _ = over.send(());
        });
        let dropped = waiting.recv_timeout(std::time::Duration::from_secs(60));
        dropped.unwrap_or_else(|_| panic!("{}: it never ends", backend.name));
        let memory = frame.planes()[0].memory();
        assert_eq!(Arc::strong_count(memory), 1, "{}: the frame is still held", backend.name);
    }
}

/// Memory that panics when it is read while `armed` is set.
struct Trap {
    memory: Bytes,
    armed: Arc<AtomicBool>,
}

impl Memory for Trap {
    fn bytes(&self) -> &[u8] {
        assert!(!self.armed.load(Ordering::Relaxed), "trapped");
        self.memory.bytes()
    }
}

#[test]
fn a_panic_in_a_cpu_thread_becomes_an_error_and_blocks_no_thread() {
    let mut cpu = Sequence::new(Box::new(Cpu::new(3)), Settings::default());
    let armed = Arc::new(AtomicBool::new(false));
    let memory = Arc::new(Trap { memory: Bytes(vec![7; 64]), armed: armed.clone() });
    let plane = Plane::new(memory, 0, 8, 8, 8).unwrap();
    let trap = Frame::new(PixelFormat::Gray, (8, 8), Range::Full, Matrix::Bt601, vec![plane]).unwrap();
    armed.store(true, Ordering::Relaxed);
    cpu.submit(trap).unwrap();
    for _ in 0..3 {
        cpu.submit(Picture::new(PixelFormat::Gray, (64, 64)).make()).unwrap();
    }
    let error = cpu.collect().expect_err("the panic");
    assert_eq!(format!("{error:#}"), "the equalizer panicked at frame 0: trapped");
    assert_eq!(cpu.in_flight(), 0);
    assert!(cpu.submit(Picture::new(PixelFormat::Gray, (8, 8)).make()).is_err());
}
