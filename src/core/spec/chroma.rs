//! A gain of chroma that follows the gain of luma (`--set chroma=follow`).
//!
//! Saturation is seen as the ratio of chroma to luma. If equalization changes luma alone, colours of brightened areas
//! look pale and those of darkened areas too strong. With `follow`, chroma samples have a gain: one for the frame, or
//! one per pixel, blended between regions. Mostly it is the gain of the stretched levels, and the stretch lets few
//! colours leave the gamut ([`tone`](super::curves::tone)). All numbers are integers, so that every backend computes the same.
//! ```text
//! c' = mid + (c - mid) * gain                                mid = 2^(d-1)
//! ```
//! Gains are in 4096ths; the product is rounded to the nearest integer, halves away from zero. Both components have the
//! same gain: hue does not change. The result is clamped to the legal range of chroma, 16 to 240 at 8 bits. An input
//! sample outside of that range moves no further out.
//!
//! In RGB, the difference of each component from luminance has the gain: `c' = Y' + (c - Y) * gain`, clamped to black
//! and white.
//!
//! `R - Y = 2 (1 - Kr) (Cr - mid)` and `B - Y = 2 (1 - Kb) (Cb - mid)`; G - Y follows from `Kr (R-Y) + Kg (G-Y) + Kb
//! (B-Y) = 0`. In limited range, where chroma has 224 steps and luma 219, all three are multiplied by 219/224. These
//! factors, in 32768ths, are those of [`Colours`].

use super::Weights;
use super::curves::Levels;

/// A gain of 1.
pub const UNIT_GAIN: u32 = 4096;

/// How chroma codes of one depth, range and matrix become differences of R, G and B from luma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// Codes of luma between black and white.
    pub span: u32,
    /// The chroma code of gray.
    pub centre: i32,
    /// The largest legal distance from `centre`: at 8 bits, 112 in limited range, 127 in full.
    pub reach: i32,
    /// Change of R for one code of Cr, in 32768ths of a code.
    pub red: i32,
    /// Decrease of G for one code of Cb, in 32768ths of a code.
    pub green_of_cb: i32,
    /// Decrease of G for one code of Cr, in 32768ths of a code.
    pub green_of_cr: i32,
    /// Change of B for one code of Cb, in 32768ths of a code.
    pub blue: i32,
}

impl Colours {
    /// The factors for YUV with these levels of luma and the weights of its matrix.
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
            span: u32::from(levels.hi() - levels.lo()),
            centre,
            reach: if limited { 112 << (levels.depth() - 8) } else { centre - 1 },
            red: twice(65536 - r, 65536),
            green_of_cb: twice(b * (65536 - b), g * 65536),
            green_of_cr: twice(r * (65536 - r), g * 65536),
            blue: twice(65536 - b, 65536),
        }
    }

    /// Red, green and blue of a YUV colour, in levels from black, clamped to black and white.
    #[inline]
    pub fn rgb(&self, level: u16, [cb, cr]: [u16; 2]) -> [u16; 3] {
        let [cb, cr] = [cb, cr].map(|code| i32::from(code) - self.centre);
        let green = -(self.green_of_cb * cb + self.green_of_cr * cr);
        [self.red * cr, green, self.blue * cb].map(|of_32768| {
            let change = (of_32768 + (1 << 14)) >> 15;
            (i32::from(level) + change).clamp(0, self.span as i32) as u16
        })
    }

    /// Applies a gain to a chroma sample.
    #[inline(always)]
    pub fn followed(&self, code: u16, gain: u32) -> u16 {
        let offset = i32::from(code) - self.centre;
        let most = offset.abs().max(self.reach);
        // Like `clamp`, without its check that the bounds are in order.
        (self.centre + scaled(offset, gain).max(-most).min(most)) as u16
    }
}

/// `offset * gain / 4096`, rounded to the nearest integer, halves away from zero; accepts any gain.
#[inline(always)]
pub fn scaled(offset: i32, gain: u32) -> i32 {
    let magnitude =
        (u64::from(offset.unsigned_abs()) * u64::from(gain) + u64::from(UNIT_GAIN / 2)) / u64::from(UNIT_GAIN);
    let magnitude = magnitude.min(1 << 24) as i32;
    if offset < 0 { -magnitude } else { magnitude }
}

/// The components of an RGB pixel after its luminance has moved from `before` to `after`, with this gain of chroma;
/// `max` is the highest code.
pub fn moved_with_gain(rgb: [u16; 3], before: u16, after: u16, gain: u32, max: u16) -> [u16; 3] {
    rgb.map(|code| component_with_gain(code, before, after, gain, max))
}

/// A component of an RGB pixel after its luminance has moved from `before` to `after`, with this gain of chroma.
#[inline(always)]
pub fn component_with_gain(code: u16, before: u16, after: u16, gain: u32, max: u16) -> u16 {
    let offset = scaled(i32::from(code) - i32::from(before), gain);
    // Like `clamp`, without its check that the bounds are in order.
    (i32::from(after) + offset).max(0).min(i32::from(max)) as u16
}
