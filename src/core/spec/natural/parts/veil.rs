//! A veil that grows with depth: haze, fog, smoke, glare.
//!
//! Each of 8x8 regions has a black point, a low quantile of the darkest components of its points. Black points are
//! filtered: by the minimum of 5x5 regions, so that bright objects are not taken for haze, the maximum of 3x3, so that
//! the gradient of the veil is kept, and the mean of 3x3. With the airlight A, a share of the top level, `B = min(part
//! of the black point, most of A)` is subtracted, and the rest has the gain `A / (A - B)` (the model of J. Tarel and N.
//! Hautière, Fast visibility restoration from a single color or gray level image, ICCV 2009, by region). There is a
//! veil where the black points are high on the whole, and higher in the upper half than in the lower one, because
//! distant things are above (S. Narasimhan and S. Nayar, Vision and the atmosphere, IJCV 2002); or, less surely, where
//! the darkest points were bright before the line, and the black points are high after it.

use crate::spec::measure::{REGIONS, around};
use crate::spec::natural::points::{Points, between, ramp, ratio, times};
use crate::spec::natural::tuning::veil::*;

/// A number for each region.
pub type Regions = [[i32; REGIONS]; REGIONS];

/// By region, the offset that is subtracted, and the gain that follows, in 4096ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionalVeil {
    /// The offset that is subtracted.
    pub taken: Regions,
    /// The gain after the subtraction.
    pub gains: Regions,
    /// The share of a veil, in 4096ths.
    pub share: i32,
}

impl RegionalVeil {
    /// The veil over `points`, to which the line was applied already; `darkest` is the least component of their darkest
    /// points before that. The share of the veil is `sure` if that is given, else the measured share times `part`, in
    /// 4096ths.
    pub fn new(points: &Points, darkest: i32, part: i32, sure: Option<i32>) -> Self {
        let black = points.darkest_of_regions(REGION_DARKEST);
        let top = points.brightest().at(998_000);
        let air = times(top, TOP_SHARE).max(16);
        let score = score(&black, air);
        let densest = black.iter().flatten().flatten().copied().max().unwrap_or(0);
        let black = black.map(|row| row.map(|black| black.unwrap_or(densest) as u32));
        let black = around(&around(&black, 2, Iterator::min), 1, Iterator::max);
        let black = mean_of_3x3(&black).map(|row| row.map(|level| level as i32));
        let taken = black.map(|row| row.map(|black| times(black, TAKEN).min(times(air, MAX_TAKEN))));
        let all = taken.as_flattened();
        let (mean, least) = (all.iter().sum::<i32>() / all.len() as i32, all.iter().copied().min().unwrap_or(0));
        let dense = ratio(between(mean, least, CLEAREST_SHARE), air);
        let lifted = times(ramp(dense, DENSE[0], DENSE[1]), ramp(darkest, DARKEST[0], DARKEST[1]));
        let seen = ramp(score, SCORE[0], SCORE[1]).max(times(lifted, DENSE_SHARE));
        let share = sure.unwrap_or(times(seen, part));
        let taken = taken.map(|row| row.map(|taken| times(taken, share)));
        let gains = taken.map(|row| row.map(|taken| ratio(air, air - taken)));
        let clearest = times(least, share);
        let white = times(top - clearest, ratio(air, air - clearest)).max(16);
        let most = if points.transfer.is_hdr() { 4096 } else { MAX_BRIGHTER };
        let brighter = between(4096, ratio(WHITE_BECOMES, white).clamp(4096, most), share);
        RegionalVeil { taken, gains: gains.map(|row| row.map(|gain| times(gain, brighter))), share }
    }

    /// The gain of chroma for a gain of luma, both in 4096ths.
    pub fn chroma(gain: i32) -> i32 {
        gain.min(MAX_CHROMA)
    }
}

/// The mean over the 3x3 regions around each; the border is repeated.
fn mean_of_3x3(regions: &[[u32; REGIONS]; REGIONS]) -> [[u32; REGIONS]; REGIONS] {
    let clamped = |index: usize, step: usize| (index + step).saturating_sub(1).min(REGIONS - 1);
    std::array::from_fn(|y| {
        std::array::from_fn(|x| (0..9).map(|cell| regions[clamped(y, cell / 3)][clamped(x, cell % 3)]).sum::<u32>() / 9)
    })
}

/// The density of a veil, as a share of the airlight, by the black points of the regions that have points, with a part
/// of how much denser the upper half is than the lower one; in 4096ths.
fn score(black: &[[Option<i32>; REGIONS]; REGIONS], air: i32) -> i32 {
    let (above, below) = black.split_at(REGIONS / 2);
    let dense = |rows: &[[Option<i32>; REGIONS]]| {
        let there = rows.iter().flatten().flatten();
        let (sum, count) = there.fold((0, 0), |(sum, count), black| (sum + ratio((*black).min(air), air), count + 1));
        (count > 0).then(|| sum / count)
    };
    let deeper = dense(above).zip(dense(below)).map_or(0, |(above, below)| above - below);
    dense(black).unwrap_or(0) + times(deeper.clamp(DEEPER[0], DEEPER[1]), DEEPER_SHARE)
}
