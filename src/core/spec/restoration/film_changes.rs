//! How the light of a film changes between two frames, in each of its regions.

use crate::spec::measure::{Measure, REGIONS};
use crate::spec::natural::WHITE;
use crate::spec::restoration::deflicker::{DARK, LIGHT, LightChange, ONE, log2, median};
use std::sync::LazyLock;

pub(super) type RegionNumbers = [[i64; REGIONS]; REGIONS];

/// The fewest points by which a region is judged.
const MIN_POINTS: usize = 24;

/// The error of a rise that is not known.
const UNKNOWN: i64 = 4 * ONE;

/// If the rises of the points of a region deviate by more than this, an eighth of an octave, another object has
/// appeared.
const APART: i64 = ONE / 8;

/// A region that rises by this much more than those around it, a fifth of an octave, shows another object.
const ALONE: i64 = ONE / 5;

/// A rise from one frame to the next, and its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rise {
    /// By how much a logarithm rises.
    pub(super) value: i64,
    /// The standard deviation of `value`.
    pub(super) error: i64,
    /// Whether another object is visible than in the frame before.
    pub(super) breaks: bool,
}

/// The rise where another object has appeared.
const BROKEN: Rise = Rise { value: 0, error: UNKNOWN, breaks: true };

/// The changes from one frame to the next besides that of the whole frame's light; logarithms in 65536ths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The rises of red, green and blue, at two levels.
    pub(super) colours: [[Rise; 2]; 3],
    pub(super) rows: [Rise; REGIONS],
    pub(super) columns: [Rise; REGIONS],
    /// The rise of each region, including those of its row and column.
    regions: [[Rise; REGIONS]; REGIONS],
}

/// The result of evening out a series of values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Even {
    /// What is added to the value at a frame.
    pub(super) correction: i64,
    /// The share by which the squares of the rises exceed those of their errors, in 4096ths.
    pub(super) share: i64,
}

/// The indices of a region and of the regions around it.
pub(super) fn around((y, x): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let near = |index: usize| index.saturating_sub(1)..=(index + 1).min(REGIONS - 1);
    near(y).flat_map(move |row| near(x).map(move |column| (row, column)))
}

/// The logarithm of each level of a point; for black, that of level 1.
static LOGS: LazyLock<Vec<i32>> = LazyLock::new(|| (0..=WHITE as u64).map(|level| log2(level.max(1)) as i32).collect());

fn log(level: i32) -> i64 {
    LOGS[level.clamp(0, WHITE) as usize].into()
}

/// The mean of the logarithms of two levels of a point, and their difference; `None` if a level is near black or white.
fn risen(before: i32, after: i32) -> Option<(i64, i64)> {
    let twice = before + after;
    let is_usable = twice > WHITE / 21 && twice < WHITE / 8 * 15 && before.max(after) < WHITE && before.min(after) > 0;
    is_usable.then(|| ((log(before) + log(after)) / 2, log(after) - log(before)))
}

/// The slope of rises over logarithms within a region, as the median over the regions: a change of light in a bright
/// sky alone must not look like a change of the exponent. `None` if few regions have dark and light points.
fn slope_in_regions(points: &[Vec<(i64, i64)>]) -> Option<i64> {
    let slope = |points: &Vec<(i64, i64)>| {
        let split =
            (points.len() >= 2 * MIN_POINTS).then(|| median(points.iter().map(|(middle, _)| *middle).collect()))?;
        let half = |is_light: bool| {
            let value_of = |number: &dyn Fn(&(i64, i64)) -> i64| {
                let half: Vec<i64> = points.iter().filter(|point| (point.0 >= split) == is_light).map(number).collect();
                (half.len() >= MIN_POINTS / 2).then(|| median(half))
            };
            value_of(&|point| point.0).zip(value_of(&|point| point.1))
        };
        let ((x0, rise0), (x1, rise1)) = half(false).zip(half(true))?;
        (x1 - x0 >= ONE / 3).then(|| (rise1 - rise0) * ONE / (x1 - x0))
    };
    let slopes: Vec<i64> = points.iter().filter_map(slope).collect();
    if slopes.len() < REGIONS {
        return None;
    }
    // Slopes up to 1418, 1.5 % an octave, are noise.
    let slope = median(slopes);
    Some(if slope > 0 { (slope - 1418).max(0) } else { (slope + 1418).min(0) })
}

/// The one of two numbers that is nearer to 0; 0 if they have different signs.
fn nearer_to_none(one: i64, other: i64) -> i64 {
    if one.signum() == other.signum() { one.signum() * one.abs().min(other.abs()) } else { 0 }
}

/// The mean of the middle half of values, which unlike a median is not rounded to whole levels, and the median distance
/// of the values from it; `None` of fewer than `MIN_POINTS`.
fn middle_and_spread(mut values: Vec<i64>) -> Option<(i64, i64)> {
    if values.len() < MIN_POINTS {
        return None;
    }
    let cut = values.len() / 4;
    let within = values.len() - 2 * cut;
    values.select_nth_unstable(cut);
    values[cut..].select_nth_unstable(within - 1);
    let middle = values[cut..][..within].iter().sum::<i64>() / within as i64;
    Some((middle, median(values.iter().map(|value| (value - middle).abs()).collect())))
}

/// The standard error of the median of `count` values, whose median distance from it is `spread`.
fn error_of_median(spread: i64, count: usize) -> i64 {
    // 1.2533 times the standard deviation, which is 1.4826 times `spread`, divided by the square root of `count`.
    spread * 1903 / 1024 * 32 / ((1024 * count as u64).isqrt() as i64).max(1)
}

/// The mean of the middle half of values, and its error, by how far the values disagree.
fn middle_half(mut values: Vec<i64>) -> Option<(i64, i64)> {
    if values.len() < REGIONS / 2 {
        return None;
    }
    values.sort_unstable();
    let (cut, count) = (values.len() / 4, values.len() as i64);
    let half = &values[cut..values.len() - cut];
    let mean = half.iter().sum::<i64>() / half.len() as i64;
    let apart = values.iter().map(|value| (value - mean).abs()).sum::<i64>() / count;
    Some((mean, apart * 64 / ((1024 * count as u64).isqrt() as i64).max(1)))
}

impl Changes {
    /// The change of the light of the whole frame from one frame to the next, which is `light` by their blocks, and
    /// the other changes, by their points.
    pub fn between(light: LightChange, source: &Measure, target: &Measure) -> (LightChange, Self) {
        let mut changes = Changes::default();
        let (before, after) = (&source.points, &target.points);
        if before.count() != after.count() || before.is_hdr() || after.is_hdr() {
            return (light, changes);
        }
        let white = log(WHITE);
        // For each point, the mean of the logarithms of its two levels, relative to white, and its rise.
        let mut points = vec![Vec::new(); REGIONS * REGIONS];
        let mut of_channels = [const { Vec::new() }; 3];
        for ((luma, rgb, _), (to_luma, to_rgb, region)) in before.each().zip(after.each()) {
            let Some((middle, rise)) = risen(luma, to_luma) else { continue };
            points[region].push((middle - white, rise));
            for (channel, points) in of_channels.iter_mut().enumerate() {
                if let Some((middle, of_channel)) = risen(rgb[channel], to_rgb[channel]) {
                    points.push((middle - white, of_channel - rise));
                }
            }
        }
        let light_slope = light.slope();
        let light = match slope_in_regions(&points).map(|slope| nearer_to_none(light_slope, slope)) {
            Some(slope) if slope != light_slope => LightChange::with_slope(source, target, slope),
            _ => light,
        };
        let beside = |(middle, rise): (i64, i64)| rise - light.halfway(middle);
        let rises = points.into_iter().map(|points| points.into_iter().map(beside).collect()).collect();
        changes.colours = of_channels.map(|points| Changes::channel_rises(&points));
        changes.find_bands(rises);
        (light, changes)
    }

    /// How much more than luma a channel rises at two levels. `points` has logarithms and rises relative to luma.
    fn channel_rises(points: &[(i64, i64)]) -> [Rise; 2] {
        let none = [Rise::default(); 2];
        let Some((middle, spread)) = middle_and_spread(points.iter().map(|(_, rise)| *rise).collect()) else {
            return none;
        };
        let error = error_of_median(spread, points.len() / 16);
        let even = [Rise { value: middle, error, breaks: false }; 2];
        let split = median(points.iter().map(|(place, _)| *place).collect());
        let half = |is_light: bool| {
            let points: Vec<_> = points.iter().filter(|(place, _)| (*place >= split) == is_light).collect();
            let rise = middle_and_spread(points.iter().map(|(_, rise)| *rise).collect())?.0;
            Some((median(points.iter().map(|(place, _)| *place).collect()), rise))
        };
        let Some(((x0, rise0), (x1, rise1))) = half(false).zip(half(true)) else { return even };
        if x1 - x0 < ONE / 2 {
            return even;
        }
        let value = |level: i64| rise0 + (rise1 - rise0) * (level - x0).clamp(0, x1 - x0) / (x1 - x0);
        [DARK, LIGHT].map(|level| Rise { value: value(level), ..even[0] })
    }

    /// Sets the changes of regions, and of whole rows and columns of them, from the rises of the points of each region.
    fn find_bands(&mut self, rises: Vec<Vec<i64>>) {
        let counts: Vec<usize> = rises.iter().map(Vec::len).collect();
        let found: Vec<Option<(i64, i64)>> = rises.into_iter().map(middle_and_spread).collect();
        if 2 * found.iter().flatten().count() < REGIONS * REGIONS {
            (self.rows, self.columns) = ([BROKEN; REGIONS], [BROKEN; REGIONS]);
            self.regions = [[BROKEN; REGIONS]; REGIONS];
            return;
        }
        let error = |region: usize| {
            found[region].map_or(UNKNOWN, |(_, spread)| error_of_median(spread, counts[region]).max(32))
        };
        // If the points of a region disagree, another object has appeared.
        let differs = |region: usize| found[region].is_none_or(|(_, spread)| spread > APART);
        let all: Vec<i64> = found.iter().map(|found| found.map_or(0, |(rise, _)| rise)).collect();
        let mut left = all.clone();
        for across in [true, false] {
            let bands = if across { &mut self.rows } else { &mut self.columns };
            for (band, rise) in bands.iter_mut().enumerate() {
                let region = |index: usize| if across { band * REGIONS + index } else { index * REGIONS + band };
                let known: Vec<usize> = (0..REGIONS).map(region).filter(|&region| !differs(region)).collect();
                let Some((value, apart)) = middle_half(known.iter().map(|&region| left[region]).collect()) else {
                    *rise = BROKEN;
                    continue;
                };
                let mean = known.iter().map(|&region| error(region)).sum::<i64>() / known.len() as i64;
                let error = apart.max(mean * 32 / ((1024 * known.len() as u64).isqrt() as i64).max(1));
                *rise = Rise { value, error, breaks: value.abs() > 2 * ALONE };
                (0..REGIONS).for_each(|index| left[region(index)] -= value);
            }
        }
        for (region, rise) in self.regions.as_flattened_mut().iter_mut().enumerate() {
            *rise = Rise { value: all[region], error: error(region), breaks: differs(region) };
        }
    }

    /// The rises of patches: the rises of the regions, less what is corrected as bands, and smoothed.
    pub(super) fn patches(&self, rows: &[Even; REGIONS], columns: &[Even; REGIONS]) -> [[Rise; REGIONS]; REGIONS] {
        let left: RegionNumbers = std::array::from_fn(|y| {
            std::array::from_fn(|x| {
                let bands = self.rows[y].value * rows[y].share + self.columns[x].value * columns[x].share;
                self.regions[y][x].value - (bands >> 12)
            })
        });
        let patch = |y: usize, x: usize| {
            let centre = self.regions[y][x];
            let near = around((y, x)).filter(|&(row, column)| !self.regions[row][column].breaks);
            let near: Vec<(usize, usize)> = near.collect();
            if near.len() < 4 {
                return BROKEN;
            }
            let middle = median(near.iter().map(|&(row, column)| left[row][column]).collect());
            let (mut sum, mut whole, mut errors) = (0, 0, 0);
            for &(row, column) in &near {
                let error = self.regions[row][column].error;
                let weight = ((4 << 24) >> (row.abs_diff(y) + column.abs_diff(x))) / (error * error + 4096);
                sum += weight * left[row][column];
                whole += weight;
                errors += error;
            }
            let (value, error) = (sum / whole.max(1), errors / near.len() as i64 / 2);
            Rise { value, error, breaks: centre.breaks || (left[y][x] - middle).abs() > ALONE }
        };
        std::array::from_fn(|y| std::array::from_fn(|x| patch(y, x)))
    }
}
