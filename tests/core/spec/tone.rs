//! Levels and colour: lines, the effect of each rule on a scene, and what the rules leave unchanged.

use crate::pictures::Random;
use histeq::internal::spec::Weights;
use histeq::internal::spec::chroma::{Colours, UNIT_GAIN};
use histeq::internal::spec::curves::tone::{Balance, BalanceOfYuv, Veil};
use histeq::internal::spec::curves::{Curve, Levels, Line, Mapping, Tone};
use histeq::internal::spec::measure::{Ends, REGIONS};
use histeq::internal::spec::parameters::{Gain, Settings, Strength, Stretch};

const SEED: u64 = 1;

const LEVELS: [Levels; 5] =
    [Levels::full(8), Levels::limited(8), Levels::limited(10), Levels::full(12), Levels::full(16)];

/// The ends of a scene that uses the 8-bit levels from `low` to `high`.
fn ends(levels: Levels, low: u32, high: u32) -> Ends {
    let white = 16 * (levels.count() as u32 - 1);
    let [low, high] = [low, high].map(|of_255| (u64::from(white) * u64::from(of_255) / 255) as u32);
    Ends { dark: low, bright: high, peak: high }
}

fn gain(slope: f64) -> Gain {
    Gain::from_slope(slope).unwrap()
}

fn unused(most: f64) -> Settings {
    Settings { stretch: Stretch::Unused { most: gain(most), fades: true }, ..Settings::default() }
}

#[test]
fn a_line_rises_goes_through_its_points_and_stays_in_range() {
    let mut random = Random::new(SEED);
    for _ in 0..2000 {
        let levels = LEVELS[random.below(5) as usize];
        let most = levels.count() as u32 - 1;
        let mut xs: Vec<u32> = (0..random.below(7)).map(|_| random.below(u64::from(most)) as u32).collect();
        let mut ys: Vec<u32> = (0..xs.len()).map(|_| random.below(u64::from(most)) as u32).collect();
        xs.sort_unstable();
        xs.dedup();
        ys.truncate(xs.len());
        ys.sort_unstable();
        let points: Vec<(u32, u32)> =
            xs.iter().zip(&ys).map(|(x, y)| (16 * x, 16 * y)).chain([(16 * most + 16, 16 * most)]).collect();
        let line = Line::through(&points);
        let values: Vec<u32> =
            (0..=most).step_by(1 + most as usize / 999).map(|level| line.level(level, most)).collect();
        assert!(values.is_sorted() && values.iter().all(|&value| value <= most), "{points:?}");
        for (x, y) in xs.iter().zip(&ys) {
            assert!(line.level(*x, most).abs_diff(*y) <= 1, "{x} -> {y} in {points:?}, seed {SEED}");
        }
    }
}

#[test]
fn strength_is_a_share_of_what_a_mapping_does() {
    let strength = Strength::from_256ths;
    for levels in LEVELS {
        let most = levels.count() as i64 - 1;
        let balance = Balance { gains: [8192, 2048, 4096], offsets: [-160, 320, 0] };
        let half = Balance { gains: [6144, 3072, 4096], offsets: [-80, 160, 0] };
        assert_eq!(balance.with_strength(strength(128)), half);
        // A tenth of white, in sixteenths of a level.
        let taken = [[most as u32 * 16 / 10; REGIONS]; REGIONS];
        let (gains, chroma) = ([[9000; REGIONS]; REGIONS], [[2048; REGIONS]; REGIONS]);
        let veil = Veil { taken, gains, chroma, then: None, in_light: None, ceiling: most as u32 };
        for k in [1, 100, 255] {
            let part = veil.with_strength(strength(k));
            let (all, part) = (veil.curve_of((3, 5), levels), part.curve_of((3, 5), levels));
            for code in (levels.lo()..=levels.hi()).step_by(1 + most as usize / 500) {
                let [whole, shared] = [&all, &part].map(|curve| i64::from(curve.apply(code)));
                if whole > levels.lo().into() && whole < levels.hi().into() {
                    let between = strength(k).between(code.into(), whole);
                    assert!(shared.abs_diff(between) <= 1 + most as u64 / 4096, "{code}: {shared}, not {between}");
                }
            }
        }
        let mapping = Mapping::Balanced { balance, then: Mapping::Veil(veil.into()).into() };
        assert_eq!(mapping.with_strength(levels, Strength::FULL), mapping);
        let curve = Curve::identity(levels).into();
        assert_eq!(mapping.with_strength(levels, strength(0)), Mapping::Curve { curve, chroma_gain: UNIT_GAIN });
    }
}

#[test]
fn the_identity_leaves_codes_alone_that_are_no_levels_too() {
    for levels in LEVELS {
        assert!((0..levels.codes()).all(|code| Line::IDENTITY.code(code as u16, levels) == code as u16));
    }
}

#[test]
fn a_scene_that_uses_its_range_is_left_as_it_is() {
    for levels in LEVELS {
        let tone = Tone::new([ends(levels, 4, 245)].iter(), levels, &unused(8.0));
        assert!(tone.line.is_identity() && tone.strength.to_256ths() == 0 && tone.chroma_gain == UNIT_GAIN, "{tone:?}");
    }
}

#[test]
fn a_flat_scene_is_stretched_to_black_and_white_with_its_colour() {
    for levels in LEVELS {
        let most = levels.count() as u32 - 1;
        let tone = Tone::new([ends(levels, 90, 170)].iter(), levels, &unused(8.0));
        let [black, white] = [90, 170].map(|of_255| tone.line.level(most * of_255 / 255, most) * 255 / most);
        assert!(black <= 1 && white >= 253, "{black} {white} {levels:?}");
        // 80 of 255 levels are stretched to all, which is a gain of 3.19.
        assert!(tone.chroma_gain.abs_diff(4096 * 255 / 80) < 60, "{}", tone.chroma_gain);
        let held = Tone::new([ends(levels, 90, 170)].iter(), levels, &unused(2.0));
        assert!(held.chroma_gain <= 2 * 4096 && held.chroma_gain > 2 * 4096 - 16);
    }
}

#[test]
fn yuv_is_balanced_as_its_rgb_is() {
    let mut random = Random::new(SEED);
    let levels = Levels::full(8);
    for weights in [Weights::BT601, Weights::BT709, Weights::BT2020] {
        let colours = Colours::new(levels, weights);
        for _ in 0..2000 {
            let gains = std::array::from_fn(|_| 2048 + random.below(6144) as u32);
            let balance = Balance { gains, offsets: std::array::from_fn(|_| random.below(640) as i32 - 320) };
            let sums = BalanceOfYuv::new(&balance, &colours, weights);
            // The colour is weak, so nothing is clamped.
            let before = [100 + random.below(40) as i32, random.below(21) as i32 - 10, random.below(21) as i32 - 10];
            let rgb = |[luma, cb, cr]: [i32; 3]| {
                let [luma, cb, cr] = [luma, cb, cr].map(f64::from);
                let (red, blue) = (f64::from(colours.red) / 32768.0, f64::from(colours.blue) / 32768.0);
                let green = (f64::from(colours.green_of_cb) * cb + f64::from(colours.green_of_cr) * cr) / 32768.0;
                [luma + red * cr, luma - green, luma + blue * cb]
            };
            let after = rgb([0, 1, 2].map(|row| sums.sum(row, before)));
            for (channel, (before, after)) in rgb(before).into_iter().zip(after).enumerate() {
                let expected =
                    before * f64::from(balance.gains[channel]) / 4096.0 + f64::from(balance.offsets[channel]) / 16.0;
                assert!((expected - after).abs() < 3.0, "{expected} {after}, seed {SEED}");
            }
        }
    }
}
