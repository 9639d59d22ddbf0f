//! The middle: midtones that the line or the veil has made too bright, as of log footage, become darker; black and
//! white stay.

use crate::spec::natural::points::{Points, WHITE, between, ramp, ratio, times};
use crate::spec::natural::tuning::middle::*;

/// How far midtones are bent, in 4096ths, for points that are lifted by this share.
pub fn bend(points: &Points, lifted: i32) -> i32 {
    let count = points.count().max(1) as i64;
    let mean = (points.luma().map(i64::from).sum::<i64>() / count) as i32;
    if mean <= AIM {
        return 0;
    }
    // The bend that moves the mean to `AIM`.
    let whole = ratio(WHITE * (mean - AIM) / AIM, WHITE - mean).min(MAX);
    times(times(whole, lifted), ramp(mean, AIM, FULL))
}

/// How far levels are lifted, in 4096ths, by these shares of a line and of a veil.
pub fn lifted(line: i32, veil: i32) -> i32 {
    times(line, LINE_SHARE).max(times(veil, VEIL_SHARE))
}

/// The output for a level: `x / (1 + bend (1 - x))`, with white as 1.
pub fn bent(level: i32, bend: i32) -> i32 {
    if bend == 0 || level <= 0 || level >= WHITE {
        return level;
    }
    let divisor = 4096 + i64::from(times(WHITE - level, bend)) * 4096 / i64::from(WHITE);
    (i64::from(level) * 4096 / divisor) as i32
}

/// The gain of chroma for this bend of these points, in 4096ths.
pub fn chroma(points: &Points, bend: i32) -> i32 {
    let count = points.count().max(1) as i64;
    let mean = (points.luma().map(i64::from).sum::<i64>() / count) as i32;
    let darker = if mean == 0 { 4096 } else { ratio(bent(mean, bend), mean) };
    between(4096, darker, CHROMA_SHARE)
}
