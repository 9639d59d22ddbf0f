//! Contrast as judges of unlabelled versions chose it (`benches/results/eye.md`): most of the way to the whole range,
//! also where nothing is lacking.
//!
//! With p and q the levels of luma that half a percent of the points lie below and above, levels between are mapped by
//! the line that moves p and q a share of the way to black and white; levels outside are mapped to the rest of the
//! range. Chroma has the line's gain, or the largest below it that clips few points. The share rises with the unused
//! part of the range. In a dark frame, whose exposure lifts black, p is mapped to black.

use super::line;
use crate::spec::natural::points::{Occurrences, Points, WHITE, between, ramp, ratio, times};
use crate::spec::natural::tuning::contrast::*;

/// A line between two levels, and lines from there to black and white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// The levels p and q, and their outputs.
    ends: [i32; 2],
    becomes: [i32; 2],
    /// The gain of chroma, in 4096ths.
    pub chroma: i32,
}

impl Contrast {
    /// The contrast that changes nothing.
    pub const NONE: Contrast = Contrast { ends: [0, WHITE], becomes: [0, WHITE], chroma: 4096 };

    /// The contrast for these points, scaled by `part`, for a frame with this share of darkness, and with no gain above
    /// `max_gain`; all in 4096ths.
    pub fn for_points(points: &Points, part: i32, dark: i32, max_gain: i32) -> Self {
        let scene = points.without_letters();
        let lumas = Occurrences::new(scene.luma());
        let ends = [ENDS + times(DARK_ENDS, dark) as u32, 1_000_000 - ENDS];
        let [p, q] = ends.map(|share| lumas.at(share));
        let used = q - p;
        if used <= 0 || part == 0 {
            return Contrast::NONE;
        }
        let unused = 4096 - ratio(used, WHITE);
        let share = times(between(SHARE[0], SHARE[1], ramp(unused, UNUSED[0], UNUSED[1])), part);
        let (down, up) = (times(p, between(share, part, dark)), times(WHITE - q, share));
        // Where the gain would be too large, both ends move less.
        let gain = ratio(used + down + up, used);
        let kept = if gain > max_gain { ratio(max_gain - 4096, gain - 4096) } else { 4096 };
        let [low, high] = [p - times(down, kept), q + times(up, kept)];
        let gain = ratio(high - low, used);
        let chroma = line::chroma(&scene, gain, low - times(p, gain));
        Contrast { ends: [p, q], becomes: [low, high], chroma }
    }

    /// The gain between the ends, in 4096ths.
    pub fn gain(&self) -> i32 {
        ratio(self.becomes[1] - self.becomes[0], self.ends[1] - self.ends[0])
    }

    /// The output for a level.
    pub fn applied(&self, level: i32) -> i32 {
        let ([p, q], [low, high]) = (self.ends, self.becomes);
        let along = |before: [i32; 2], after: [i32; 2]| {
            after[0] + times(level - before[0], ratio(after[1] - after[0], before[1] - before[0]))
        };
        if *self == Contrast::NONE {
            level
        } else if level < p {
            along([0, p], [0, low])
        } else if level <= q {
            along([p, q], [low, high])
        } else {
            along([q, WHITE], [high, WHITE])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::natural::points::from_255;

    /// The contrast for levels from 60 to 159, with this largest gain.
    fn flat_contrast(max_gain: i32) -> Contrast {
        Contrast::for_points(&Points::from_levels(|x, y| 60 + ((x + 7 * y) % 100) as u16), 4096, 0, max_gain)
    }

    #[test]
    fn ends_go_most_of_the_way_and_what_lies_outside_keeps_room() {
        let flat = flat_contrast(i32::MAX);
        let [p, q] = [60, 159].map(|level| flat.applied(from_255(level)));
        assert!((from_255(10)..from_255(25)).contains(&p) && (from_255(230)..from_255(245)).contains(&q), "{p} {q}");
        let levels: Vec<i32> = (0..=WHITE).step_by(16).map(|level| flat.applied(level)).collect();
        assert!(levels.is_sorted() && levels.first() == Some(&0) && levels.last() == Some(&WHITE), "{levels:?}");
    }

    #[test]
    fn a_largest_gain_holds_both_ends() {
        let held = flat_contrast(4096 + 1024);
        assert!(held.gain() <= 4096 + 1024 + 64, "{}", held.gain());
        assert!(held.applied(from_255(60)) < from_255(60) && held.applied(from_255(159)) > from_255(159), "{held:?}");
        let none = flat_contrast(4096);
        assert!((0..=WHITE).step_by(16).all(|level| none.applied(level).abs_diff(level) <= 2), "{none:?}");
    }
}
