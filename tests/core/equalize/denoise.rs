//! Denoising: how much noise it removes, and that the bytes do not depend on threads, instruction sets or parts.

use crate::backends::{available, gpu};
use crate::kernels::noise::{made_clean, noisy_planes};
use crate::pictures::{Content, Picture as Picked, difference};
use crate::random::Random;
use histeq::Limits;
use histeq::internal::denoise::Steps;
use histeq::internal::denoise::sheet::Sheet;
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::cpu::{Cpu, Isa, denoise_steps};
use histeq::internal::equalize::{EqualizeStage, Executor, FrameMapper, FrameStudy, OutputDepth};
use histeq::internal::frame::{Frame, HostPool, Luminance, Matrix, PixelFormat, Range};
use histeq::internal::spec::natural::Assumed;
use histeq::internal::spec::parameters::{
    Chroma, Cleaner, Denoise, Effort, Gain, Method, Settings, Smoothing, Strength, Threshold,
};
use std::sync::Arc;

const SIZE: (usize, usize) = (168, 104);

/// The number of a scene that has all levels.
const DAYLIGHT: usize = 100;

/// The luma without noise, in 16ths of an 8-bit code: a dark scene, selected by `scene`, with a moving square.
fn truth(scene: usize, number: usize, x: usize, y: usize) -> i32 {
    let (left, top) = (10 + 3 * number, 30 + number);
    if scene == DAYLIGHT {
        // A ramp over all levels, with equal shares above and below the middle.
        return 16 * (16 + (219 * x / SIZE.0) as i32);
    }
    let wave = |index: usize, long: f64| ((index as f64 / long).sin() * 70.0) as i32;
    let (x, y) = (x + 37 * scene, y);
    let in_square = (left..left + 40).contains(&(x - 37 * scene)) && (top..top + 32).contains(&y);
    if in_square {
        700 + if (x - left + y - top) % 16 < 8 { 90 } else { 0 }
    } else {
        440 + 60 * scene as i32 + wave(x, 5.0) + wave(y + 2 * x, 9.0)
    }
}

/// Noise with this standard deviation, in 16ths of a code.
fn noise(random: &mut Random, deviation: i64) -> i32 {
    let sum: i64 = (0..6).map(|_| random.below(2001) as i64 - 1000).sum();
    (sum * deviation / 1414) as i32
}

/// A frame of the scene, with noise of this standard deviation in luma and chroma.
fn frame(format: PixelFormat, (scene, number): (usize, usize), deviation: i64, brighter: i32) -> Frame {
    let mut random = Random::new((1000 * scene as u64 + number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let pool = HostPool::default();
    let descriptor = format.descriptor();
    let shapes = descriptor.planes();
    let mut planes: Vec<_> = (0..shapes.len())
        .map(|index| pool.plane(format.row_bytes(index, SIZE.0), format.rows(index, SIZE.1)))
        .collect();
    let sample = descriptor.sample;
    let code = |of_16: i32| -> u16 {
        let code = if sample.depth >= 12 {
            of_16 << (sample.depth - 12)
        } else {
            (of_16 + (1 << (11 - sample.depth))) >> (12 - sample.depth)
        };
        code.clamp(0, i32::from(sample.max())) as u16
    };
    let histeq::internal::frame::Luminance::Stored(luma) = descriptor.luminance else { panic!("{format} has no luma") };
    for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))) {
        let of_16 = truth(scene, number, x, y) + brighter + noise(&mut random, deviation);
        // The luma is rounded to 8 bits at every depth, so that formats can be compared.
        sample.write(planes[luma.plane].row_mut(y), luma.offset + x * luma.step, code((of_16 + 8) & !15));
    }
    if let Some(chroma) = descriptor.chroma {
        let (width, height) = (SIZE.0.div_ceil(1 << chroma.log2_width), SIZE.1.div_ceil(1 << chroma.log2_height));
        for index in [chroma.cb, chroma.cr] {
            for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                let of_16 = 2048 + noise(&mut random, deviation);
                sample.write(planes[index.plane].row_mut(y), index.offset + x * index.step, code((of_16 + 8) & !15));
            }
        }
    }
    let planes = planes.into_iter().map(|plane| plane.freeze()).collect();
    Frame::new(format, SIZE, Range::Limited, Matrix::Bt709, planes).expect("a frame")
}

fn film(format: PixelFormat, count: usize, deviation: i64) -> Vec<Frame> {
    (0..count).map(|number| frame(format, (0, number), deviation, 0)).collect()
}

/// Settings for denoising only, or with `natural` the program's defaults.
fn settings(share: f64, waits: bool, natural: bool) -> Settings {
    let (share_of_noise, effort) = (Strength::from_share(share).expect("a share"), Effort::Fast);
    let cleaner = Cleaner { share: share_of_noise, effort, around: (3, if waits { 3 } else { 0 }) };
    let smoothing = Smoothing::new(9, 2).looking_ahead(if waits { 3 } else { 0 });
    let scene_threshold = Threshold::from_share(0.25).expect("a threshold");
    let common = Settings { smoothing, scene_threshold, ..Settings::default() };
    let denoise = |on: Denoise| if share == 0.0 { Denoise::Off } else { on };
    if natural {
        let method = Method::Natural { assumed: Assumed::Dark, most: Gain::OFF, faithful: false };
        Settings { method, chroma: Chroma::Follow, denoise: denoise(Denoise::AsShown(cleaner)), ..common }
    } else {
        let strength = Strength::from_share(0.0).expect("a share");
        Settings { strength, denoise: denoise(Denoise::Always(cleaner)), ..common }
    }
}

/// `settings` with the number of frames that this effort uses.
fn with_effort(settings: Settings, effort: Effort) -> Settings {
    let value_of = |cleaner: Cleaner| {
        let (_, behind) = cleaner.around;
        Cleaner { effort, around: (effort.reach(), if behind > 0 { effort.reach() } else { 0 }), ..cleaner }
    };
    let denoise = match settings.denoise {
        Denoise::Off => Denoise::Off,
        Denoise::AsShown(cleaner) => Denoise::AsShown(value_of(cleaner)),
        Denoise::Always(cleaner) => Denoise::Always(value_of(cleaner)),
    };
    Settings { denoise, ..settings }
}

#[test]
fn the_best_effort_leaves_less_noise() {
    let noisy = film(PixelFormat::Yuv420p, 14, 48);
    let left = |effort: Effort| {
        let clean = run(&noisy, 0, with_effort(settings(1.0, true, false), effort), 1);
        wrong(&clean[7], (0, 7), |_, _| true)
    };
    let (fast, best) = (left(Effort::Fast), left(Effort::Best));
    assert!(best < 0.99 * fast, "{best} {fast}");
}

/// The output of a stage; its first `before` frames only warm it up.
fn run(frames: &[Frame], before: usize, settings: Settings, threads: usize) -> Vec<Frame> {
    run_on(Box::new(Cpu::new(2)), frames, before, settings, threads)
}

fn run_on(
    backend: Box<dyn Executor>,
    frames: &[Frame],
    before: usize,
    settings: Settings,
    threads: usize,
) -> Vec<Frame> {
    let mut stage = EqualizeStage::new(backend, settings)
        .with_output_depth(if settings.method.is_natural() { OutputDepth::AsInput } else { OutputDepth::Ten })
        .denoising_on(threads);
    let mut out = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        if number < before {
            stage.warm_up(frame.clone()).expect("a frame that warms up");
            continue;
        }
        while !stage.has_room() {
            out.extend(stage.collect().expect("a frame").map(|done| done.frame));
        }
        stage.submit(frame.clone()).expect("a frame");
    }
    stage.finish().expect("the end");
    while let Some(done) = stage.collect().expect("a frame") {
        out.push(done.frame);
    }
    assert_eq!(out.len(), frames.len() - before);
    out
}

#[track_caller]
fn same(expected: &[Frame], found: &[Frame], what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert_eq!(expected.format(), found.format(), "{what}");
        assert_eq!(difference(expected, found), None, "{what}, frame {number}");
    }
}

/// The mean squared error of 10-bit or 8-bit luma, in 16ths of a code, over the pixels that satisfy `counts`.
fn wrong(frame: &Frame, (scene, number): (usize, usize), counts: impl Fn(usize, usize) -> bool) -> f64 {
    let sample = frame.format().descriptor().sample;
    let (mut sum, mut count) = (0.0, 0.0);
    for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))).filter(|(y, x)| counts(*x, *y)) {
        let code = i32::from(sample.read(frame.planes()[0].row(y), x)) << (12 - sample.depth);
        sum += f64::from(code - truth(scene, number, x, y)).powi(2);
        count += 1.0;
    }
    sum / count
}

fn in_square(number: usize, x: usize, y: usize) -> bool {
    (10 + 3 * number..50 + 3 * number).contains(&x) && (30 + number..62 + number).contains(&y)
}

#[test]
fn noise_goes_and_what_moves_stays() {
    let noisy = film(PixelFormat::Yuv420p, 9, 64);
    let clean = run(&noisy, 0, settings(1.0, true, false), 2);
    let causal = run(&noisy, 0, settings(1.0, false, false), 2);
    for number in 2..7 {
        let index = (0, number);
        let whole = |_: usize, _: usize| true;
        let moving = |x: usize, y: usize| in_square(number, x, y);
        let (before, after) = (wrong(&noisy[number], index, whole), wrong(&clean[number], index, whole));
        assert!(before > 5.0 * after, "frame {number}: {before} and {after}");
        let (before, after) = (wrong(&noisy[number], index, moving), wrong(&clean[number], index, moving));
        assert!(before > 3.0 * after, "frame {number}, what moves: {before} and {after}");
        let after = wrong(&causal[number], index, whole);
        assert!(before > 3.0 * after, "frame {number}, with those before it alone: {before} and {after}");
    }
}

#[test]
fn noise_goes_from_rgb_too() {
    for format in [PixelFormat::Gbrp, PixelFormat::Bgr0, PixelFormat::Gbrp12le, PixelFormat::Rgb48le] {
        let components = |format: PixelFormat| match format.descriptor().luminance {
            Luminance::FromRgb { r, g, b } => [r, g, b],
            Luminance::Stored(_) => panic!("{format} is no RGB"),
        };
        // The scene is tinted: red is 3/4 of green, and blue is 5/4.
        let lit = |index: usize, number: usize, x: usize, y: usize| truth(0, number, x, y) * [3, 4, 5][index] / 4;
        let noisy = |number: usize| {
            let mut random = Random::new(2 * number as u64 + 7);
            let sample = format.descriptor().sample;
            let shapes = format.descriptor().planes().len();
            let pool = HostPool::default();
            let mut planes: Vec<_> = (0..shapes)
                .map(|place| pool.plane(format.row_bytes(place, SIZE.0), format.rows(place, SIZE.1)))
                .collect();
            for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))) {
                for (index, place) in components(format).into_iter().enumerate() {
                    let of_16 = ((lit(index, number, x, y) + noise(&mut random, 64) + 8) & !15).max(0);
                    let code = if sample.depth == 8 { of_16 >> 4 } else { of_16 << (sample.depth - 12) };
                    sample.write(planes[place.plane].row_mut(y), place.offset + x * place.step, code as u16);
                }
            }
            let planes = planes.into_iter().map(|plane| plane.freeze()).collect();
            Frame::new(format, SIZE, Range::Full, Matrix::Bt709, planes).expect("a frame")
        };
        let noisy: Vec<Frame> = (0..6).map(noisy).collect();
        let clean = run(&noisy, 0, settings(1.0, true, false), 2);
        let wrong = |frame: &Frame, index: usize| {
            let (sample, place) = (frame.format().descriptor().sample, components(frame.format())[index]);
            let square = |(y, x): (usize, usize)| {
                let code = i32::from(sample.read(frame.planes()[place.plane].row(y), place.offset + x * place.step));
                let of_16 = if sample.depth > 12 { code >> (sample.depth - 12) } else { code << (12 - sample.depth) };
                f64::from(of_16 - lit(index, 3, x, y)).powi(2)
            };
            (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))).map(square).sum::<f64>()
        };
        for index in 0..3 {
            let (before, after) = (wrong(&noisy[3], index), wrong(&clean[3], index));
            assert!(before > 3.0 * after, "{format}, component {index}: {before} and {after}");
        }
    }
}

#[test]
fn full_range_that_is_lifted_is_as_bright_without_its_noise_as_with_it() {
    for format in [PixelFormat::Gbrp, PixelFormat::Gbrp12le, PixelFormat::Gray] {
        let sample = format.descriptor().sample;
        let dark = |number: usize| {
            let mut random = Random::new(2 * number as u64 + 7);
            let pool = HostPool::default();
            let plane = |index: usize| {
                let mut plane = pool.plane(format.row_bytes(index, SIZE.0), format.rows(index, SIZE.1));
                for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))) {
                    let of_16 = (truth(0, number, x, y) / 4 + noise(&mut random, 24)).max(0);
                    let code = if sample.depth == 8 { of_16 >> 4 } else { of_16 } as u16;
                    sample.write(plane.row_mut(y), x, code);
                }
                plane.freeze()
            };
            let planes = (0..format.descriptor().planes().len()).map(plane).collect();
            Frame::new(format, SIZE, Range::Full, Matrix::Bt709, planes).expect("a frame")
        };
        let dark: Vec<Frame> = (0..12).map(dark).collect();
        let mean = |share: f64| {
            let frames = run(&dark, 0, settings(share, true, true), 0);
            let codes = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x)));
            codes.map(|(y, x)| f64::from(sample.read(frames[8].planes()[0].row(y), x))).sum::<f64>()
        };
        let (noisy, clean) = (mean(0.0), mean(1.0));
        assert!((clean - noisy).abs() < 0.1 * noisy, "{format}: {clean}, not {noisy}");
        assert_ne!(clean, noisy, "{format}: noise goes");
    }
}

#[test]
fn fields_are_made_clean_as_pictures_of_their_own() {
    let format = PixelFormat::Yuv422p10le;
    // The two fields of a frame are of different times.
    let fields: Vec<Frame> = (0..12).map(|number| frame(format, (0, number), 48, 0)).collect();
    let plane_of = |frames: &[&Frame], index: usize, rows: usize, pick: &dyn Fn(usize) -> (usize, usize)| {
        let mut plane = HostPool::default().plane(format.row_bytes(index, SIZE.0), rows);
        for y in 0..rows {
            let (source, row) = pick(y);
            plane.row_mut(y).copy_from_slice(frames[source].planes()[index].row(row));
        }
        plane.freeze()
    };
    let picture = |rows: usize, frames: &[&Frame], pick: &dyn Fn(usize) -> (usize, usize)| {
        let planes = (0..3).map(|index| plane_of(frames, index, rows, pick)).collect();
        Frame::new(format, (SIZE.0, rows), Range::Limited, Matrix::Bt709, planes).expect("a frame")
    };
    let woven = |pair: &[Frame]| {
        let mut frame = picture(SIZE.1, &[&pair[0], &pair[1]], &|y| (y % 2, y));
        frame.is_interlaced = true;
        frame
    };
    let woven: Vec<Frame> = fields.chunks(2).map(woven).collect();
    let clean = run(&woven, 0, settings(1.0, true, false), 2);
    for parity in 0..2 {
        let alone = |frame: &Frame| picture(SIZE.1 / 2, &[frame], &|y| (0, 2 * y + parity));
        let field: Vec<Frame> = woven.iter().map(alone).collect();
        let expected = run(&field, 0, settings(1.0, true, false), 2);
        let found: Vec<Frame> = clean.iter().map(alone).collect();
        same(&expected, &found, &format!("field {parity}"));
    }
}

#[test]
fn nothing_is_drawn_twice_where_something_comes_or_goes_at_once_or_the_light_changes() {
    // In frame 4, the square is elsewhere, and each frame is brighter than the one before it.
    let noisy: Vec<Frame> = (0..8)
        .map(|number| frame(PixelFormat::Gray, (0, if number == 4 { 30 } else { number }), 32, 12 * number as i32))
        .collect();
    let clean = run(&noisy, 0, settings(1.0, true, false), 0);
    for (number, frame) in clean.iter().enumerate().take(7).skip(2) {
        let shown = if number == 4 { 30 } else { number };
        let (mut sum, mut count) = (0, 0);
        for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))).filter(|(y, x)| in_square(4, *x, *y)) {
            let sample = frame.format().descriptor().sample;
            let code = i32::from(sample.read(frame.planes()[0].row(y), x)) << (12 - sample.depth);
            sum += code - truth(0, shown, x, y) - 12 * number as i32;
            count += 1;
        }
        assert!((sum / count).abs() < 10, "frame {number} is wrong by {} 16ths of a code", sum / count);
    }
}

/// Planes of black and white stripes, in which a random third of the samples is inverted.
fn black_and_white(random: &mut Random) -> Arc<Vec<Sheet>> {
    let mut plane = || {
        let mut sheet = Sheet::new(70, 50);
        for y in 0..sheet.height() {
            let samples = sheet.row_mut(y).iter_mut().enumerate();
            samples.for_each(|(x, sample)| *sample = [-2048, 2047][(x / 12 + usize::from(random.below(3) == 0)) % 2]);
        }
        sheet.repeat_edges();
        sheet
    };
    Arc::new(vec![plane(), plane(), plane()])
}

#[test]
fn every_instruction_set_and_number_of_threads_gives_the_same_bytes() {
    let mut random = Random::new(5);
    let near = Effort::Fast.everywhere() as usize;
    for (size, log2) in [((150, 90), (1u8, 1u8)), ((37, 21), (0, 0)), ((3, 1), (1, 0)), ((290, 34), (2, 2))] {
        let frames: Vec<_> = (0..7).map(|number| noisy_planes(size, log2, number, &mut random)).collect();
        let plain = made_clean(&Steps::PLAIN, &frames, log2, near, &[0, 3, 6]);
        for isa in Isa::available() {
            let steps = denoise_steps(isa).expect("an instruction set that is here");
            assert!(made_clean(&steps, &frames, log2, near, &[0, 3, 6]) == plain, "{isa}, {size:?}");
        }
        if let Some(gpu) = gpu() {
            assert!(made_clean(&**gpu, &frames, log2, near, &[0, 3, 6]) == plain, "GPU, {size:?}");
        }
    }
    // The best effort uses up to four frames on each side.
    let frames: Vec<_> = (0..9).map(|number| noisy_planes((70, 50), (1, 1), number, &mut random)).collect();
    let plain = made_clean(&Steps::PLAIN, &frames, (1, 1), 4, &[0, 3, 4, 8]);
    for isa in Isa::available() {
        let steps = denoise_steps(isa).expect("an instruction set that is here");
        assert!(made_clean(&steps, &frames, (1, 1), 4, &[0, 3, 4, 8]) == plain, "{isa}, best");
    }
    if let Some(gpu) = gpu() {
        assert!(made_clean(&**gpu, &frames, (1, 1), 4, &[0, 3, 4, 8]) == plain, "GPU, best");
    }
    // Each frame has the same stripes with extreme noise.
    let frames: Vec<_> = (0..5).map(|_| black_and_white(&mut random)).collect();
    let plain = made_clean(&Steps::PLAIN, &frames, (0, 0), near, &[1, 2]);
    for isa in Isa::available() {
        let steps = denoise_steps(isa).expect("an instruction set that is here");
        assert!(made_clean(&steps, &frames, (0, 0), near, &[1, 2]) == plain, "{isa}, black and white");
    }
    let noisy = film(PixelFormat::Yuv422p, 7, 48);
    for natural in [false, true] {
        let alone = run(&noisy, 0, settings(1.0, true, natural), 0);
        for threads in [1, 3] {
            same(&alone, &run(&noisy, 0, settings(1.0, true, natural), threads), &format!("{threads} threads"));
        }
    }
}

#[test]
fn every_backend_takes_frames_that_become_clean_among_others() {
    for format in [PixelFormat::Yuv420p, PixelFormat::Nv12, PixelFormat::Gray, PixelFormat::Yuv444p12le] {
        let bright = (0..8).map(|number| frame(format, (DAYLIGHT, number), 32, 0));
        let dark = (0..12).map(|number| frame(format, (0, number), 48, -120));
        let film: Vec<Frame> = bright.clone().chain(dark).chain(bright).collect();
        let settings = settings(1.0, true, true);
        let expected = run_on(Box::new(Reference::default()), &film, 0, settings, 0);
        let noisy = run(&film, 0, Settings { denoise: Denoise::Off, ..settings }, 0);
        assert_eq!(difference(&noisy[2], &expected[2]), None, "daylight");
        assert!(difference(&noisy[14], &expected[14]).is_some(), "the dark");
        for backend in available() {
            same(&expected, &run_on(backend.open(3), &film, 0, settings, 2), &format!("{} {format}", backend.name));
        }
    }
}

#[test]
fn no_picture_is_too_much() {
    use PixelFormat::*;
    for (format, size) in
        [(Gray, (61, 45)), (Yuv444p16le, (40, 33)), (P010le, (18, 2)), (Yuyv422, (9, 1)), (Yuva420p, (33, 19))]
    {
        for content in [Content::BlackAndWhite, Content::Noise, Content::NearMax, Content::Flat] {
            let picked = |seed| Picked { content, seed, ..Picked::new(format, size) }.make();
            let frames: Vec<Frame> = (1..6).map(picked).collect();
            let clean = run(&frames, 0, settings(1.0, true, false), 0);
            same(&clean, &run(&frames, 0, settings(1.0, true, false), 2), &format!("{format}"));
        }
    }
}

#[test]
fn the_same_pictures_give_the_same_samples_in_every_layout_and_depth() {
    use PixelFormat::*;
    let clean = |format| run(&film(format, 5, 48), 0, settings(1.0, true, false), 0);
    let plain = clean(Yuv420p);
    let value = |frame: &Frame, x: usize, y: usize, component: usize| {
        let descriptor = frame.format().descriptor();
        let histeq::internal::frame::Luminance::Stored(luma) = descriptor.luminance else { panic!("no luma") };
        let chroma = descriptor.chroma.expect("chroma");
        let index = [luma, chroma.cb, chroma.cr][component];
        let code = descriptor.sample.read(frame.planes()[index.plane].row(y), index.offset + x * index.step);
        i32::from(code) << (16 - descriptor.sample.depth)
    };
    for format in [Nv12, Nv21, P010le, Yuv420p10be, Yuv420p12le, Yuv420p16le] {
        let found = clean(format);
        for (expected, found) in plain.iter().zip(&found) {
            for component in 0..3 {
                let (width, height) = if component == 0 { SIZE } else { (SIZE.0 / 2, SIZE.1 / 2) };
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let apart = value(expected, x, y, component).abs_diff(value(found, x, y, component));
                    // Rounding to 10 bits moves a 16-bit value by up to 32, rounding to 12 bits by up to 8.
                    assert!(apart <= 48, "{format}, component {component}, {x}, {y}: {apart}");
                }
            }
        }
    }
}

#[test]
fn a_frame_depends_on_those_that_the_settings_name_and_on_none_beyond_a_cut() {
    let format = PixelFormat::Yuv420p;
    let noisy = film(format, 40, 48);
    for (waits, natural, effort) in [
        (true, true, Effort::Fast),
        (false, true, Effort::Fast),
        (true, false, Effort::Fast),
        (true, true, Effort::Best),
        (false, false, Effort::Best),
    ] {
        let settings = with_effort(settings(1.0, waits, natural), effort);
        let whole = run(&noisy, 0, settings, 1);
        let (before, behind) = (settings.warm_up() as usize, settings.look_ahead() as usize);
        let (start, end) = (before + 3, before + 6);
        assert!(end + behind < noisy.len(), "{before} {behind}");
        let part = run(&noisy[start - before..end + behind], before, settings, 1);
        same(&whole[start..end], &part[..end - start], &format!("{waits} {natural} {effort}"));
    }
    let settings = Settings { scene_threshold: Threshold::ZERO, ..settings(1.0, true, false) };
    let alone = Settings { smoothing: Smoothing::OFF, ..settings };
    let expected: Vec<Frame> =
        noisy[..4].iter().flat_map(|frame| run(std::slice::from_ref(frame), 0, alone, 0)).collect();
    let first = run(&noisy[..1], 0, settings, 0);
    same(&expected[..1], &first, "a frame alone");
    // Each of two scenes is denoised as it would be alone.
    let other: Vec<Frame> = (0..6).map(|number| frame(format, (9, number), 48, 900)).collect();
    let settings = Settings { scene_threshold: Threshold::from_share(0.1).expect("a threshold"), ..settings };
    let both: Vec<Frame> = noisy[..10].iter().chain(&other).cloned().collect();
    let both = run(&both, 0, settings, 1);
    same(&run(&noisy[..10], 0, settings, 1), &both[..10], "before a cut");
    same(&run(&other, 0, settings, 1), &both[10..], "behind a cut");
}

#[test]
fn what_is_still_or_not_lifted_keeps_its_bytes_and_noise_that_is_lifted_goes() {
    let format = PixelFormat::Yuv420p;
    let bright = |number| frame(format, (DAYLIGHT, number), 48, 0);
    let films: [(&str, Vec<Frame>); 2] = [
        ("daylight with grain", (0..12).map(bright).collect()),
        ("dark and still", vec![film(format, 1, 0).remove(0); 12]),
    ];
    for (name, film) in films {
        let with = |share: f64| {
            let natural = settings(share, true, true);
            let method = Method::Natural { assumed: Assumed::Nothing, most: Gain::OFF, faithful: false };
            run(&film, 0, Settings { method, ..natural }, 1)
        };
        same(&with(0.0), &with(1.0), name);
    }
    let dark: Vec<Frame> = (0..12).map(|number| frame(format, (0, number), 40, -120)).collect();
    let [none, half, all] = [0.0, 0.5, 1.0].map(|share| run(&dark, 0, settings(share, true, true), 1));
    let steps = |frames: &[Frame]| -> u64 {
        let pair = |pair: &[Frame]| {
            (0..20)
                .map(|y| {
                    pair[0].planes()[0]
                        .row(y)
                        .iter()
                        .zip(pair[1].planes()[0].row(y))
                        .map(|(a, b)| u64::from(a.abs_diff(*b)))
                        .sum::<u64>()
                })
                .sum::<u64>()
        };
        frames.windows(2).map(pair).sum()
    };
    let [none, half, all] = [none, half, all].map(|frames| steps(&frames));
    assert!(none > half && half > 2 * all, "{none} {half} {all}");
}

#[test]
fn what_lies_behind_the_wanted_frames_keeps_its_noise_unless_it_is_counted() {
    const WANTED: usize = 3;
    let dark: Vec<Frame> = (0..9).map(|number| frame(PixelFormat::Yuv420p, (0, number), 40, -120)).collect();
    for natural in [true, false] {
        let settings = settings(1.0, true, natural);
        let all = run(&dark, 0, settings, 1);
        let depth = if natural { OutputDepth::AsInput } else { OutputDepth::Ten };
        let mut stage = EqualizeStage::new(Box::new(Cpu::new(2)), settings).with_output_depth(depth);
        let mut out = Vec::new();
        for (number, frame) in dark.iter().enumerate() {
            while !stage.has_room() {
                out.extend(stage.collect().expect("a frame").map(|done| done.frame));
            }
            let submit = if number < WANTED { EqualizeStage::submit } else { EqualizeStage::submit_behind };
            submit(&mut stage, frame.clone()).expect("a frame");
        }
        stage.finish().expect("the end");
        while let Some(done) = stage.collect().expect("a frame") {
            out.push(done.frame);
        }
        same(&all[..WANTED], &out[..WANTED], "wanted frames");
        // With `Denoise::Always`, equalization measures denoised frames, so the frames behind the part are denoised,
        // too.
        assert_eq!(difference(&all[WANTED], &out[WANTED]).is_some(), natural);
    }
}

#[test]
fn a_frame_is_as_bright_with_the_noise_that_its_decision_removes() {
    const AT: usize = 5;
    let dark: Vec<Frame> = (0..12).map(|number| frame(PixelFormat::Yuv420p, (0, number), 40, -120)).collect();
    let settings = settings(1.0, true, true);
    let mut study = FrameStudy::new(settings, false, OutputDepth::AsInput, false, 0, &Limits::default());
    dark.iter().for_each(|frame| study.push(frame.clone()).expect("a frame"));
    study.finish().expect("the end");
    let decided = std::iter::from_fn(|| study.decided().expect("a decision")).nth(AT).expect("one for each frame");
    let kept = decided.keeping_noise();
    assert_eq!((decided.removes_noise(), kept.removes_noise()), (true, false));
    assert_eq!((decided.around(), kept.around()), ((3, 3), (0, 0)));
    let mut mapper = FrameMapper::new(settings, false, OutputDepth::AsInput, &Limits::default());
    let noisy = mapper.apply(&kept, &dark[AT..=AT]).expect("a frame");
    let clean = mapper.apply(&decided, &dark[AT - 3..=AT + 3]).expect("a frame");
    same(&run(&dark, 0, settings, 1)[AT..=AT], std::slice::from_ref(&clean), "a decision that is done");
    let rows = |frame: &Frame| (0..SIZE.1).flat_map(|y| frame.planes()[0].row(y).to_vec()).collect::<Vec<u8>>();
    let mean = |frame: &Frame| rows(frame).into_iter().map(f64::from).sum::<f64>() / (SIZE.0 * SIZE.1) as f64;
    let steps = |frame: &Frame| rows(frame).windows(2).map(|pair| u64::from(pair[0].abs_diff(pair[1]))).sum::<u64>();
    assert!((mean(&noisy) - mean(&clean)).abs() < 0.1 * mean(&clean), "{} {}", mean(&noisy), mean(&clean));
    assert!(2 * steps(&noisy) > 3 * steps(&clean), "{} {}", steps(&noisy), steps(&clean));
}
