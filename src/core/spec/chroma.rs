//! Saturation that follows luma (`--chroma scale`).
//!
//! Saturation is seen as the ratio of chroma to luma. If equalization changes luma alone, colours of brightened areas
//! look pale and those of darkened areas too strong. `scale` keeps the ratio, as far as noise and the gamut allow. All
//! numbers are integers below 2^32, so that every backend computes the same.
//!
//! A pair of chroma samples covers `n` luma samples, at most 4x4, and only those of the picture (the last pair of a row
//! of odd width covers fewer). `S0` is the sum of their levels above black, `max(y - lo, 0)`, and `S1` the same
//! afterwards.
//! ```text
//! up, down   largest distance of R, G and B above and below luma, in codes, rounded up
//! S0 = 0     gain = 1                                        black has no ratio
//! S1 <= S0   gain = S1 / S0
//! S1 >  S0   gain = min(4, S1 / max(S0, n * down), (n * (hi - lo) - S1) / (n * up)), but at least 1
//! c' = mid + (c - mid) * gain                                mid = 2^(d-1)
//! ```
//! `R - Y = 2 (1 - Kr) (Cr - mid)` and `B - Y = 2 (1 - Kb) (Cb - mid)`; G - Y follows from `Kr (R-Y) + Kg (G-Y) + Kb
//! (B-Y) = 0`. In limited range, where chroma has 224 steps and luma 219, all three are multiplied by 219/224. These
//! factors are in 32768ths.
//!
//! Gains are in 4096ths, rounded down; the product is rounded to the nearest integer, halves away from zero.
//!
//! * Both components have the same gain: hue does not change.
//! * The second bound keeps R, G and B above black, the third below white. A colour that is out of the gamut before
//!   (most noise near black is) gains only as much as its new luma allows. If the unchanged chroma would leave the
//!   gamut because luma rises, the gain is 1.
//! * The gamut lies within the legal range of chroma, 16 to 240 at 8 bits. Rounding can exceed that range by a code;
//!   the result is clamped to it. A sample that is outside of the range before does not move further out.
//! * A gain of 4 is two stops. Areas that are brightened by more are so near to black that their chroma is noise.
//!
//! Where chroma *follows* (`--chroma follow`), the gain is that of the stretched levels instead, the same for all
//! samples of a frame, or for all at one place: `c' = mid + (c - mid) * gain`, clamped in the same way. The levels are
//! stretched such that few colours leave the gamut ([`tone`](super::tone)).
//!
//! RGB is scaled around its luminance in the same way: `c' = Y' + (c - Y) * gain`, with `n = 1` and black 0; `up` and
//! `down` are the distances from the luminance to the highest and to the lowest component.

use super::{Levels, Weights};

/// A gain of 1.
pub const UNIT_GAIN: u32 = 4096;

/// The largest gain.
pub const MAX_GAIN: u32 = 4 * UNIT_GAIN;

/// Sums over the luma samples that a pair of chroma samples covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The sum of their levels above black.
    pub before: u32,
    /// Their sum after equalization.
    pub after: u32,
    /// Number of luma samples, 1 to 16.
    pub samples: u32,
}

/// The largest distances of R, G and B from the luma of a colour, in codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excursion {
    /// Above luma.
    pub up: u32,
    /// Below luma.
    pub down: u32,
}

/// The gain of a colour, in 4096ths, where `span` codes lie between black and white.
pub fn gain(Covered { before, after, samples }: Covered, span: u32, Excursion { up, down }: Excursion) -> u32 {
    if before == 0 {
        return UNIT_GAIN;
    }
    if after <= before {
        return after * UNIT_GAIN / before;
    }
    let wanted = after * UNIT_GAIN / before.max(samples * down);
    let room = (samples * span).saturating_sub(after) * UNIT_GAIN / (samples * up).max(1);
    wanted.min(room).clamp(UNIT_GAIN, MAX_GAIN)
}

/// `offset * gain`, to the nearest integer, halves away from zero.
#[inline]
pub fn scaled(offset: i32, gain: u32) -> i32 {
    let magnitude = (offset.unsigned_abs() * gain + UNIT_GAIN / 2) / UNIT_GAIN;
    if offset < 0 { -(magnitude as i32) } else { magnitude as i32 }
}

/// How chroma codes of one depth, range and matrix become differences of R, G and B from luma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The luma code of black.
    pub black: u16,
    /// Codes of luma between black and white.
    pub span: u32,
    /// The chroma code of gray.
    pub centre: i32,
    /// The largest legal distance from `centre`: at 8 bits, 112 in limited range, 127 in full.
    pub reach: i32,
    /// Change of R for one code of Cr, in 32768ths of a code.
    pub red: i32,
    /// Fall of G for one code of Cb, in 32768ths of a code.
    pub green_of_cb: i32,
    /// Fall of G for one code of Cr, in 32768ths of a code.
    pub green_of_cr: i32,
    /// Change of B for one code of Cb, in 32768ths of a code.
    pub blue: i32,
}

impl Colours {
    /// The factors of YUV with these levels of luma and these weights of its matrix.
    pub fn new(levels: Levels, Weights { r, g, b }: Weights) -> Self {
        let limited = levels.lo() > 0;
        let (of_luma, of_chroma) = if limited { (219, 224) } else { (1, 1) };
        // 2 * part / whole, scaled to the steps of chroma, in 32768ths, rounded to the nearest.
        let twice = |part: u64, whole: u64| {
            let (part, whole) = (4 * 32768 * part * of_luma, 2 * whole * of_chroma);
            ((part + whole / 2) / whole) as i32
        };
        let (r, g, b) = (u64::from(r), u64::from(g), u64::from(b));
        let centre = 1 << (levels.depth() - 1);
        Colours {
            black: levels.lo(),
            span: u32::from(levels.hi() - levels.lo()),
            centre,
            reach: if limited { 112 << (levels.depth() - 8) } else { centre - 1 },
            red: twice(65536 - r, 65536),
            green_of_cb: twice(b * (65536 - b), g * 65536),
            green_of_cr: twice(r * (65536 - r), g * 65536),
            blue: twice(65536 - b, 65536),
        }
    }

    /// The level above black of a luma sample.
    pub fn level(&self, luma: u16) -> u32 {
        luma.saturating_sub(self.black).into()
    }

    /// Red, green and blue of a colour, in levels from black, clamped to black and white.
    #[inline]
    pub fn rgb(&self, level: u16, [cb, cr]: [u16; 2]) -> [u16; 3] {
        let [cb, cr] = [cb, cr].map(|code| i32::from(code) - self.centre);
        let green = -(self.green_of_cb * cb + self.green_of_cr * cr);
        [self.red * cr, green, self.blue * cb].map(|of_32768| {
            let change = (of_32768 + (1 << 14)) >> 15;
            (i32::from(level) + change).clamp(0, self.span as i32) as u16
        })
    }

    /// The excursion of the colour whose chroma lies `cb` and `cr` codes from the centre.
    #[inline]
    pub fn excursion(&self, cb: i32, cr: i32) -> Excursion {
        let (red, blue) = (self.red * cr, self.blue * cb);
        let green = -(self.green_of_cb * cb + self.green_of_cr * cr);
        // At most 1.9 * 2^15 codes in 32768ths: 32 bits hold the sum.
        let codes = |furthest: i32| (furthest.max(0) as u32 + 32767) >> 15;
        Excursion { up: codes(red.max(green).max(blue)), down: codes(-red.min(green).min(blue)) }
    }

    /// A chroma sample with this gain.
    #[inline(always)]
    pub fn followed(&self, code: u16, gain: u32) -> u16 {
        let offset = i32::from(code) - self.centre;
        let most = offset.abs().max(self.reach);
        // As `clamp`, which would look whether its bounds are in order.
        (self.centre + scaled_far(offset, gain).max(-most).min(most)) as u16
    }

    /// The pair of chroma samples (Cb, Cr) after equalization, when it covers this luma.
    pub fn pair(&self, pair: [u16; 2], covered: Covered) -> [u16; 2] {
        let [cb, cr] = pair.map(|code| i32::from(code) - self.centre);
        let gain = gain(covered, self.span, self.excursion(cb, cr));
        [cb, cr].map(|offset| {
            let most = offset.abs().max(self.reach);
            (self.centre + scaled(offset, gain).clamp(-most, most)) as u16
        })
    }
}

/// `offset * gain`, to the nearest integer, halves away from zero, for gains without a bound.
#[inline(always)]
pub fn scaled_far(offset: i32, gain: u32) -> i32 {
    let magnitude =
        (u64::from(offset.unsigned_abs()) * u64::from(gain) + u64::from(UNIT_GAIN / 2)) / u64::from(UNIT_GAIN);
    let magnitude = magnitude.min(1 << 24) as i32;
    if offset < 0 { -magnitude } else { magnitude }
}

/// The components of an RGB pixel after its luminance has moved from `from` to `to`, with this gain of colour; `max` is
/// the highest code.
pub fn moved_with_gain(rgb: [u16; 3], from: u16, to: u16, gain: u32, max: u16) -> [u16; 3] {
    rgb.map(|code| component_with_gain(code, from, to, gain, max))
}

/// A component of an RGB pixel after its luminance has moved from `from` to `to`, with this gain of colour.
#[inline(always)]
pub fn component_with_gain(code: u16, from: u16, to: u16, gain: u32, max: u16) -> u16 {
    let offset = scaled_far(i32::from(code) - i32::from(from), gain);
    // As `clamp`, which would look whether its bounds are in order.
    (i32::from(to) + offset).max(0).min(i32::from(max)) as u16
}

/// The components of an RGB pixel after its luminance has moved from `from` to `to`; `max` is the highest code.
pub fn rescaled(rgb: [u16; 3], from: u16, to: u16, max: u16) -> [u16; 3] {
    let [r, g, b] = rgb;
    let (up, down) = (r.max(g).max(b).saturating_sub(from), from.saturating_sub(r.min(g).min(b)));
    let excursion = Excursion { up: up.into(), down: down.into() };
    let gain = gain(Covered { before: from.into(), after: to.into(), samples: 1 }, max.into(), excursion);
    rgb.map(|code| {
        let offset = scaled(i32::from(code) - i32::from(from), gain);
        (i32::from(to) + offset).clamp(0, i32::from(max)) as u16
    })
}
