//! Chroma that follows luma: the reference against a second implementation with exact fractions, properties of the
//! rule, and every backend against the reference.

use crate::backends::{Backend, Sequence, available, by_reference};
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Content, Picture, Placement, Random, difference, placement_and_range, seed};
use histeq::internal::frame::{Component, Frame, Luminance, Matrix, Model, PixelFormat, Range};
use histeq::internal::spec::Weights;
use histeq::internal::spec::chroma::{Colours, UNIT_GAIN};
use histeq::internal::spec::curves::{Curve, Levels, Mapping};
use histeq::internal::spec::parameters::{Chroma, Method, Settings};
use std::collections::VecDeque;
use std::sync::Arc;

fn settings() -> Settings {
    Settings { chroma: Chroma::Follow, ..Settings::default() }
}

/// A curve of random codes, and a chroma gain: 0, a special value, or random.
fn curve_and_gain(levels: Levels, number: usize, random: &mut Random) -> (Arc<Curve>, u32) {
    let codes = (0..levels.codes()).map(|_| random.below(levels.codes() as u64) as u16).collect();
    let any = random.below(5 * u64::from(UNIT_GAIN)) as u32;
    let gain = [any, 0, UNIT_GAIN / 2, any, 3 * UNIT_GAIN, any, 100 * UNIT_GAIN][number % 7];
    (Curve::from_codes(levels, codes).expect("codes of this depth").into(), gain)
}

fn mapping((curve, chroma_gain): (Arc<Curve>, u32)) -> Option<Mapping> {
    Some(Mapping::Curve { curve, chroma_gain })
}

/// `offset * gain / 4096`, to the nearest integer, halves away from zero.
fn times(offset: i128, gain: u32) -> i128 {
    let (product, whole) = (offset.abs() * i128::from(gain), 4096);
    offset.signum() * ((2 * product + whole) / (2 * whole))
}

/// Kr and Kb of the ITU recommendations, in 65536ths.
fn naive_weights(matrix: Matrix) -> (i128, i128) {
    match matrix {
        Matrix::Bt601 => (19595, 7471),
        Matrix::Bt709 => (13933, 4732),
        Matrix::Bt2020 => (17216, 3886),
    }
}

fn code_at(frame: &Frame, component: Component, x: usize, y: usize) -> i128 {
    let row = frame.planes()[component.plane].row(y);
    frame.format().descriptor().sample.read(row, component.offset + x * component.step).into()
}

/// Checks that the chroma of `after` is that of `before`, multiplied by `gain`.
fn check_chroma(before: &Frame, after: &Frame, gain: u32, picture: &Picture) {
    let descriptor = before.format().descriptor();
    let Some(places) = descriptor.chroma else { return };
    let scale = 1i128 << (descriptor.sample.depth - 8);
    let middle = 128 * scale;
    let is_limited = before.range() == Range::Limited;
    let (lowest, highest) = if is_limited { (16 * scale, 240 * scale) } else { (1, 256 * scale - 1) };
    let (columns, rows) = (1usize << places.log2_width, 1usize << places.log2_height);
    for y in 0..before.height().div_ceil(rows) {
        for x in 0..before.width().div_ceil(columns) {
            for component in [places.cb, places.cr] {
                let code = code_at(before, component, x, y);
                let expected = (middle + times(code - middle, gain)).clamp(code.min(lowest), code.max(highest));
                assert_eq!(code_at(after, component, x, y), expected, "chroma ({x}, {y}) with {gain} of {picture:?}");
            }
        }
    }
}

/// Checks the luma of `after`, or its RGB, whose luminance has to be mapped by `curve`.
fn check_luminance(before: &Frame, after: &Frame, curve: &Curve, gain: u32, picture: &Picture) {
    let descriptor = before.format().descriptor();
    let (kr, kb) = naive_weights(before.matrix());
    let max = i128::from(descriptor.sample.max());
    let mapped = |code: i128| i128::from(curve.codes()[code as usize]);
    for y in 0..before.height() {
        for x in 0..before.width() {
            match descriptor.luminance {
                Luminance::Stored(luma) => {
                    let expected = mapped(code_at(before, luma, x, y));
                    assert_eq!(code_at(after, luma, x, y), expected, "luma ({x}, {y}) of {picture:?}");
                }
                Luminance::FromRgb { r, g, b } => {
                    let rgb = [r, g, b].map(|component| code_at(before, component, x, y));
                    let luma_before = (kr * rgb[0] + (65536 - kr - kb) * rgb[1] + kb * rgb[2] + 32768) >> 16;
                    for (component, code) in [r, g, b].into_iter().zip(rgb) {
                        let expected = (mapped(luma_before) + times(code - luma_before, gain)).clamp(0, max);
                        assert_eq!(code_at(after, component, x, y), expected, "({x}, {y}) with {gain} of {picture:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_reference_agrees_with_exact_fractions() {
    let mut random = Random::new(seed());
    for (turn, &format) in PixelFormat::ALL.iter().enumerate() {
        for (number, size) in [(1, 1), (2, 3), (33, 17), (18, 10)].into_iter().enumerate() {
            let content = Content::ALL[random.below(6) as usize];
            let range = [Range::Limited, Range::Full][random.below(2) as usize];
            let matrix = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020][random.below(3) as usize];
            for content in [Content::Noise, content] {
                let picture = Picture { range, matrix, content, ..Picture::new(format, size) };
                let frame = picture.make();
                let (curve, gain) = curve_and_gain(frame.levels(), turn + number, &mut random);
                let mut reference = by_reference(settings());
                reference.give(mapping((curve.clone(), gain)));
                let after = reference.equalize(&frame);
                check_chroma(&frame, &after, gain, &picture);
                check_luminance(&frame, &after, &curve, gain, &picture);
            }
        }
    }
}

#[test]
fn luma_and_alpha_are_what_they_are_with_chroma_kept() {
    let mut random = Random::new(seed());
    for &format in PixelFormat::ALL.iter().filter(|format| format.descriptor().model != Model::Rgb) {
        let frame = Picture::new(format, (35, 9)).make();
        let given = mapping(curve_and_gain(frame.levels(), 0, &mut random));
        let [kept, followed] = [Settings::default(), settings()].map(|settings| {
            let mut reference = by_reference(settings);
            reference.give(given.clone());
            reference.equalize(&frame)
        });
        let Luminance::Stored(luma) = format.descriptor().luminance else { panic!("{format}") };
        for y in 0..9 {
            assert!((0..35).all(|x| code_at(&kept, luma, x, y) == code_at(&followed, luma, x, y)), "{format}");
        }
        for (plane, (kept, followed)) in kept.planes().iter().zip(followed.planes()).enumerate() {
            if format.descriptor().model == Model::Gray || plane == 3 {
                assert!((0..9).all(|y| kept.row(y) == followed.row(y)), "{format}");
            }
        }
    }
}

#[test]
fn gray_stays_gray_hue_stays_and_so_does_what_is_legal() {
    let mut random = Random::new(seed());
    for round in 0..200_000 {
        let depth = [8, 10, 12, 16][round % 4];
        let levels = if round % 3 == 0 { Levels::full(depth) } else { Levels::limited(depth) };
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 5 % 3];
        let colours = Colours::new(levels, weights);
        // Most colours in video are weak, so most offsets are small.
        let furthest = (colours.reach as u64 >> random.below(8)).max(1);
        let offset = |random: &mut Random| random.below(2 * furthest + 1) as i32 - furthest as i32;
        let pair = [(); 2].map(|()| (colours.centre + offset(&mut random)) as u16);
        let gain = random.below(6 * u64::from(UNIT_GAIN)) as u32;
        let followed = pair.map(|code| colours.followed(code, gain));
        let offsets = |pair: [u16; 2]| pair.map(|code| i64::from(code) - i64::from(colours.centre));
        let ([cb, cr], [new_cb, new_cr]) = (offsets(pair), offsets(followed));
        let what = format!("{pair:?} with {gain}: {followed:?}");
        assert!(cb * new_cb >= 0 && cr * new_cr >= 0, "{what}");
        assert!((cb != 0 || new_cb == 0) && (cr != 0 || new_cr == 0), "{what}");
        let (most, reach) = (new_cb.abs().max(new_cr.abs()), i64::from(colours.reach));
        assert!(most <= reach, "{what}");
        // The hue stays if the cross product is 0; rounding moves each offset by up to half a code.
        assert!(most == reach || 2 * (cb * new_cr - cr * new_cb).abs() <= cb.abs() + cr.abs(), "{what}");
    }
}

/// Equalizes the frames with the backend at full queue depth, each frame with its own curve and gain, and compares them
/// with the reference.
fn check(backend: &Backend, pictures: &[Picture]) {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut equalizer, mut reference) = (backend.make(settings(), 2), by_reference(settings()));
    let mut waiting = VecDeque::new();
    let collect = |equalizer: &mut Sequence, waiting: &mut VecDeque<(Picture, Frame)>| {
        let (picture, expected) = waiting.pop_front().expect("a frame under way");
        let found = equalizer.collect().unwrap().expect("a frame under way");
        assert_eq!(difference(&expected, &found), None, "{}, {picture:?}, {seed}", backend.name);
    };
    for (number, &picture) in pictures.iter().enumerate() {
        if equalizer.in_flight() >= equalizer.capacity() {
            collect(&mut equalizer, &mut waiting);
        }
        let frame = picture.make();
        let given = mapping(curve_and_gain(frame.levels(), number, &mut random));
        reference.give(given.clone());
        equalizer.give(given);
        waiting.push_back((picture, reference.equalize(&frame)));
        equalizer.submit(frame).unwrap();
    }
    while !waiting.is_empty() {
        collect(&mut equalizer, &mut waiting);
    }
}

#[test]
fn every_format_follows_like_the_reference() {
    let mut pictures = Vec::new();
    for &format in PixelFormat::ALL {
        for (size, content) in [
            ((33, 17), Content::Noise),
            ((1, 1), Content::Ramp),
            ((150, 4), Content::Ramp),
            ((67, 3), Content::NearZero),
        ] {
            for range in [Range::Limited, Range::Full] {
                let matrix = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020][pictures.len() / 2 % 3];
                let placement = Placement::Padded(13);
                pictures.push(Picture { range, content, placement, matrix, ..Picture::new(format, size) });
            }
        }
    }
    for backend in available() {
        check(&backend, &pictures);
    }
}

#[test]
fn sizes_strides_and_contents_that_break_kernels_follow_like_the_reference() {
    let rest = [PixelFormat::Yuv410p, PixelFormat::Yuv411p, PixelFormat::Yuv440p, PixelFormat::Yuv444p16le];
    let rest = rest.into_iter().chain([PixelFormat::Nv21, PixelFormat::Yvyu422, PixelFormat::Yuva420p16be]);
    let mut pictures = Vec::new();
    for format in LAYOUTS.iter().copied().chain(rest) {
        for size in [(1, 1), (2, 1), (15, 1), (1, 301), (33, 18), (130, 7), (1919, 3)] {
            for content in Content::ALL {
                let (placement, range) = placement_and_range(pictures.len());
                pictures.push(Picture { range, content, placement, ..Picture::new(format, size) });
            }
        }
    }
    for backend in available() {
        check(&backend, &pictures);
    }
}

#[test]
fn large_pictures_follow_like_the_reference() {
    let formats =
        [PixelFormat::Yuv420p, PixelFormat::Nv12, PixelFormat::P010le, PixelFormat::Yuyv422, PixelFormat::Bgra];
    let pictures: Vec<Picture> =
        formats.iter().map(|&format| Picture { matrix: Matrix::Bt709, ..Picture::new(format, (1921, 1083)) }).collect();
    for backend in available() {
        check(&backend, &pictures);
    }
}

#[test]
fn chroma_may_change_its_mind_between_frames() {
    let mut random = Random::new(seed());
    let keep = Settings { chroma: Chroma::Keep, ..settings() };
    let local = Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..settings() };
    let sequence =
        [(settings(), true), (keep, true), (settings(), false), (local, true), (local, false), (keep, false)];
    for format in [PixelFormat::Nv12, PixelFormat::Yuv422p10be, PixelFormat::Gbrp] {
        for backend in available() {
            let mut equalizer = backend.make(settings(), 2);
            let mut reference = by_reference(settings());
            for (index, (settings, is_given)) in sequence.into_iter().flat_map(|one| [one; 3]).enumerate() {
                let frame = Picture { seed: index as u64 + 1, ..Picture::new(format, (70, 40)) }.make();
                let given = mapping(curve_and_gain(frame.levels(), index, &mut random)).filter(|_| is_given);
                let [found, expected] = [&mut equalizer, &mut reference].map(|video| {
                    video.set(settings);
                    video.give(given.clone());
                    video.equalize(&frame)
                });
                assert_eq!(difference(&expected, &found), None, "{}, frame {index}, {settings:?}", backend.name);
            }
        }
    }
}
