//! The usual measures of contrast enhancement, computed from histograms and curves, in levels of the video's own depth:
//! 0 to 255 at 8 bits, 0 to 1023 at 10 bits.

use histeq::internal::spec::curves::{Histogram, Levels};

/// The mean luminance, as a code.
pub fn mean(histogram: &Histogram) -> f64 {
    let total = histogram.total().max(1);
    let sum: u64 = occupied(histogram).map(|(code, count)| code * count).sum();
    sum as f64 / total as f64
}

/// The standard deviation of luminance, in levels: global contrast.
pub fn deviation(histogram: &Histogram) -> f64 {
    let (mean, total) = (mean(histogram), histogram.total().max(1));
    let squares: f64 = occupied(histogram).map(|(code, count)| (code as f64 - mean).powi(2) * count as f64).sum();
    (squares / total as f64).sqrt()
}

/// Shannon's entropy of luminance, in bits: 0 for a single level, 8 for 256 equally frequent levels.
pub fn entropy(histogram: &Histogram) -> f64 {
    let total = histogram.total().max(1) as f64;
    let share = |count: u64| count as f64 / total;
    // For a single level, the sum is -0.
    occupied(histogram).map(|(_, count)| -share(count) * share(count).log2()).sum::<f64>().abs()
}

/// The largest slope of one or several curves between black and white, in output levels an input level: the largest
/// amplification of noise. 1 for the identity. `luts` has an entry for each code of each curve.
pub fn largest_slope(luts: &[u16], levels: Levels) -> u16 {
    let slopes = curves(luts, levels).flat_map(|curve| curve.windows(2).map(|pair| pair[1].saturating_sub(pair[0])));
    slopes.max().unwrap_or(0)
}

/// How many of the levels with samples are mapped to the same output as the next lower level with samples.
pub fn merged_levels(lut: &[u16], histogram: &Histogram) -> u32 {
    let mut outputs = occupied(histogram).filter_map(|(code, _)| lut.get(code as usize));
    let Some(mut last) = outputs.next() else { return 0 };
    outputs.map(|output| u32::from(output == std::mem::replace(&mut last, output))).sum()
}

/// The distance of two sets of curves: the mean over their levels of the absolute difference, in levels.
pub fn curve_change(before: &[u16], after: &[u16], levels: Levels) -> f64 {
    let pairs = curves(before, levels).flatten().zip(curves(after, levels).flatten());
    let apart: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    apart as f64 / curves(after, levels).flatten().count().max(1) as f64
}

/// The entries from black to white of each curve.
fn curves(luts: &[u16], levels: Levels) -> impl Iterator<Item = &[u16]> {
    luts.chunks_exact(levels.codes()).map(move |lut| &lut[usize::from(levels.lo())..=usize::from(levels.hi())])
}

fn occupied(histogram: &Histogram) -> impl Iterator<Item = (u64, u64)> {
    let lo = u64::from(histogram.levels().lo());
    (lo..).zip(histogram.counts().iter().copied()).filter(|(_, count)| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::Curve;

    const FULL: Levels = Levels::full(8);

    fn histogram(levels: Levels, codes: &[u16]) -> Histogram {
        let mut histogram = Histogram::new(levels);
        codes.iter().for_each(|&code| histogram.add(code));
        histogram
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_codes() {
        let two = histogram(FULL, &[10, 10, 10, 50]);
        assert_eq!(mean(&two), 20.0);
        // (3 * 10^2 + 30^2) / 4 = 300
        assert!((deviation(&two) - 300f64.sqrt()).abs() < 1e-12);
        assert_eq!(mean(&histogram(Levels::limited(8), &[16, 18])), 17.0);
    }

    #[test]
    fn entropy_is_the_information_of_a_sample() {
        assert_eq!(entropy(&histogram(FULL, &[7, 7, 7])), 0.0);
        assert_eq!(entropy(&histogram(FULL, &[1, 2, 3, 4])), 2.0);
        // 1/2 * 1 + 2 * 1/4 * 2
        assert_eq!(entropy(&histogram(FULL, &[1, 1, 2, 3])), 1.5);
        assert_eq!(entropy(&histogram(FULL, &(0..256).collect::<Vec<u16>>())), 8.0);
    }

    #[test]
    fn the_largest_slope_is_the_highest_step_between_black_and_white() {
        assert_eq!(largest_slope(Curve::identity(FULL).codes(), FULL), 1);
        // Half of the samples at 100, a quarter at 101 and at 102: 0, 127.5 rounded up, 255.
        let curve = Curve::equalizing(&histogram(FULL, &[100, 100, 101, 102]));
        assert_eq!(largest_slope(curve.codes(), FULL), 128);
    }

    #[test]
    fn the_change_of_a_curve_is_a_mean_over_the_levels() {
        let identity = Curve::identity(FULL);
        assert_eq!(curve_change(identity.codes(), identity.codes(), FULL), 0.0);
        // The step is 0 below 128 and 255 above: the differences are 0 + 1 + ... + 127, twice.
        let step = Curve::equalizing(&histogram(FULL, &[0, 128]));
        assert_eq!(curve_change(identity.codes(), step.codes(), FULL), 2.0 * (127.0 * 128.0 / 2.0) / 256.0);
    }
}
