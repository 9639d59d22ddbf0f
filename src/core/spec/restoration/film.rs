//! Removal of flicker other than that of the whole frame: of colour, patches and bands. Part of
//! [`Method::Deflicker`](crate::spec::parameters::Method::Deflicker).
//!
//! As with the light of the whole frame ([`deflicker`](super::deflicker)), the change from one frame to the next is a
//! median, here over the points of the lattice ([`Points`]), and changes are chained over the window. All changes are
//! relative to that of the whole frame:
//! * **Colour**: for each of R, G and B, how much more its logarithm rises than that of luma, at two levels. It is
//!   corrected by a [`Balance`].
//! * **Bands and patches**: in each of 8x8 regions, the median of how much more points rise than the whole frame. The
//!   mean of the middle half over a row of regions is a horizontal band, over a column a vertical one; what is left,
//!   smoothed over 3x3 regions, is a patch. They are corrected by gains of regions ([`Veil`]), which are blended as
//!   tiles are, followed by the curve for the light of the whole frame.
//!
//! Motion is no flicker. Where another object comes into a region, its points rise by different amounts, or all of them
//! by far more than those of the regions around it: there the chain ends, and frames before are not compared with
//! frames after. No value is corrected by more than three times the median deviation of the values of its window, so a
//! change of a patch in one frame alone stays. A correction is scaled by the share by which the changes exceed their
//! errors, which are estimated from how far the points disagree. Clean footage stays as it is.

use super::deflicker::{DARK, LIGHT, LightChange, ONE, exp2, line_through, log2, median};
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::tone::{Balance, Veil};
use crate::spec::curves::{Levels, Mapping};
use crate::spec::measure::{Measure, REGIONS};
use crate::spec::natural::{ToneCurve, Toned, WHITE};
use std::sync::LazyLock;

type RegionNumbers = [[i64; REGIONS]; REGIONS];

/// The fewest points by which a region is judged.
const MIN_POINTS: usize = 24;

/// The error of a rise that is not known.
const UNKNOWN: i64 = 4 * ONE;

/// If the rises of the points of a region deviate by more than this, an eighth of an octave, another object has
/// appeared.
const APART: i64 = ONE / 8;

/// A region that rises by this much more than those around it, a fifth of an octave, shows another object.
const ALONE: i64 = ONE / 5;

/// If all corrections are smaller than this, half a percent, none is applied.
const MIN_CORRECTION: i64 = 470;

/// The largest correction of a region or a colour, half an octave.
const MAX_CORRECTION: i64 = ONE / 2;

/// The limit of a chain of rises, so that sums do not overflow.
const FURTHEST: i64 = 16 * ONE;

/// A rise from one frame to the next, and its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rise {
    /// By how much a logarithm rises.
    value: i64,
    /// The standard deviation of `value`.
    error: i64,
    /// Whether another object is visible than in the frame before.
    breaks: bool,
}

/// The rise where another object has appeared.
const BROKEN: Rise = Rise { value: 0, error: UNKNOWN, breaks: true };

/// The changes from one frame to the next besides that of the whole frame's light; logarithms in 65536ths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The rises of red, green and blue, at two levels.
    colours: [[Rise; 2]; 3],
    rows: [Rise; REGIONS],
    columns: [Rise; REGIONS],
    /// The rise of each region, including those of its row and column.
    regions: [[Rise; REGIONS]; REGIONS],
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
    fn patches(&self, rows: &[Even; REGIONS], columns: &[Even; REGIONS]) -> [[Rise; REGIONS]; REGIONS] {
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

/// The indices of a region and of the regions around it.
fn around((y, x): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let near = |index: usize| index.saturating_sub(1)..=(index + 1).min(REGIONS - 1);
    near(y).flat_map(move |row| near(x).map(move |column| (row, column)))
}

/// Corrections of regions, each limited to between 5/4 of the second lowest and 5/4 of the second highest of its
/// neighbours: patches are larger than a region, and a region that stands out alone shows motion.
fn with_company(corrections: &RegionNumbers) -> RegionNumbers {
    let within = |y: usize, x: usize| {
        let near = around((y, x)).filter(|index| *index != (y, x));
        let mut near: Vec<i64> = near.map(|(row, column)| corrections[row][column]).collect();
        near.sort_unstable();
        let (low, high) = (near[1], near[near.len() - 2]);
        corrections[y][x].clamp(low.min(low * 5 / 4), high.max(high * 5 / 4))
    };
    std::array::from_fn(|y| std::array::from_fn(|x| within(y, x)))
}

/// The result of evening out a series of values.
#[derive(Clone, Copy, Debug, Default)]
struct Even {
    /// What is added to the value at a frame.
    correction: i64,
    /// The share by which the squares of the rises exceed those of their errors, in 4096ths.
    share: i64,
}

/// How a series of rises is corrected.
struct CorrectionRule {
    /// A deviation from the line up to this counts in full, even if the median deviation is far smaller.
    free: i64,
    /// A correction is scaled by `wavers` times the second differences of the series, divided by twice its deviations
    /// from the line, less `bends` fifths. With 3, changes over more than some ten frames, such as motion, stay. Bands
    /// may move as slowly as the window is long, so they have more; `bends` excludes the even bend of a fade.
    wavers: i64,
    bends: i64,
}

const BAND: CorrectionRule = CorrectionRule { free: ONE / 3, wavers: 17, bends: 2 };
const PATCH: CorrectionRule = CorrectionRule { free: 1500, wavers: 3, bends: 0 };
const COLOUR: CorrectionRule = CorrectionRule { free: ONE / 3, wavers: 3, bends: 0 };

impl CorrectionRule {
    /// The correction that brings frame `place` to the line through the frames around it; `rises[j]` is the rise to
    /// frame j.
    fn even(&self, rises: &[Rise], place: usize) -> Even {
        let first = (1..=place).rev().find(|&index| rises[index].breaks).unwrap_or(0);
        let end = (place + 1..rises.len()).find(|&index| rises[index].breaks).unwrap_or(rises.len());
        let (rises, place) = (&rises[first..end], place - first);
        if rises.len() < 5 {
            return Even::default();
        }
        let mut chain = 0;
        let mut points: Vec<(i64, i64)> = Vec::with_capacity(rises.len());
        for (index, rise) in rises.iter().enumerate() {
            chain = (chain + if index > 0 { rise.value } else { 0 }).clamp(-FURTHEST, FURTHEST);
            points.push((index as i64 - place as i64, chain));
        }
        let there = points[place].1;
        points.iter_mut().for_each(|(_, y)| *y -= there);
        let line = line_through(&points);
        let strays: Vec<i64> = points.iter().map(|(x, y)| y - line.at(*x)).collect();
        let middle = median(strays.clone());
        let limit = (3 * median(strays.iter().map(|stray| (stray - middle).abs()).collect())).max(self.free);
        let kept: Vec<(i64, i64)> = points
            .iter()
            .zip(&strays)
            .filter(|(_, stray)| (**stray - middle).abs() <= limit)
            .map(|(p, _)| *p)
            .collect();
        let line = if kept.len() < points.len() { line_through(&kept) } else { line };
        let value = line.value.clamp(-limit, limit);
        // The rises between adjacent kept frames, and their errors.
        let steps: Vec<(i64, i64)> = kept
            .windows(2)
            .filter(|pair| pair[1].0 - pair[0].0 == 1)
            .map(|pair| (pair[1].1 - pair[0].1, rises[(pair[1].0 + place as i64) as usize].error))
            .collect();
        let energy: i64 = steps.iter().map(|(rise, _)| rise * rise / 16).sum();
        // The squares of errors count eight times, because changes of neighbouring points are not independent.
        let errors: i64 = steps.iter().map(|(_, error)| error * error / 2).sum();
        if energy <= errors || steps.len() < 3 {
            return Even::default();
        }
        let share = (energy - errors) * 4096 / energy;
        let value = (value * share) >> 12;
        let wavers: i64 = steps.windows(2).map(|pair| (pair[0].0 - pair[1].0).abs()).sum();
        let strays: i64 = kept.iter().map(|(x, y)| (y - line.at(*x)).abs()).sum();
        let whole = 2 * strays * (steps.len() as i64 - 1);
        let wavers = (self.wavers * wavers * kept.len() as i64 - self.bends * whole / 5).max(0);
        Even { correction: if wavers >= whole { value } else { value * wavers / whole }, share }
    }
}

/// The correction of a frame besides its curve, as changes of logarithms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// Changes of the logarithms of red, green and blue at two levels.
    colours: [[i64; 2]; 3],
    /// Changes of the logarithm of luma in the regions.
    regions: RegionNumbers,
}

impl Remainder {
    /// The correction of frame `index` of a window with these changes: `changes[j]` has those from frame j - 1 to frame
    /// j. Colours are corrected only with `colour`.
    pub fn new(changes: &[&Changes], index: usize, colour: bool) -> Self {
        let even = |rule: CorrectionRule, rise: &dyn Fn(&Changes) -> Rise| {
            rule.even(&changes.iter().map(|changes| rise(changes)).collect::<Vec<_>>(), index)
        };
        let mut colours = [[0; 2]; 3];
        if colour {
            colours = std::array::from_fn(|channel| {
                [0, 1].map(|end| even(COLOUR, &|changes| changes.colours[channel][end]).correction)
            });
        }
        let rows: [Even; REGIONS] = std::array::from_fn(|y| even(BAND, &|changes| changes.rows[y]));
        let columns: [Even; REGIONS] = std::array::from_fn(|x| even(BAND, &|changes| changes.columns[x]));
        let patches: Vec<[[Rise; REGIONS]; REGIONS]> =
            changes.iter().map(|changes| changes.patches(&rows, &columns)).collect();
        let patch = |y: usize, x: usize| {
            PATCH.even(&patches.iter().map(|patches| patches[y][x]).collect::<Vec<_>>(), index).correction
        };
        let patches = with_company(&std::array::from_fn(|y| std::array::from_fn(|x| patch(y, x))));
        let regions = std::array::from_fn(|y| {
            std::array::from_fn(|x| {
                (rows[y].correction + columns[x].correction + patches[y][x]).clamp(-MAX_CORRECTION, MAX_CORRECTION)
            })
        });
        Remainder { colours, regions }
    }

    /// This share of the correction, in 4096ths.
    #[must_use]
    pub(crate) fn share(mut self, share: i32) -> Self {
        let numbers = self.colours.as_flattened_mut().iter_mut().chain(self.regions.as_flattened_mut());
        numbers.for_each(|number| *number = (*number * i64::from(share)) >> 12);
        self
    }

    /// By how much the logarithm of luma rises in a region.
    pub(crate) fn region(&self, (y, x): (usize, usize)) -> i64 {
        self.regions[y][x]
    }

    /// The mapping that applies this correction, and then `curve`, with this gain of chroma; `toned` is the same curve
    /// for use after gains of regions.
    pub fn mapping(&self, curve: Mapping, toned: Option<Toned>, chroma_gain: u32, levels: Levels) -> Mapping {
        let then = match self.veil(toned, chroma_gain, levels) {
            Some(veil) => Mapping::Veil(veil.into()),
            None => curve,
        };
        match self.balance(levels) {
            Balance::IDENTITY => then,
            balance => Mapping::Balanced { balance, then: then.into() },
        }
    }

    fn veil(&self, then: Option<Toned>, chroma_gain: u32, levels: Levels) -> Option<Veil> {
        if self.regions.as_flattened().iter().all(|change| change.abs() < MIN_CORRECTION) {
            return None;
        }
        let gains = self.regions.map(|row| row.map(|change| exp2(log2(UNIT_GAIN.into()) + change) as u32));
        let chroma = gains.map(|row| row.map(|gain| ((u64::from(gain) * u64::from(chroma_gain)) >> 12) as u32));
        let ceiling = levels.count() as u32 - 1;
        Some(Veil { taken: [[0; REGIONS]; REGIONS], gains, chroma, then, in_light: None, ceiling })
    }

    /// The gains and offsets of colours that apply this correction.
    pub(crate) fn balance(&self, levels: Levels) -> Balance {
        let mut balance = Balance::IDENTITY;
        if self.colours.as_flattened().iter().all(|change| change.abs() < MIN_CORRECTION) {
            return balance;
        }
        let white = log2(16 * (levels.count() as u64 - 1));
        let ends = [DARK, LIGHT].map(|level| exp2(white + level) as i64);
        for (channel, changes) in self.colours.iter().enumerate() {
            let changes = changes.map(|change| change.clamp(-MAX_CORRECTION, MAX_CORRECTION));
            let becomes = [0, 1].map(|end| exp2(log2(ends[end] as u64) + changes[end]) as i64);
            let gain = (becomes[1] - becomes[0]).max(0) * i64::from(UNIT_GAIN) / (ends[1] - ends[0]).max(1);
            balance.gains[channel] = gain as u32;
            balance.offsets[channel] = (becomes[1] - ((ends[1] * gain) >> 12)) as i32;
        }
        balance
    }
}

/// A curve to apply after gains of regions; `becomes` maps levels in sixteenths of 255.
pub fn toned(becomes: impl Fn(i32) -> i32) -> Toned {
    Toned { curve: ToneCurve::through(becomes), light: 1 << 16 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::parameters::{Chroma, Method, Settings, Smoothing, Threshold};
    use crate::spec::{Guides, Lattice};

    const SIZE: (usize, usize) = (128, 72);

    /// A still picture with dark and light parts and texture; levels of 255.
    fn scene(x: usize, y: usize) -> f64 {
        60.0 + 0.7 * x as f64 + 0.4 * y as f64 + ((x * 37 + y * 91) % 40) as f64
    }

    /// The mappings of sixty frames; `colour` gives red, green and blue for a frame, a column and a row.
    fn mappings(colour: impl Fn(usize, usize, usize) -> [f64; 3]) -> Vec<Mapping> {
        let levels = Levels::full(16);
        let settings = Settings {
            method: Method::Deflicker,
            smoothing: Smoothing::from_seconds(1.0, 25.0).looking_ahead(12),
            scene_threshold: Threshold::from_share(0.25).expect("a share"),
            chroma: Chroma::Follow,
            ..Settings::default()
        };
        let mut guides = Guides::default();
        let measure = |frame: usize| {
            let point = |point: usize| {
                colour(frame, point % SIZE.0, point / SIZE.0).map(|level| (257.0 * level).round() as u16)
            };
            let rgb: Vec<[u16; 3]> = (0..SIZE.0 * SIZE.1).map(point).collect();
            let luma = rgb.iter().map(|&[r, g, b]| (u32::from(r) + 2 * u32::from(g) + u32::from(b)) / 4);
            let luma = luma.map(|level| level as u16).collect();
            Measure::new(&Lattice { size: SIZE, luma, rgb, ..Lattice::default() }, levels, SIZE)
        };
        let mut found: Vec<_> = (0..60).flat_map(|frame| guides.push(measure(frame), &settings)).collect();
        found.extend(guides.finish());
        found.into_iter().map(|guide| guide.mapping.expect("a mapping")).collect()
    }

    /// A pseudo-random number from -1 to 1.
    fn wavers(number: usize) -> f64 {
        let mixed = (number as u32).wrapping_add(7).wrapping_mul(2_654_435_761);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
        f64::from(mixed ^ (mixed >> 13)) / f64::from(1_u32 << 31) - 1.0
    }

    /// The gain that a mapping applies to code 30,000 in the region (row, column).
    fn gain(mapping: &Mapping, place: (usize, usize)) -> f64 {
        let becomes = match mapping {
            Mapping::Veil(veil) => veil.curve_of(place, Levels::full(16)).apply(30_000),
            Mapping::Curve { curve, .. } => curve.apply(30_000),
            Mapping::Balanced { then, .. } => return gain(then, place),
            Mapping::Balance(_) | Mapping::Tiles { .. } => 30_000,
        };
        f64::from(becomes) / 30_000.0
    }

    /// The mean change of a series of light values from frame to frame, in octaves.
    fn steps(light: &[f64]) -> f64 {
        light.windows(2).map(|pair| (pair[1] / pair[0]).log2().abs()).sum::<f64>() / (light.len() - 1) as f64
    }

    /// The share of the flicker that remains in the left column of regions, at the row where it is largest.
    fn left(shape: impl Fn(usize, f64, f64) -> f64) -> f64 {
        let mappings = mappings(|frame, x, y| [scene(x, y) * shape(frame, x as f64 / 128.0, y as f64 / 72.0); 3]);
        let rows = (0..REGIONS).map(|y| {
            let before: Vec<f64> = (0..60).map(|frame| shape(frame, 1.0 / 16.0, (y as f64 + 0.5) / 8.0)).collect();
            let after: Vec<f64> =
                before.iter().zip(&mappings).map(|(light, shape)| light * gain(shape, (y, 0))).collect();
            steps(&after) / steps(&before)
        });
        rows.fold(0.0, f64::max)
    }

    #[test]
    fn a_band_that_rolls_goes() {
        let rolls = |phase: f64, height: f64| 1.0 + 0.1 * (std::f64::consts::TAU * (height - phase)).sin();
        let evenly = left(|frame, _, y| rolls(frame as f64 / 9.0, y));
        assert!(evenly < 0.3, "{evenly} of a horizontal band is left");
        let irregularly = left(|frame, _, y| rolls(frame as f64 / 7.0 + 0.1 * wavers(frame), y));
        assert!(irregularly < 0.35, "{irregularly} of an irregular one is left");
        let upright = left(|frame, x, _| rolls(frame as f64 / 9.0, x));
        assert!(upright < 0.5, "{upright} of an upright one is left");
    }

    #[test]
    fn patches_that_flicker_go() {
        let left = left(|frame, x, y| 1.0 + 0.12 * wavers(frame) * (0.5 - x) + 0.12 * wavers(3 * frame) * (0.5 - y));
        assert!(left < 0.35, "{left} is left");
    }

    #[test]
    fn a_colour_that_flickers_goes() {
        let red = |frame: usize| 1.0 + 0.08 * wavers(frame);
        let mappings = mappings(|frame, x, y| [scene(x, y) * red(frame), scene(x, y), scene(x, y)]);
        let after = |(frame, mapping): (usize, &Mapping)| match mapping {
            Mapping::Balanced { balance, .. } | Mapping::Balance(balance) => {
                let [r, g, _] = balance.rgb([(16_000.0 * red(frame)) as u16, 16_000, 16_000], u16::MAX);
                f64::from(r) / f64::from(g)
            }
            _ => red(frame),
        };
        let before: Vec<f64> = (0..60).map(red).collect();
        let after: Vec<f64> = mappings.iter().enumerate().map(after).collect();
        assert!(steps(&after) < 0.25 * steps(&before), "{} of {}", steps(&after), steps(&before));
    }

    /// Asserts that no region is changed by two percent or more, and no colour at all.
    fn stays(colour: impl Fn(usize, usize, usize) -> f64) {
        for (frame, mapping) in mappings(|frame, x, y| [colour(frame, x, y); 3]).into_iter().enumerate() {
            let regions = (0..REGIONS * REGIONS).map(|region| gain(&mapping, (region / REGIONS, region % REGIONS)));
            let most = regions.map(|gain| (gain - 1.0).abs()).fold(0.0, f64::max);
            assert!(most < 0.02, "frame {frame} changes by {most}");
            assert!(!matches!(mapping, Mapping::Balanced { .. } | Mapping::Balance(_)), "frame {frame} in colour");
        }
    }

    #[test]
    fn clean_footage_stays() {
        stays(|_, x, y| scene(x, y));
        // The same scene with grain.
        stays(|frame, x, y| scene(x, y) + 6.0 * wavers(frame * 9_973 + 131 * y + x));
    }

    #[test]
    fn what_moves_is_no_flicker() {
        // A dark object crosses the frame, slowly and fast; it is a fifth as wide, and at most as high.
        for (speed, height) in [(1, 24), (4, 24), (9, 40), (4, 72)] {
            stays(|frame, x, y| {
                let left = (speed * frame) as i64 - 30;
                if (left..left + 26).contains(&(x as i64)) && y < height { 40.0 } else { scene(x, y) }
            });
        }
        // A caption appears and disappears.
        stays(|frame, x, y| if (20..40).contains(&frame) && y > 60 { 230.0 } else { scene(x, y) });
        // A texture moves.
        stays(|frame, x, y| 90.0 + ((x + 2 * frame) * 37 % 91 + 13 * (y / 3) % 40) as f64);
    }
}
