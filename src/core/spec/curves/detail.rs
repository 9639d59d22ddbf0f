//! The curves of tiles that amplify detail: small differences of brightness beside large ones, such as a face and a
//! cold pipe in one thermal picture.
//!
//! Each sample is split into *base* and *detail*: the base of a level in a tile is the weighted mean of the levels of
//! the tile near it, so a large edge stays in the base, and the rest is detail. This is a bilateral filter on a grid of
//! tiles and levels (S. Paris and F. Durand, A fast approximation of the bilateral filter using a signal processing
//! approach, ECCV 2006; J. Chen, S. Paris and F. Durand, Real-time edge-aware image processing with the bilateral grid,
//! SIGGRAPH 2007). Both parts of a sample depend on its tile and its level alone, so the filter is one curve for each
//! tile, blended as in [`clahe`](crate::spec::clahe). The base gets the contrast that the whole frame allows, the detail a
//! separate gain, as in the detail enhancement of thermal cameras.
//!
//! ```text
//! Samples -> Quantiles -> window of the scene -> Detail, Line of the base (a Tone)
//! TileHistograms of the window, Detail, Line -> steps of each tile -> TileCurves
//! ```
//!
//! **Base**. The *quantiles* of a frame are nine levels of its luminance: those below which 1, 128, 256, ... 896 and
//! 1023 of 1024 of the samples lie, without black and white samples. Each is a mean over the window. Where levels are
//! stretched to the whole range ([`Stretch::Full`]), the line of the base goes through the quantiles, of which the
//! first and the last are moved outwards by a sixteenth of their distance. A piece between two quantiles gets 1/8 of
//! the output, but no slope above 32 times that of a straight stretch, nor one by which one standard deviation of noise
//! becomes more than 1/64 of white. The rest of the output is spread over the range in proportion. Where the range is 4
//! to 40 levels wide, the line is blended with the identity. With other stretches the base has the line of the
//! [`Tone`].
//!
//! **Tile**. With `n` the counts of the bins of a tile in the window, bin `b` has `s0 = sum of n(j) * max(0, R - |j -
//! b|)` and `s1 = the same sum of j * n(j) * ...`. Its base is `m = s1 / s0`, in 256ths of a bin, rounded down, and
//! without samples near it the bin itself. The radius `R` is 3/8 of the distance of the second and the last but one
//! quantile, at least a 32nd of the range and 8 deviations of noise, in bins, at least 2. The detail is `d = (256 b -
//! m) * L / (16 B)`, in sixteenths of a level, rounded towards zero, and the base is the highest level of the bin less
//! `d`.
//!
//! **Gain**. Detail up to the standard deviation of noise has the slope of the base: that of its line between the
//! fourth and the sixth quantile. Detail beyond that has `max_gain` times that slope, but none by which a deviation of
//! noise becomes more than 1/64 of white, unless the base has more: `e = |d| * slope + max(0, |d| - noise) * (steep -
//! slope)`. The output is `e * most / (e + most)`, where `most` is an eighth of white: edges overshoot by no more.
//! Noise is measured between the frames of the window or, of a single frame, within it ([`noise`](crate::spec::restoration::noise)), and
//! is at least a sixteenth of a bin. So noise is no more visible than in the base.
//!
//! **Steps**. The output of a bin is that of its base, plus or minus its detail, clamped to black and the ceiling of
//! the tone, and at least that of the bin before, so that the levels of a tile keep their order. In sixteenths of a
//! level these are the cumulative sums of [`clahe`](crate::spec::clahe), whose total is 16 times the ceiling.

use super::tone::{ratio, share, white_of};
use super::{Levels, Line, Tone};
use crate::spec::clahe::TileBins;
use crate::spec::measure::Samples;
use crate::spec::parameters::{Gain, Settings, Stretch};
use bytemuck::{Pod, Zeroable};

const QUANTILES: usize = 9;

/// The share of samples below each quantile, in 1024ths.
const SHARES: [usize; QUANTILES] = [1, 128, 256, 384, 512, 640, 768, 896, 1023];

/// A slope of 1, in 65536ths.
const ONE: u64 = 1 << 16;

/// The largest slope of the base, in multiples of that of a straight stretch.
const STEEPEST: u64 = 32;

/// The output of one standard deviation of noise is at most white divided by this.
const NOISE_PART: u64 = 64;

/// The output of detail is at most white divided by this.
const WHITE_PART: u32 = 8;

/// The distances between the first and the last quantile, in sixteenths of a level, at which the line of the base sets
/// in and is full.
const PRESENT: [u32; 2] = [4 * 16, 40 * 16];

/// Quantiles of luminance, in sixteenths of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Quantiles(pub [u32; QUANTILES]);

impl Quantiles {
    /// The quantiles of the samples of a frame; zeros without samples.
    pub fn new(samples: &Samples) -> Self {
        let mut levels: Vec<u16> = samples.luma.iter().copied().filter(|&level| level != Samples::OUT).collect();
        levels.sort_unstable();
        let last = levels.len().saturating_sub(1);
        Quantiles(SHARES.map(|share| 16 * levels.get(last * share / 1024).copied().map_or(0, u32::from)))
    }

    /// The first and the last quantile, moved outwards by a sixteenth of their distance.
    fn ends(&self, white: u32) -> (u32, u32) {
        let (first, last) = (self.0[0], self.0[QUANTILES - 1]);
        let more = (last - first) / 16;
        (first.saturating_sub(more), (last + more).min(white))
    }
}

/// How detail is amplified in a frame. Lengths are in sixteenths of a level, slopes in 65536ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Levels at this distance or more do not count for each other's base.
    pub radius: u32,
    /// Detail up to this size counts as noise.
    pub noise: u32,
    /// The slope of detail up to `noise`.
    pub slope: u32,
    /// The slope of detail beyond `noise`; at least `slope`.
    pub steep: u32,
    /// The upper limit of the output of detail.
    pub most: u32,
}

impl Detail {
    /// The parameters for levels that are not stretched, which have a slope of 1.
    pub fn plain(levels: Levels, gain: Gain) -> Self {
        let white = white_of(levels);
        let steep = gain.times(ONE as u32);
        Detail { radius: white / 8, noise: 0, slope: ONE as u32, steep, most: white / WHITE_PART }
    }

    /// Adds the parameters of detail for a window with these quantiles, and this noise in 256ths of a level, to `tone`.
    pub fn toned(tone: Tone, quantiles: &Quantiles, noise: Option<u32>, levels: Levels, settings: &Settings) -> Tone {
        let Settings { stretch, max_gain: gain, .. } = *settings;
        let white = white_of(levels);
        let points = quantiles.0;
        let (first, last) = quantiles.ends(white);
        let least = (16 * levels.count() / TileBins::new(levels, settings.bins).count()) as u32;
        let noise = noise.unwrap_or(0).max(least);
        // The slope by which one standard deviation of noise becomes 1 / `NOISE_PART` of white.
        let held = u64::from(white) * ONE * 16 / (NOISE_PART * u64::from(noise.max(1)));
        let line = match stretch {
            Stretch::Full { .. } => base(quantiles, held, levels),
            _ => tone.line,
        };
        let slope_between = |before: u32, after: u32| {
            let rise = line.sixteenths(after).min(white).saturating_sub(line.sixteenths(before).min(white));
            (after > before).then(|| u64::from(rise) * ONE / u64::from(after - before))
        };
        let middle_slope = slope_between(points[3], points[5]).or(slope_between(first, last)).unwrap_or(ONE);
        let steep = (middle_slope * u64::from(gain.to_256ths().unwrap_or(256)) / 256)
            .clamp(middle_slope, held.max(middle_slope));
        let to_u32 = |slope: u64| slope.min(u32::MAX.into()) as u32;
        let noise = noise / 16;
        let radius = ((points[7] - points[1]) / 8 * 3).max((last - first) / 32).max(8 * noise);
        let (slope, steep) = (to_u32(middle_slope), to_u32(steep));
        Tone { line, detail: Some(Detail { radius, noise, slope, steep, most: white / WHITE_PART }), ..tone }
    }

    /// The radius in bins, from 2 to the number of bins.
    pub fn radius_in(&self, bins: TileBins) -> usize {
        let (count, levels) = (bins.count() as u64, bins.levels().count() as u64);
        (u64::from(self.radius) * count / (16 * levels)).clamp(2, count.max(2)) as usize
    }

    /// Replaces the counts of a tile by the steps of its curve: for each bin, by how much its output is above that of
    /// the bin before, in sixteenths of a level. Returns the sum of steps at which the output is the ceiling, at least
    /// 1.
    pub fn steps(&self, counts: &mut [u64], bins: TileBins, line: &Line, ceiling: u32) -> u64 {
        let radius = self.radius_in(bins);
        let samples = DoubleSums::new(counts.iter().copied());
        let moments = DoubleSums::new(counts.iter().zip(0..).map(|(&count, bin)| bin * count));
        let mut before = 0;
        for (bin, step) in counts.iter_mut().enumerate() {
            let (s0, s1) = (samples.around(bin, radius), moments.around(bin, radius));
            let base = match s0 {
                0 => 256 * bin as u64,
                // Quotient and remainder are scaled separately, because `256 * s1` may overflow.
                _ => s1 / s0 * 256 + s1 % s0 * 256 / s0,
            };
            let detail = (256 * bin as i64 - base as i64) * bins.levels().count() as i64 / (16 * bins.count() as i64);
            let level = 16 * (bins.levels_of(bin).end as i64 - 1);
            let becomes = self.output(level, detail, line, ceiling).max(before);
            *step = becomes - before;
            before = becomes;
        }
        u64::from(16 * ceiling).max(1)
    }

    /// The output for a level with this detail; all in sixteenths of a level.
    fn output(&self, level: i64, detail: i64, line: &Line, ceiling: u32) -> u64 {
        let ceiling = 16 * ceiling;
        let base = line.sixteenths((level - detail).max(0) as u32).min(ceiling);
        let size = detail.unsigned_abs();
        let beyond = size.saturating_sub(self.noise.into()) * u64::from(self.steep - self.slope);
        let becomes = (size * u64::from(self.slope) + beyond) >> 16;
        let becomes = (becomes * u64::from(self.most) / (becomes + u64::from(self.most)).max(1)) as i64;
        let both = i64::from(base) + if detail < 0 { -becomes } else { becomes };
        both.clamp(0, ceiling.into()) as u64
    }
}

/// The line of the base through the quantiles, with no slope above `held`.
fn base(quantiles: &Quantiles, held: u64, levels: Levels) -> Line {
    let white = white_of(levels);
    let mut source = quantiles.0;
    let present =
        ratio((source[QUANTILES - 1] - source[0]).saturating_sub(PRESENT[0]), PRESENT[1] - PRESENT[0]).min(4096);
    let (first, last) = quantiles.ends(white);
    (source[0], source[QUANTILES - 1]) = (first, last);
    if present == 0 {
        return Line::IDENTITY;
    }
    // `straight` has shares of the range, and `limited` shares of white, in 65536ths.
    let range = u64::from(last - first);
    let widths: [u64; QUANTILES - 1] = std::array::from_fn(|piece| u64::from(source[piece + 1] - source[piece]));
    let straight = widths.map(|width| width * ONE / range);
    let limited: [u64; QUANTILES - 1] = std::array::from_fn(|piece| {
        let limit = (STEEPEST * straight[piece]).min(widths[piece] * held / u64::from(white));
        limit.min(ONE / (QUANTILES as u64 - 1))
    });
    let rest = ONE - limited.iter().sum::<u64>();
    let mut reached = 0;
    let points: [(u32, u32); QUANTILES] = std::array::from_fn(|point| {
        if let Some(piece) = point.checked_sub(1) {
            reached += limited[piece] + rest * straight[piece] / ONE;
        }
        let target = if point == QUANTILES - 1 { white } else { (u64::from(white) * reached / ONE) as u32 };
        (source[point], source[point] - share(source[point], present) + share(target, present))
    });
    Line::through(&points)
}

/// Double prefix sums, by which a weighted sum with the weights `max(0, R - distance)` takes three terms.
struct DoubleSums {
    /// For each index, the sum of the prefix sums up to it.
    sums: Vec<u64>,
    total: u64,
}

impl DoubleSums {
    fn new(numbers: impl Iterator<Item = u64>) -> Self {
        let (mut sum, mut of_sums) = (0, 0);
        let each = |number| {
            sum += number;
            of_sums += sum;
            of_sums
        };
        let sums = numbers.map(each).collect();
        DoubleSums { sums, total: sum }
    }

    /// The double prefix sum of the first `end` numbers, where numbers beyond the last bin are 0.
    fn up_to(&self, end: usize) -> u64 {
        let beyond = end.saturating_sub(self.sums.len());
        let within = end.min(self.sums.len()).checked_sub(1).map_or(0, |last| self.sums[last]);
        within + beyond as u64 * self.total
    }

    /// The sum of the numbers around `index`, each with the weight `max(0, radius - distance)`.
    fn around(&self, index: usize, radius: usize) -> u64 {
        self.up_to(index + radius) + self.up_to(index.saturating_sub(radius)) - 2 * self.up_to(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::parameters::{Method, Strength};

    fn settings(stretch: Stretch, gain: f64) -> Settings {
        let method = Method::Detail { columns: 4, rows: 3 };
        Settings { method, stretch, max_gain: Gain::from_slope(gain).unwrap(), ..Settings::default() }
    }

    /// The tone, and its detail, for thermal video with this luma and noise, stretched to the whole range.
    fn toned(levels: Levels, luma: Vec<u16>, noise: Option<u32>) -> (Tone, Detail) {
        let quantiles = Quantiles::new(&Samples { size: (luma.len(), 1), luma: luma.into() });
        let settings = settings(Stretch::Full { share: Strength::FULL }, 4.0);
        let tone = Detail::toned(Tone::plain(levels, &settings), &quantiles, noise, levels, &settings);
        (tone, tone.detail.expect("a method for detail"))
    }

    /// The luma of a wall at about 20000, and of a motor at about 30000 in a tenth of the picture.
    fn wall_and_motor() -> Vec<u16> {
        (0..1000).map(|index| if index % 10 == 0 { 30_000 + index } else { 20_000 + index % 97 }).collect()
    }

    #[test]
    fn weighted_sums_are_those_of_their_definition() {
        let numbers: Vec<u64> = (0..40).map(|index| index * 7919 % 23).collect();
        let sums = DoubleSums::new(numbers.iter().copied());
        for radius in [1_usize, 2, 5, 40, 90] {
            for index in 0..numbers.len() {
                let weighted =
                    |(bin, number): (usize, &u64)| number * radius.saturating_sub(bin.abs_diff(index)) as u64;
                assert_eq!(
                    sums.around(index, radius),
                    numbers.iter().enumerate().map(weighted).sum(),
                    "{index} {radius}"
                );
            }
        }
    }

    #[test]
    fn a_large_edge_stays_as_it_is_and_detail_on_both_sides_of_it_grows_alike() {
        let levels = Levels::full(16);
        let (tone, detail) = toned(levels, wall_and_motor(), None);
        let bins = TileBins::new(levels, None);
        // A tile across the edge, with samples in two adjacent bins on either side.
        let sides = [20_000_u32, 30_000];
        let bin = |level: u32| bins.bin(level as u16);
        let mut counts = vec![0; bins.count()];
        for side in sides {
            counts[bin(side)] = 500;
            counts[bin(side) + 1] = 500;
        }
        let total = detail.steps(&mut counts, bins, &tone.line, tone.ceiling);
        let curve: Vec<u64> = counts
            .iter()
            .scan(0, |sum, step| {
                *sum += step;
                Some(*sum)
            })
            .collect();
        assert_eq!((total, curve.is_sorted()), (16 * 65_535, true));
        for side in sides {
            let (low, high) = (curve[bin(side)], curve[bin(side) + 1]);
            let middle = tone.line.sixteenths(16 * (side + 16)) as u64;
            assert!(low < middle && middle < high, "{side}: {low} {middle} {high}");
            // A bin is 16 levels wide, which are 256 sixteenths.
            let plain = (256 * u64::from(detail.slope)) >> 16;
            assert!(2 * (high - low) > 3 * plain, "{side}: {} of {plain}", high - low);
            assert!(high - low <= 2 * u64::from(detail.most) && middle - low <= detail.most.into());
        }
    }

    #[test]
    fn the_line_of_the_base_rises_and_noise_holds_it_and_detail() {
        let levels = Levels::full(16);
        let white = white_of(levels);
        for noise in [None, Some(6 * 256), Some(200 * 256)] {
            let (tone, detail) = toned(levels, wall_and_motor(), noise);
            let line = |level: u32| tone.line.sixteenths(16 * level);
            assert!((0..65_536).step_by(64).is_sorted_by_key(line));
            assert_eq!(line(65_535).min(white), white);
            assert!(detail.steep >= detail.slope);
            if let Some(noise) = noise {
                // The output of one standard deviation of noise is at most 1/64 of white, unless the base has the same
                // slope.
                let shown = u64::from(noise) * u64::from(detail.steep) / (256 * ONE);
                assert!(shown <= 65_535 / 64 + 1 || detail.steep == detail.slope, "{noise}: {shown}");
                assert_eq!(detail.noise, noise / 16);
            }
        }
    }

    #[test]
    fn a_flat_picture_and_one_without_samples_stay_as_they_are() {
        let levels = Levels::full(8);
        for luma in [vec![90; 50], Vec::new(), vec![0, 255]] {
            let (tone, detail) = toned(levels, luma, None);
            assert!(tone.line.is_identity());
            let bins = TileBins::new(levels, None);
            let mut counts = vec![0; bins.count()];
            counts[90] = 300;
            detail.steps(&mut counts, bins, &tone.line, tone.ceiling);
            assert_eq!(counts[..=90].iter().sum::<u64>(), 16 * 90);
        }
    }

    #[test]
    fn where_levels_stay_the_base_stays_and_strength_is_that_of_the_settings() {
        let levels = Levels::limited(8);
        let wanted = settings(Stretch::Off, 2.0);
        let luma: Vec<u16> = (0..900).map(|index| 20 + index % 180).collect();
        let quantiles = Quantiles::new(&Samples { size: (900, 1), luma: luma.into() });
        let tone = Detail::toned(Tone::plain(levels, &wanted), &quantiles, None, levels, &wanted);
        let detail = tone.detail.expect("a method for detail");
        assert!(tone.line.is_identity() && tone.strength == Strength::FULL);
        assert_eq!((detail.slope, detail.steep), (1 << 16, 2 << 16));
    }
}
