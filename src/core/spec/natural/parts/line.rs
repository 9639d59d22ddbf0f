//! A straight line: the levels in use become the whole range, as far as it is unused.
//!
//! The ends p and q are those of luma, but no further in than the mean colours of the darkest and of the brightest
//! points, which protects saturated skies. With the unused share `u = 1 - (q - p) / white`, `k` rises from 0 to 1 with
//! u; p moves by k of the way to black, and q by `k w` of the way to white, with `w` at most 1; for HDR, whose peak is
//! kept, q stays. Where p is black already, k rises later and w is below 1: a frame with true blacks may be meant to be
//! dim. Chroma has the gain of the line, or the largest below it that clips few points.

use crate::spec::natural::points::{Occurrences, Points, WHITE, from_255, luma, ramp, ratio, times};
use crate::spec::natural::tuning::line::*;

/// A line: `y = gain * x + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StretchLine {
    /// The gain of luma, in 4096ths.
    pub gain: i32,
    /// The offset that is added.
    pub offset: i32,
    /// The gain of chroma, in 4096ths.
    pub chroma: i32,
    /// k: the share of the stretch that is applied, in 4096ths.
    pub share: i32,
}

impl StretchLine {
    /// The line for these points, with no gain above `most`, scaled by `part`; both in 4096ths.
    pub fn new(points: &Points, most: i32, part: i32) -> Self {
        let [p, q] = ends(points);
        let used = (q - p).max(16);
        let unused = 4096 - ratio(used, WHITE);
        let lifted = ramp(p, LIFTED[0], LIFTED[1]);
        let sets_in = |end: usize| crate::spec::natural::points::between(UNUSED[end], UNUSED_LIFTED[end], lifted);
        let share = times(times(ramp(unused, sets_in(0), sets_in(1)), ramp(used, from_255(4), from_255(40))), part);
        let to_white = if points.transfer.is_hdr() { 0 } else { ratio(p, TO_WHITE).clamp(MIN_TO_WHITE, 4096) };
        let (low, high) = (p - times(p, share), q + times(times(WHITE - q, share), to_white));
        let gain = ratio(high - low, used).clamp(4096, MAX_GAIN.min(most).max(4096));
        let offset = low - times(p, gain);
        StretchLine { gain, offset, chroma: chroma(points, gain, offset), share }
    }

    /// The offset that is subtracted from red, green and blue before a line with a large gain, which would show the
    /// tint of the air: a part of the distance of the mean colour from gray.
    pub fn tint(&self, points: &Points) -> [i32; 3] {
        let mean = points.mean();
        let gray = luma(mean);
        let part = times(ramp(self.gain, TINT_SHOWS[0], TINT_SHOWS[1]), TINT_SHARE);
        mean.map(|level| times(level - gray, part))
    }
}

/// The low and the high percentile of luma, moved outwards, by the share `TO_CORNERS`, to the smallest component of
/// the mean colour of the darkest points and to the largest one of the brightest points.
pub fn ends(points: &Points) -> [i32; 2] {
    let lumas = Occurrences::new(points.luma());
    let (p, q) = (lumas.at(ENDS), lumas.at(1_000_000 - ENDS));
    let [dark, bright] = points.corners(CORNERS);
    let p = crate::spec::natural::points::between(p, dark.into_iter().fold(p, i32::min), TO_CORNERS);
    let q = crate::spec::natural::points::between(q, bright.into_iter().fold(q, i32::max), TO_CORNERS);
    [p, q]
}

/// The largest gain of chroma up to that of luma by which no more than [`CLIPPED`] of the points leave the range.
pub fn chroma(points: &Points, gain: i32, offset: i32) -> i32 {
    if gain <= 4096 {
        return gain;
    }
    // For each point, the largest gain of chroma that does not clip it, in 256ths: `Occurrences` counts these, not
    // levels.
    let room = |rgb: [i32; 3]| {
        let before = luma(rgb);
        let after = times(before, gain) + offset;
        let most = rgb.into_iter().fold(i32::MAX, |room, level| {
            let beside = level - before;
            let space = if beside > 0 { WHITE + 32 - after } else { after + 32 };
            room.min(ratio(space.max(0), beside.abs()) / 16)
        });
        most.min(WHITE)
    };
    (16 * Occurrences::new(points.rgb().map(room)).at(CLIPPED)).clamp(4096, gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_gravel_on_a_dull_road_are_its_white() {
        // Gravel in a part of the road is taken for letters.
        let is_gravel = |x: usize, y: usize| x < 64 && y < 24 && x % 4 == 1 && y % 3 == 1;
        let level = |x: usize, y: usize| if is_gravel(x, y) { 240 } else { 60 + (x % 50) as u16 };
        let points = Points::from_levels(level);
        let line = StretchLine::new(&points, i32::MAX, 4096);
        assert!(points.has_letters());
        assert!(ends(&points)[1] >= from_255(239) && line.gain < 6000, "{line:?}");
    }
}
