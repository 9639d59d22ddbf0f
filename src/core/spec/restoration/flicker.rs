//! How surely the light of a scene flickers although it should be steady: old film, time lapses, lamps.
//!
//! Steps of the light from frame to frame ([`LightChange`]) count as flicker as far as all of this holds of a window:
//! * they go up and down by turns: motion, clouds, fades and an exposure that follows go on in one direction;
//! * the blocks of the frame agree: beside a fire, on a stage and under trees each has a light of its own;
//! * most steps are large, not a few among small ones, as of lightning, flashes and explosions;
//! * most of the frame is lit: a candle, a fire or a lamp in a dark room is the subject.
//!
//! Two things tell more than these. Steps that repeat after a few frames are of a lamp on the mains, as no fire is: then
//! blocks need not agree, and the frame may be dark. Where nearly all blocks agree, it may be dark, too.
//!
//! Each ramp was set on real clips; `benches/results/film.md` has what they find.

use super::deflicker::{DARK, LIGHT, LightChange, LightCorrection, MIDDLE, ONE, exp2, log2, median, rises_by_block};
use super::film::Remainder;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::Levels;
use crate::spec::measure::{BLOCK_COLUMNS, BLOCK_ROWS, Measure};
use crate::spec::natural::{Steadied, ToneCurve, WHITE, from_255, ramp};
use std::ops::RangeInclusive;

/// The least step of the light that counts, 0.4 %, in 65536ths of an octave.
const MIN_RISE: i64 = 380;

/// The fewest steps that count by which a window is judged.
const MIN_STEPS: usize = 4;

/// The share of neighbouring steps that go up and down by turns, in 4096ths.
const BY_TURNS: [i32; 2] = [410, 1229];

/// The share of blocks that agree, in 4096ths; and the one from which a frame may be dark.
const AGREE: [i32; 2] = [860, 1147];
const ALL_AGREE: [i32; 2] = [2048, 2300];

/// The periods of a lamp beside the frame rate, in frames; how well steps repeat, and how many go up and down by turns,
/// in 4096ths.
const PERIODS: RangeInclusive<usize> = 2..=8;
const REPEATED: [i32; 2] = [2867, 3359];
const LAMP_TURNS: [i32; 2] = [2400, 2700];

/// The mean of all steps without the largest tenth, in 65536ths of an octave: 0.2 % to 0.45 %.
const STEPS: [i32; 2] = [189, 425];

/// The median step by the mean step, in 4096ths.
const EVEN: [i32; 2] = [1229, 2048];

/// The step that a tenth of all exceed, in 65536ths of an octave: from 0.55 octaves down to 0.35.
const LARGEST: [i32; 2] = [36_045, 22_938];

/// The median level of the blocks, in sixteenths of 255.
const LIT: [i32; 2] = [from_255(25), from_255(40)];
const DIM: [i32; 2] = [from_255(14), from_255(20)];

/// The share of the blocks of a row that agree, in eighths, and the fewest blocks by which a row is judged.
const ROW_AGREES: usize = 5;
const MIN_ROW: usize = BLOCK_COLUMNS / 2;

/// Of a row of blocks: the share of steps at which it rises or falls, and how far it comes back, as a share of all that
/// it has risen and fallen, in 4096ths.
const MOVED: [i32; 2] = [1024, 2048];
const RETURNED: [i32; 2] = [2048, 3072];

/// The share of rows through which a band rolls, in 4096ths.
const ROLLS: [i32; 2] = [1024, 2048];

/// The step of the light from one frame to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightStep {
    /// By how much the logarithm of a middle level rises, in 65536ths.
    rise: i64,
    /// The share of blocks that rise by as much as the whole frame, in 4096ths.
    agreement: i64,
    /// The median level of the blocks, in sixteenths of 255.
    level: i32,
    /// How much more each row of blocks rises than the whole frame; 0 if its blocks disagree.
    rows: [i64; BLOCK_ROWS],
}

impl LightStep {
    /// The step between two frames, whose light changes by `change`.
    pub fn new(change: LightChange, before: &Measure, after: &Measure) -> Self {
        let levels = after.blocks.iter().flatten().map(|level| i64::from(*level)).collect::<Vec<_>>();
        let white = after.levels.count() as i64 - 1;
        let level = if levels.is_empty() { 0 } else { (255 * median(levels) / white) as i32 };
        let rise = change.at(MIDDLE);
        let blocks: Vec<Option<(i64, i64)>> = rises_by_block(before, after).collect();
        let agrees = |(level, block_rise): &&(i64, i64)| {
            is_near(*block_rise, change.at(*level), rise) && block_rise.signum() == rise.signum()
        };
        let known = blocks.iter().flatten().count().max(1);
        let agreement = 4096 * blocks.iter().flatten().filter(agrees).count() as i64 / known as i64;
        let rows = std::array::from_fn(|row| {
            let blocks = blocks[row * BLOCK_COLUMNS..][..BLOCK_COLUMNS].iter().flatten();
            let rises: Vec<i64> = blocks.map(|(level, block_rise)| block_rise - change.at(*level)).collect();
            if rises.len() < MIN_ROW {
                return 0;
            }
            let middle = median(rises.clone());
            let agree = rises.iter().filter(|rise| is_near(**rise, middle, middle)).count();
            if middle.abs() > MIN_RISE && 8 * agree >= ROW_AGREES * rises.len() { middle } else { 0 }
        });
        LightStep { rise, agreement, level, rows }
    }

    /// Whether the step may be of flicker.
    pub fn may_flicker(&self) -> bool {
        let in_rows = || self.rows.iter().filter(|rise| **rise != 0).count() > BLOCK_ROWS / 4;
        self.level > DIM[0] && (self.rise.abs() > MIN_RISE || in_rows())
    }
}

/// Whether the rise of a block is near one that is expected, as far as rises of this size scatter.
fn is_near(rise: i64, expected: i64, size: i64) -> bool {
    (rise - expected).abs() <= (size.abs() * 7 / 20).max(524)
}

/// How surely a band rolls through frames with these steps, in 4096ths: most rows rise and fall as wholes, and come
/// back to where they were. Where a camera tilts, or a wave comes, they do not come back, or do not agree.
fn band_confidence(steps: &[LightStep]) -> i32 {
    let rolls = |row: usize| {
        let rises = || steps.iter().map(|step| step.rows[row]);
        let (sum, all) = (rises().sum::<i64>().abs(), rises().map(i64::abs).sum::<i64>());
        let moved = rises().filter(|rise| *rise != 0).count();
        let returned = 4096 - (4096 * sum / all.max(1)) as i32;
        let [moved, returned] = [((4096 * moved / steps.len()) as i32, MOVED), (returned, RETURNED)]
            .map(|(value, [none, all])| ramp(value, none, all));
        moved.min(returned)
    };
    if steps.len() < MIN_STEPS {
        return 0;
    }
    let rows = (0..BLOCK_ROWS).map(rolls).sum::<i32>() / BLOCK_ROWS as i32;
    ramp(rows, ROLLS[0], ROLLS[1]).min(lit(steps, LIT))
}

/// How far the frames are lit, in 4096ths, from the first of these levels to the second.
fn lit(steps: &[LightStep], [none, all]: [i32; 2]) -> i32 {
    ramp(median(steps.iter().map(|step| step.level.into()).collect()) as i32, none, all)
}

/// How well the steps repeat, in 4096ths: the largest autocorrelation at one of [`PERIODS`].
fn repetition(steps: &[LightStep]) -> i32 {
    let product = |period: usize| {
        let pairs = steps.iter().zip(&steps[period..]);
        pairs.map(|(one, other)| one.rise * other.rise / 16).sum::<i64>() / (steps.len() - period) as i64
    };
    let energy = steps.iter().map(|step| step.rise * step.rise / 16).sum::<i64>() / steps.len() as i64;
    let periods = PERIODS.take_while(|period| 3 * period <= steps.len());
    periods.map(|period| (4096 * product(period) / energy.max(1)) as i32).max().unwrap_or(0)
}

/// How surely the light flickers in a window with these steps, in 4096ths.
pub fn confidence(steps: &[LightStep]) -> i32 {
    whole_confidence(steps).max(band_confidence(steps))
}

/// How surely the light of the whole frame flickers, in 4096ths. Frames may be repeated, as in a film of 16
/// frames a second at 24: small steps are left out where larger ones are compared.
fn whole_confidence(steps: &[LightStep]) -> i32 {
    let shown: Vec<LightStep> = steps.iter().copied().filter(|step| step.rise.abs() > MIN_RISE).collect();
    if shown.len() < MIN_STEPS {
        return 0;
    }
    let turns = shown.windows(2).filter(|pair| pair[0].rise.signum() != pair[1].rise.signum()).count();
    let by_turns = 4096 * turns / (shown.len() - 1);
    let mut sizes: Vec<i64> = shown.iter().map(|step| step.rise.abs()).collect();
    sizes.sort_unstable();
    let all = sizes.iter().sum::<i64>();
    let even = 4096 * sizes[sizes.len() / 2] * sizes.len() as i64 / all;
    let largest = sizes[sizes.len() * 9 / 10];
    let few = steps.len().div_ceil(10).min(sizes.len() - 1);
    let mean = sizes[..sizes.len() - few].iter().sum::<i64>() / (steps.len() - few) as i64;
    let agreement = shown.iter().map(|step| step.rise.abs() * step.agreement).sum::<i64>() / all;
    let share = |value: i64, [none, all]: [i32; 2]| {
        let value = value.min(1 << 24) as i32;
        if none < all { ramp(value, none, all) } else { 4096 - ramp(value, all, none) }
    };
    let by_turns = by_turns as i64;
    let is_lamp = share(by_turns, LAMP_TURNS).min(share(repetition(steps).into(), REPEATED));
    let agrees = share(agreement, AGREE).max(is_lamp);
    let lit = lit(steps, LIT).max(lit(steps, DIM).min(share(agreement, ALL_AGREE).max(is_lamp)));
    let shares = [(by_turns, BY_TURNS), (mean, STEPS), (even, EVEN), (largest, LARGEST)];
    shares.map(|(value, ramp)| share(value, ramp)).into_iter().fold(agrees.min(lit), i32::min)
}

/// How a frame with these levels is steadied by this share, in 4096ths, of these corrections.
pub fn steadied(light: LightCorrection, remainder: &Remainder, share: i32, levels: Levels) -> Steadied {
    let (light, remainder) = (light.share(share), remainder.clone().share(share));
    let rise = light.at(MIDDLE);
    let gain = |rise: i64| exp2(log2(UNIT_GAIN.into()) + rise) as u32;
    let white = log2(WHITE as u64);
    let bent = |level: i32| {
        let log = log2(level.max(1) as u64);
        exp2(log + (light.at(log - white) - rise).clamp(-2 * ONE, 2 * ONE)) as i32
    };
    let has_bend = light.at(DARK) != light.at(LIGHT);
    Steadied {
        balance: remainder.balance(levels),
        gains: std::array::from_fn(|y| std::array::from_fn(|x| gain(rise + remainder.region((y, x))))),
        gain: gain(rise),
        bend: if has_bend {
            ToneCurve::through(|level| if level > 0 { bent(level) } else { 0 })
        } else {
            ToneCurve::identity()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of `rise`, in thousandths of an octave, on which this share of the blocks agrees.
    fn steps(rise: impl Fn(i64) -> i64, agreement: i64, level: i32) -> Vec<LightStep> {
        (0..24)
            .map(|index| LightStep {
                rise: 65_536 * rise(index) / 1000,
                agreement,
                level: from_255(level),
                rows: [0; BLOCK_ROWS],
            })
            .collect()
    }

    #[test]
    fn what_goes_up_and_down_evenly_in_all_of_a_lit_frame_flickers() {
        let wavers = |index: i64| [60, -80, 20, 30, -50, 90, -70][index as usize % 7];
        assert_eq!(whole_confidence(&steps(wavers, 2000, 90)), 4096);
        let repeated = |index: i64| if index % 3 == 0 { 0 } else { wavers(index) };
        assert!(whole_confidence(&steps(repeated, 2000, 90)) > 3000, "a film whose frames are repeated");
        let fire = |index: i64| [60, -80, 20, 30, -50, 90, -70, -10, 75, 40, -65][(index * index % 11) as usize];
        assert_eq!(whole_confidence(&steps(fire, 500, 90)), 0, "each block by itself: a stage");
        assert_eq!(whole_confidence(&steps(fire, 2000, 15)), 0, "a dark frame: a candle");
        assert_eq!(whole_confidence(&steps(fire, 2500, 25)), 4096, "a dark frame of which all wavers");
        let lamp = |index: i64| [60, -80, 50, -40, 10][index as usize % 5];
        assert_eq!(whole_confidence(&steps(lamp, 600, 90)), 4096, "a lamp on the mains");
        assert_eq!(whole_confidence(&steps(lamp, 600, 25)), 4096, "a lamp on the mains in the dark");
        assert_eq!(whole_confidence(&steps(|index| wavers(index) / 16, 2000, 90)), 0, "hardly");
        assert_eq!(whole_confidence(&steps(|_| 40, 4000, 90)), 0, "a fade");
        assert_eq!(whole_confidence(&steps(|index| if index < 12 { 50 } else { -50 }, 4000, 90)), 0, "clouds");
        let lightning = |index: i64| [900, -880, 6, -6][(index as usize % 8).min(2 + index as usize % 2)];
        assert_eq!(whole_confidence(&steps(lightning, 3000, 90)), 0, "lightning");
        assert_eq!(whole_confidence(&steps(wavers, 2000, 90)[..3]), 0, "too short to tell");
    }

    #[test]
    fn rows_that_rise_and_come_back_are_a_band() {
        let bands = |rise: &dyn Fn(usize, usize) -> i64| -> Vec<LightStep> {
            let step = |frame: usize| LightStep {
                level: from_255(90),
                rows: std::array::from_fn(|row| rise(frame, row)),
                ..LightStep::default()
            };
            (0..24).map(step).collect()
        };
        let rolls = |frame: usize, row: usize| [3000, 1000, -2500, -1500][(frame + row) % 4];
        assert_eq!(confidence(&bands(&rolls)), 4096);
        assert_eq!(confidence(&bands(&|frame, row| if row < 3 { rolls(frame, row) } else { 0 })), 0, "a wave");
        assert_eq!(confidence(&bands(&|frame, row| if frame < 12 { rolls(0, row) } else { 0 })), 0, "a tilt");
    }
}
