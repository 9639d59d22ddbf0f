//! The noise of a plane: for each coefficient of a tile, and by brightness. It is measured in motion-compensated
//! differences: the coefficients of a tile minus those of the matching block in the frame before.
//!
//! A video encoder freezes noise and renews it now and then. The differences between frames are then smaller than the
//! noise, with a long tail: where the ratio of the squared 85 % quantile to the squared median exceeds 1.15 times that
//! of a normal distribution, the variance is multiplied by up to 2.

use super::dct::{Batch, SAMPLES, TILES};
use super::sheet::Sheet;

/// Bins for the sizes of differences: one for each size up to 15, then 16 per octave.
pub const SIZES: usize = 192;

/// The brightness in the middle of each class, in codes of 10 bits, of limited or full range.
const BRIGHTNESS: [u16; CLASSES] = [48, 72, 88, 104, 128, 160, 208, 272, 368, 496, 672, 880];

/// Levels of brightness: 10 bits.
const LEVELS: usize = 1024;

/// Classes of brightness.
pub const CLASSES: usize = 12;

/// The fewest tiles with which the noise of a class is measured; with fewer, it is interpolated from other classes.
const MIN_TILES: u64 = 60;

/// Factors that normalize: `|coefficient| * factor >> 14` is 32 times the ratio of the coefficient to the standard
/// deviation of the noise in a difference of two frames.
pub type Factors = [u16; SAMPLES * TILES];

/// Histograms of differences by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences {
    /// The histogram of each coefficient.
    by_coefficient: Vec<u32>,
    /// The histogram of each class of brightness, over the coefficients with a frequency above 0 in both directions.
    by_class: Vec<u32>,
}

impl Default for Differences {
    fn default() -> Self {
        Differences { by_coefficient: vec![0; SAMPLES * SIZES], by_class: vec![0; CLASSES * SIZES] }
    }
}

impl Differences {
    /// Adds the [`sizes`] of tile number `tile`, which has this brightness.
    #[inline(always)]
    pub fn add(&mut self, sizes: &[u8; SAMPLES * TILES], tile: usize, brightness: u16) {
        let class = &mut self.by_class[class_of(brightness) * SIZES..][..SIZES];
        let counts = self.by_coefficient.as_chunks_mut::<SIZES>().0;
        for (index, (counts, sizes)) in counts.iter_mut().zip(sizes.as_chunks::<TILES>().0).enumerate() {
            let size = usize::from(sizes[tile & (TILES - 1)]).min(SIZES - 1);
            counts[size] += 1;
            class[size] += u32::from(index % 8 > 0 && index >= 8);
        }
    }

    /// Histograms from [`SIZES`] counts for each coefficient, then as many for each class of brightness.
    pub fn from_counts(counts: &[u32]) -> Self {
        let (by_coefficient, by_class) = counts.split_at(SAMPLES * SIZES);
        Differences { by_coefficient: by_coefficient.to_vec(), by_class: by_class.to_vec() }
    }

    /// Adds the counts of `more`.
    pub fn join(&mut self, more: &Differences) {
        let add =
            |counts: &mut [u32], more: &[u32]| counts.iter_mut().zip(more).for_each(|(counts, other)| *counts += other);
        add(&mut self.by_coefficient, &more.by_coefficient);
        add(&mut self.by_class, &more.by_class);
    }

    /// The factor by which the variance of noise exceeds the measured one where an encoder has partly frozen the noise,
    /// in 256ths: 256 to 512.
    pub fn frozen(&self) -> u32 {
        let variance = |share: u64| {
            let sizes = self.by_coefficient.as_chunks::<SIZES>().0.iter().map(|counts| quantile(counts, share));
            sizes.map(|size| size * size).sum::<u64>()
        };
        // The squared 85 % quantile and the squared median of a normal distribution's absolute value are 2.07 and
        // 0.455.
        let (most, middle) = (variance(850) * 455, variance(500) * 2070);
        let ratio = most * 256 / middle.max(1);
        256 + (ratio.saturating_sub(294) * 5 / 2).min(256) as u32
    }
}

#[inline(always)]
fn class_of(brightness: u16) -> usize {
    (0..CLASSES - 1).filter(|index| 2 * brightness >= BRIGHTNESS[*index] + BRIGHTNESS[index + 1]).count()
}

/// The bin of the difference of each pair of coefficients.
#[inline(always)]
pub fn sizes(one: &Batch, other: &Batch, sizes: &mut [u8; SAMPLES * TILES]) {
    for index in 0..SAMPLES * TILES {
        let difference = one[index].abs_diff(other[index]).min(0x7fff);
        // From 16 on, the bin is the octave and the four bits after the leading one, like the exponent and the first
        // mantissa bits of a float.
        let of_float = (f32::from(difference).to_bits() >> 19) as u16;
        sizes[index] = if difference < 16 { difference } else { of_float.wrapping_sub(2080) } as u8;
    }
}

/// The smallest difference of a bin, and the width of the bin.
fn size_range(size: usize) -> (u64, u64) {
    let octave = (size / 16).max(1) - 1;
    (((size - 16 * octave) << octave) as u64, 1 << octave)
}

/// The difference, in 16ths, below which `share` thousandths of the counted differences lie.
fn quantile(counts: &[u32], share: u64) -> u64 {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let (wanted, mut below) = (all * share, 0);
    for (size, count) in counts.iter().enumerate() {
        let count = 1000 * u64::from(*count);
        if count > 0 && below + count >= wanted {
            let (least, width) = size_range(size);
            // Bin `b` stands for differences from `b - 1/2` to `b + 1/2`, so half a step is subtracted.
            return (16 * least + 16 * width * (wanted - below) / count).saturating_sub(8);
        }
        below += count;
    }
    0
}

/// The noise of a plane, as factors that normalize coefficients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noise {
    /// The factor of each coefficient, and the upper bound of factors.
    pub(crate) factors: [u16; SAMPLES],
    pub(crate) most: u16,
    /// The multiplier of the factors for each class of brightness, in 16384ths.
    pub(crate) of_class: [u16; CLASSES],
}

/// The square root in 256ths, rounded down, of a number in 65536ths.
fn root(of_65536: u64) -> u64 {
    of_65536.isqrt()
}

impl Noise {
    /// The noise of luma or chroma from these differences. `frozen` is [`Differences::frozen`] of luma.
    pub fn new(differences: &Differences, is_chroma: bool, frozen: u32) -> Self {
        // `32 << 14` over the standard deviation, which is `size / 16 / 1.4388` (the root of 2.07).
        let more = root(u64::from(frozen) << 8);
        let by_size = |size: u64| (12_069_280 * 256 / more / size.max(1)).min(u16::MAX.into()) as u16;
        // The lower bound of the noise is a variance of 1.2 (luma) and 2 (chroma) squared levels of 8 bits.
        let most = if is_chroma { 16_384 * 256 / u64::from(frozen) } else { 21_149 * 256 / more } as u16;
        let factors =
            std::array::from_fn(|index| by_size(quantile(&differences.by_coefficient[index * SIZES..][..SIZES], 850)));
        let mut all = vec![0; SIZES];
        for counts in differences.by_class.as_chunks::<SIZES>().0 {
            all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        }
        let of_all = quantile(&all, 850);
        let known = |class: usize| {
            let counts = &differences.by_class[class * SIZES..][..SIZES];
            let tiles = counts.iter().map(|count| u64::from(*count)).sum::<u64>() / 49;
            (tiles >= MIN_TILES).then(|| (of_all * 16_384 / quantile(counts, 850).max(1)).clamp(2048, 65_535))
        };
        let known: [Option<u64>; CLASSES] = std::array::from_fn(known);
        let filled: [u64; CLASSES] = std::array::from_fn(|class| {
            let (before, after) = (
                (0..=class).rev().find(|index| known[*index].is_some()),
                (class..CLASSES).find(|index| known[*index].is_some()),
            );
            let value_of = |index: usize| known[index].unwrap_or(16_384);
            match (before, after) {
                (Some(a), Some(b)) if a < b => {
                    (value_of(a) * (b - class) as u64 + value_of(b) * (class - a) as u64) / (b - a) as u64
                }
                (Some(index), _) | (None, Some(index)) => value_of(index),
                (None, None) => 16_384,
            }
        });
        let smooth =
            |class: usize| filled[class.saturating_sub(1)] + 2 * filled[class] + filled[(class + 1).min(CLASSES - 1)];
        Noise { factors, most, of_class: std::array::from_fn(|class| (smooth(class) / 4) as u16) }
    }

    /// The factors of tiles of this brightness.
    #[inline(always)]
    pub fn factors(&self, brightness_factors: &[u16; LEVELS], brightness: &[u16; TILES], out: &mut Factors) {
        let of_tiles = brightness.map(|brightness| brightness_factors[usize::from(brightness).min(LEVELS - 1)]);
        for (out, factor) in out.as_chunks_mut::<TILES>().0.iter_mut().zip(self.factors) {
            let factor = [factor; TILES];
            for index in 0..TILES {
                let factor = ((u32::from(factor[index]) * u32::from(of_tiles[index])) >> 16) as u16;
                out[index] = factor.min(self.most >> 2) << 2;
            }
        }
    }

    /// The multiplier of the factors for each brightness.
    pub fn brightness_factors(&self) -> [u16; LEVELS] {
        std::array::from_fn(|brightness| self.brightness_factor(brightness as u16))
    }

    fn brightness_factor(&self, brightness: u16) -> u16 {
        let index = (0..CLASSES - 1).filter(|index| brightness >= BRIGHTNESS[*index]).count();
        if index == 0 || brightness >= BRIGHTNESS[CLASSES - 1] {
            return self.of_class[if index == 0 { 0 } else { CLASSES - 1 }];
        }
        let (low, high) = (BRIGHTNESS[index - 1], BRIGHTNESS[index]);
        let share = u32::from(brightness - low) * 256 / u32::from(high - low);
        ((u32::from(self.of_class[index - 1]) * (256 - share) + u32::from(self.of_class[index]) * share) >> 8) as u16
    }
}

/// The brightness of a tile whose middle is luma sample (`x`, `y`). `quarter` is the pyramid's picture of a quarter of
/// the width and height.
#[inline(always)]
pub fn brightness(quarter: &Sheet, x: usize, y: usize) -> u16 {
    quarter.nearest(x >> 2, y >> 2) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_by_one_and_then_16_an_octave() {
        let (mut one, mut found) = ([0; SAMPLES * TILES], [0; SAMPLES * TILES]);
        for first in (0..=32_767).step_by(one.len()) {
            (first..).zip(&mut one).for_each(|(difference, one)| *one = difference as i16);
            sizes(&one, &[0; SAMPLES * TILES], &mut found);
            for (difference, size) in (first as u64..).zip(found) {
                let (least, width) = size_range(size.into());
                assert!((least..least + width).contains(&difference), "{difference}: {size}");
                assert!(difference >= 16 || u64::from(size) == difference, "{difference}: {size}");
            }
        }
    }
}
