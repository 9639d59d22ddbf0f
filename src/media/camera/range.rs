//! Some cameras, such as those of a Raspberry Pi, list ranges of sizes and rates. This chooses a few modes of a range.

use crate::ffmpeg::Rational;

/// Sizes that are chosen from a range.
const SIZES: &[(usize, usize)] = &[(320, 240), (640, 480), (1280, 720), (1920, 1080), (3840, 2160)];

/// Rates that are chosen from a range, in frames a second.
const RATES: &[i32] = &[5, 10, 15, 20, 24, 25, 30, 50, 60];

/// A range of sizes, in steps of width and of height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// The smallest width and height, in pixels.
    pub smallest: (usize, usize),
    /// The largest width and height, in pixels.
    pub largest: (usize, usize),
    /// The steps of width and of height, in pixels.
    pub step: (usize, usize),
}

impl SizeRange {
    /// The common sizes in the range, its largest, and the one that is nearest to the wanted size.
    pub fn sizes(&self, wanted: Option<(usize, usize)>) -> Vec<(usize, usize)> {
        let inside = |&(width, height): &(usize, usize)| {
            (self.smallest.0..=self.largest.0).contains(&width) && (self.smallest.1..=self.largest.1).contains(&height)
        };
        let mut sizes: Vec<_> = SIZES.iter().copied().filter(inside).chain([self.largest]).chain(wanted).collect();
        sizes.iter_mut().for_each(|size| *size = self.fit(*size));
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn fit(&self, (width, height): (usize, usize)) -> (usize, usize) {
        let fit = |value: usize, least: usize, most: usize, step: usize| {
            let value = value.min(most).max(least);
            value - (value - least) % step.max(1)
        };
        (
            fit(width, self.smallest.0, self.largest.0, self.step.0),
            fit(height, self.smallest.1, self.largest.1, self.step.1),
        )
    }
}

/// Rates from `slowest` to `fastest`: both, the common ones between them, and the wanted one.
pub fn rates_between(slowest: Rational, fastest: Rational, wanted: Option<Rational>) -> Vec<Rational> {
    let inside =
        |rate: &Rational| (f64::from(slowest)..=f64::from(fastest)).contains(&f64::from(*rate)) && *rate != slowest;
    let common = RATES.iter().map(|&rate| Rational::new(rate, 1));
    let mut rates: Vec<_> = common.chain(wanted).filter(inside).chain([slowest, fastest]).collect();
    rates.sort_by(|a, b| f64::from(*a).total_cmp(&f64::from(*b)));
    rates.dedup();
    rates
}
