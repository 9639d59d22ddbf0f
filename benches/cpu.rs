//! The CPU backend on one thread: each pass and the whole frame, for every instruction set that this machine has,
//! beside a copy of the same bytes.
//!
//! `cargo bench --bench cpu`, or a part of it: `cargo bench --bench cpu -- 'frame/gray 1920x1080'`.

mod content;

use content::{Content, picture};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use histeq_video::equalize::cpu::{Engine, Isa};
use histeq_video::equalize::whole;
use histeq_video::frame::{Frame, HostPool, PixelFormat};
use histeq_video::spec::clahe::{TileCurves, Tiles};
use histeq_video::spec::{Chroma, Curve, Equalization, Gain, Settings};
use std::hint::black_box;
use std::time::Duration;

const PICTURES: [(PixelFormat, (usize, usize)); 3] =
    [(PixelFormat::Gray, (1920, 1080)), (PixelFormat::Gray, (3840, 2160)), (PixelFormat::Gray10le, (1920, 1080))];

/// Formats that take other kernels, as whole frames only.
const OTHERS: [PixelFormat; 6] = [
    PixelFormat::Gray16le,
    PixelFormat::Uyvy422,
    PixelFormat::Rgb24,
    PixelFormat::Bgra,
    PixelFormat::Gbrp,
    PixelFormat::Gbrp10le,
];

fn passes(criterion: &mut Criterion) {
    for (format, size) in PICTURES {
        let name = format!("{format} {}x{}", size.0, size.1);
        for content in Content::ALL {
            let frame = picture(format, size, content);
            measure(criterion, &format!("histogram/{name}"), content, &frame, |engine, frame| {
                black_box(engine.histogram(frame, whole(frame)));
            });
            let curve = curve_of(&frame);
            measure(criterion, &format!("map/{name}"), content, &frame, |engine, frame| {
                black_box(engine.map(frame, &curve, Chroma::Keep));
            });
            measure(criterion, &format!("frame/{name}"), content, &frame, whole_frame);
        }
        copy(criterion, &name, &picture(format, size, Content::Photo));
    }
    for format in OTHERS {
        let frame = picture(format, (1920, 1080), Content::Photo);
        measure(criterion, &format!("frame/{format} 1920x1080"), Content::Photo, &frame, whole_frame);
    }
}

/// Chroma that follows luma, beside chroma that is kept; all in the pass that maps luma.
fn chroma(criterion: &mut Criterion) {
    for format in [PixelFormat::Yuv420p, PixelFormat::Nv12, PixelFormat::Yuv420p10le, PixelFormat::Bgra] {
        let frame = picture(format, (1920, 1080), Content::Photo);
        let curve = curve_of(&frame);
        for (name, chroma) in [("kept", Chroma::Keep), ("scaled", Chroma::Scale)] {
            let name = format!("chroma {name}/{format} 1920x1080");
            measure(criterion, &name, Content::Photo, &frame, |engine, frame| {
                black_box(engine.map(frame, &curve, chroma));
            });
        }
    }
}

/// Local equalization, pass by pass.
fn tiles(criterion: &mut Criterion) {
    let settings = Settings { max_gain: Gain::from_slope(3.0).expect("a gain"), ..Settings::default() };
    for format in [PixelFormat::Gray, PixelFormat::Gray10le, PixelFormat::Gray16le] {
        let frame = picture(format, (1920, 1080), Content::Photo);
        let grid = Tiles::new(8, 8, (1920, 1080));
        let mut engine = Engine::new(Isa::best(), HostPool::default()).expect("the best is available");
        let counts = engine.tile_histograms(&frame, grid, None);
        let curves = TileCurves::equalizing(&counts, &settings);
        let name = format!("{format} 1920x1080");
        measure(criterion, &format!("tile histograms/{name}"), Content::Photo, &frame, |engine, frame| {
            black_box(engine.tile_histograms(frame, grid, None));
        });
        measure(criterion, &format!("tile curves/{name}"), Content::Photo, &frame, |_, _| {
            black_box(TileCurves::equalizing(&counts, &settings));
        });
        measure(criterion, &format!("tile map/{name}"), Content::Photo, &frame, |engine, frame| {
            black_box(engine.map_tiles(frame, &curves, Chroma::Keep));
        });
    }
}

fn whole_frame(engine: &mut Engine, frame: &Frame) {
    let histogram = engine.histogram(frame, whole(frame));
    let curve = Equalization::new(Settings::default()).next(&histogram, (frame.width(), frame.height())).curve;
    black_box(engine.map(frame, &curve, Chroma::Keep));
}

fn curve_of(frame: &Frame) -> Curve {
    let mut engine = Engine::new(Isa::Scalar, HostPool::default()).expect("every machine has it");
    Curve::equalizing(&engine.histogram(frame, whole(frame)))
}

fn measure(
    criterion: &mut Criterion,
    group: &str,
    content: Content,
    frame: &Frame,
    mut work: impl FnMut(&mut Engine, &Frame),
) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements((frame.width() * frame.height()) as u64));
    for isa in Isa::available() {
        let mut engine = Engine::new(isa, HostPool::default()).expect("it is available");
        group.bench_with_input(BenchmarkId::new(isa.to_string(), content.name()), frame, |bencher, frame| {
            bencher.iter(|| work(&mut engine, frame));
        });
    }
}

/// What nothing that reads and writes every sample can beat.
fn copy(criterion: &mut Criterion, name: &str, frame: &Frame) {
    let plane = &frame.planes()[0];
    let from: Vec<u8> = (0..plane.rows()).flat_map(|y| plane.row(y).to_vec()).collect();
    let mut to = from.clone();
    let mut group = criterion.benchmark_group(format!("copy/{name}"));
    group.throughput(Throughput::Elements((frame.width() * frame.height()) as u64));
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(&mut to).copy_from_slice(black_box(&from))));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = passes, chroma, tiles
}
criterion_main!(benches);
