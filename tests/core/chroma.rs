//! Chroma that follows luma: the reference against a second computation of its rule with exact fractions, what the rule
//! promises, and every backend against the reference.

use crate::backends::{available, by_reference};
use crate::grid::{LAYOUTS, check};
use crate::pictures::{Content, Picture, Placement, Random, difference, placement_and_range, seed};
use histeq::frame::{Component, Frame, Luminance, Matrix, Model, PixelFormat, Range};
use histeq::spec::chroma::{Colours, Covered, Excursion, MAX_GAIN, UNIT_GAIN, gain, rescaled};
use histeq::spec::{Chroma, Gain, Levels, Method, Settings, Smoothing, Strength, Weights};

fn settings() -> Settings {
    Settings { chroma: Chroma::Scale, ..Settings::default() }
}

fn local() -> Settings {
    let method = Method::Clahe { columns: 3, rows: 2 };
    Settings { method, max_gain: Gain::from_slope(3.0).expect("a gain"), ..settings() }
}

/// A fraction of two integers, the lower one above 0.
#[derive(Clone, Copy)]
struct Fraction(i128, i128);

impl Fraction {
    fn below(self, other: Fraction) -> bool {
        self.0 * other.1 < other.0 * self.1
    }

    fn min(self, other: Fraction) -> Fraction {
        if other.below(self) { other } else { self }
    }

    /// The highest multiple of 1/4096 that is not above it.
    fn in_4096ths(self) -> Fraction {
        Fraction((self.0 * 4096).div_euclid(self.1), 4096)
    }

    /// Its product with an integer, to the nearest one, halves away from zero.
    fn times(self, factor: i128) -> i128 {
        let (product, whole) = (self.0 * factor.abs(), self.1);
        factor.signum() * ((2 * product + whole) / (2 * whole))
    }
}

/// The gain for luma sums above black, of this number of samples, and a colour that moves R, G and B by these codes, in order.
fn naive_gain([before, after]: [i128; 2], samples: i128, span: i128, rgb: [Fraction; 3]) -> Fraction {
    let one = Fraction(1, 1);
    if before == 0 {
        return one;
    }
    let plain = Fraction(after, before).in_4096ths();
    if after <= before {
        return plain;
    }
    let mut gain = plain.min(Fraction(4, 1));
    for Fraction(part, whole) in rgb {
        // The excursion in whole codes, away from zero.
        let codes = part.signum() * ((part.abs() + whole - 1) / whole);
        if codes > 0 {
            gain = gain.min(Fraction((samples * span - after).max(0), samples * codes).in_4096ths());
        } else if codes < 0 {
            gain = gain.min(Fraction(after, samples * -codes).in_4096ths());
        }
    }
    if gain.below(one) { one } else { gain }
}

/// Kr and Kb as the recommendations have them, in 65536ths.
fn naive_weights(matrix: Matrix) -> (i128, i128) {
    match matrix {
        Matrix::Bt601 => (19595, 7471),
        Matrix::Bt709 => (13933, 4732),
        Matrix::Bt2020 => (17216, 3886),
    }
}

fn at(frame: &Frame, component: Component, x: usize, y: usize) -> i128 {
    let row = frame.planes()[component.plane].row(y);
    frame.format().descriptor().sample.read(row, component.offset + x * component.step).into()
}

/// What the chroma of `before` becomes, by the luma of `after`, compared with what it has become there.
fn check_chroma(before: &Frame, after: &Frame, picture: &Picture) {
    let descriptor = before.format().descriptor();
    let Some(places) = descriptor.chroma else { return };
    let Luminance::Stored(luma) = descriptor.luminance else { panic!("chroma without luma") };
    let scale = 1i128 << (descriptor.sample.depth - 8);
    let limited = before.range() == Range::Limited;
    let (black, white) = if limited { (16 * scale, 235 * scale) } else { (0, 256 * scale - 1) };
    let (lowest, highest) = if limited { (16 * scale, 240 * scale) } else { (1, 256 * scale - 1) };
    let (part, whole) = if limited { (219, 224) } else { (1, 1) };
    let (kr, kb) = naive_weights(before.matrix());
    let kg = 65536 - kr - kb;
    // 2 * numerator / denominator of what luma has for a code of chroma, in 32768ths.
    let per_code = |numerator: i128, denominator: i128| {
        let Fraction(up, down) = Fraction(2 * 32768 * numerator * part, denominator * whole);
        (2 * up + down) / (2 * down)
    };
    let red = per_code(65536 - kr, 65536);
    let (green_of_cb, green_of_cr) = (per_code(kb * (65536 - kb), kg * 65536), per_code(kr * (65536 - kr), kg * 65536));
    let blue = per_code(65536 - kb, 65536);
    let middle = 128 * scale;
    let (columns, rows) = (1usize << places.log2_width, 1usize << places.log2_height);
    for y in 0..before.height().div_ceil(rows) {
        for x in 0..before.width().div_ceil(columns) {
            let covered: Vec<(usize, usize)> = (0..rows * columns)
                .map(|index| (x * columns + index % columns, y * rows + index / columns))
                .filter(|&(x, y)| x < before.width() && y < before.height())
                .collect();
            let sum = |frame| covered.iter().map(|&(x, y)| (at(frame, luma, x, y) - black).max(0)).sum();
            let (cb, cr) = (at(before, places.cb, x, y) - middle, at(before, places.cr, x, y) - middle);
            let rgb = [red * cr, -green_of_cb * cb - green_of_cr * cr, blue * cb].map(|codes| Fraction(codes, 32768));
            let gain = naive_gain([sum(before), sum(after)], covered.len() as i128, white - black, rgb);
            for (component, offset) in [(places.cb, cb), (places.cr, cr)] {
                let code = middle + offset;
                let expected = (middle + gain.times(offset)).clamp(code.min(lowest), code.max(highest));
                assert_eq!(at(after, component, x, y), expected, "chroma ({x}, {y}) of {picture:?}");
            }
        }
    }
}

/// The same of RGB, by the luminance of `before` and what the curve, or the tiles, made of it.
fn check_rgb(before: &Frame, kept: &Frame, after: &Frame, picture: &Picture) {
    let descriptor = before.format().descriptor();
    let Luminance::FromRgb { r, g, b } = descriptor.luminance else { return };
    let (kr, kb) = naive_weights(before.matrix());
    let max = i128::from(descriptor.sample.max());
    for y in 0..before.height() {
        for x in 0..before.width() {
            let rgb = [r, g, b].map(|component| at(before, component, x, y));
            let luminance = (kr * rgb[0] + (65536 - kr - kb) * rgb[1] + kb * rgb[2] + 32768) >> 16;
            // Where no component meets an end of the range, each has moved as far as the luminance.
            let moves: Vec<i128> = [r, g, b]
                .into_iter()
                .zip(rgb)
                .filter(|&(component, _)| (1..max).contains(&at(kept, component, x, y)))
                .map(|(component, code)| at(kept, component, x, y) - code)
                .collect();
            let Some(&step) = moves.first() else { continue };
            let to = luminance + step;
            let gain = naive_gain([luminance, to], 1, max, rgb.map(|code| Fraction(code - luminance, 1)));
            for (component, code) in [r, g, b].into_iter().zip(rgb) {
                let expected = (to + gain.times(code - luminance)).clamp(0, max);
                assert_eq!(at(after, component, x, y), expected, "({x}, {y}) of {picture:?}");
            }
        }
    }
}

#[test]
fn the_reference_agrees_with_exact_fractions() {
    let mut random = Random::new(seed());
    for &format in PixelFormat::ALL {
        for size in [(1, 1), (2, 3), (33, 17), (18, 10)] {
            let content = Content::ALL[random.below(6) as usize];
            let range = [Range::Limited, Range::Full][random.below(2) as usize];
            let matrix = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020][random.below(3) as usize];
            for content in [Content::Noise, content] {
                let picture = Picture { range, matrix, content, ..Picture::new(format, size) };
                let frame = picture.make();
                for settings in [settings(), local()] {
                    let settings = Settings { strength: Strength::from_share(0.7).unwrap(), ..settings };
                    let kept = by_reference(Settings { chroma: Chroma::Keep, ..settings }).equalize(&frame);
                    let after = by_reference(settings).equalize(&frame);
                    check_chroma(&frame, &after, &picture);
                    check_rgb(&frame, &kept, &after, &picture);
                }
            }
        }
    }
}

#[test]
fn luma_and_alpha_are_what_they_are_with_chroma_kept() {
    for &format in PixelFormat::ALL.iter().filter(|format| format.descriptor().model != Model::Rgb) {
        let frame = Picture::new(format, (35, 9)).make();
        let kept = by_reference(Settings::default()).equalize(&frame);
        let scaled = by_reference(settings()).equalize(&frame);
        let Luminance::Stored(luma) = format.descriptor().luminance else { panic!("{format}") };
        for y in 0..9 {
            assert!((0..35).all(|x| at(&kept, luma, x, y) == at(&scaled, luma, x, y)), "{format}");
        }
        for (plane, (kept, scaled)) in kept.planes().iter().zip(scaled.planes()).enumerate() {
            if format.descriptor().model == Model::Gray || plane == 3 {
                assert!((0..9).all(|y| kept.row(y) == scaled.row(y)), "{format}");
            }
        }
    }
}

/// Random colours of a depth and a range, what they cover, and what becomes of them.
fn random_pairs(mut then: impl FnMut(Levels, &Colours, [u16; 2], Covered, [u16; 2])) {
    let mut random = Random::new(seed());
    for round in 0..200_000 {
        let depth = [8, 10, 12, 16][round % 4];
        let levels = if round % 3 == 0 { Levels::full(depth) } else { Levels::limited(depth) };
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 5 % 3];
        let colours = Colours::new(levels, weights);
        let samples = [1, 2, 4, 16][random.below(4) as usize];
        let mut sum = || (0..samples).map(|_| random.below(u64::from(colours.span) + 1) as u32).sum();
        let covered = Covered { before: sum(), after: sum(), samples };
        // Weak colours are the usual ones.
        let reach = (colours.reach as u64 >> random.below(8)).max(1);
        let pair = [(); 2].map(|()| (colours.centre + random.below(2 * reach + 1) as i32 - reach as i32) as u16);
        then(levels, &colours, pair, covered, colours.pair(pair, covered));
    }
}

#[test]
fn gray_stays_gray_and_hue_stays() {
    random_pairs(|_, colours, pair, covered, scaled| {
        let offsets = |pair: [u16; 2]| pair.map(|code| i64::from(code) - i64::from(colours.centre));
        let ([cb, cr], [new_cb, new_cr]) = (offsets(pair), offsets(scaled));
        assert!(cb * new_cb >= 0 && cr * new_cr >= 0, "{pair:?} {covered:?} {scaled:?}");
        assert!(cb != 0 || new_cb == 0, "{pair:?} {covered:?} {scaled:?}");
        // The cross product of directions, both of which rounding moves by up to half a code (a whole one at the end of
        // the legal range).
        let apart = (cb * new_cr - cr * new_cb).abs();
        assert!(apart <= cb.abs() + cr.abs(), "{pair:?} {covered:?} {scaled:?}");
    });
    for depth in [8, 16] {
        let colours = Colours::new(Levels::limited(depth), Weights::BT709);
        let gray = [colours.centre as u16; 2];
        assert_eq!(colours.pair(gray, Covered { before: 1, after: 200, samples: 4 }), gray);
    }
}

#[test]
fn what_is_legal_and_in_the_gamut_stays_there() {
    random_pairs(|_, colours, pair, covered, scaled| {
        let [cb, cr] = pair.map(|code| i32::from(code) - colours.centre);
        let [new_cb, new_cr] = scaled.map(|code| i32::from(code) - colours.centre);
        assert!(new_cb.abs().max(new_cr.abs()) <= cb.abs().max(cr.abs()).max(colours.reach));
        // R, G and B in codes, times the samples, as far beyond black and white.
        let beyond = |luma: u32, [cb, cr]: [i32; 2]| {
            let (luma, samples) = (f64::from(luma), f64::from(covered.samples));
            let rgb = [
                f64::from(colours.red) * f64::from(cr),
                -f64::from(colours.green_of_cb) * f64::from(cb) - f64::from(colours.green_of_cr) * f64::from(cr),
                f64::from(colours.blue) * f64::from(cb),
            ];
            let codes = rgb.map(|codes| luma / samples + codes / 32768.0);
            codes.map(|code| (-code).max(code - f64::from(colours.span)).max(0.0)).into_iter().fold(0.0, f64::max)
        };
        // Not further than with chroma as it was, or darkened with its luma, but for the rounding of chroma.
        let allowed = if covered.after > covered.before {
            beyond(covered.after, [cb, cr])
        } else {
            beyond(covered.before, [cb, cr])
        };
        let found = beyond(covered.after, [new_cb, new_cr]);
        assert!(
            found <= allowed + 1.1,
            "{colours:?} {pair:?} {covered:?} {scaled:?}: {found} beyond, {allowed} allowed"
        );
    });
}

#[test]
fn the_gain_is_that_of_luma_within_its_bounds() {
    let weak = Excursion { up: 1, down: 1 };
    let of = |before, after, samples| gain(Covered { before, after, samples }, 219, weak);
    assert_eq!(of(0, 50, 1), UNIT_GAIN, "black has no ratio");
    assert_eq!(of(100, 100, 4), UNIT_GAIN);
    assert_eq!(of(100, 50, 4), UNIT_GAIN / 2);
    assert_eq!(of(100, 0, 4), 0, "what becomes black loses its colour");
    assert_eq!(of(100, 150, 4), UNIT_GAIN * 3 / 2);
    assert_eq!(of(10, 100, 1), MAX_GAIN);
    let gain = |up, down| gain(Covered { before: 50, after: 150, samples: 1 }, 219, Excursion { up, down });
    assert_eq!(gain(10, 10), 3 * UNIT_GAIN);
    assert_eq!(gain(46, 10), UNIT_GAIN * 3 / 2, "69 codes up to white");
    assert_eq!(gain(80, 10), UNIT_GAIN, "luma alone sends it beyond white");
    assert_eq!(gain(10, 100), UNIT_GAIN * 3 / 2, "150 codes down to black");
    assert_eq!(gain(10, 200), UNIT_GAIN, "beyond black already");
    let pixel = |rgb, to| rescaled(rgb, Weights::BT601.luminance(rgb), to, 255);
    assert_eq!(pixel([40, 20, 10], 50), [80, 40, 20], "twice as bright, twice as colourful");
    assert_eq!(pixel([40, 20, 10], 0), [0, 0, 0]);
    assert_eq!(pixel([0, 0, 0], 70), [70, 70, 70]);
}

#[test]
fn strength_0_leaves_every_valid_picture_as_it_is() {
    let settings = Settings { strength: Strength::from_share(0.0).unwrap(), ..settings() };
    for &format in PixelFormat::ALL {
        for content in [Content::Ramp, Content::NearZero, Content::NearMax] {
            for range in [Range::Limited, Range::Full] {
                let picture = Picture { content, range, ..Picture::new(format, (33, 17)) };
                let frame = picture.make();
                let equalized = by_reference(settings).equalize(&frame);
                assert_eq!(difference(&frame, &equalized), None, "{picture:?}");
            }
        }
    }
}

#[test]
fn every_format_is_scaled_like_the_reference() {
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
        check(&backend.name, &mut backend.make(settings(), 2), settings(), &pictures);
    }
}

#[test]
fn sizes_strides_and_contents_that_break_kernels_are_scaled_like_the_reference() {
    let others = [PixelFormat::Yuv410p, PixelFormat::Yuv411p, PixelFormat::Yuv440p, PixelFormat::Yuv444p16le];
    let others = others.into_iter().chain([PixelFormat::Nv21, PixelFormat::Yvyu422, PixelFormat::Yuva420p16be]);
    let mut pictures = [Vec::new(), Vec::new()];
    for format in LAYOUTS.iter().copied().chain(others) {
        for size in [(1, 1), (2, 1), (15, 1), (1, 301), (33, 18), (130, 7), (1919, 3)] {
            for content in Content::ALL {
                let number = pictures[0].len() + pictures[1].len();
                let (placement, range) = placement_and_range(number);
                // The method takes turns, too; CLAHE of 16 bits would take minutes.
                let local = format.depth() < 16 && number / 2 % 2 == 1;
                pictures[usize::from(local)].push(Picture { range, content, placement, ..Picture::new(format, size) });
            }
        }
    }
    for (settings, pictures) in [settings(), local()].into_iter().zip(pictures) {
        for backend in available() {
            check(&backend.name, &mut backend.make(settings, 2), settings, &pictures);
        }
    }
}

#[test]
fn large_pictures_are_scaled_like_the_reference() {
    let formats =
        [PixelFormat::Yuv420p, PixelFormat::Nv12, PixelFormat::P010le, PixelFormat::Yuyv422, PixelFormat::Bgra];
    let pictures: Vec<Picture> =
        formats.iter().map(|&format| Picture { matrix: Matrix::Bt709, ..Picture::new(format, (1921, 1083)) }).collect();
    for settings in [settings(), local()] {
        for backend in available() {
            check(&backend.name, &mut backend.make(settings, 2), settings, &pictures);
        }
    }
}

#[test]
fn chroma_may_change_its_mind_between_frames() {
    let smooth = |settings: Settings| Settings { smoothing: Smoothing::new(3, 1), ..settings };
    let keep = |settings: Settings| Settings { chroma: Chroma::Keep, ..settings };
    let sequence = [settings(), keep(settings()), smooth(settings()), local(), keep(local()), smooth(local())];
    for format in [PixelFormat::Nv12, PixelFormat::Yuv422p10be, PixelFormat::Gbrp] {
        for backend in available() {
            let mut equalizer = backend.make(sequence[0], 2);
            let mut reference = by_reference(sequence[0]);
            for (index, settings) in sequence.iter().flat_map(|settings| [settings; 3]).enumerate() {
                let picture = Picture { seed: index as u64 + 1, ..Picture::new(format, (70, 40)) };
                reference.set(*settings);
                equalizer.set(*settings);
                equalizer.submit(picture.make()).unwrap();
                let found = equalizer.collect().unwrap().unwrap();
                let difference = difference(&reference.equalize(&picture.make()), &found);
                assert_eq!(difference, None, "{}, frame {index}, {settings:?}", backend.name);
            }
        }
    }
}
