//! Each kernel twice, with every instruction set of this machine, and a line on stdout before and behind the second time:
//! what `count.c` counts between them. A line says the case, the instruction set and the number of pixels.

use histeq::internal::denoise::noise::Noise;
use histeq::internal::denoise::search::{MotionField, Way};
use histeq::internal::denoise::sheet::Sheet;
use histeq::internal::denoise::{CpuPicture, Denoiser as _};
use histeq::internal::equalize::cpu::{Colour, Engine, Isa, denoise_steps};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::Curve;
use histeq::internal::spec::curves::tone::{Balance, Veil};
use histeq::internal::spec::parameters::Chroma;
use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;

const SIZE: (usize, usize) = (640, 360);

fn main() {
    for isa in Isa::available() {
        equalizes(isa);
        removes_noise(isa);
    }
}

/// Does something twice, the second time between two lines.
fn show<T>(what: &str, isa: Isa, mut run: impl FnMut() -> T) -> T {
    drop(run());
    println!("begin");
    let made = black_box(run());
    println!("{what}|{isa}|{}", SIZE.0 * SIZE.1);
    made
}

/// A number that looks like any other, of 16 bits.
fn noise(seed: usize) -> u16 {
    ((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 41) as u16
}

fn frame(format: PixelFormat, pool: &HostPool) -> Frame {
    let sample = format.descriptor().sample;
    let plane = |index: usize| {
        let mut plane = pool.plane(format.row_bytes(index, SIZE.0), format.rows(index, SIZE.1));
        for y in 0..format.rows(index, SIZE.1) {
            let row = plane.row_mut(y);
            for x in 0..row.len() / usize::from(sample.bytes) {
                sample.write(row, x, noise(1000 * y + x) & sample.max());
            }
        }
        plane.freeze()
    };
    let planes = (0..format.descriptor().planes().len()).map(plane).collect();
    Frame::new(format, SIZE, Range::Limited, Matrix::Bt709, planes).expect("a frame")
}

fn equalizes(isa: Isa) {
    let pool = HostPool::default();
    let mut engine = Engine::new(isa, pool.clone()).expect("an instruction set of this machine");
    let made = |format: PixelFormat| {
        let frame = frame(format, &pool);
        let most = frame.format().descriptor().sample.max();
        let curve = Curve::from_codes(frame.levels(), (0..=most).map(|code| most - code).collect());
        (frame, curve.expect("codes of this depth"))
    };
    for (what, format) in [
        ("map, 8 bits", PixelFormat::Gray),
        ("map, packed 4:2:2", PixelFormat::Yuyv422),
        ("map, 10 bits", PixelFormat::Gray10le),
        ("map, packed RGB", PixelFormat::Rgb24),
        ("map, planar RGB", PixelFormat::Gbrp),
        ("map, planar RGB of 12 bits", PixelFormat::Gbrp12le),
    ] {
        let (frame, curve) = made(format);
        show(what, isa, || engine.map(&frame, &curve, Chroma::Keep));
    }
    let gains = [[5000; 8]; 8];
    let veil = Veil { taken: [[0; 8]; 8], gains, chroma: gains, then: None, in_light: None, ceiling: 4080 };
    let (yuv, curve) = made(PixelFormat::Yuv444p);
    show("map, and chroma by one gain", isa, || engine.map(&yuv, &curve, Colour::Gain(5000)));
    show("map, and chroma by gains", isa, || engine.map(&yuv, &curve, Colour::Veil(&veil, Veil::tiles(SIZE))));
    let (rgb, curve) = made(PixelFormat::Gbrp);
    show("map, and colour of RGB", isa, || engine.map(&rgb, &curve, Colour::Gain(5000)));
    show("local, 8 bits", isa, || engine.map_tiles(&yuv, &veil.curves(yuv.levels(), Veil::tiles(SIZE)), Chroma::Keep));
    let balance = Balance { gains: [UNIT_GAIN, 5000, 4500], offsets: [-160, 320, 0] };
    for (what, format) in [("balance, 8 bits", PixelFormat::Yuv420p), ("balance, 10 bits", PixelFormat::Yuv420p10le)] {
        let (frame, _) = made(format);
        show(what, isa, || engine.balance(&frame, &balance));
    }
}

/// A scene that moves, with noise, in codes of 12 bits less 2048.
fn planes(number: usize) -> Arc<Vec<Sheet>> {
    let plane = |(width, height): (usize, usize), seed: usize| {
        let mut sheet = Sheet::new(width, height);
        for y in 0..height {
            for (x, sample) in sheet.row_mut(y).iter_mut().enumerate() {
                let grain = i16::try_from(noise(seed + 700 * y + x) % 160).expect("a number below 160");
                let (x, y) = (x + 2 * number, y + number);
                let square = if (x / 9 + y / 7) % 3 == 0 { 800 } else { 0 };
                *sample = ((x * x / 7 + y * 11) % 900) as i16 + square + grain - 1200;
            }
        }
        sheet.repeat_edges();
        sheet
    };
    let half = (SIZE.0 / 2, SIZE.1 / 2);
    let seed = 1_000_000 * number;
    Arc::new(vec![plane(SIZE, seed), plane(half, seed + 300_000), plane(half, seed + 600_000)])
}

fn done<T>(result: Result<T, Infallible>) -> T {
    let Ok(made) = result;
    made
}

fn removes_noise(isa: Isa) {
    let steps = denoise_steps(isa).expect("an instruction set of this machine");
    let frames: Vec<_> = (0..5).map(planes).collect();
    let pictures: Vec<CpuPicture> = frames.iter().map(|frame| done(steps.picture(frame, (1, 1)))).collect();
    let (here, calm) = (&pictures[2], 40);
    show("noise: pyramid", isa, || done(steps.picture(&frames[2], (1, 1))));
    let search = |other: usize, guess: Option<&MotionField>| done(steps.search(here, &pictures[other], calm, guess));
    let before = show("noise: search", isa, || search(1, None));
    let guess = done(steps.farther(Some(&before), &before, Way::Back));
    let far = show("noise: search from a guess", isa, || search(0, Some(&guess)));
    let differences = show("noise: count", isa, || done(steps.count(here, &pictures[1], &before)));
    let frozen = differences[0].frozen();
    let noise: Vec<Noise> =
        differences.iter().enumerate().map(|(plane, counts)| Noise::new(counts, plane > 0, frozen)).collect();
    let (behind, farthest) = (search(3, None), search(4, None));
    let around = [(&pictures[0], &far), (&pictures[1], &before), (&pictures[3], &behind), (&pictures[4], &farthest)];
    show("noise: merge", isa, || done(steps.merge(here, &around, around.len(), &noise)));
}
