//! HDR under the look natural: PQ and HLG are analysed and corrected in linear light. Clean footage is unchanged, dark
//! footage is raised up to diffuse white, a brighter peak is kept, and levels keep their order. `guided.rs` compares
//! backends with the reference.

use crate::pictures::difference;
use histeq::Named;
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::counting::measure;
use histeq::internal::equalize::{Executor, Work};
use histeq::internal::frame::{
    ChromaSamples, Component, Descriptor, Frame, HostPool, Luminance, Matrix, Model, PixelFormat, PlaneMut, Range,
    Transfer,
};
use histeq::internal::spec::Guides;
use histeq::internal::spec::curves::{Levels, Mapping};
use histeq::internal::spec::natural::Assumed;
use histeq::internal::spec::parameters::{Chroma, Gain, Method, Settings, Smoothing, Strength};

const BOTH: [Transfer; 2] = [Transfer::Pq, Transfer::Hlg];

/// The light of a signal in cd/m2 by the published formulas; for HLG, on a display of 1000 cd/m2.
fn light(transfer: Transfer, signal: f64) -> f64 {
    if transfer == Transfer::Pq {
        let (m1, m2, c1, c2, c3) = (0.159_301_757_812_5, 78.84375, 0.835_937_5, 18.851_562_5, 18.6875);
        let power = signal.powf(1.0 / m2);
        return 10_000.0 * ((power - c1).max(0.0) / (c2 - c3 * power)).powf(1.0 / m1);
    }
    let (a, b, c) = (0.178_832_77_f64, 0.284_668_92_f64, 0.559_910_73_f64);
    let scene = if signal <= 0.5 { signal * signal / 3.0 } else { (((signal - c) / a).exp() + b) / 12.0 };
    1000.0 * scene.powf(1.2)
}

/// The inverse of `light`.
fn signal(transfer: Transfer, wanted: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if light(transfer, middle) < wanted { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// A scene: light in cd/m2 at (x, y), each from 0 to 1.
type Scene = fn(f64, f64) -> f64;

/// All levels from black to diffuse white, with a sun.
fn clean(x: f64, y: f64) -> f64 {
    let paper = 203.0 * ((x * 37.0).sin().mul_add(0.5, 0.5) * y).powf(2.2);
    if x > 0.9 && y > 0.85 { 700.0 } else { paper }
}

/// `clean` without its sun, at half of the light plus 1 cd/m2.
fn dim(x: f64, y: f64) -> f64 {
    clean(x * 0.9, y * 0.84) * 0.5 + 1.0
}

/// `clean` without its sun, with a fifteenth of the light.
fn dark(x: f64, y: f64) -> f64 {
    clean(x * 0.9, y * 0.84) / 15.0
}

/// `dark` with a lamp.
fn under_a_lamp(x: f64, y: f64) -> f64 {
    if x > 0.97 && y > 0.9 { 600.0 } else { dark(x, y) }
}

/// `clean` without its sun, in haze.
fn hazy(x: f64, y: f64) -> f64 {
    clean(x * 0.9, y * 0.84) * (0.35 + 0.25 * y) + 60.0 - 30.0 * y
}

/// A slightly warm frame of a scene.
fn frame(format: PixelFormat, range: Range, transfer: Transfer, scene: Scene) -> Frame {
    let size @ (width, height) = (160, 90);
    let Descriptor { sample, luminance, chroma, model, .. } = *format.descriptor();
    let levels = match range {
        Range::Limited if model != Model::Rgb => Levels::limited(format.depth()),
        _ => Levels::full(format.depth()),
    };
    let pool = HostPool::default();
    let count = format.descriptor().planes().len();
    let mut planes: Vec<_> =
        (0..count).map(|plane| pool.plane(format.row_bytes(plane, width), format.rows(plane, height))).collect();
    let mut put = |component: Component, (x, y): (usize, usize), code: u16| {
        sample.write(planes[component.plane].row_mut(y), component.offset + x * component.step, code);
    };
    let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let code = |(x, y): (usize, usize)| {
        let signal = signal(transfer, scene(x as f64 / width as f64, y as f64 / height as f64));
        levels.lo() + (signal * (levels.count() - 1) as f64).round() as u16
    };
    match luminance {
        Luminance::FromRgb { r, g, b } => {
            for index in pixels() {
                let code = code(index);
                [r, g, b]
                    .into_iter()
                    .zip([code, code, code - code / 16])
                    .for_each(|(component, code)| put(component, index, code));
            }
        }
        Luminance::Stored(component) => pixels().for_each(|index| put(component, index, code(index))),
    }
    if let Some(ChromaSamples { cb, cr, log2_width, log2_height }) = chroma {
        let middle = 1_u16 << (levels.depth() - 1);
        for (x, y) in pixels().filter(|(x, y)| x % (1 << log2_width) == 0 && y % (1 << log2_height) == 0) {
            let index = (x >> log2_width, y >> log2_height);
            put(cb, index, middle - middle / 40);
            put(cr, index, middle + middle / 50);
        }
    }
    let planes = planes.into_iter().map(PlaneMut::freeze).collect();
    let mut frame = Frame::new(format, size, range, Matrix::Bt2020, planes).expect("a frame");
    frame.transfer = transfer;
    frame
}

fn settings(assumed: Assumed) -> Settings {
    let method = Method::Natural { assumed, most: Gain::OFF, faithful: false };
    Settings { method, chroma: Chroma::Follow, keeps_peak: true, ..Settings::default() }
}

/// The mapping of a frame that has no neighbours.
fn mapping(frame: &Frame, settings: &Settings) -> Mapping {
    let mut guides = Guides::default();
    let mut decided = guides.push(measure(frame, frame.whole(), None).unwrap(), settings);
    decided.extend(guides.finish());
    decided.remove(0).mapping.expect("a mapping")
}

fn corrected(frame: &Frame, settings: &Settings) -> Frame {
    let work = Work::new(frame.clone(), *settings).applying(mapping(frame, settings));
    let mut reference = Reference::default();
    reference.submit(work).unwrap();
    reference.collect().unwrap().expect("a frame").frame
}

/// The luminance signal of each pixel, from 0 to 1.
fn signals(frame: &Frame) -> Vec<f64> {
    let sample = frame.format().descriptor().sample;
    let (levels, weights) = (frame.levels(), frame.weights());
    let read = |component: Component, x: usize, y: usize| {
        sample.read(frame.planes()[component.plane].row(y), component.offset + x * component.step)
    };
    let pixels = (0..frame.height()).flat_map(|y| (0..frame.width()).map(move |x| (x, y)));
    let code = |(x, y)| match frame.format().descriptor().luminance {
        Luminance::Stored(component) => read(component, x, y),
        Luminance::FromRgb { r, g, b } => weights.luminance([r, g, b].map(|component| read(component, x, y))),
    };
    pixels.map(|index| (f64::from(code(index)) - f64::from(levels.lo())) / (levels.count() - 1) as f64).collect()
}

fn mean_light(frame: &Frame) -> f64 {
    let signals = signals(frame);
    signals.iter().map(|&signal| light(frame.transfer, signal.max(0.0))).sum::<f64>() / signals.len() as f64
}

fn peak(frame: &Frame) -> f64 {
    signals(frame).into_iter().fold(0.0, f64::max)
}

/// Requires that no pixel exceeds diffuse white or the former peak, whichever is higher, except for rounding.
fn has_kept_its_peak(before: &Frame, after: &Frame, what: &str) {
    let step = 1.01 / (before.levels().count() - 1) as f64;
    let most = peak(before).max(signal(before.transfer, 203.0) + 0.002) + step;
    assert!(peak(after) <= most, "{what}, {:?} {before:?}: {} becomes {}", before.transfer, peak(before), peak(after));
}

/// Frames of a scene with each transfer, in several depths, ranges and layouts.
fn frames(scene: Scene) -> impl Iterator<Item = Frame> {
    let formats = [
        (PixelFormat::Yuv420p10le, Range::Limited),
        (PixelFormat::P010le, Range::Limited),
        (PixelFormat::Yuv444p12le, Range::Full),
        (PixelFormat::Yuv422p10be, Range::Limited),
        (PixelFormat::Yuv420p, Range::Limited),
        (PixelFormat::Gbrp10le, Range::Full),
        (PixelFormat::Rgb48le, Range::Full),
    ];
    let all = formats.into_iter().flat_map(|layout| BOTH.map(|transfer| (layout, transfer)));
    all.map(move |((format, range), transfer)| frame(format, range, transfer, scene))
}

#[test]
fn a_clean_picture_stays_as_it_is_to_the_byte() {
    for frame in frames(clean) {
        assert_eq!(difference(&frame, &corrected(&frame, &settings(Assumed::Nothing))), None, "{frame:?}");
    }
}

#[test]
fn a_dark_picture_is_lifted_up_to_diffuse_white_or_its_peak() {
    for (scene, name, least) in [(dark as Scene, "dark", 4.0), (under_a_lamp, "under a lamp", 1.3)] {
        for frame in frames(scene) {
            let after = corrected(&frame, &settings(Assumed::Nothing));
            let (before, found) = (mean_light(&frame), mean_light(&after));
            assert!(found > least * before, "{name}, {:?} {frame:?}: {before} becomes {found}", frame.transfer);
            has_kept_its_peak(&frame, &after, name);
        }
    }
}

#[test]
fn a_look_that_is_sure_does_more_and_keeps_the_peak() {
    for frame in frames(dim) {
        let measured = corrected(&frame, &settings(Assumed::Nothing));
        for assumed in [Assumed::Dark, Assumed::Veil, Assumed::Cast] {
            let after = corrected(&frame, &settings(assumed));
            assert!(difference(&measured, &after).is_some(), "{assumed:?}, {frame:?}: nothing more happens");
            has_kept_its_peak(&frame, &after, assumed.name());
        }
    }
}

#[test]
fn haze_comes_off_in_light() {
    for frame in frames(hazy) {
        let after = corrected(&frame, &settings(Assumed::Nothing));
        let darkest = |frame: &Frame| signals(frame).into_iter().fold(1.0, f64::min).max(0.0);
        let [before, found] = [&frame, &after].map(|frame| light(frame.transfer, darkest(frame)));
        assert!(found < before / 3.0, "{:?} {frame:?}: {before} becomes {found}", frame.transfer);
        has_kept_its_peak(&frame, &after, "haze");
    }
}

fn curves(mapping: &Mapping, levels: Levels) -> Vec<Vec<u16>> {
    match mapping {
        Mapping::Curve { curve, .. } => vec![curve.codes().to_vec()],
        Mapping::Veil(veil) => (0..8).map(|index| veil.curve_of((index, 7 - index), levels).codes().to_vec()).collect(),
        Mapping::Balanced { then, .. } => curves(then, levels),
        other => panic!("{other:?}"),
    }
}

#[test]
fn levels_keep_their_order_and_what_is_brighter_than_white_is_not_cut_off() {
    for scene in [dark as Scene, under_a_lamp, hazy] {
        for frame in frames(scene) {
            let levels = frame.levels();
            for curve in curves(&mapping(&frame, &settings(Assumed::Nothing)), levels) {
                assert!(curve.is_sorted(), "{frame:?}");
                let range = usize::from(levels.lo())..=usize::from(levels.hi());
                assert_eq!(curve[*range.end()], levels.hi(), "{frame:?}");
                let value_at = |signal: f64| usize::from(levels.lo()) + (signal * (levels.count() - 1) as f64) as usize;
                let held = peak(&frame).max(signal(frame.transfer, 203.0) + 0.002);
                let above = &curve[value_at(held) + 1..=*range.end()];
                let brighter: Vec<u16> =
                    above.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
                assert!(10 * brighter.len() >= 9 * above.len(), "{frame:?}: {} of {}", brighter.len(), above.len());
            }
        }
    }
}

#[test]
fn no_strength_is_the_input_and_half_of_it_is_between() {
    for frame in frames(dark).chain(frames(hazy)) {
        let with = |k: u32| {
            let strength = Strength::from_256ths(k);
            corrected(&frame, &Settings { strength, ..settings(Assumed::Nothing) })
        };
        assert_eq!(difference(&frame, &with(0)), None, "{frame:?}");
        let [none, half, all] = [0, 128, 256].map(|k| mean_light(&with(k)));
        assert!(none < half && half < all || none > half && half > all, "{frame:?}: {none} {half} {all}");
    }
}

/// The sRGB level (IEC 61966-2-1) of a light in cd/m2; diffuse white has level 1.
fn level(light: f64) -> f64 {
    let share = light / 203.0;
    if share <= 0.003_130_8 { 12.92 * share } else { 1.055 * share.powf(1.0 / 2.4) - 0.055 }
}

/// The inverse of `level`.
fn light_of_level(level: f64) -> f64 {
    203.0 * if level <= 0.040_45 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
}

/// The frame with its light multiplied by `share`.
fn faded(frame: &Frame, share: f64) -> Frame {
    let levels = frame.levels();
    let most = (levels.count() - 1) as f64;
    let fade = |code: u16| {
        let before = light(frame.transfer, f64::from(code - levels.lo()) / most);
        levels.lo() + (signal(frame.transfer, share * before) * most).round() as u16
    };
    let table: Vec<u16> = (levels.lo()..=levels.hi()).map(fade).collect();
    let mut plane = HostPool::default().plane(2 * frame.width(), frame.height());
    for y in 0..frame.height() {
        for (x, two) in frame.planes()[0].row(y).chunks_exact(2).enumerate() {
            let code = u16::from_le_bytes([two[0], two[1]]) - levels.lo();
            plane.row_mut(y)[2 * x..2 * x + 2].copy_from_slice(&table[usize::from(code)].to_le_bytes());
        }
    }
    let mut luma = Some(plane.freeze());
    frame.clone().with_planes(|index| if index == 0 { luma.take() } else { None })
}

/// The mean light of `frame` mapped by `e * F(x / e)`, where F is `curve`, and e is the mean level of `frame` over that
/// of `whole`, with `more` added to both.
fn light_of_fade(frame: &Frame, whole: &Frame, curve: &[u16], more: f64) -> f64 {
    let (transfer, levels) = (frame.transfer, frame.levels());
    let most = (levels.count() - 1) as f64;
    let mean_level = |frame: &Frame| {
        let signals = signals(frame);
        signals.iter().map(|&signal| level(light(transfer, signal))).sum::<f64>() / signals.len() as f64
    };
    let e = (mean_level(frame) + more) / (mean_level(whole) + more);
    let codes: Vec<f64> = curve[usize::from(levels.lo())..=usize::from(levels.hi())]
        .iter()
        .map(|code| f64::from(code - levels.lo()) / most)
        .collect();
    let becomes = |code: usize| {
        let lit = light_of_level(level(light(transfer, code as f64 / most)) / e);
        let index = (signal(transfer, lit) * most).min(most - 1.0);
        let (low, high) = (codes[index as usize], codes[index as usize + 1]);
        light_of_level(e * level(light(transfer, low + (high - low) * index.fract())))
    };
    let lights: Vec<f64> = (0..levels.count()).map(becomes).collect();
    let signals = signals(frame);
    signals.iter().map(|signal| lights[(signal * most).round() as usize]).sum::<f64>() / signals.len() as f64
}

/// This is added to means before they are compared, because means near black are unreliable (`natural/light.rs`).
const ADDED_TO_MEANS: f64 = 1.0 / 512.0;

/// The allowed relative error of the mean light: half a 10-bit code each in the frame and in the result, if all pixels
/// are rounded in the same direction. From 10 cd/m2 on, a code of PQ is at most 1.5 % of the light, and a code of HLG
/// less; darker pixels contribute little to the mean.
const ROUNDING: f64 = 0.015;

#[test]
fn a_fade_of_light_fades() {
    const FULLY_LIT: usize = 19;
    for transfer in BOTH {
        let whole = frame(PixelFormat::Yuv420p10le, Range::Limited, transfer, dark);
        let settings = Settings { smoothing: Smoothing::new(24, 4).looking_ahead(12), ..settings(Assumed::Nothing) };
        let mut frames = vec![whole.clone(); FULLY_LIT];
        frames.extend((1..=5).map(|step| faded(&whole, 1.0 - 0.12 * f64::from(step))));
        let mut guides = Guides::default();
        let mut decided = Vec::new();
        for frame in &frames {
            decided.extend(guides.push(measure(frame, frame.whole(), None).unwrap(), &settings));
        }
        decided.extend(guides.finish());
        let mappings: Vec<Mapping> = decided.into_iter().map(|guide| guide.mapping.expect("a mapping")).collect();
        let mut reference = Reference::default();
        let mut lit = |index: usize| {
            reference.submit(Work::new(frames[index].clone(), settings).applying(mappings[index].clone())).unwrap();
            mean_light(&reference.collect().unwrap().unwrap().frame)
        };
        let before = lit(FULLY_LIT - 1);
        assert!(before > 2.0 * mean_light(&whole), "{transfer:?}: {before}");
        let Mapping::Curve { curve, .. } = &mappings[FULLY_LIT - 1] else { panic!("{:?}", mappings[FULLY_LIT - 1]) };
        for (index, frame) in frames.iter().enumerate().skip(FULLY_LIT) {
            let [least, most] = [0.0, ADDED_TO_MEANS].map(|more| light_of_fade(frame, &whole, curve.codes(), more));
            let found = lit(index);
            let expected = least * (1.0 - ROUNDING)..=most * (1.0 + ROUNDING);
            assert!(expected.contains(&found), "{transfer:?}, frame {index}: {found} is not in {expected:?}");
        }
    }
}
