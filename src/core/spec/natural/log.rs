//! Whether a frame looks like log footage: no black, no white, bright midtones, little contrast and pale colours. Haze
//! lifts black further, and so do cameras whose log has a high black: such footage is not recognized as log.

use super::points::{Occurrences, Points, WHITE, from_255};

/// The range of the darkest level (at 0.1 %) of log footage.
const BLACK: [i32; 2] = [WHITE * 20 / 1000, WHITE * 125 / 1000];

/// The range of the brightest level (at 99.8 %) of log footage.
const BRIGHTEST: [i32; 2] = [WHITE * 450 / 1000, WHITE * 760 / 1000];

/// The least median of the luma of log footage.
const MIDDLE: i32 = WHITE * 220 / 1000;

/// The range, in log footage, of the difference of the components at 90 %: gray frames have less, strong colours more.
const COLOUR: [i32; 2] = [from_255(2), WHITE * 180 / 1000];

/// Whether these points look like log: 4096, or 0.
pub fn likeness(points: &Points) -> i32 {
    let is_within = |level: i32, [least, most]: [i32; 2]| (least..=most).contains(&level);
    let black = points.channels().iter().map(|levels| levels.at(1_000)).min().unwrap_or(0);
    if points.is_hdr() || !is_within(black, BLACK) {
        return 0;
    }
    let lumas = Occurrences::new(points.luma());
    let colours = Occurrences::new(points.rgb().map(|[r, g, b]| r.max(g).max(b) - r.min(g).min(b)));
    let is_log = is_within(lumas.at(998_000), BRIGHTEST)
        && lumas.at(500_000) >= MIDDLE
        && is_within(colours.at(900_000), COLOUR);
    if is_log { 4096 } else { 0 }
}
