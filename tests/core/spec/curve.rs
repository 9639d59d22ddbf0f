//! The specification against a second implementation, straight from the definition and with exact fractions: it sums up
//! single counts and shares no code.

use crate::backends::by_reference;
use crate::pictures::{Bytes, Random, seed};
use histeq::internal::frame::{Frame, Matrix, PixelFormat, Plane, Range};
use histeq::internal::spec::curves::{Curve, Histogram, Levels, Line};
use histeq::internal::spec::parameters::{Settings, Strength};
use histeq::internal::spec::{Weights, moved};
use std::sync::Arc;

const DEPTHS: [u8; 5] = [8, 9, 10, 12, 16];

fn ranges(depth: u8) -> [(Levels, u64, u64); 2] {
    let scale = 2u64.pow(u32::from(depth) - 8);
    [(Levels::limited(depth), 16 * scale, 235 * scale), (Levels::full(depth), 0, 256 * scale - 1)]
}

/// The output code for `code` in a picture with `counts[code]` samples of each code.
fn equalized(counts: &[u64], code: usize, lo: u64, hi: u64) -> u64 {
    let clamped = |code: usize| (code as u64).clamp(lo, hi);
    let not_above = |level: u64| -> u128 {
        (0..counts.len()).filter(|&other| clamped(other) <= level).map(|other| u128::from(counts[other])).sum()
    };
    let Some(first) = (0..counts.len()).find(|&code| counts[code] > 0).map(clamped) else { return code as u64 };
    let (darkest, all) = (not_above(first), not_above(hi));
    if darkest == all {
        return code as u64;
    }
    let (above, spread) = (not_above(clamped(code)).saturating_sub(darkest), all - darkest);
    // `above / spread` is the share of the range from lo to hi; it is rounded to the nearest level, halves up.
    lo + ((2 * above * u128::from(hi - lo) + spread) / (2 * spread)) as u64
}

fn check(counts: &[u64], depth: u8, seed: u64) {
    for (levels, lo, hi) in ranges(depth) {
        let curve = Curve::equalizing(&Histogram::from_codes(levels, counts));
        assert_eq!(curve.codes().len(), 1 << depth);
        // All codes up to 10 bits; beyond, a selection that includes the ends, because all codes would take minutes.
        let step = if depth > 10 { 997 } else { 1 };
        for code in (0..1 << depth).step_by(step).chain([lo as usize, hi as usize, (1 << depth) - 1]) {
            let (expected, found) = (equalized(counts, code, lo, hi), u64::from(curve.apply(code as u16)));
            assert_eq!(found, expected, "code {code} of {depth} bits, {lo} to {hi}, seed {seed}");
        }
    }
}

#[test]
fn the_published_example_of_8x8() {
    // A. Bugetti, Histogram Equalization, 2025: the samples of figure 2, which become those of figure 5.
    #[rustfmt::skip]
    let before = [
        52, 55, 61,  59,  79,  61, 76, 61,
        62, 59, 55, 104,  94,  85, 59, 71,
        63, 65, 66, 113, 144, 104, 63, 72,
        64, 70, 70, 126, 154, 109, 71, 69,
        67, 73, 68, 106, 122,  88, 68, 68,
        68, 79, 60,  70,  77,  66, 58, 75,
        69, 85, 64,  58,  55,  61, 65, 83,
        70, 87, 69,  68,  65,  73, 78, 90,
    ];
    #[rustfmt::skip]
    let after = [
          0,  12,  53,  32, 190,  53, 174,  53,
         57,  32,  12, 227, 219, 202,  32, 154,
         65,  85,  93, 239, 251, 227,  65, 158,
         73, 146, 146, 247, 255, 235, 154, 130,
         97, 166, 117, 231, 243, 210, 117, 117,
        117, 190,  36, 146, 178,  93,  20, 170,
        130, 202,  73,  20,  12,  53,  85, 194,
        146, 206, 130, 117,  85, 166, 182, 215,
    ];
    let plane = Plane::new(Arc::new(Bytes(before.to_vec())), 0, 8, 8, 8).unwrap();
    let frame = Frame::new(PixelFormat::Gray, (8, 8), Range::Full, Matrix::Bt601, vec![plane]).unwrap();
    let equalized = by_reference(Settings::default()).equalize(&frame);
    let found: Vec<u8> = (0..8).flat_map(|y| equalized.planes()[0].row(y).to_vec()).collect();
    assert_eq!(found, after);
}

#[test]
fn random_histograms_agree_with_exact_fractions() {
    let seed = seed();
    let mut random = Random::new(seed);
    for depth in DEPTHS {
        for sparse in [1, 2, 40] {
            let counts: Vec<u64> = (0..1 << depth)
                .map(|_| if random.next().is_multiple_of(sparse) { random.next() % 1000 } else { 0 })
                .collect();
            check(&counts, depth, seed);
        }
    }
}

#[test]
fn counts_of_7680x4320_need_64_bits_and_have_them() {
    let all = 7680 * 4320;
    for depth in [8, 10, 16] {
        let last = (1 << depth) - 1;
        for (dark, bright) in [(last / 4, last / 2), (0, last), (last / 2, last / 2 + 1)] {
            for few in [1, all / 2, all - 1] {
                let mut counts = vec![0; 1 << depth];
                counts[dark] = few;
                counts[last / 3] += 1;
                counts[bright] += all - few;
                check(&counts, depth, 0);
            }
        }
    }
}

#[test]
fn curves_rise_and_end_at_black_and_white() {
    let seed = seed();
    let mut random = Random::new(seed);
    for depth in DEPTHS {
        let counts: Vec<u64> = (0..1 << depth).map(|_| random.next() % 3).collect();
        for (levels, lo, hi) in ranges(depth) {
            let curve = Curve::equalizing(&Histogram::from_codes(levels, &counts));
            assert!(curve.codes().is_sorted(), "{depth} bits, seed {seed}");
            assert_eq!(u64::from(curve.apply(0)), lo);
            assert_eq!(u64::from(curve.apply(u16::MAX)), hi);
        }
    }
}

#[test]
fn one_occupied_level_leaves_every_code_as_it_is() {
    for depth in DEPTHS {
        for (levels, lo, hi) in ranges(depth) {
            for code in [lo, (lo + hi) / 2, hi] {
                let mut histogram = Histogram::new(levels);
                histogram.add(code as u16);
                histogram.add(code as u16);
                assert_eq!(Curve::equalizing(&histogram), Curve::identity(levels));
            }
            assert_eq!(Curve::equalizing(&Histogram::new(levels)), Curve::identity(levels), "no sample at all");
        }
        assert!(
            Curve::identity(Levels::full(depth))
                .codes()
                .iter()
                .enumerate()
                .all(|(code, &target)| code as u16 == target)
        );
    }
}

#[test]
fn samples_outside_of_the_range_count_and_map_as_its_ends() {
    let levels = Levels::limited(8);
    let mut histogram = Histogram::new(levels);
    for code in [0, 15, 16, 120, 235, 236, 255] {
        histogram.add(code);
    }
    assert_eq!((histogram.counts()[0], histogram.counts()[219], histogram.total()), (3, 3, 7));
    let curve = Curve::equalizing(&histogram);
    assert_eq!([0, 15, 16, 235, 236, 255].map(|code| curve.apply(code)), [16, 16, 16, 235, 235, 235]);
    // If all samples are below the range, they count as a single level and stay unchanged.
    let mut histogram = Histogram::new(levels);
    histogram.add(3);
    histogram.add(9);
    assert_eq!(Curve::equalizing(&histogram).apply(3), 3);
}

#[test]
fn strength_blends_every_code_and_rounds_halves_up() {
    let mut histogram = Histogram::new(Levels::limited(10));
    for code in [0, 300, 301, 700, 1023] {
        histogram.add(code);
    }
    let full = Curve::equalizing(&histogram);
    for k in [0, 1, 77, 128, 255, 256u64] {
        let strength = Strength::from_share(k as f64 / 256.0).unwrap();
        assert_eq!(u64::from(strength.to_256ths()), k);
        let blended = full.clone().blended(Levels::limited(10), &Line::IDENTITY, strength);
        for code in 0..1024u64 {
            let exact = 2 * (code * (256 - k) + u64::from(full.apply(code as u16)) * k);
            assert_eq!(u64::from(blended.apply(code as u16)), (exact + 256) / 512, "code {code}, strength {k}/256");
        }
    }
    assert_eq!(
        full.clone().blended(Levels::limited(10), &Line::IDENTITY, Strength::from_share(0.0).unwrap()),
        Curve::identity(Levels::limited(10))
    );
    assert_eq!(Strength::from_share(0.004).unwrap().to_256ths(), 1);
    for share in [-0.1, 1.1, f64::NAN] {
        assert_eq!(Strength::from_share(share), None);
    }
}

#[test]
fn luminance_weights_add_up_and_gray_stays_gray() {
    for weights in [Weights::BT601, Weights::BT709, Weights::BT2020] {
        assert_eq!(weights.r + weights.g + weights.b, 65536);
        for gray in [0, 1, 127, 255, 1023, 40_000, 65_535] {
            assert_eq!(weights.luminance([gray; 3]), gray);
        }
    }
    assert_eq!(Weights::BT601.luminance([255, 0, 0]), 76);
    assert_eq!([moved(10, 100, 50, 255), moved(250, 100, 150, 255), moved(10, 50, 60, 255)], [0, 255, 20]);
}
