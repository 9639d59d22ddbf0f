//! The publications' own arithmetic, for measurements: how many samples differ from the specification. Each formula
//! differs from the specification only in what its name says. `kernels/variants/formulas.cuh` has the same
//! operations on the GPU, so that both give the same numbers.

use histeq::internal::spec::Weights;
use histeq::named;

named! {
    /// The arithmetic of a publication that differs from the specification.
    pub enum Formula {
        /// `floor(c * (L - 1) / N)` in integers: the naive map of cuda-naive-vs-optimized. The publication does not
        /// print it, but says that a multiplication by a float replaced its integer divisions.
        FloorInteger = "floor-integer", "the share of N rounded down, cmin left out: black is not black";
        /// `floor(c * ((L - 1) / N))` in float: the optimized map of cuda-naive-vs-optimized. Without cmin
        /// the first occupied level does not become black, and the levels above it are too bright by a part of its
        /// share; the floor makes all levels darker by less than 1. For one in eight values of N, the float factor is
        /// rounded down so far that white becomes L - 2.
        FloorNoMin = "floor-no-min", "the same by a factor in float: white may not be white either";
        /// `round((c - cmin) / (N - cmin) * (L - 1))` in float (opencl-blelloch-scan). For large images,
        /// a quotient near a half can be rounded the wrong way: this happens in 4 of 100 images, and from 2^24 samples
        /// on, where the counts lose bits, in half of them. With one occupied level, 0/0 is black on NVIDIA's GPUs.
        FloatRound = "float-round", "in float: quotients near a half round either way; wrong above 2^24 samples";
        /// As float-round with the cmin of that publication's faster search, for an occupied level after an empty one.
        /// If level 0 is occupied there is no such level, and cmin stays uninitialized; it is 0 here.
        WrongMin = "wrong-min", "float-round whose cmin is 0 where level 0 is occupied: black is not black";
        /// `floor((c - cmin) * (L - 1) / (N - cmin))`: equation 1 of cuda-three-scans, which its own program and its
        /// figure 5 do not follow. About half of the levels are one too dark.
        EquationFloor = "equation-floor", "rounded down in place of to the nearest: half of the levels one too dark";
        /// The program of cuda-three-scans: rounded as by the specification, but the product has 32 bits. With 256
        /// levels it overflows above 16.8 million samples, as in the publication's images of 8192x8192.
        Product32 = "product-32", "products of 32 bits: right up to 16.8 million samples, garbage above";
        /// The scan of opencl-blelloch-scan, which passes the sums down the tree as floats: sums above 2^24 lose their
        /// last bits.
        FloatScan = "float-scan", "cumulative counts in float: wrong above 2^24 samples";
        /// The scan of cuda-three-scans with two buffers, which swaps them once too often before it writes the result:
        /// the output is that of the step before the last, sums over at most half of the bins. (In the publication's
        /// blocks of 512 threads, its scans write beyond their arrays of 256.)
        StaleBuffer =
            "stale-buffer", "product-32 of the step before the last one of the scan: sums over half of the levels";
        /// `(unsigned char)(0.299f * r + 0.587f * g + 0.114f * b)` (cuda-rgb-luminance-histogram). Half of all colours
        /// are one too dark, and so are 13 of the 256 grays.
        TruncatedLuminance = "truncated-luminance", "luminance rounded down: half of all pixels one too dark";
    }
}

impl Formula {
    /// The curve of the specification for these counts, from bin 0 (black) to the last one (white):
    /// [`Curve::equalizing`](histeq::internal::spec::curves::Curve::equalizing) for any number of bins.
    ///
    /// # Panics
    /// When there are more than 65,536 bins.
    pub fn exact(counts: &[u32]) -> Vec<u16> {
        assert!(counts.len() <= 1 << 16);
        let total: u64 = counts.iter().copied().map(u64::from).sum();
        let first = u64::from(counts.iter().copied().find(|&count| count > 0).unwrap_or(0));
        let (steps, rest) = (counts.len() as u64 - 1, total - first);
        let mut through = 0u64;
        let curve = counts.iter().enumerate().map(|(bin, &count)| {
            through += u64::from(count);
            let rounded = through.saturating_sub(first) * steps + rest / 2;
            // With one occupied bin, the curve is the identity.
            rounded.checked_div(rest).map_or(bin as u16, |becomes| becomes as u16)
        });
        curve.collect()
    }

    /// Whether its curves differ from the specification's.
    pub fn makes_curves(self) -> bool {
        self != Formula::TruncatedLuminance
    }

    /// Whether its curves depend on the first occupied bin.
    pub fn has_minimum(self) -> bool {
        !matches!(self, Formula::FloorInteger | Formula::FloorNoMin)
    }

    /// The cumulative counts. They overflow above 2^32, which no image reaches.
    pub fn cumulative(self, counts: &[u32]) -> Vec<u32> {
        match self {
            Formula::FloatScan => float_scan(counts),
            Formula::StaleBuffer => {
                let reach = (counts.len().next_power_of_two() / 2).max(1);
                let sums = prefix_sums(counts);
                let before = |bin: usize| if bin < reach { 0 } else { sums[bin - reach] };
                sums.iter().enumerate().map(|(bin, sum)| sum.wrapping_sub(before(bin))).collect()
            }
            _ => prefix_sums(counts),
        }
    }

    /// The cumulative count of the first occupied bin.
    pub fn cdf_min(self, cdf: &[u32]) -> u32 {
        let behind_an_empty_one = || cdf.windows(2).find(|pair| pair[0] == 0 && pair[1] != 0).map(|pair| pair[1]);
        let first = match self {
            Formula::WrongMin => behind_an_empty_one(),
            _ => cdf.iter().copied().find(|&sum| sum != 0),
        };
        first.unwrap_or(0)
    }

    /// The curve for these counts. Bins below the first occupied one, in which there is no sample, get the same
    /// output as on the GPU.
    ///
    /// # Panics
    /// When there are more than 65,536 bins.
    pub fn curve(self, counts: &[u32]) -> Vec<u16> {
        let total = counts.iter().fold(0u32, |sum, &count| sum.wrapping_add(count));
        let cdf = self.cumulative(counts);
        let first = self.cdf_min(&cdf);
        cdf.iter().enumerate().map(|(bin, &sum)| self.becomes(bin as u32, sum, first, total, counts.len())).collect()
    }

    /// The output for bin `bin` of `bins` bins.
    fn becomes(self, bin: u32, sum: u32, first: u32, total: u32, bins: usize) -> u16 {
        let steps = bins as u32 - 1;
        let (above, rest) = (sum.saturating_sub(first), total.saturating_sub(first));
        match self {
            Formula::FloorInteger => (u64::from(sum) * u64::from(steps) / u64::from(total)) as u16,
            Formula::FloorNoMin => (sum as f32 * (steps as f32 / total as f32)) as u16,
            Formula::FloatRound | Formula::WrongMin if rest == 0 => 0,
            Formula::FloatRound | Formula::WrongMin => (above as f32 / rest as f32 * steps as f32).round() as u16,
            _ if rest == 0 => bin as u16,
            Formula::EquationFloor => (u64::from(above) * u64::from(steps) / u64::from(rest)) as u16,
            Formula::Product32 | Formula::StaleBuffer => {
                let product = sum.wrapping_sub(first).wrapping_mul(steps).wrapping_add(rest / 2) / rest;
                // The program stores the product in one or two bytes, which drops its high bits.
                (if bins <= 256 { product & 0xff } else { product }) as u16
            }
            _ => ((u64::from(above) * u64::from(steps) + u64::from(rest) / 2) / u64::from(rest)).min(u64::from(steps))
                as u16,
        }
    }

    /// The number of samples whose output differs from the specification's.
    ///
    /// # Panics
    /// When there are more than 65,536 bins.
    pub fn differing(self, counts: &[u32]) -> u64 {
        let pairs = self.curve(counts).into_iter().zip(Formula::exact(counts)).zip(counts);
        pairs.filter(|((found, exact), _)| found != exact).map(|(_, &count)| u64::from(count)).sum()
    }

    /// The luminance of a pixel.
    pub fn luminance(self, [r, g, b]: [u8; 3]) -> u8 {
        match self {
            Formula::TruncatedLuminance => {
                (0.299f32 * f32::from(r) + 0.587f32 * f32::from(g) + 0.114f32 * f32::from(b)) as u8
            }
            _ => Weights::BT601.luminance([r, g, b].map(u16::from)) as u8,
        }
    }
}

fn prefix_sums(counts: &[u32]) -> Vec<u32> {
    let mut through = 0u32;
    let add = |&count: &u32| {
        through = through.wrapping_add(count);
        through
    };
    counts.iter().map(add).collect()
}

/// Blelloch's scan: up the tree in integers, down the tree in floats, then shifted by one to make it inclusive.
fn float_scan(counts: &[u32]) -> Vec<u32> {
    let width = counts.len().next_power_of_two();
    let mut sums = counts.to_vec();
    sums.resize(width, 0);
    let mut distance = 1;
    while distance < width {
        for right in (2 * distance - 1..width).step_by(2 * distance) {
            sums[right] = sums[right].wrapping_add(sums[right - distance]);
        }
        distance *= 2;
    }
    let total = std::mem::replace(&mut sums[width - 1], 0);
    while distance > 1 {
        distance /= 2;
        for right in (2 * distance - 1..width).step_by(2 * distance) {
            let moved = sums[right - distance] as f32;
            sums[right - distance] = sums[right];
            sums[right] = (sums[right] as f32 + moved) as u32;
        }
    }
    sums.push(total);
    sums[1..=counts.len()].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::{Curve, Histogram, Levels};

    fn counts(places: &[(usize, u32)]) -> Vec<u32> {
        let mut counts = vec![0; 256];
        for &(bin, count) in places {
            counts[bin] = count;
        }
        counts
    }

    #[test]
    fn exact_is_the_specification() {
        for counts in [counts(&[(7, 3)]), counts(&[(0, 5), (9, 1), (255, 8)]), (1..=256).collect()] {
            let histogram = Histogram::from_codes(Levels::full(8), &counts);
            assert_eq!(Formula::exact(&counts), Curve::equalizing(&histogram).codes());
        }
    }

    #[test]
    fn white_falls_short_where_the_factor_was_rounded_down() {
        let white = |total: u32| Formula::FloorNoMin.curve(&counts(&[(0, 1), (255, total - 1)]))[255];
        assert_eq!(white(64), 255);
        let short = (2..2000).find(|&total| white(total) == 254).expect("a factor that is rounded down");
        assert!((255.0f32 / short as f32) * (short as f32) < 255.0);
    }

    #[test]
    fn the_faster_minimum_needs_an_empty_bin_before_it() {
        assert_eq!(Formula::WrongMin.cdf_min(&[0, 3, 3, 9]), 3);
        assert_eq!(Formula::WrongMin.cdf_min(&[2, 3, 3, 9]), 0);
        let black = counts(&[(0, 2), (1, 2)]);
        assert_eq!(Formula::WrongMin.curve(&black)[..2], [128, 255]);
        assert_eq!(Formula::FloatRound.curve(&black)[..2], [0, 255]);
    }

    #[test]
    fn a_product_of_32_bits_wraps_above_16_million_samples() {
        let small = counts(&[(10, 1 << 12), (20, 1 << 12), (30, 1 << 12)]);
        assert_eq!(Formula::Product32.differing(&small), 0);
        let large = counts(&[(10, 1 << 25), (20, 1 << 24), (30, 1 << 24)]);
        assert_eq!(Formula::Product32.differing(&large), 2 << 24);
    }

    #[test]
    fn floats_lose_the_last_bits_of_large_sums_on_the_way_down() {
        let small: Vec<u32> = (0..256).map(|bin| bin * 7 % 13).collect();
        assert_eq!(Formula::FloatScan.cumulative(&small), prefix_sums(&small));
        let large = counts(&[(0, (1 << 25) + 1), (1, 1), (2, 1), (200, 5)]);
        assert_ne!(Formula::FloatScan.cumulative(&large), prefix_sums(&large));
    }

    #[test]
    fn the_stale_buffer_has_sums_over_half_of_the_bins() {
        let cdf = Formula::StaleBuffer.cumulative(&[1; 256]);
        assert_eq!((cdf[0], cdf[127], cdf[128], cdf[255]), (1, 128, 128, 128));
    }

    #[test]
    fn truncated_luminance_is_one_too_dark_or_right() {
        assert_eq!(Formula::TruncatedLuminance.luminance([10, 20, 30]), 18);
        assert_eq!(Formula::EquationFloor.luminance([10, 20, 30]), 18);
        assert_eq!(Formula::TruncatedLuminance.luminance([0, 0, 255]), 29);
        assert_eq!(Formula::TruncatedLuminance.luminance([255, 0, 0]), 76);
        assert_eq!(Formula::TruncatedLuminance.luminance([0, 1, 0]), 0);
        assert_eq!(Formula::EquationFloor.luminance([0, 1, 0]), 1);
    }
}
