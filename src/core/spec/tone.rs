//! Levels and colour: what is done to the picture before equalization adds its share.
//!
//! Most footage lacks contrast because it uses a part of its levels. A straight [`Line`] brings the ends p and q of the
//! levels in use to where they belong, equalization is blended with that line, and chroma has the gain of the line, so
//! that colours grow as contrast does. `p` is an end of the *darkest* component of R, G and B, `q` one of the
//! *brightest* ([`Ends`]): between them no component is clipped. All numbers are means over the window of the scene;
//! levels are in sixteenths, `T` is white, gains are in 4096ths.
//!
//! * [`Stretch::Unused`]: what is stretched depends on the share of the range that is unused, `u = 1 - (q - p) / T`:
//!   `k = (u - 0.08) / 0.2`, from 0 to 1. So clean footage stays as it is. p moves by `k` of the way to black, and q by
//!   `k * w` of the way to white, with `w = p / 16` (of 255) between 0.4 and 1: a picture with true blacks may be meant
//!   to be dim. Equalization has `k` of its strength. Where next to nothing is in use, as in a black frame or a flat
//!   one, nothing is stretched: what there is may be noise. The stretch sets in at 4 of 255 and is full at 40.
//! * [`Stretch::Full`]: p becomes black and q white, however little of the range they are apart. The stretch sets
//!   in where they are a level apart and is full at 2, in tiles at 4 and 40.
//! * The *peak* of a scene, the luminance at 99.8 %, can be kept ([`Settings::keeps_peak`]), as HDR asks for, whose
//!   codes are absolute brightness: q then stays where it is, no level up to the peak becomes brighter than it, and
//!   levels above it stay as they are.

use super::chroma::{Colours, UNIT_GAIN};
use super::clahe::{TileCurves, TileLevels, Tiles};
use super::detail::Detail;
use super::measure::{Ends, REGIONS, mean_by_number};
use super::natural::{FrameCurve, InLight, Toned, WHITE};
use super::{Curve, Gain, Levels, Method, Settings, Strength, Stretch, Weights};
use bytemuck::{Pod, Zeroable};

/// The largest gain of a [`Balance`] or a [`Veil`], in 4096ths: their arithmetic has room for no more. Those of scenes
/// are far below it.
pub const MAX_GAIN: u32 = 256 * UNIT_GAIN;

/// Most knots of a line.
pub const KNOTS: usize = 8;

/// A knot of a line: from here on it rises by `slope`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Knot {
    /// Where it is, in sixteenths of a level.
    pub level: u32,
    /// Its output, in sixteenths of a level.
    pub becomes: u32,
    /// The rise behind it, in 65536ths.
    pub slope: u32,
}

/// A rising line of straight pieces from level to level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    knots: [Knot; KNOTS],
    used: u32,
}

impl Line {
    /// The line that changes nothing.
    pub const IDENTITY: Line = Line { knots: [Knot { level: 0, becomes: 0, slope: 1 << 16 }; KNOTS], used: 0 };

    /// The line through these points, in sixteenths of a level, from left to right; points that are not right of the
    /// one before are left out. There are at most [`KNOTS`] + 1.
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

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.used == 0
    }

    /// Its knots, from left to right; none where it is the identity.
    pub fn knots(&self) -> &[Knot] {
        &self.knots[..self.used as usize]
    }

    /// The output for a level, where `most` is white: the nearest level to the line.
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

    /// The output for a code. The identity leaves codes outside of the levels alone; other lines take them for black
    /// or white.
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
    /// The first and the last level over which equalization spreads what it cuts off.
    pub range: (u32, u32),
    /// The share of equalization.
    pub strength: Strength,
    /// The gain of chroma where it follows, in 4096ths.
    pub chroma_gain: u32,
    /// The peak to preserve: higher levels are kept, lower ones stay at or below it. White, unless the peak of the
    /// scene is kept.
    pub ceiling: u32,
    /// In tiles, black stays black.
    pub keeps_black: bool,
    /// The contrast limit of equalization over `range`.
    pub max_gain: Gain,
    /// In tiles, how detail is brought out, in place of equalization; its base has `line`.
    pub detail: Option<Detail>,
}

impl Tone {
    /// The method of `settings` alone, with their strength and their contrast limit.
    pub fn plain(levels: Levels, settings: &Settings) -> Self {
        Tone::for_method(levels, settings.method, settings.strength, settings.max_gain)
    }

    /// A method alone, with this strength and this contrast limit.
    pub fn for_method(levels: Levels, method: Method, strength: Strength, max_gain: Gain) -> Self {
        let white = levels.count() as u32 - 1;
        let (line, chroma_gain) = (Line::IDENTITY, UNIT_GAIN);
        let detail = matches!(method, Method::Detail { .. }).then(|| Detail::plain(levels, max_gain));
        Tone { line, range: (0, white), strength, chroma_gain, ceiling: white, keeps_black: false, max_gain, detail }
    }

    /// The tone of a scene whose frames have these ends: the mean of what `settings` ask for each frame, with at most
    /// their strength of equalization.
    pub fn new<'a>(frames: impl Iterator<Item = &'a Ends> + Clone, levels: Levels, settings: &Settings) -> Self {
        Tone::held(frames, levels, settings, Gain::OFF)
    }

    /// As [`new`](Tone::new), with no slope above `most`, neither of the line nor of equalization: the range is widened
    /// and the contrast limit lowered as far as that needs. In tiles the slope exceeds the limit by up to 1, since what
    /// is cut off is spread over levels that are at the limit too.
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

/// The level of the peak of a scene with these ends, if it is kept; else white.
fn ceiling(ends: &Ends, levels: Levels, settings: &Settings) -> u32 {
    if settings.keeps_peak { ends.peak / 16 } else { levels.count() as u32 - 1 }
}

/// A stretch of the range of levels in use; in sixteenths of a level. Its mean over frames is the mean of the lines,
/// so that a line changes slowly whatever appears in the picture.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Span {
    /// The ends of the range.
    low: u32,
    high: u32,
    /// Their outputs.
    new_low: u32,
    new_high: u32,
    /// The share of equalization that is needed, in 4096ths.
    need: u32,
}

impl Span {
    /// Keeps levels from becoming brighter than the upper end, where the ceiling is below white.
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
        // The curves of tiles are blended with no line: equalization spreads what it cuts off over all that the line
        // brings between black and white.
        let (darker, brighter) = (ratio(new_low, gain).min(low), ratio(white.saturating_sub(new_high), gain));
        let part = if method.grid().is_some() {
            4096
        } else {
            // One curve spreads it over the levels in use, or as many more as bring its slope below `most`.
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

/// How much of a picture there is whose levels in use are that far apart, in sixteenths, in 4096ths: nothing at `none`
/// of 255, all at `all`.
fn presence(used: u32, levels: Levels, [none, all]: [u32; 2]) -> u32 {
    ratio(used.saturating_sub(from_255(levels, none)), from_255(levels, all) - from_255(levels, none)).min(4096)
}

/// The largest gain, drawn towards 1 where there is little of a picture; of a range.
fn most_gain(most: Gain, used: u32, presence: u32) -> u32 {
    used.saturating_add(share(most.times(used).saturating_sub(used), presence))
}

/// The share `of_4096` of `whole`.
pub(super) fn share(whole: u32, of_4096: u32) -> u32 {
    (u64::from(whole) * u64::from(of_4096) / 4096) as u32
}

/// `part / whole` in 4096ths.
pub(super) fn ratio(part: u32, whole: u32) -> u32 {
    (u64::from(part) * 4096 / u64::from(whole.max(1))).min(u32::MAX.into()) as u32
}

/// This share of a gain.
pub(super) fn part_of_gain(gain: u32, strength: Strength) -> u32 {
    strength.between(UNIT_GAIN.into(), gain.into()) as u32
}

/// Where white is, in sixteenths of a level.
pub(super) fn white_of(levels: Levels) -> u32 {
    16 * (levels.count() as u32 - 1)
}

/// `of_255` of 255 of the range, in sixteenths of a level.
fn from_255(levels: Levels, of_255: u32) -> u32 {
    (u64::from(white_of(levels)) * u64::from(of_255) / 255) as u32
}

fn unused(ends: &Ends, levels: Levels, most: Gain) -> Span {
    let white = white_of(levels);
    let (p, q) = (ends.dark, ends.bright.max(ends.dark));
    let used = q - p;
    let there = presence(used, levels, PRESENT);
    // (u - 0.08) / 0.2
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
    // Thermal cameras count finely: a few levels are a picture, whatever share of the range they are. One curve
    // equalizes them, however few; one level is a level wide.
    let [none, all] = if method.grid().is_some() { PRESENT } else { [1, 2] }.map(|levels| 16 * levels);
    let there = ratio((q - p).saturating_sub(none), all - none).min(4096);
    let there = there * share_of_way.to_256ths() / 256;
    let (new_low, new_high) = (p - share(p, there), q + share(white.saturating_sub(q), there));
    Span { low: p, high: q, new_low, new_high, need: 4096 }
}

/// Between which ranges of levels in use, of 255, the stretch sets in and is full.
const PRESENT: [u32; 2] = [4, 40];

/// A veil that lies over the picture, by region: what is taken off, and the gain of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Veil {
    /// The offset that is subtracted in each region, in sixteenths of a level.
    pub taken: [[u32; REGIONS]; REGIONS],
    /// The gain of the rest, in 4096ths.
    pub gains: [[u32; REGIONS]; REGIONS],
    /// The gain of chroma, in 4096ths.
    pub chroma: [[u32; REGIONS]; REGIONS],
    /// The curve that follows.
    pub then: Option<Toned>,
    /// Of HDR with the look natural: all this is done in light, and levels above are those of that. What is taken off
    /// is in sixteenths of a level then where the highest stands for diffuse white.
    pub in_light: Option<InLight>,
    /// As that of a [`Tone`]; without effect in light.
    pub ceiling: u32,
}

impl Veil {
    /// Whether it changes nothing.
    pub fn is_clear(&self) -> bool {
        self.then.is_none()
            && self.in_light.is_none_or(|light| light.peak[0] <= light.peak[1])
            && self.regions().all(|region| region == (0, UNIT_GAIN))
            && self.chroma.as_flattened().iter().all(|gain| *gain == UNIT_GAIN)
    }

    /// This share of it: of the gains, and of what is added to levels that have them.
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
    /// In 4096ths.
    pub gains: [u32; 3],
    /// In sixteenths of a level.
    pub offsets: [i32; 3],
}

impl Balance {
    /// The balance that changes nothing.
    pub const IDENTITY: Balance = Balance { gains: [UNIT_GAIN; 3], offsets: [0; 3] };

    /// The furthest from 0 that an offset may be on frames with these levels, as of [`MAX_GAIN`].
    pub fn furthest_offset(levels: Levels) -> u32 {
        16 * white_of(levels)
    }

    /// This share of it.
    #[must_use]
    pub fn with_strength(self, strength: Strength) -> Self {
        Balance {
            gains: self.gains.map(|gain| part_of_gain(gain, strength)),
            offsets: self.offsets.map(|offset| strength.between(0, offset.into()) as i32),
        }
    }
}

/// A [`Balance`] of YUV: luma and chroma after it are sums of luma and chroma before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceOfYuv {
    /// For each of luma, Cb and Cr: its factors of luma, Cb and Cr, and what is added, all in 65536ths. Luma is in
    /// levels, chroma in codes from its centre.
    pub rows: [[i64; 4]; 3],
}

impl BalanceOfYuv {
    /// The balance of pictures with these colours, and these weights of R, G and B in luma.
    pub fn new(balance: &Balance, colours: &Colours, weights: Weights) -> Self {
        // R, G and B as sums of luma, Cb and Cr; in 32768ths.
        let one = 1 << 15;
        let (red, blue) = (i64::from(colours.red), i64::from(colours.blue));
        let rgb =
            [[one, 0, red], [one, -i64::from(colours.green_of_cb), -i64::from(colours.green_of_cr)], [one, blue, 0]];
        // The same after the balance: 32768ths times 4096ths, and sixteenths.
        let balanced: [[i64; 4]; 3] = std::array::from_fn(|channel| {
            let [y, cb, cr] = rgb[channel].map(|factor| factor * i64::from(balance.gains[channel]));
            [y, cb, cr, i64::from(balance.offsets[channel]) << 23]
        });
        // Luma, in 2^27ths, with weights of 65536ths.
        let weights = [weights.r, weights.g, weights.b].map(i64::from);
        let luma: [i64; 4] = std::array::from_fn(|term| {
            (0..3).map(|channel| balanced[channel][term] * weights[channel]).sum::<i64>() >> 16
        });
        // (B - Y) / blue and (R - Y) / red, where those are in 32768ths.
        let difference = |channel: usize, factor: i64| -> [i64; 4] {
            std::array::from_fn(|term| ((balanced[channel][term] - luma[term]) << 4) / factor)
        };
        BalanceOfYuv { rows: [luma.map(|term| term >> 11), difference(2, blue), difference(0, red)] }
    }

    /// The rows, with what rounds their sums in what is added.
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

    /// Row `row` of the sums for this luma, in levels, and this chroma, in codes from its centre; rounded.
    #[inline]
    pub fn sum(&self, row: usize, [luma, cb, cr]: [i32; 3]) -> i32 {
        let [of_luma, of_cb, of_cr, added] = self.rows[row];
        let sum = of_luma * i64::from(luma) + of_cb * i64::from(cb) + of_cr * i64::from(cr) + added;
        ((sum + (1 << 15)) >> 16) as i32
    }
}

impl Balance {
    /// The components of an RGB pixel; `max` is the highest code.
    pub fn rgb(&self, rgb: [u16; 3], max: u16) -> [u16; 3] {
        std::array::from_fn(|channel| {
            let sum = i64::from(rgb[channel]) * i64::from(self.gains[channel]) + i64::from(self.offsets[channel]) * 256;
            ((sum + 2048) >> 12).clamp(0, max.into()) as u16
        })
    }
}

impl Veil {
    /// The tiles of a picture of this size (columns, rows) that the regions are.
    pub fn tiles(size: (usize, usize)) -> Tiles {
        Tiles::new(REGIONS as u32, REGIONS as u32, size)
    }

    /// The curve of each region, which takes its veil off.
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

    /// Whether it is taken off the light of HDR.
    pub fn is_of_light(&self) -> bool {
        self.in_light.is_some_and(|light| light.transfer.is_hdr())
    }

    /// The curve that follows, for these levels.
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

    /// The gains of chroma in row `y`, at `count` pixels `step` apart, as runs in which the gain rises evenly: the end
    /// of the run, its first gain, and the rise from pixel to pixel, in parts of [`area`](Veil::area).
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
            // Where other tiles are blended.
            let (mut inside, mut end) = (first, count);
            while end - inside > 1 {
                let middle = inside.midpoint(end);
                if tiles.across(middle * step).tiles == across.tiles { inside = middle } else { end = middle }
            }
            first = end;
            Some((end, sum, (right as i64 - left as i64) * 2 * step as i64))
        })
    }

    /// The parts of which a blended gain is a sum.
    pub fn area(tiles: &Tiles) -> u64 {
        4 * (tiles.width * tiles.height) as u64
    }

    /// The gains of chroma of two columns of regions at row `y`, in parts of the height of two tiles.
    fn chroma_at_row(&self, tiles: &Tiles, y: usize, columns: [usize; 2]) -> [u64; 2] {
        let down = tiles.down(y);
        let [above, below] = down.tiles.map(|row| self.chroma[row]);
        let height = 2 * tiles.height;
        columns.map(|column| {
            u64::from(above[column]) * (height - down.weight) as u64 + u64::from(below[column]) * down.weight as u64
        })
    }
}
