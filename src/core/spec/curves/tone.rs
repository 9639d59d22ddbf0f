//! Levels and colour: the stretch of the levels in use, with which equalization is blended, and the gain of chroma.
//!
//! Most footage lacks contrast because it uses only a part of the range. A straight [`Line`] moves the ends p and q of
//! the levels in use towards black and white. Equalization is blended with that line, and chroma gets the gain of the
//! line, so that saturation grows as contrast does. `p` is the lower end of the *darkest* components of R, G and B, `q`
//! the upper end of the *brightest* ([`Ends`]): between them no component is clipped. All numbers are means over the
//! window of the scene; levels are in sixteenths, `T` is white, gains are in 4096ths.
//!
//! * [`Stretch::Unused`]: the stretch grows with the unused share of the range, `u = 1 - (q - p) / T`: `k = (u - 0.08)
//!   / 0.2`, clamped to 0 to 1, so that footage that uses the range stays as it is. p moves by `k` of the way to black,
//!   and q by `k * w` of the way to white, where `w = p / 16` (of 255), clamped to 0.4 to 1: a frame with true blacks
//!   may be meant to be dim. With `fades`, equalization has `k` of its strength. Below a range `q - p` of 4 of 255, as
//!   in a black or a flat frame, nothing is stretched, because differences may be noise; from 40 on the stretch is
//!   full.
//! * [`Stretch::Full`]: p becomes black and q white, however narrow the range between them is. The stretch sets in
//!   where they are one level apart and is full at 2 levels, with tiles at 4 and 40 levels.
//! * [`Settings::keeps_peak`] keeps the *peak* of a scene, its luminance at 99.8 %, because codes of HDR mean absolute
//!   brightness: q does not move, no level up to the peak becomes brighter than the peak, and levels above the peak
//!   stay as they are.

use super::detail::Detail;
use super::{Curve, Levels};
use crate::spec::Weights;
use crate::spec::chroma::{Colours, UNIT_GAIN};
use crate::spec::clahe::{TileCurves, TileLevels, Tiles};
use crate::spec::measure::{Ends, REGIONS, mean_by_number};
use crate::spec::natural::{FrameCurve, InLight, Toned, WHITE};
use crate::spec::parameters::{Gain, Method, Settings, Strength, Stretch};
use bytemuck::{Pod, Zeroable};

/// The largest gain of a [`Balance`] or a [`Veil`], in 4096ths: a larger one would overflow their arithmetic. Gains of
/// real scenes are far smaller.
pub const MAX_GAIN: u32 = 256 * UNIT_GAIN;

/// The largest number of knots of a line.
pub const KNOTS: usize = 8;

/// A knot of a [`Line`], which rises by `slope` from here to the next knot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Knot {
    /// The input level of the knot, in sixteenths of a level.
    pub level: u32,
    /// The output for that level, in sixteenths of a level.
    pub becomes: u32,
    /// The slope from this knot to the next one, in 65536ths.
    pub slope: u32,
}

/// A rising, piecewise linear function of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    knots: [Knot; KNOTS],
    used: u32,
}

impl Line {
    /// The line that changes nothing.
    pub const IDENTITY: Line = Line { knots: [Knot { level: 0, becomes: 0, slope: 1 << 16 }; KNOTS], used: 0 };

    /// The line through these points (input, output), in sixteenths of a level, in rising order of inputs; a point
    /// whose input is not above that of the point before is left out. There are at most [`KNOTS`] + 1 points.
    pub fn through(points: &[(u32, u32)]) -> Self {
        let mut line = Line { used: 0, ..Line::IDENTITY };
        let mut last: Option<(u32, u32)> = None;
        for &(before, after) in points {
            let Some((x, y)) = last else {
                last = Some((before, after));
                continue;
            };
            if before <= x || line.used as usize == KNOTS {
                continue;
            }
            let slope = ((u64::from(after.saturating_sub(y)) << 16) / u64::from(before - x)) as u32;
            line.knots[line.used as usize] = Knot { level: x, becomes: y, slope };
            line.used += 1;
            last = Some((before, after));
        }
        line
    }

    /// Whether the line changes nothing.
    pub fn is_identity(&self) -> bool {
        self.used == 0
    }

    /// The knots, from left to right; none if the line is the identity.
    pub fn knots(&self) -> &[Knot] {
        &self.knots[..self.used as usize]
    }

    /// The output for a level, rounded to the nearest level; `most` is white.
    pub fn level(&self, level: u32, most: u32) -> u32 {
        ((self.sixteenths(16 * level) + 8) >> 4).min(most)
    }

    /// The output for a level, both in sixteenths of a level.
    pub fn sixteenths(&self, level: u32) -> u32 {
        let Some(knot) = self.knots().iter().rev().find(|knot| knot.level <= level).or(self.knots().first()) else {
            return level;
        };
        let rise = (u64::from(level.saturating_sub(knot.level)) * u64::from(knot.slope) + (1 << 15)) >> 16;
        (u64::from(knot.becomes) + rise).min(u64::from(u32::MAX - 8)) as u32
    }

    /// The output for a code. The identity leaves codes outside of the levels alone; other lines map them as black or
    /// white.
    pub fn code(&self, code: u16, levels: Levels) -> u16 {
        if self.is_identity() {
            return code;
        }
        levels.lo() + self.level(levels.level_of(code) as u32, levels.count() as u32 - 1) as u16
    }
}

/// The parameters of levels and colour of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tone {
    /// The line that equalization is blended with.
    pub line: Line,
    /// The first and the last level over which equalization spreads the counts above the contrast limit.
    pub range: (u32, u32),
    /// The share of equalization in the output.
    pub strength: Strength,
    /// The gain of chroma with [`Chroma::Follow`](crate::spec::parameters::Chroma::Follow), in 4096ths.
    pub chroma_gain: u32,
    /// The peak to preserve: higher levels are kept, lower ones stay at or below it. White, unless the peak of the
    /// scene is kept.
    pub ceiling: u32,
    /// Whether black stays black in the curves of tiles.
    pub keeps_black: bool,
    /// The contrast limit of equalization over `range`.
    pub max_gain: Gain,
    /// With [`Method::Detail`], how detail is amplified, in place of equalization; `line` then maps the base.
    pub detail: Option<Detail>,
}

impl Tone {
    /// The tone of the method of `settings` without a stretch, with their strength and their contrast limit.
    pub fn plain(levels: Levels, settings: &Settings) -> Self {
        Tone::for_method(levels, settings.method, settings.strength, settings.max_gain)
    }

    /// The tone of a method without a stretch, with this strength and this contrast limit.
    pub fn for_method(levels: Levels, method: Method, strength: Strength, max_gain: Gain) -> Self {
        let white = levels.count() as u32 - 1;
        let (line, chroma_gain) = (Line::IDENTITY, UNIT_GAIN);
        let detail = matches!(method, Method::Detail { .. }).then(|| Detail::plain(levels, max_gain));
        Tone { line, range: (0, white), strength, chroma_gain, ceiling: white, keeps_black: false, max_gain, detail }
    }

    /// The tone of a scene whose frames have these ends: the mean of the stretches that `settings` ask for in each
    /// frame, with at most their strength of equalization.
    pub fn new<'a>(frames: impl Iterator<Item = &'a Ends> + Clone, levels: Levels, settings: &Settings) -> Self {
        Tone::held(frames, levels, settings, Gain::OFF)
    }

    /// As [`new`](Tone::new), but neither the line nor equalization has a slope above `most`: the range is widened and
    /// the contrast limit lowered as far as that needs. With tiles the slope can exceed the limit by up to 1, since the
    /// counts above the limit are spread over levels that are at the limit too.
    pub fn held<'a>(
        frames: impl Iterator<Item = &'a Ends> + Clone,
        levels: Levels,
        settings: &Settings,
        most: Gain,
    ) -> Self {
        let spans = match settings.stretch {
            Stretch::Off => None,
            Stretch::Full { share } => {
                mean_by_number(frames.clone().map(|ends| full(ends, levels, settings.method, share)))
            }
            Stretch::Unused { most, .. } => mean_by_number(frames.clone().map(|ends| unused(ends, levels, most))),
        };
        let ceiling = ceiling(&Ends::mean_of(frames), levels, settings);
        let tone = match spans {
            Some(span) => span.kept_under(ceiling, levels).held(most).tone(levels, settings, most),
            None => Tone::plain(levels, settings),
        };
        let is_tiled = settings.method.grid().is_some();
        let max_gain = most.to_256ths().map_or(settings.max_gain, |most| {
            let width = u64::from(tone.range.1 - tone.range.0) + 1;
            let slope = (u64::from(most) * width / levels.count() as u64) as u32;
            settings.max_gain.at_most(if is_tiled { slope.saturating_sub(256).max(1) } else { slope.max(256) })
        });
        let keeps_black = is_tiled && (!settings.stretch.is_off() || settings.keeps_peak);
        Tone { ceiling, keeps_black, max_gain, ..tone }
    }

    /// The parameters for the curves of tiles.
    pub fn tile_levels(&self) -> TileLevels {
        let Tone { line, range, ceiling, keeps_black, max_gain, detail, .. } = *self;
        TileLevels { line, range, ceiling, keeps_black, max_gain, detail }
    }
}

/// The level of the peak of a scene with these ends, if `settings` keep the peak; else white.
fn ceiling(ends: &Ends, levels: Levels, settings: &Settings) -> u32 {
    if settings.keeps_peak { ends.peak / 16 } else { levels.count() as u32 - 1 }
}

/// The stretch of the levels in use; in sixteenths of a level. Its numbers are averaged over the frames of a window, so
/// that the line changes slowly when something enters the frame.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Span {
    low: u32,
    high: u32,
    /// The outputs of `low` and `high`.
    new_low: u32,
    new_high: u32,
    /// The share of its strength that equalization has with `fades`, in 4096ths.
    need: u32,
}

impl Span {
    /// If the ceiling is below white, keeps both ends from becoming brighter.
    fn kept_under(self, ceiling: u32, levels: Levels) -> Self {
        if 16 * ceiling == white_of(levels) {
            return self;
        }
        Span { new_high: self.new_high.min(self.high), new_low: self.new_low.min(self.low), ..self }
    }

    /// Limits slopes to `most`: the range is stretched only as far as that allows.
    fn held(self, most: Gain) -> Self {
        let Span { low, high, new_low, new_high, need } = self;
        let (used, new_used) = (high.saturating_sub(low), new_high.saturating_sub(new_low));
        let (more, wanted) = (most.times(used).saturating_sub(used), new_used.saturating_sub(used));
        let part = if more < wanted { ratio(more, wanted) } else { 4096 };
        let moved = |before: u32, after: u32| before - share(before, part) + share(after, part);
        Span { low, high, new_low: moved(low, new_low), new_high: moved(high, new_high), need }
    }

    fn tone(self, levels: Levels, settings: &Settings, most: Gain) -> Tone {
        let Settings { stretch, strength, method, .. } = *settings;
        let white = white_of(levels);
        let Span { low, high, new_low, new_high, need } = self;
        let fades = matches!(stretch, Stretch::Unused { fades: true, .. });
        let strength = if fades { Strength::from_256ths(share(strength.to_256ths(), need)) } else { strength };
        if (low, high) == (new_low, new_high) || high <= low {
            return Tone { strength, ..Tone::plain(levels, settings) };
        }
        let (used, new_used) = (high - low, new_high.saturating_sub(new_low));
        let gain = ratio(new_used, used);
        let end = (high.max(white) + 1, white);
        let line = Line::through(&[(0, 0), (low, new_low.min(white)), (high, (new_low + new_used).min(white)), end]);
        // The curves of tiles are not blended with the line. Instead, equalization spreads the counts above the limit
        // over all levels that the line maps between black and white.
        let (darker, brighter) = (ratio(new_low, gain).min(low), ratio(white.saturating_sub(new_high), gain));
        let part = if method.grid().is_some() {
            4096
        } else {
            // One curve for the frame spreads them over the levels in use, and over as many more as limit its slope to
            // `most`.
            let needed = most.to_256ths().map_or(0, |most| (u64::from(white) * 256 / u64::from(most)) as u32);
            ratio(needed.saturating_sub(used), darker.saturating_add(brighter)).min(4096)
        };
        let (first, last) = (low - share(darker, part), high.saturating_add(share(brighter, part)));
        Tone {
            line,
            range: (first / 16, last.div_ceil(16).min(levels.count() as u32 - 1)),
            strength,
            chroma_gain: gain,
            ..Tone::plain(levels, settings)
        }
    }
}

/// How surely a range in use of `used` sixteenths of a level is more than noise, in 4096ths: 0 up to `none` of 255 of
/// all levels, 4096 from `all` on.
fn presence(used: u32, levels: Levels, [none, all]: [u32; 2]) -> u32 {
    ratio(used.saturating_sub(from_255(levels, none)), from_255(levels, all) - from_255(levels, none)).min(4096)
}

/// The width to which a range of `used` may be stretched: `most` times `used`, or less where `presence` is low.
fn most_gain(most: Gain, used: u32, presence: u32) -> u32 {
    used.saturating_add(share(most.times(used).saturating_sub(used), presence))
}

/// The share `of_4096` of `whole`.
pub(crate) fn share(whole: u32, of_4096: u32) -> u32 {
    (u64::from(whole) * u64::from(of_4096) / 4096) as u32
}

/// `part / whole` in 4096ths.
pub(crate) fn ratio(part: u32, whole: u32) -> u32 {
    (u64::from(part) * 4096 / u64::from(whole.max(1))).min(u32::MAX.into()) as u32
}

/// The gain that lies this share of the way from 1 to `gain`.
pub(crate) fn part_of_gain(gain: u32, strength: Strength) -> u32 {
    strength.between(UNIT_GAIN.into(), gain.into()) as u32
}

/// The level of white, in sixteenths of a level.
pub(crate) fn white_of(levels: Levels) -> u32 {
    16 * (levels.count() as u32 - 1)
}

/// `of_255` 255ths of the range, in sixteenths of a level.
fn from_255(levels: Levels, of_255: u32) -> u32 {
    (u64::from(white_of(levels)) * u64::from(of_255) / 255) as u32
}

fn unused(ends: &Ends, levels: Levels, most: Gain) -> Span {
    let white = white_of(levels);
    let (p, q) = (ends.dark, ends.bright.max(ends.dark));
    let used = q - p;
    let there = presence(used, levels, PRESENT);
    // k = (u - 0.08) / 0.2
    let k = (4096u32.saturating_sub(ratio(used, white)).saturating_sub(328) * 5).min(there);
    let lifted_black = ratio(p, from_255(levels, 16)).clamp(1638, 4096);
    let new_low = p - share(p, k);
    let new_high = q + share(white.saturating_sub(q), share(k, lifted_black));
    let new_high = new_high.min(new_low.saturating_add(most_gain(most, used, there)));
    Span { low: p, high: q, new_low, new_high, need: k }
}

fn full(ends: &Ends, levels: Levels, method: Method, share_of_way: Strength) -> Span {
    let white = white_of(levels);
    let (p, q) = (ends.dark, ends.bright.max(ends.dark));
    // In thermal footage, a few levels can hold the whole scene, however small their share of the range is. So one
    // curve for the frame stretches any range wider than one level, the measured width of a flat frame.
    let [none, all] = if method.grid().is_some() { PRESENT } else { [1, 2] }.map(|levels| 16 * levels);
    let there = ratio((q - p).saturating_sub(none), all - none).min(4096);
    let there = there * share_of_way.to_256ths() / 256;
    let (new_low, new_high) = (p - share(p, there), q + share(white.saturating_sub(q), there));
    Span { low: p, high: q, new_low, new_high, need: 4096 }
}

/// The widths of the range in use at which the stretch sets in and is full: in levels with [`Stretch::Full`], else of
/// 255.
const PRESENT: [u32; 2] = [4, 40];

/// The removal of a veil such as haze, by region: the offset that is subtracted, and the gain that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Veil {
    /// The offset that is subtracted in each region, in sixteenths of a level.
    pub taken: [[u32; REGIONS]; REGIONS],
    /// The gain after the subtraction, in 4096ths.
    pub gains: [[u32; REGIONS]; REGIONS],
    /// The gain of chroma in each region, in 4096ths.
    pub chroma: [[u32; REGIONS]; REGIONS],
    /// The curve that is applied after the gains.
    pub then: Option<Toned>,
    /// For HDR with the look natural: all this is applied to levels of light instead of codes. `taken` is then in
    /// sixteenths of a level on a scale whose highest level is diffuse white.
    pub in_light: Option<InLight>,
    /// As [`Tone::ceiling`]; without effect with `in_light`.
    pub ceiling: u32,
}

impl Veil {
    /// Whether the veil changes nothing.
    pub fn is_clear(&self) -> bool {
        self.then.is_none()
            && self.in_light.is_none_or(|light| light.peak[0] <= light.peak[1])
            && self.regions().all(|region| region == (0, UNIT_GAIN))
            && self.chroma.as_flattened().iter().all(|gain| *gain == UNIT_GAIN)
    }

    /// The veil at this strength, which scales the gains, and the offsets multiplied by the gains.
    #[must_use]
    pub fn with_strength(&self, strength: Strength) -> Self {
        let gains =
            |regions: &[[u32; REGIONS]; REGIONS]| regions.map(|row| row.map(|gain| part_of_gain(gain, strength)));
        let mut veil = Veil { gains: gains(&self.gains), chroma: gains(&self.chroma), ..self.clone() };
        for ((taken, gain), before) in
            veil.taken.as_flattened_mut().iter_mut().zip(veil.gains.as_flattened()).zip(self.gains.as_flattened())
        {
            let added = strength.between(0, i64::from(*taken) * i64::from(*before));
            *taken = (added / i64::from((*gain).max(1))).min(u32::MAX.into()) as u32;
        }
        veil.then = self.then.map(|then| then.with_strength(strength));
        veil
    }
}

/// A gain and an offset for each of R, G and B: `c' = c * gain + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The gains of red, green and blue, in 4096ths.
    pub gains: [u32; 3],
    /// The offsets that are added, in sixteenths of a level.
    pub offsets: [i32; 3],
}

impl Balance {
    /// The balance that changes nothing.
    pub const IDENTITY: Balance = Balance { gains: [UNIT_GAIN; 3], offsets: [0; 3] };

    /// The largest distance of an offset from 0 on frames with these levels; a larger one would overflow the
    /// arithmetic.
    pub fn furthest_offset(levels: Levels) -> u32 {
        16 * white_of(levels)
    }

    /// The balance at this strength.
    #[must_use]
    pub fn with_strength(self, strength: Strength) -> Self {
        Balance {
            gains: self.gains.map(|gain| part_of_gain(gain, strength)),
            offsets: self.offsets.map(|offset| strength.between(0, offset.into()) as i32),
        }
    }
}

/// A [`Balance`] of YUV: each component of the output is a weighted sum of the components of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceOfYuv {
    /// For each output component (luma, Cb, Cr): the factors of the input luma, Cb and Cr, and a constant, all in
    /// 65536ths. Luma is in levels, chroma in codes from its centre.
    pub rows: [[i64; 4]; 3],
}

impl BalanceOfYuv {
    /// `balance` for frames with these colours, and these weights of R, G and B in luma.
    pub fn new(balance: &Balance, colours: &Colours, weights: Weights) -> Self {
        // R, G and B as sums of luma, Cb and Cr; in 32768ths.
        let one = 1 << 15;
        let (red, blue) = (i64::from(colours.red), i64::from(colours.blue));
        let rgb =
            [[one, 0, red], [one, -i64::from(colours.green_of_cb), -i64::from(colours.green_of_cr)], [one, blue, 0]];
        // The same after the balance, in 2^27ths: 32768ths times 4096ths.
        let balanced: [[i64; 4]; 3] = std::array::from_fn(|channel| {
            let [y, cb, cr] = rgb[channel].map(|factor| factor * i64::from(balance.gains[channel]));
            [y, cb, cr, i64::from(balance.offsets[channel]) << 23]
        });
        // Luma, in 2^27ths, with weights of 65536ths.
        let weights = [weights.r, weights.g, weights.b].map(i64::from);
        let luma: [i64; 4] = std::array::from_fn(|term| {
            (0..3).map(|channel| balanced[channel][term] * weights[channel]).sum::<i64>() >> 16
        });
        // Cb = (B - Y) / blue and Cr = (R - Y) / red, where `blue` and `red` are in 32768ths.
        let difference = |channel: usize, factor: i64| -> [i64; 4] {
            std::array::from_fn(|term| ((balanced[channel][term] - luma[term]) << 4) / factor)
        };
        BalanceOfYuv { rows: [luma.map(|term| term >> 11), difference(2, blue), difference(0, red)] }
    }

    /// The rows, with half a unit added to their constants, which rounds the sums.
    pub fn rounding(&self) -> [[i64; 4]; 3] {
        self.rows.map(|[of_luma, of_cb, of_cr, added]| [of_luma, of_cb, of_cr, added + (1 << 15)])
    }

    /// The rows in 32 bits; `None` if a sum can be larger than that on pictures with these levels and colours.
    pub fn narrow(&self, levels: Levels, colours: &Colours) -> Option<[[i32; 4]; 3]> {
        let rows = self.rounding();
        let largest = [levels.count() as i64, colours.centre.into(), colours.centre.into(), 1];
        let fits = |row: &[i64; 4]| {
            let sum = row.iter().zip(largest).map(|(factor, most)| factor.saturating_abs().saturating_mul(most));
            sum.fold(0, i64::saturating_add) < i64::from(i32::MAX)
        };
        rows.iter().all(fits).then(|| rows.map(|row| row.map(|factor| factor as i32)))
    }

    /// The sum of row `row` for this luma, in levels, and this chroma, in codes from its centre; rounded.
    #[inline]
    pub fn sum(&self, row: usize, [luma, cb, cr]: [i32; 3]) -> i32 {
        let [of_luma, of_cb, of_cr, added] = self.rows[row];
        let sum = of_luma * i64::from(luma) + of_cb * i64::from(cb) + of_cr * i64::from(cr) + added;
        ((sum + (1 << 15)) >> 16) as i32
    }
}

impl Balance {
    /// The components of an RGB pixel after the balance; `max` is the highest code.
    pub fn rgb(&self, rgb: [u16; 3], max: u16) -> [u16; 3] {
        std::array::from_fn(|channel| {
            let sum = i64::from(rgb[channel]) * i64::from(self.gains[channel]) + i64::from(self.offsets[channel]) * 256;
            ((sum + 2048) >> 12).clamp(0, max.into()) as u16
        })
    }
}

impl Veil {
    /// The regions as a grid of tiles over a frame of this size (columns, rows).
    pub fn tiles(size: (usize, usize)) -> Tiles {
        Tiles::new(REGIONS as u32, REGIONS as u32, size)
    }

    /// The curve of each region, which removes the veil there.
    pub fn curves(&self, levels: Levels, tiles: Tiles) -> TileCurves {
        let rows: Vec<Vec<u16>> = (0..REGIONS).map(|y| self.codes_of_row(y, levels)).collect();
        TileCurves::given(tiles, levels, rows.concat())
    }

    /// The outputs for all codes in the regions of a row, one region after the other.
    pub fn codes_of_row(&self, y: usize, levels: Levels) -> Vec<u16> {
        let then = self.then_on(levels);
        let regions = self.taken[y].into_iter().zip(self.gains[y]);
        regions.map(|region| self.codes(region, levels, then.as_ref())).collect::<Vec<_>>().concat()
    }

    /// The curve of region (row, column).
    pub fn curve_of(&self, (y, x): (usize, usize), levels: Levels) -> Curve {
        let then = self.then_on(levels);
        let codes = self.codes((self.taken[y][x], self.gains[y][x]), levels, then.as_ref());
        Curve::from_codes(levels, codes).unwrap_or_else(|| Curve::identity(levels))
    }

    /// Whether the veil is removed in the light of HDR.
    pub fn is_of_light(&self) -> bool {
        self.in_light.is_some_and(|light| light.transfer.is_hdr())
    }

    /// The curve that is applied after the gains, for these levels.
    pub fn then_on(&self, levels: Levels) -> Option<FrameCurve> {
        let white = if self.in_light.is_some() { WHITE as u64 } else { 16 * (levels.count() as u64 - 1) };
        self.then.map(|then| then.frame_curve(white))
    }

    /// The outputs for all codes in a region with this offset and gain.
    fn codes(&self, region: (u32, u32), levels: Levels, then: Option<&FrameCurve>) -> Vec<u16> {
        let most = levels.count() as u64 - 1;
        if let Some(region) = self.in_light.and_then(|light| light.region(region, then, 16 * most as i64)) {
            return region.codes(levels);
        }
        let (taken, gain) = region;
        let mut piece = 0;
        let mut level = |level: u64| {
            let of_65536 = (16 * level).saturating_sub(taken.into()) * u64::from(gain);
            match then {
                None => (of_65536 + (1 << 15)) >> 16,
                Some(then) => (then.rising_level((of_65536 + (1 << 11)) >> 12, &mut piece) + 8) >> 4,
            }
        };
        let (lo, hi) = (levels.lo(), levels.hi());
        let code = |code| levels.under_ceiling(code, lo + level(u64::from(code - lo)).min(most) as u16, self.ceiling);
        let mut codes = Vec::with_capacity(levels.codes());
        codes.resize(usize::from(lo), 0);
        codes.extend((lo..=hi).map(code));
        let (black, white) = (codes[usize::from(lo)], codes[usize::from(hi)]);
        codes[..usize::from(lo)].fill(black);
        codes.resize(levels.codes(), white);
        codes
    }

    /// The offset and the gain of each region, row by row.
    pub fn regions(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.taken.iter().flatten().copied().zip(self.gains.iter().flatten().copied())
    }

    /// The gain of chroma at pixel (x, y), blended between the regions as their curves are.
    pub fn chroma_gain(&self, tiles: &Tiles, x: usize, y: usize) -> u32 {
        let across = tiles.across(x);
        let [left, right] = self.chroma_at_row(tiles, y, across.tiles);
        let width = 2 * tiles.width;
        let sum = left * (width - across.weight) as u64 + right * across.weight as u64;
        (sum / Veil::area(tiles)) as u32
    }

    /// The gains of chroma in row `y`, at `count` pixels `step` apart, as runs in which the gain changes linearly: the
    /// end of the run, its first gain, and the change from pixel to pixel; both in units of 1 / [`area`](Veil::area).
    pub fn runs_of_gains(
        &self,
        tiles: &Tiles,
        y: usize,
        step: usize,
        count: usize,
    ) -> impl Iterator<Item = (usize, u64, i64)> {
        let mut first = 0;
        std::iter::from_fn(move || {
            let across = (first < count).then(|| tiles.across(first * step))?;
            let [left, right] = self.chroma_at_row(tiles, y, across.tiles);
            let sum = left * (2 * tiles.width - across.weight) as u64 + right * across.weight as u64;
            // A binary search for the first pixel that blends other tiles.
            let (mut inside, mut end) = (first, count);
            while end - inside > 1 {
                let middle = inside.midpoint(end);
                if tiles.across(middle * step).tiles == across.tiles { inside = middle } else { end = middle }
            }
            first = end;
            Some((end, sum, (right as i64 - left as i64) * 2 * step as i64))
        })
    }

    /// The denominator of a blended gain.
    pub fn area(tiles: &Tiles) -> u64 {
        4 * (tiles.width * tiles.height) as u64
    }

    /// The gains of chroma of two columns of regions at row `y`, multiplied by the height of two tiles.
    fn chroma_at_row(&self, tiles: &Tiles, y: usize, columns: [usize; 2]) -> [u64; 2] {
        let down = tiles.down(y);
        let [above, below] = down.tiles.map(|row| self.chroma[row]);
        let height = 2 * tiles.height;
        columns.map(|column| {
            u64::from(above[column]) * (height - down.weight) as u64 + u64::from(below[column]) * down.weight as u64
        })
    }
}
