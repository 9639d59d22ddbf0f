//! The noise of a picture, and how far it may be amplified ([`Settings::hides_noise`](crate::spec::parameters::Settings::hides_noise)).
//!
//! Noise is what changes from a frame to the next where nothing moves. It is measured in the luminance at the points of
//! the [`Lattice`](crate::spec::Lattice), without points that a mask leaves out or that are black or white in either frame,
//! where noise is clipped. With `d` the change of a point, a frame has `e = |d(x + 1, y) - d(x, y)|` at neighbouring
//! points, which a change of the light does not affect. `e` has twice the deviation of noise, so its median is `2 *
//! 0.6745` deviations.
//!
//! * Of each of 8x8 regions, the median of `e` counts; below one level it is interpolated.
//! * Of the regions of a frame, the lower quartile counts: moving objects may cover more than half of the picture.
//! * Of the frames of a scene in the window, the mean of the lower half counts: motion only adds to a difference. With
//!   a look-ahead, later frames that are measured already count too, so that the limit holds from the first frame of a
//!   scene on; without one, the first frame has no limit. A frame that repeats the one before it is ignored, also if an
//!   encoder or a clock has changed a little of it: its noise is less than an eighth of that of another frame in each
//!   three frames in a row. Three or more such frames in a row are a still, and count.
//!
//! The largest gain is `G = visible / noise`, at least 1, with the visible deviation 5 of 255 of the range. If G is too
//! low for the whole stretch, levels are stretched a part of the way, so that the frame keeps its brightness; no slope
//! of equalization is above G either ([`tone`](crate::spec::curves::tone)).
//!
//! [`within`] measures the noise of a single frame by the same regions, for [`detail`](crate::spec::curves::detail).
//!
//! The visible deviation was chosen by looking at night clips with noise of 2 to 3 of 255 (`benches/pictures`), whose
//! ground truth is known. With `--look night --denoise 0`, the noise of the output is 9, and structural similarity is
//! 0.67; limited to 5, similarity is the largest, 0.70, with fine grain. Limited to 3, no grain is visible, but these
//! clips stay nearly as dark as they were, and similarity is 0.59. At 8 grain is the first thing that one sees.

use crate::spec::curves::Levels;
use crate::spec::measure::{REGIONS, Samples, at_share};
use crate::spec::parameters::Gain;

/// The standard deviation up to which noise may be amplified, of 255 of the range.
const VISIBLE: u64 = 5;

/// Regions with fewer values than this do not count.
const MIN_POINTS: usize = 8;

/// The standard deviation of noise, from the changes between two frames, in 256ths of a level. `None` if nothing has
/// changed, too few points count, or the lattices differ in size.
pub fn between(before: &Samples, after: &Samples) -> Option<u32> {
    if before.size != after.size || before.luma == after.luma {
        return None;
    }
    let change = |index: usize| {
        let [start, end] = [before.luma[index], after.luma[index]];
        (start != Samples::OUT && end != Samples::OUT).then(|| i32::from(end) - i32::from(start))
    };
    let step = |index: usize| Some(change(index)?.abs_diff(change(index - 1)?));
    // 201 / 16 is 16 / (2 * 0.6745), plus 6 % by which the lower quartile of medians of some 140 points lies below
    // their median.
    Some(quiet_noise(after.size, 1, step)? * 201 / 16)
}

/// The standard deviation of noise, from second differences in rows, in 256ths of a level: `|a - 2 b + c|` of three
/// neighbours has the square root of 6 times the deviation of noise. Texture all over the frame adds to it. `None` if
/// too few points count.
pub fn within(samples: &Samples) -> Option<u32> {
    let level = |index: usize| {
        let level = samples.luma[index];
        (level != Samples::OUT).then(|| i32::from(level))
    };
    let bend = |index: usize| Some((level(index - 2)? + level(index)?).abs_diff(2 * level(index - 1)?));
    // 155 / 16 is 16 / (2.449 * 0.6745), with 2.449 the square root of 6.
    Some(quiet_noise(samples.size, 2, bend)? * 155 / 16)
}

/// The lower quartile of the medians of `value` in the regions, in sixteenths. `value` gets the index of a point; the
/// columns before `first_column` have no value.
fn quiet_noise(
    (columns, rows): (usize, usize),
    first_column: usize,
    value: impl Fn(usize) -> Option<u32>,
) -> Option<u32> {
    let mut regions = vec![Vec::new(); REGIONS * REGIONS];
    for row in 0..rows {
        let regions = &mut regions[row * REGIONS / rows * REGIONS..][..REGIONS];
        for (index, region) in regions.iter_mut().enumerate() {
            // The columns for which `column * REGIONS / columns` is `index`.
            let [first, end] = [index, index + 1].map(|index| (index * columns).div_ceil(REGIONS));
            let values = (first.max(first_column)..end).filter_map(|column| value(row * columns + column));
            region.extend(values.map(|value| value.min(u16::MAX.into()) as u16));
        }
    }
    let counting = regions.iter_mut().filter(|values| values.len() >= MIN_POINTS);
    let mut medians: Vec<u32> = counting.map(|values| at_share(values, 500_000)).collect();
    let quarter = medians.len() / 4;
    (!medians.is_empty()).then(|| *medians.select_nth_unstable(quarter).1)
}

/// This many frames in a row that change next to nothing are a still; fewer are repeats of the frame before them.
const STILL: usize = 3;

/// A repeated frame has less noise than that of other frames divided by this.
const REPEATED_PART: u32 = 8;

/// The noise of a window whose frames, in order, have this noise, in 256ths of a level; `None` without any.
pub fn window_noise(frames: impl Iterator<Item = u32>) -> Option<u32> {
    let all: Vec<u32> = frames.collect();
    let mut frames: Vec<u32> = all.iter().zip(repeated(&all)).filter(|(_, is)| !is).map(|(noise, _)| *noise).collect();
    frames.sort_unstable();
    let lower = &frames[..frames.len().div_ceil(2)];
    let sum: u64 = lower.iter().map(|&noise| u64::from(noise)).sum();
    sum.checked_div(lower.len() as u64).map(|mean| mean as u32)
}

/// Which of the frames with this noise repeat the one before.
fn repeated(all: &[u32]) -> Vec<bool> {
    let in_a_row = all.windows(all.len().clamp(1, STILL));
    let most: Vec<u32> = in_a_row.map(|some| some.iter().copied().fold(0, u32::max)).collect();
    let is_repeated = |index: usize| {
        let around = &most[index.saturating_sub(STILL - 1)..=index.min(most.len() - 1)];
        around.iter().all(|most| all[index] < most / REPEATED_PART)
    };
    (0..all.len()).map(is_repeated).collect()
}

/// Whether more than a third of the frames of a window repeat the one before: those whose noise is `None`, as nothing
/// has changed, and those that an encoder has changed a little. A repeated frame has the same noise as its copy, which
/// does not help to separate noise from the picture.
pub fn repeats_often(frames: impl Iterator<Item = Option<u32>>) -> bool {
    let all: Vec<Option<u32>> = frames.collect();
    let changed: Vec<u32> = all.iter().copied().flatten().collect();
    let repeats = all.len() - changed.len() + repeated(&changed).into_iter().filter(|is| *is).count();
    3 * repeats > all.len()
}

/// The largest gain that keeps noise of this deviation, in 256ths of a level, invisible; no limit for `None`.
pub fn most_gain(noise: Option<u32>, levels: Levels) -> Gain {
    let visible = (levels.count() as u64 - 1) * VISIBLE * 256 / 255;
    noise.map_or(Gain::OFF, |noise| Gain::OFF.at_most((visible * 256 / u64::from(noise.max(1))).max(256) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of `level` with noise of this deviation, from the sum of twelve uniformly distributed numbers.
    fn noisy(seed: u64, level: impl Fn(usize, usize) -> f64, deviation: f64) -> Samples {
        let mut state = seed;
        let mut even = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let size = (128, 72);
        let luma = (0..size.0 * size.1).map(|index| {
            let noise = (0..12).map(|_| even()).sum::<f64>() - 6.0;
            (level(index % size.0, index / size.0) + deviation * noise).round() as u16
        });
        Samples { size, luma: luma.collect() }
    }

    #[test]
    fn the_noise_within_a_picture_is_its_deviation_where_the_picture_is_smooth() {
        let smooth = |x: usize, y: usize| 20_000.0 + 9.0 * x as f64 + 4.0 * y as f64;
        // A third of the picture has texture, which must not count as noise.
        let textured = |x: usize, y: usize| smooth(x, y) + if x < 42 { 300.0 * ((x * y) % 3) as f64 } else { 0.0 };
        for deviation in [0.7, 6.0, 40.0] {
            for picture in [noisy(7, smooth, deviation), noisy(7, textured, deviation)] {
                let found = f64::from(within(&picture).expect("points")) / 256.0;
                assert!((0.85 * deviation..1.15 * deviation).contains(&found), "{found} of {deviation}");
            }
        }
        assert_eq!(within(&noisy(7, smooth, 0.0)).expect("points"), 0);
        assert_eq!(within(&Samples { size: (128, 72), luma: vec![Samples::OUT; 128 * 72].into() }), None);
        assert_eq!(within(&Samples::default()), None);
    }

    #[test]
    fn frames_that_are_repeated_have_no_part_in_noise() {
        let smooth = |x: usize, y: usize| (2000 + 9 * x + 4 * y) as f64;
        let pictures: Vec<Samples> = (1..=24).map(|seed| noisy(seed, smooth, 6.0)).collect();
        // In each frame, a clock shows another time, and an encoder has changed the last rows a little.
        let frame = |(number, picture): (usize, usize)| {
            let mut frame = pictures[picture].clone();
            frame.luma[..16].fill(3000 + 100 * number as u16);
            frame.luma[64 * 128..].iter_mut().step_by(2).for_each(|level| *level += number as u16 % 2);
            frame
        };
        let often = |shown: &mut dyn Iterator<Item = usize>| {
            let frames: Vec<Samples> = shown.enumerate().map(frame).collect();
            repeats_often(frames.windows(2).map(|pair| between(&pair[0], &pair[1])))
        };
        assert!(!often(&mut (0..24)) && !often(&mut (0..30).map(|frame| frame * 4 / 5)));
        assert!(often(&mut (0..48).map(|frame| frame / 2)) && often(&mut (0..60).map(|frame| frame * 2 / 5)));
        let noise = |shown: &mut dyn Iterator<Item = usize>| {
            let frames: Vec<Samples> = shown.enumerate().map(frame).collect();
            window_noise(frames.windows(2).filter_map(|pair| between(&pair[0], &pair[1])))
        };
        let once = noise(&mut (0..24)).expect("noise");
        assert!((5 * 256..7 * 256).contains(&once), "{once}");
        // 30 pictures a second in 60 frames, 24 in 30, and 24 in 60.
        for (pictures, frames) in [(1, 2), (4, 5), (2, 5)] {
            let found = noise(&mut (0..24 * frames / pictures).map(|number| number * pictures / frames));
            let found = found.expect("noise");
            assert!(found.abs_diff(once) < once / 10, "{found}, not {once}: {pictures} pictures in {frames} frames");
        }
        assert_eq!(noise(&mut [5; 24].into_iter()), Some(0), "a still");
        let mut stops = (0..24).map(|number| if number % 8 < 6 { 0 } else { number });
        assert_eq!(noise(&mut stops), Some(0), "what stands still for a while, between what moves");
    }
}
