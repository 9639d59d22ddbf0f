//! The equalization curve of a histogram: a lookup table from code to code.

use super::tone::Balance;
use super::{Histogram, Levels, Line};
use crate::spec::parameters::Strength;

/// A lookup table with one output code for each input code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Curve {
    lut: Vec<u16>,
}

impl Curve {
    /// The curve that changes no code.
    pub fn identity(levels: Levels) -> Self {
        Curve { lut: (0..levels.codes()).map(|code| code as u16).collect() }
    }

    /// The curve with this table, entry 0 for code 0, for samples with these levels. `None` unless the table has one
    /// entry for each code, and no entry is above the highest code.
    pub fn from_codes(levels: Levels, lut: Vec<u16>) -> Option<Self> {
        let fits = lut.len() == levels.codes() && lut.iter().all(|&code| usize::from(code) < levels.codes());
        fits.then_some(Curve { lut })
    }

    /// Plain histogram equalization.
    ///
    /// With `c` the inclusive prefix sum of the histogram, `cmin` its first value above 0, `N` its last and `L` the
    /// number of levels, level `b` becomes
    /// `lo + ((c[b] - cmin) * (L - 1) + (N - cmin) / 2) / (N - cmin)` in integer division: the normalized CDF, rounded
    /// (the sequential program in A. Bugetti, *Histogram Equalization*, 2025). Levels below the first occupied one
    /// become `lo`, and so do codes below `lo`; codes above `hi` become `hi`. A histogram with fewer than two occupied
    /// levels gives the identity.
    pub fn equalizing(histogram: &Histogram) -> Self {
        Curve::equalizing_up_to(histogram, histogram.levels().count() as u32 - 1)
    }

    /// As [`equalizing`](Curve::equalizing), but the brightest level becomes `ceiling` instead of `L - 1`.
    pub fn equalizing_up_to(histogram: &Histogram, ceiling: u32) -> Self {
        let levels = histogram.levels();
        let total = histogram.total();
        let first = histogram.counts().iter().copied().find(|&count| count > 0).unwrap_or(0);
        let spread = total - first;
        if spread == 0 {
            return Curve::identity(levels);
        }
        let mut cumulative = 0u64;
        let by_level: Vec<u16> = histogram
            .counts()
            .iter()
            .map(|count| {
                cumulative += count;
                // Below the first occupied level the sum is 0, and the level becomes black.
                let above_first = cumulative.saturating_sub(first);
                levels.lo() + rounded_share(above_first, ceiling.into(), spread) as u16
            })
            .collect();
        Curve { lut: (0..levels.codes()).map(|code| by_level[levels.level_of(code as u16)]).collect() }
    }

    /// The curve that `balance` applies to gray video: that of its green channel.
    pub fn for_balanced_gray(balance: &Balance, levels: Levels) -> Self {
        let gray = |code: u16| balance.rgb([levels.level_of(code) as u16; 3], (levels.count() - 1) as u16)[1];
        Curve { lut: (0..levels.codes()).map(|code| levels.lo() + gray(code as u16)).collect() }
    }

    /// Blends `line` with this curve: `(line(v) * (256 - k) + lut[v] * k + 128) >> 8` for every code `v`.
    #[must_use]
    pub fn blended(mut self, levels: Levels, line: &Line, strength: Strength) -> Self {
        let k = strength.to_256ths();
        for (code, out) in self.lut.iter_mut().enumerate() {
            let straight = u32::from(line.code(code as u16, levels));
            *out = ((straight * (256 - k) + u32::from(*out) * k + 128) >> 8) as u16;
        }
        self
    }

    /// Preserves levels above `ceiling`, and limits all others to it. With white as the ceiling, nothing changes.
    #[must_use]
    pub fn kept_under(mut self, levels: Levels, ceiling: u32) -> Self {
        if (ceiling as usize) < levels.count() - 1 {
            for (code, out) in self.lut.iter_mut().enumerate() {
                *out = levels.under_ceiling(code as u16, *out, ceiling);
            }
        }
        self
    }

    /// The output for `code`; a code above the depth is read as the highest one.
    #[inline]
    pub fn apply(&self, code: u16) -> u16 {
        self.lut[usize::from(code).min(self.lut.len() - 1)]
    }

    /// The table: one output code for each input code, code 0 first.
    pub fn codes(&self) -> &[u16] {
        &self.lut
    }
}

/// `(part * amount + whole / 2) / whole`, computed in 64 bits where they are enough, else in 128.
fn rounded_share(part: u64, amount: u64, whole: u64) -> u64 {
    match part.checked_mul(amount).and_then(|product| product.checked_add(whole / 2)) {
        Some(sum) => sum / whole,
        None => ((u128::from(part) * u128::from(amount) + u128::from(whole / 2)) / u128::from(whole)) as u64,
    }
}
