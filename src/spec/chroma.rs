//! Saturation that follows luma (`--chroma scale`).
//!
//! Equalization that leaves chroma alone washes out what it brightens and overdoes what it darkens: the eye takes the
//! ratio of colour to brightness. Here that ratio is kept, as far as noise and the gamut allow. Everything is in
//! integers below 2^32, so that every backend computes the same.
//!
//! A pair of chroma samples covers `n` luma samples, at most 4x4, and only those of the picture (the last pair of a row
//! of odd width covers fewer). `S0` is the sum of their levels above black, `max(y - lo, 0)`, and `S1` the same
//! afterwards.
//! ```text
//! up, down   how far the colour sends the furthest of R, G and B above and below luma, in codes, rounded up
//! S0 = 0     gain = 1                                        black has no ratio
//! S1 <= S0   gain = S1 / S0
//! S1 >  S0   gain = min(4, S1 / max(S0, n * down), (n * (hi - lo) - S1) / (n * up)), but at least 1
//! c' = mid + (c - mid) * gain                                mid = 2^(d-1)
//! ```
//! R - Y is `2 (1 - Kr) (Cr - mid)`, B - Y is `2 (1 - Kb) (Cb - mid)`, and G - Y what makes the weighted sum of the
//! three zero; in limited range, where chroma has 224 steps to the 219 of luma, times 219/224. These factors are in
//! 32768ths.
//!
//! Gains are in 4096ths, rounded down; the product is rounded to the nearest integer, halves away from zero.
//!
//! * Both components have one gain: hue stays.
//! * The second bound keeps R, G and B above black, the third below white. A colour that is out of the gamut already,
//!   as most noise near black is, gains only what its new luma has room for. Where even chroma as it was would
//!   leave the gamut, because luma rises, it is kept: scaling goes no further than keeping does.
//! * The gamut lies within the legal range of chroma (240 of 16 to 240 is the bluest blue). What rounding may add is
//!   cut off at the range's end, and a sample beyond it goes no further.
//! * A gain of 4 is two stops. What is brightened by more lies so near to black that its chroma is noise.
//!
//! RGB does the same around its luminance: `c' = Y' + (c - Y) * gain`, with `n = 1`, black 0, and `up` and `down` what
//! lies between the luminance and the highest and the lowest component.

use super::{Levels, Weights};

/// A gain of 1.
pub const ONE: u32 = 4096;

/// The largest gain.
pub const MOST: u32 = 4 * ONE;

/// The luma samples that a pair of chroma samples covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The sum of their levels above black.
    pub before: u32,
    /// The same after equalization.
    pub after: u32,
    /// How many there are, 1 to 16.
    pub samples: u32,
}

/// How far a colour sends the furthest of R, G and B away from luma, in codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excursion {
    /// Towards white.
    pub up: u32,
    /// Towards black.
    pub down: u32,
}

/// The gain of a colour, in 4096ths, where `span` codes lie between black and white.
pub fn gain(Covered { before, after, samples }: Covered, span: u32, Excursion { up, down }: Excursion) -> u32 {
    if before == 0 {
        return ONE;
    }
    if after <= before {
        return after * ONE / before;
    }
    let asked = after * ONE / before.max(samples * down);
    let room = (samples * span).saturating_sub(after) * ONE / (samples * up).max(1);
    asked.min(room).clamp(ONE, MOST)
}

/// `offset * gain`, to the nearest integer, halves away from zero.
#[inline]
pub fn scaled(offset: i32, gain: u32) -> i32 {
    let magnitude = (offset.unsigned_abs() * gain + ONE / 2) / ONE;
    if offset < 0 { -(magnitude as i32) } else { magnitude as i32 }
}

/// What chroma samples of one depth, range and matrix mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The code of luma that is black.
    pub black: u16,
    /// Codes of luma between black and white.
    pub span: u32,
    /// The code of chroma that is no colour.
    pub centre: i32,
    /// The largest legal distance from it: 112 of 8 bits in limited range, 127 in full.
    pub reach: i32,
    /// Codes of R for a code of Cr, in 32768ths.
    pub red: i32,
    /// Codes of G for a code less of Cb, in 32768ths.
    pub green_of_cb: i32,
    /// Codes of G for a code less of Cr, in 32768ths.
    pub green_of_cr: i32,
    /// Codes of B for a code of Cb, in 32768ths.
    pub blue: i32,
}

impl Colours {
    /// Those of YUV with these levels of luma and this matrix.
    pub fn new(levels: Levels, Weights { r, g, b }: Weights) -> Self {
        let limited = levels.lo() > 0;
        let (of_luma, of_chroma) = if limited { (219, 224) } else { (1, 1) };
        // Twice the fraction, in 32768ths, to the nearest.
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

    /// How far the colour of these distances from the centre goes.
    #[inline]
    pub fn excursion(&self, cb: i32, cr: i32) -> Excursion {
        let (red, blue) = (self.red * cr, self.blue * cb);
        let green = -(self.green_of_cb * cb + self.green_of_cr * cr);
        // At most 1.9 * 2^15 codes: the sum fits.
        let codes = |furthest: i32| (furthest.max(0) as u32 + 32767) >> 15;
        Excursion { up: codes(red.max(green).max(blue)), down: codes(-red.min(green).min(blue)) }
    }

    /// What the pair of chroma samples (Cb, Cr) becomes that covers this luma.
    pub fn pair(&self, pair: [u16; 2], covered: Covered) -> [u16; 2] {
        let [cb, cr] = pair.map(|code| i32::from(code) - self.centre);
        let gain = gain(covered, self.span, self.excursion(cb, cr));
        [cb, cr].map(|offset| {
            let most = offset.abs().max(self.reach);
            (self.centre + scaled(offset, gain).clamp(-most, most)) as u16
        })
    }
}

/// What the components of an RGB pixel become whose luminance moves from `from` to `to`, the highest code being `max`.
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
