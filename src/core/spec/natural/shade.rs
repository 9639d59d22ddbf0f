//! Shade: what lies in the dark beside what is bright, as faces before windows, becomes brighter, and ends stay.

use super::points::{Occurrences, Points, WHITE, between, of_255, ramp, ratio, saturation, times};
use super::tuning::dev;

/// How far shade is lifted, in 4096ths, as far as `part` of its way.
pub fn lift(points: &Points, part: i32) -> i32 {
    let lumas = Occurrences::of(points.luma());
    let (middle, bright) = (lumas.at(dev("SHQ", 350_000) as u32), lumas.at(950_000));
    // A sunset has a colour, a window has none.
    let [_, top] = points.corners(50_000);
    let is_pale = 4096 - ramp(saturation(top), dev("PALE0", 1024), dev("PALE1", 1843));
    let in_shade = 4096 - ramp(middle, of_255(dev("MID0", 25)), of_255(dev("MID1", 75)));
    let beside_light = ramp(bright, of_255(dev("BR0", 110)), of_255(dev("BR1", 170)));
    let aim = of_255(dev("AIM", 70));
    // The lift that brings the middle to its aim: `aim = middle / (1 - lift (1 - middle))`.
    let whole = if middle >= aim { 0 } else { ratio(4096 - ratio(middle, aim), 4096 - ratio(middle, WHITE)) };
    let whole = whole.min(dev("MOST", 2458));
    times(times(times(times(whole, in_shade), beside_light), is_pale), part)
}

/// The lift that brings `mean` to `aim`, in 4096ths; 0 where it lies above.
pub fn to(mean: i32, aim: i32) -> i32 {
    if mean >= aim { 0 } else { ratio(4096 - ratio(mean, aim), 4096 - ratio(mean, WHITE)).min(dev("MOST", 2458)) }
}

/// The output for a level: `x / (1 - lift (1 - x))`, with white as 1.
pub fn lifted(level: i32, lift: i32) -> i32 {
    if lift == 0 || level <= 0 || level >= WHITE {
        return level;
    }
    let divisor = 4096 - i64::from(times(WHITE - level, lift)) * 4096 / i64::from(WHITE);
    (i64::from(level) * 4096 / divisor) as i32
}

/// The gain near black, in 4096ths.
pub fn slope(lift: i32) -> i32 {
    ratio(4096, 4096 - lift)
}

/// The gain of chroma that goes with it, in 4096ths.
pub fn chroma(lift: i32) -> i32 {
    between(4096, slope(lift), dev("SHADE_CHROMA", 1229))
}
