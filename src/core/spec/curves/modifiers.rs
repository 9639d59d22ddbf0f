//! The changes to a histogram before its cumulative sum becomes a curve: plateau, bins, contrast limit.
//!
//! The plateau is that of infrared imaging (V. E. Vickers, Plateau equalization algorithm for real-time display of
//! high-quality infrared imagery, Optical Engineering 35(7), 1996). The contrast limit is the clip of CLAHE (K.
//! Zuiderveld, Contrast limited adaptive histogram equalization, Graphics Gems IV, 1994), with the excess spread over
//! all levels.

use super::Histogram;
use crate::spec::parameters::{Gain, bins};
use std::borrow::Cow;

/// Applies the plateau to the counts of a frame: each level keeps at most `cap` samples, and the excess is dropped.
/// `None` is no cap.
///
/// A frame is capped before it enters the window. If the sum over the window were capped, a flat wall that enters and
/// leaves the frame would move the curve by all of its samples.
pub fn capped(counts: &[u64], cap: Option<u64>) -> Cow<'_, [u64]> {
    cap.map_or(counts.into(), |cap| counts.iter().map(|&count| count.min(cap)).collect())
}

/// The histogram with its counts summed up in fewer bins, and spread evenly over the levels again.
///
/// Level `l` of `L` falls into bin `l * B / L`. Level `j` of the `w` levels of a bin that holds `h` gets `h*(j+1)/w -
/// h*j/w`, in integer division. `requested` is the number of bins; `None` is one for each level, which changes nothing.
#[must_use]
pub fn in_bins(histogram: &Histogram, requested: Option<u32>) -> Histogram {
    let levels = histogram.levels();
    let count = levels.count();
    let bins = bins(levels, requested) as u64;
    // With 65536 bins of 65536 levels, the product overflows 32 bits.
    let first = |bin: u64| (bin * count as u64).div_ceil(bins) as usize;
    let mut counts = Vec::with_capacity(count);
    for bin in 0..bins {
        let levels_in = first(bin)..first(bin + 1);
        let width = levels_in.len() as u64;
        let in_bin: u64 = histogram.counts()[levels_in].iter().sum();
        counts.extend((0..width).map(|level| in_bin * (level + 1) / width - in_bin * level / width));
    }
    Histogram::from_counts(levels, counts)
}

/// The histogram changed such that its curve has no slope above the limit, over the levels `range` (first and last).
///
/// With `g` the limit in 256ths, `N` samples, `n` levels in the range, and all counts taken times 256: `T = (g - 256) *
/// N / n` is the most that a level keeps. The excess of all levels, `E`, is spread over the range: its level `b`,
/// counted from the first, gets `(b+1)*E/n - b*E/n`. Then for levels `a < b` of the curve over a range of all L levels,
/// `lut[b] - lut[a] <= G*(b-a)*(L-1)/(L-G) + 1`, and a limit of 1 gives the identity. Both need at least as many
/// samples as levels, since a sample counts as 256 units.
#[must_use]
pub fn limited(histogram: &Histogram, max_gain: Gain, (first, last): (u32, u32)) -> Histogram {
    let Some(g) = max_gain.to_256ths() else { return histogram.clone() };
    let levels = histogram.levels();
    let (first, width) = (u64::from(first), u64::from(last - first) + 1);
    let most = u64::from(g - 256) * histogram.total() / width;
    let excess: u64 = histogram.counts().iter().map(|count| (count * 256).saturating_sub(most)).sum();
    // excess * b / width, with b the levels of the range below `level`; in two parts, because the product may overflow.
    let share = |level: u64| {
        let b = level.clamp(first, first + width) - first;
        excess / width * b + excess % width * b / width
    };
    let counts = histogram.counts().iter().zip(0..);
    let counts = counts.map(|(count, b)| (count * 256).min(most) + share(b + 1) - share(b)).collect();
    Histogram::from_counts(levels, counts)
}
