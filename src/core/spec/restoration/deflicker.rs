//! Removal of flicker: each frame gets the light that the frames around it have on average.
//!
//! Two frames in a row show nearly the same picture. So the change of the light between them is the median, over the
//! blocks of a [`Measure`], of the change of brightness, which motion hardly affects. It has two parts, a gain and an
//! exponent: `log l' = a + b log l`, with `l` a share of white. Chained from the frame to every other frame of its
//! window and scene, these changes give what two levels, 0.15 and 0.7 of white, become there. A straight line fitted to
//! these points over time is the light without flicker (a sunset remains), and its value at the frame is the
//! correction. Outliers, such as a single dark frame, are left out of the fit. Where the light changes steadily, the
//! correction fades out.
//!
//! Logarithms are of base 2, in 65536ths, rounded down. Integer divisions round towards zero.

use super::film::{self, Remainder};
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::{Curve, Levels, Mapping};
use crate::spec::measure::Measure;
use crate::spec::natural::WHITE;

pub(crate) const ONE: i64 = 1 << 16;

/// The logarithms of 0.15, 0.4 and 0.7 of white.
pub(crate) const DARK: i64 = -179_370;
pub(crate) const MIDDLE: i64 = -86_634;
pub(crate) const LIGHT: i64 = -33_723;

/// A change of the light: `log l' = gain + exponent * log l`, in 65536ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LightChange {
    gain: i64,
    exponent: i64,
}

impl Default for LightChange {
    fn default() -> Self {
        LightChange { gain: 0, exponent: ONE }
    }
}

impl LightChange {
    /// The change from one frame to the next.
    pub fn between(before: &Measure, after: &Measure) -> Self {
        let points = rises_of_blocks(before, after);
        if points.len() < 16 {
            return LightChange::default();
        }
        let middle = median(points.iter().map(|(x, _)| *x).collect());
        let half = |is_light: bool| points.iter().filter(move |(x, _)| (*x >= middle) == is_light);
        let even = LightChange { gain: median(points.iter().map(|(_, rise)| *rise).collect()), exponent: ONE };
        if half(false).count() < 8 || half(true).count() < 8 {
            return even;
        }
        let value_at = |is_light| -> (i64, i64) {
            (median(half(is_light).map(|(x, _)| *x).collect()), median(half(is_light).map(|(_, rise)| *rise).collect()))
        };
        let ((x0, rise0), (x1, rise1)) = (value_at(false), value_at(true));
        // Differences up to 1.5 % are noise. Dark and light halves less than half an octave apart determine no
        // exponent.
        let apart = rise1 - rise0;
        let apart = if apart > 0 { (apart - 1418).max(0) } else { (apart + 1418).min(0) };
        if apart == 0 || x1 - x0 < 33_093 {
            return even;
        }
        let exponent = (ONE + apart * ONE / (x1 - x0)).clamp(45_875, 91_750);
        let gain = (rise0 + rise1).div_euclid(2) - (((exponent - ONE) * (x0 + x1).div_euclid(2)) >> 16);
        LightChange { gain, exponent }
    }

    /// The slope of rises over the mean of the logarithms before and after the change.
    pub(crate) fn slope(self) -> i64 {
        2 * (self.exponent - ONE) * ONE / (self.exponent + ONE)
    }

    /// The change from one frame to the next that has this [`slope`](LightChange::slope).
    pub(crate) fn with_slope(before: &Measure, after: &Measure, slope: i64) -> Self {
        let points = rises_of_blocks(before, after);
        if points.len() < 16 {
            return LightChange::default();
        }
        let beside = |(level, rise): &(i64, i64)| rise - ((slope * (level + rise / 2)) >> 16);
        let gain = median(points.iter().map(beside).collect());
        // With b the exponent, the slope is (b - 1) / ((b + 1) / 2).
        let exponent = ((2 * ONE + slope) * ONE / (2 * ONE - slope).max(1)).clamp(45_875, 91_750);
        LightChange { gain: (gain * (exponent + ONE) / 2) >> 16, exponent }
    }

    /// The rise of a logarithm whose values before and after the change have the mean `middle`.
    pub(crate) fn halfway(self, middle: i64) -> i64 {
        2 * (self.gain + (((self.exponent - ONE) * middle) >> 16)) * ONE / (ONE + self.exponent)
    }

    /// The composition of `other`, then this change.
    fn after(self, other: LightChange) -> Self {
        LightChange {
            gain: self.gain + ((self.exponent * other.gain) >> 16),
            exponent: (self.exponent * other.exponent) >> 16,
        }
    }

    /// This change followed by the inverse of `step`.
    fn without(self, step: LightChange) -> Self {
        LightChange {
            gain: ((self.gain - step.gain) << 16) / step.exponent,
            exponent: (self.exponent << 16) / step.exponent,
        }
    }

    /// By how much the logarithm `level` rises.
    pub(crate) fn at(self, level: i64) -> i64 {
        self.gain + (((self.exponent - ONE) * level) >> 16)
    }
}

/// For each block that is neither black nor white: its logarithm, relative to white, and its rise to the next frame.
fn rises_of_blocks(before: &Measure, after: &Measure) -> Vec<(i64, i64)> {
    rises_by_block(before, after).flatten().collect()
}

/// The same for each block; `None` for one that is black or white.
pub(crate) fn rises_by_block(before: &Measure, after: &Measure) -> impl Iterator<Item = Option<(i64, i64)>> {
    let count = before.levels.count() as u64;
    let white = log2(16 * (count - 1));
    let usable = move |mean: &u32| u64::from(*mean) > 16 * count / 42 && u64::from(*mean) < 15 * count;
    before.blocks.iter().zip(&after.blocks).map(move |(a, b)| {
        let (a, b) = (a.filter(usable)?, b.filter(usable)?);
        Some((log2(a.into()) - white, log2(b.into()) - log2(a.into())))
    })
}

/// The correction of a frame: by how much the logarithms of 0.15 and of 0.7 of white rise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightCorrection([i64; 2]);

/// For a frame of a window: its distance from the corrected frame, in frames, and the rises of the two levels from the
/// corrected frame to it.
type WindowPoint = (i64, [i64; 2]);

impl LightCorrection {
    /// The correction of frame `place` of a window; `changes[j]` is the change from frame j - 1 to frame j, and
    /// `changes[0]` is ignored.
    pub fn new(changes: &[LightChange], place: usize) -> Self {
        if changes.len() < 3 {
            return LightCorrection::default();
        }
        let point =
            |index: usize, change: LightChange| (index as i64 - place as i64, [change.at(DARK), change.at(LIGHT)]);
        let mut points = Vec::with_capacity(changes.len());
        let mut chain = LightChange::default();
        for index in (1..=place).rev() {
            chain = chain.without(changes[index]);
            points.push(point(index - 1, chain));
        }
        points.reverse();
        points.push(point(place, LightChange::default()));
        let mut chain = LightChange::default();
        for (index, change) in changes.iter().enumerate().skip(place + 1) {
            chain = change.after(chain);
            points.push(point(index, chain));
        }

        let mut lines = lines_through(&points);
        let strays = |lines: [FittedLine; 2]| -> Vec<[i64; 2]> {
            points.iter().map(|(x, ys)| [0, 1].map(|end| ys[end] - lines[end].at(*x))).collect()
        };
        let mut residuals = strays(lines);
        let middle = [0, 1].map(|end| median(residuals.iter().map(|residual| residual[end]).collect()));
        let away: Vec<i64> = residuals
            .iter()
            .map(|residual| (residual[0] - middle[0]).abs().max((residual[1] - middle[1]).abs()))
            .collect();
        // Frames within 0.36 octaves of the line are never outliers.
        let limit = (3 * median(away.clone())).max(23_638);
        let kept: Vec<usize> = (0..points.len()).filter(|&index| away[index] <= limit).collect();
        if kept.len() < points.len() {
            lines = lines_through(&kept.iter().map(|&index| points[index]).collect::<Vec<_>>());
            residuals = strays(lines);
        }
        // Light that changes steadily has small second differences for its distances from the line: the correction
        // fades out.
        let steps: Vec<i64> = changes[1..].iter().map(|change| change.at(MIDDLE)).collect();
        let wavers: i64 = steps.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum();
        let strays: i64 =
            kept.iter().map(|&index| (residuals[index][0] + residuals[index][1]).div_euclid(2).abs()).sum();
        let (share, whole) = (3 * wavers * kept.len() as i64, 2 * strays * (changes.len() as i64 - 2));
        LightCorrection(lines.map(|line| if share >= whole { line.value } else { line.value * share / whole }))
    }

    /// This share of the correction, in 4096ths.
    pub(crate) fn share(self, share: i32) -> Self {
        LightCorrection(self.0.map(|rise| (rise * i64::from(share)) >> 12))
    }

    /// By how much the logarithm `level` rises.
    pub(crate) fn at(self, level: i64) -> i64 {
        let LightCorrection([dark, light]) = self;
        dark + (light - dark) * (level - DARK) / (LIGHT - DARK)
    }

    /// The mapping that applies this correction and `remainder` to a frame with this measure.
    pub fn mapping(self, measure: &Measure, remainder: &Remainder) -> Mapping {
        let (curve, chroma_gain) = self.curve(measure);
        let toned = (self != LightCorrection::default()).then(|| {
            let knots = Knots::new(self, measure.levels);
            let white = 16 * (measure.levels.count() as u64 - 1);
            let of_points = WHITE as u64;
            film::toned(|level| (knots.at(level as u64 * white / of_points) * of_points / white) as i32)
        });
        remainder.mapping(Mapping::Curve { curve: curve.into(), chroma_gain }, toned, chroma_gain, measure.levels)
    }

    /// The curve that applies this correction, and its gain of chroma for a frame with these blocks, in 4096ths.
    pub fn curve(self, measure: &Measure) -> (Curve, u32) {
        let levels = measure.levels;
        if self == LightCorrection::default() {
            return (Curve::identity(levels), UNIT_GAIN);
        }
        let knots = Knots::new(self, levels);
        let level = |code: usize| knots.at(16 * levels.level_of(code as u16) as u64);
        let most = levels.count() as u64 - 1;
        let codes = (0..levels.codes()).map(|code| levels.lo() + ((level(code) + 8) / 16).min(most) as u16).collect();
        let (mut before, mut after) = (0, 0);
        for mean in measure.blocks.iter().flatten() {
            before += u64::from(*mean);
            after += knots.at((*mean).into());
        }
        let unit = u64::from(UNIT_GAIN);
        let gain = (unit * after).checked_div(before).unwrap_or(unit).clamp(unit / 4, unit * 4);
        (Curve::from_codes(levels, codes).unwrap_or_else(|| Curve::identity(levels)), gain as u32)
    }
}

/// A piecewise linear curve, with knots that lie closer near black; all in sixteenths of a level.
struct Knots {
    before: Vec<u64>,
    after: Vec<u64>,
}

impl Knots {
    const PIECES: u64 = 64;

    fn new(LightCorrection([dark, light]): LightCorrection, levels: Levels) -> Self {
        let most = 16 * (levels.count() as u64 - 1);
        let white = log2(most);
        let mut before: Vec<u64> =
            (0..=Knots::PIECES).map(|piece| most * piece * piece / (Knots::PIECES * Knots::PIECES)).collect();
        before.dedup();
        let corrected = |&level: &u64| {
            if level == 0 {
                return level;
            }
            let log = log2(level);
            let change = dark + (light - dark) * (log - white - DARK) / (LIGHT - DARK);
            // A level changes by two stops at most.
            exp2(log + change.clamp(-2 * ONE, 2 * ONE)).min(most)
        };
        let mut highest = 0;
        let after = before.iter().map(corrected).map(|level| {
            highest = level.max(highest);
            highest
        });
        Knots { after: after.collect(), before }
    }

    fn at(&self, level: u64) -> u64 {
        let behind = self.before.partition_point(|&knot| knot <= level).clamp(1, self.before.len() - 1);
        let (x0, x1, y0, y1) =
            (self.before[behind - 1], self.before[behind], self.after[behind - 1], self.after[behind]);
        y0 + (level.min(x1) - x0) * (y1 - y0) / (x1 - x0)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct FittedLine {
    /// The value of the line at 0.
    pub value: i64,
    /// The slope of the line, as numerator and denominator.
    slope: (i64, i64),
}

impl FittedLine {
    pub fn at(self, x: i64) -> i64 {
        self.value + self.slope.0 * x / self.slope.1
    }
}

/// The lines fitted to the two levels of the points.
fn lines_through(points: &[WindowPoint]) -> [FittedLine; 2] {
    [0, 1].map(|end| line_through(&points.iter().map(|(x, ys)| (*x, ys[end])).collect::<Vec<_>>()))
}

/// The line fitted to points by least squares; through fewer than eight points, a horizontal line at their mean.
pub(crate) fn line_through(points: &[(i64, i64)]) -> FittedLine {
    let count = points.len() as i64;
    let (sum, squares) = points.iter().fold((0, 0), |(sum, squares), (x, _)| (sum + x, squares + x * x));
    let (of_y, of_xy) = points.iter().fold((0, 0), |(of_y, of_xy), (x, y)| (of_y + y, of_xy + x * y));
    let whole = count * squares - sum * sum;
    if count < 8 || whole == 0 {
        return FittedLine { value: of_y / count.max(1), slope: (0, 1) };
    }
    FittedLine { value: (of_y * squares - sum * of_xy) / whole, slope: (count * of_xy - sum * of_y, whole) }
}

/// The median; of an even number of values, the upper one of the two in the middle.
pub(crate) fn median(mut values: Vec<i64>) -> i64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable(middle).1
}

/// The logarithm of a number above 0, in 65536ths, rounded down; one squaring for each of its 16 fraction bits.
pub(crate) fn log2(value: u64) -> i64 {
    let whole = value.ilog2();
    let mut mantissa = if whole > 31 { value >> (whole - 31) } else { value << (31 - whole) };
    let mut log = i64::from(whole);
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 31;
        log <<= 1;
        if mantissa >> 32 != 0 {
            mantissa >>= 1;
            log |= 1;
        }
    }
    log
}

/// The smallest number whose logarithm is at least `log`, up to 2^24.
pub(crate) fn exp2(log: i64) -> u64 {
    let (mut low, mut high) = (1, 1 << 24);
    while low < high {
        let middle = (low + high) / 2;
        if log2(middle) >= log {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
