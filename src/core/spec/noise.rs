//! The noise of a picture, and how far it may be amplified ([`Settings::hides_noise`](super::Settings::hides_noise)).
//!
//! Noise is what changes from a frame to the next where nothing moves. It is measured in the luminance at the points of
//! the [`Lattice`](super::Lattice), without points that a mask leaves out or that are black or white in either frame:
//! noise is cut off there. With `d` the change of a point, a frame has `e = |d(x + 1, y) - d(x, y)|` at neighbouring
//! points: a change of the light has no part in that. `e` has twice the deviation of noise, so its median is `2 *
//! 0.6745` deviations.
//!
//! * Of each of 8x8 regions, the median of `e` counts; below one level it is interpolated.
//! * Of the regions of a frame, the lower quartile counts: what moves may cover more than half of the picture.
//! * Of the frames of a scene in the window, the mean of the lower half counts: motion only adds to a difference. With
//!   a look-ahead, frames behind that are measured already count too, so that the limit holds from the first frame of a
//!   scene on; without one, the first frame has no limit. A frame that repeats the one before it is ignored.
//!
//! The largest gain is `G = visible / noise`, at least 1, with the visible deviation 5 of 255 of the range. Stretched
//! levels go as far of their way as G allows, so that a picture that is held back keeps its brightness; no slope of
//! equalization is above G either ([`tone`](super::tone)).
//!
//! The visible deviation was chosen by looking at night clips with noise of 2 to 3 of 255 (`benches/pictures`), whose
//! truth is known. With `--look night --denoise 0`, whose noise comes out at 9, structural similarity is 0.67; held to
//! 5 it is the largest, 0.70, with fine grain. Held to 3 there is no grain to be seen, but these clips stay nearly as
//! dark as they were, and it is 0.59. At 8 grain is what one sees first.

use super::measure::{REGIONS, Samples, at_share};
use super::{Gain, Levels};

/// The deviation of noise that may be seen, of 255 of the range.
const VISIBLE: u64 = 5;

/// The fewest neighbouring points of a region by which it counts.
const FEWEST: usize = 8;

/// The standard deviation of noise by what has changed from a frame to the next, in 256ths of a level. `None` if
/// nothing has, too few points count, or the frames have other points.
pub fn between(before: &Samples, after: &Samples) -> Option<u32> {
    if before.size != after.size || before.luma == after.luma {
        return None;
    }
    let (columns, rows) = after.size;
    let mut regions = vec![Vec::new(); REGIONS * REGIONS];
    let lines = before.luma.chunks_exact(columns.max(1)).zip(after.luma.chunks_exact(columns.max(1)));
    for (row, (before, after)) in lines.take(rows).enumerate() {
        let change = |column: usize| {
            let [from, to] = [before[column], after[column]];
            (from != Samples::OUT && to != Samples::OUT).then(|| i32::from(to) - i32::from(from))
        };
        let regions = &mut regions[row * REGIONS / rows * REGIONS..][..REGIONS];
        let mut left = change(0);
        for (index, region) in regions.iter_mut().enumerate() {
            // The columns of which `column * REGIONS / columns` is this.
            let [first, end] = [index, index + 1].map(|index| (index * columns).div_ceil(REGIONS));
            for column in first.max(1)..end {
                let right = change(column);
                if let (Some(left), Some(right)) = (left, right) {
                    region.push(left.abs_diff(right).min(u16::MAX.into()) as u16);
                }
                left = right;
            }
        }
    }
    let counting = regions.iter_mut().filter(|steps| steps.len() >= FEWEST);
    let mut medians: Vec<u32> = counting.map(|steps| at_share(steps, 500_000)).collect();
    let quarter = medians.len() / 4;
    let median = (!medians.is_empty()).then(|| *medians.select_nth_unstable(quarter).1)?;
    // 16 / (2 * 0.6745), and 6 % that the lower quartile of medians of some 140 points is below their middle.
    Some(median * 201 / 16)
}

/// The noise of a window whose frames have this noise, in 256ths of a level; `None` without any.
pub fn of_window(frames: impl Iterator<Item = u32>) -> Option<u32> {
    let mut frames: Vec<u32> = frames.collect();
    frames.sort_unstable();
    let lower = &frames[..frames.len().div_ceil(2)];
    let sum: u64 = lower.iter().map(|&noise| u64::from(noise)).sum();
    sum.checked_div(lower.len() as u64).map(|mean| mean as u32)
}

/// The largest gain that keeps noise of this deviation, in 256ths of a level, out of sight; no limit for `None`.
pub fn most_gain(noise: Option<u32>, levels: Levels) -> Gain {
    let visible = (levels.count() as u64 - 1) * VISIBLE * 256 / 255;
    noise.map_or(Gain::OFF, |noise| Gain::OFF.at_most((visible * 256 / u64::from(noise.max(1))).max(256) as u32))
}
