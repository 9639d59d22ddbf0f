//! The luminance of RGB, and the change of an RGB pixel when its luminance is equalized.

/// The weights of red, green and blue in luminance, in 65536ths; they add up to 65536.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The weight of red.
    pub r: u32,
    /// The weight of green.
    pub g: u32,
    /// The weight of blue.
    pub b: u32,
}

impl Weights {
    /// The weights of Rec. ITU-R BT.601.
    pub const BT601: Weights = Weights { r: 19595, g: 38470, b: 7471 };
    /// The weights of Rec. ITU-R BT.709.
    pub const BT709: Weights = Weights { r: 13933, g: 46871, b: 4732 };
    /// The weights of Rec. ITU-R BT.2020.
    pub const BT2020: Weights = Weights { r: 17216, g: 44434, b: 3886 };

    /// The luminance of a pixel, `(r*R + g*G + b*B + 32768) >> 16`. The sum fits 32 bits for samples of 16 bits.
    #[inline]
    pub fn luminance(self, [r, g, b]: [u16; 3]) -> u16 {
        ((self.r * u32::from(r) + self.g * u32::from(g) + self.b * u32::from(b) + 32768) >> 16) as u16
    }
}

/// A component of an RGB pixel after its luminance has moved from `before` to `after`: it moves by the same difference
/// and is clamped to `0..=max`. Equalizing luma in Y'CbCr, with chroma kept, moves R, G and B in the same way.
#[inline]
pub fn moved(component: u16, before: u16, after: u16, max: u16) -> u16 {
    (i32::from(component) + i32::from(after) - i32::from(before)).clamp(0, i32::from(max)) as u16
}
