//! The strength of equalization: the share of the equalized picture in the output.

/// A share in 256ths, from 0 (the input) to 256 (fully equalized).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength(u16);

impl Strength {
    /// Fully equalized.
    pub const FULL: Strength = Strength(256);

    /// A strength of `share`, as `round(256 * share)`; `None` unless `share` is between 0 and 1.
    pub fn from_share(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Strength((share * 256.0).round() as u16))
    }

    /// A strength of `share` 256ths, at most 256.
    pub const fn from_256ths(share: u32) -> Self {
        Strength(if share > 256 { 256 } else { share as u16 })
    }

    /// The value that lies this share of the way from `before` to `after`, rounded to the nearest.
    pub const fn between(self, before: i64, after: i64) -> i64 {
        before + (((after - before) * self.0 as i64 + 128) >> 8)
    }

    /// The share, in 256ths.
    pub const fn to_256ths(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Strength {
    fn default() -> Self {
        Strength::FULL
    }
}
