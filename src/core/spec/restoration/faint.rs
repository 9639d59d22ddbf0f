//! Curves for linear data (codes in proportion to light), as telescopes record them: the sky and faint objects fill the
//! lowest hundredth of the range, stars the rest.
//!
//! The background of a frame is the median `M` of its levels, and its noise the median distance `D` of the levels from
//! M (1.4826 D is the standard deviation of normal noise). Black is 2.8 such deviations below the background. One of
//! two functions of `t`, the share of the range above black, maps the background to a quarter of the range:
//!
//! * midtones: the rational function `(m - 1) t / ((2 m - 1) t - m)`, which maps `m` to one half. The `m` that maps the
//!   background to a quarter is the result of the same function with `m = 1/4` and the background as `t` (the screen
//!   stretch of astronomers' programs);
//! * asinh: `asinh(k t) / asinh(k)`, straight near black and logarithmic above (Lupton et al. 2004, "Preparing
//!   Red-Green-Blue Images from CCD Data", PASP 116, 133).
//!
//! A frame whose background is a quarter of the range or more is meant for display, and stays as it is. All numbers are
//! integers: levels in sixteenths, shares in 2^-32ths; divisions round down.

use super::deflicker::log2;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::{Curve, Levels};
use crate::spec::measure::Samples;

/// A share of 1, in 2^-32ths.
const ONE: u64 = 1 << 32;

/// The share of the range to which the background is mapped.
const AIM: u64 = ONE / 4;

/// The distance of black from the background, in median distances: 2.8 times 1.4826, in 1024ths.
const BELOW: u64 = 4251;

/// The largest gain of chroma, in units of [`UNIT_GAIN`].
const MAX_CHROMA: u64 = 4;

/// Which function raises the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The rational function.
    Midtones,
    /// The inverse hyperbolic sine.
    Asinh,
}

/// Background and noise of a frame, in sixteenths of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Background {
    /// The median of its levels.
    pub median: u64,
    /// The median distance of the levels from `median`.
    pub deviation: u64,
}

impl Background {
    /// The background of the samples of a frame; samples at either end of the range, which are clipped, do not count.
    /// Zeros without samples.
    pub fn new(samples: &Samples) -> Self {
        let mut levels: Vec<u16> = samples.luma.iter().copied().filter(|&level| level != Samples::OUT).collect();
        let Some(median) = middle(&mut levels) else { return Background::default() };
        let mut distances: Vec<u16> = levels.iter().map(|level| level.abs_diff(median)).collect();
        let deviation = middle(&mut distances).unwrap_or(0);
        Background { median: 16 * u64::from(median), deviation: 16 * u64::from(deviation) }
    }

    /// The mean of several backgrounds; zeros for none.
    pub fn mean(all: impl Iterator<Item = Background>) -> Self {
        let (sum, count) = all.fold((Background::default(), 0), |(sum, count), one| {
            let (median, deviation) = (sum.median + one.median, sum.deviation + one.deviation);
            (Background { median, deviation }, count + 1)
        });
        let mean = |sum: u64| sum.checked_div(count).unwrap_or(0);
        Background { median: mean(sum.median), deviation: mean(sum.deviation) }
    }

    /// The curve that raises the background, and the gain of chroma: the gain of the level that is mapped to one half.
    /// `None` where the frame is meant for display, or is black.
    pub fn curve(self, function: Function, levels: Levels) -> Option<(Curve, u32)> {
        let white = 16 * (levels.count() as u64 - 1);
        let black = self.median.saturating_sub(self.deviation * BELOW / 1024);
        let share = |level: u64| (level.min(white).saturating_sub(black) * ONE) / (white - black).max(1);
        let background = share(self.median);
        if background == 0 || self.median * 4 >= white {
            return None;
        }
        let stretched: Box<dyn Fn(u64) -> u64> = match function {
            Function::Midtones => {
                let middle = midtones(AIM, background);
                Box::new(move |share| midtones(middle, share))
            }
            Function::Asinh => {
                let scale = scale_for(background);
                Box::new(move |share| asinh_share(scale, share))
            }
        };
        let most = levels.count() as u64 - 1;
        let level = |code: usize| (stretched(share(16 * levels.level_of(code as u16) as u64)) * most + ONE / 2) / ONE;
        let codes = (0..levels.codes()).map(|code| levels.lo() + level(code) as u16).collect();
        let half = (0..most).find(|level| stretched(share(16 * level)) >= ONE / 2).unwrap_or(most).max(1);
        let unit = u64::from(UNIT_GAIN);
        let gain = (unit * most / 2 / half).clamp(unit, MAX_CHROMA * unit);
        Some((Curve::from_codes(levels, codes)?, gain as u32))
    }
}

/// The median; of an even number of values, the upper one of the two in the middle.
fn middle(values: &mut [u16]) -> Option<u16> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

/// The rational function of `share` by which `middle` becomes one half.
fn midtones(middle: u64, share: u64) -> u64 {
    let (one, middle, share) = (i128::from(ONE), i128::from(middle), i128::from(share));
    if share == 0 {
        return 0;
    }
    // The divisor is above 0: it lies between `middle`, at share 0, and `1 - middle`, at share 1.
    let divisor = middle * one + (one - 2 * middle) * share;
    (((one - middle) * share * one / divisor.max(1)).clamp(0, one)) as u64
}

/// `asinh(k t) / asinh(k)`, where `k` is in 256ths.
fn asinh_share(scale: u64, share: u64) -> u64 {
    let whole = asinh(scale << 8).max(1);
    (asinh(((u128::from(scale) * u128::from(share)) >> 24) as u64) * ONE / whole).min(ONE)
}

/// `asinh` of a number in 65536ths, up to some 2^24: its base-2 logarithm, in 65536ths, of `y + sqrt(y^2 + 1)`.
fn asinh(y: u64) -> u64 {
    let square = u128::from(y) * u128::from(y) + (1 << 32);
    // The argument is in 65536ths, so its logarithm is 16 too large.
    log2(y + square.isqrt() as u64).unsigned_abs() - (16 << 16)
}

/// The least `k`, in 256ths, that maps this share to [`AIM`] or more; the largest possible `k` if none does.
fn scale_for(background: u64) -> u64 {
    let (mut low, mut high) = (1, 1 << 32);
    while low < high {
        let middle = (low + high) / 2;
        if asinh_share(middle, background) >= AIM {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output by the published formulas, in floating point.
    fn expected(function: Function, Background { median, deviation }: Background, level: f64, white: f64) -> f64 {
        // The curves are so steep near black that black has to be rounded to sixteenths here as in the code under test.
        let black = (median as f64 - (2.8 * 1.4826 * deviation as f64).floor()).max(0.0) / 16.0 / white;
        let median = median as f64 / 16.0 / white;
        let share = |x: f64| ((x - black) / (1.0 - black)).clamp(0.0, 1.0);
        let rational = |m: f64, x: f64| (m - 1.0) * x / ((2.0 * m - 1.0) * x - m);
        let background = share(median);
        match function {
            Function::Midtones => rational(rational(0.25, background), share(level / white)),
            Function::Asinh => {
                let (mut low, mut high) = (1e-3_f64, 1e9_f64);
                for _ in 0..200 {
                    let middle = (low * high).sqrt();
                    if (middle * background).asinh() / middle.asinh() < 0.25 { low = middle } else { high = middle }
                }
                (low * share(level / white)).asinh() / low.asinh()
            }
        }
    }

    #[test]
    fn curves_are_those_of_the_formulas() {
        for (bits, median, deviation) in
            [(16, 900 * 16, 40 * 16), (16, 60 * 16, 12 * 16), (12, 20 * 16, 3 * 16), (8, 9 * 16, 16)]
        {
            let (levels, background) = (Levels::full(bits), Background { median, deviation });
            let white = levels.count() as f64 - 1.0;
            for function in [Function::Midtones, Function::Asinh] {
                let (curve, gain) = background.curve(function, levels).expect("faint");
                for code in (0..levels.count()).step_by(1 + levels.count() / 997) {
                    let want = expected(function, background, code as f64, white) * white;
                    let apart = (f64::from(curve.codes()[code]) - want).abs();
                    assert!(apart <= 0.51 + white / 65_000.0, "{function:?} {bits} {code}: {apart} from {want}");
                }
                assert!((UNIT_GAIN..=4 * UNIT_GAIN).contains(&gain));
            }
        }
    }

    #[test]
    fn the_background_becomes_a_quarter_and_a_picture_for_display_stays() {
        let levels = Levels::full(16);
        let background = Background { median: 16 * 500, deviation: 16 * 20 };
        for function in [Function::Midtones, Function::Asinh] {
            let (curve, _) = background.curve(function, levels).expect("faint");
            let quarter = f64::from(curve.codes()[500]) / 65_535.0;
            assert!((quarter - 0.25).abs() < 0.002, "{function:?}: {quarter}");
            assert_eq!(curve.codes()[65_535], 65_535);
            assert_eq!(Background { median: 16 * 20_000, ..background }.curve(function, levels), None);
            assert_eq!(Background::default().curve(function, levels), None);
        }
    }

    #[test]
    fn clipped_samples_have_no_part_in_the_background() {
        let luma = [0, 0, 0, 90, 100, 104, 0].into();
        assert_eq!(Background::new(&Samples { size: (7, 1), luma }), Background { median: 1600, deviation: 64 });
    }
}
