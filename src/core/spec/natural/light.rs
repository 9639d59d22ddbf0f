//! The light of each frame of a window, against the others.
//!
//! A frame is compared with the one that is lit as three quarters of them are at most, block by block. With a and b the means
//! of their blocks, the factor `f = sum(a b) / sum(a^2)` is the nearest by least squares. It counts as far as it explains what
//! differs: with r0 the sum of `(b - a)^2` and r1 that of `(b - f a)^2`, not at all where `r1 / r0` is above 1/2, and fully
//! from 1/5 down. So what moves is no change of light.

use super::points::ramp;
use crate::spec::measure::BLOCKS;

/// The means of the blocks of a frame.
pub type Blocks = [Option<u32>];

/// A light of 1, in 65536ths.
pub const FULL: u32 = 1 << 16;

/// The index of the frame that the others are compared with, by their means.
pub fn reference(means: &[u32]) -> usize {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by_key(|&index| means[index]);
    order[(order.len() - 1) * 3 / 4]
}

/// The light of a frame with these blocks, against that of the reference, in 65536ths.
pub fn between(reference: &Blocks, frame: &Blocks) -> u32 {
    debug_assert_eq!((reference.len(), frame.len()), (BLOCKS, BLOCKS));
    let pairs = || reference.iter().zip(frame).filter_map(|(a, b)| Some((i64::from((*a)?), i64::from((*b)?))));
    let (squares, products) = pairs().fold((0_i64, 0_i64), |(squares, products), (a, b)| (squares + a * a, products + a * b));
    if squares == 0 {
        return FULL;
    }
    let factor = (i128::from(products) << 16) / i128::from(squares);
    let square = |of: i64| i128::from(of) * i128::from(of);
    let unexplained: i128 = pairs().map(|(a, b)| square(b - (i128::from(a) * factor >> 16) as i64)).sum();
    let differs: i128 = pairs().map(|(a, b)| square(b - a)).sum();
    let left = (4096 * unexplained).checked_div(differs).unwrap_or(0).min(4096) as i32;
    let explained = i64::from(4096 - ramp(left, 820, 2048));
    let light = i64::from(FULL) + (factor as i64 - i64::from(FULL)) * explained / 4096;
    light.clamp(0, 16 * i64::from(FULL)) as u32
}

/// By how much a frame with this light counts for the correction of its scene, in 4096ths.
pub fn weight(light: u32) -> u32 {
    ramp((light >> 4) as i32, 2867, 3891) as u32
}
