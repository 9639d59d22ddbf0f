//! Contrast as viewers choose it: a part of the way to the whole range, also where nothing is lacking.
//!
//! With p and q the levels of luma that half a percent of the points lie below and above, all levels between move by
//! the one line that takes p and q a share of the way to black and white; what lies outside has the rest of the range.
//! Chroma has the line's gain, or the largest below it that clips few points. The share is a half, which viewers choose
//! over the picture as it is in six of seven clean scenes, and rises where much of the range is unused. Of a dark
//! picture, whose exposure lifts black, p goes to black (`benches/results/eye.md`).

use super::line;
use super::points::{Occurrences, Points, WHITE, between, ramp, ratio, times};
use super::tuning::contrast::*;

/// A line between two levels, with the rest of the range beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// The two levels, and what becomes of them.
    ends: [i32; 2],
    becomes: [i32; 2],
    /// The gain of chroma, in 4096ths.
    pub chroma: i32,
}

impl Contrast {
    /// What changes nothing.
    pub const NONE: Contrast = Contrast { ends: [0, WHITE], becomes: [0, WHITE], chroma: 4096 };

    /// The contrast for these points, as far as `part` of its way, where the picture was dark by this share, and with no
    /// gain above `most`; all in 4096ths.
    pub fn of(points: &Points, part: i32, dark: i32, most: i32) -> Self {
        let scene = points.without_letters();
        let lumas = Occurrences::of(scene.luma());
        let ends = [ENDS + times(DARK_ENDS, dark) as u32, 1_000_000 - ENDS];
        let [p, q] = ends.map(|share| lumas.at(share));
        if q - p < LEAST_RANGE || part == 0 {
            return Contrast::NONE;
        }
        let unused = 4096 - ratio(q - p, WHITE);
        let share = times(between(SHARE[0], SHARE[1], ramp(unused, UNUSED[0], UNUSED[1])), part);
        let high = q + times(WHITE - q, share);
        let to_black = between(share, times(4096, part), dark);
        let gain = ratio(high - (p - times(p, to_black)), q - p).min(most);
        let low = high - times(q - p, gain);
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
        let along =
            |from: [i32; 2], to: [i32; 2]| to[0] + times(level - from[0], ratio(to[1] - to[0], from[1] - from[0]));
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
