//! The levels of a video: the codes from black to white.

/// The levels `lo..=hi` of a luma sample of 8 to 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    depth: u8,
    lo: u16,
    hi: u16,
}

impl Levels {
    /// Full range: every code is a level, 0 to `2^depth - 1`, for 1 to 16 bits.
    pub const fn full(depth: u8) -> Self {
        Levels { depth, lo: 0, hi: ((1u32 << depth) - 1) as u16 }
    }

    /// Limited range, as in ITU-R BT.601 and its successors: 16 to 235, times `2^(depth - 8)`, for 8 to 16 bits.
    ///
    /// # Panics
    /// When there are fewer than 8 bits.
    pub const fn limited(depth: u8) -> Self {
        assert!(depth >= 8, "limited range begins with 8 bits");
        Levels { depth, lo: 16 << (depth - 8), hi: 235 << (depth - 8) }
    }

    /// Bits of a sample.
    pub const fn depth(self) -> u8 {
        self.depth
    }

    /// The code of black.
    pub const fn lo(self) -> u16 {
        self.lo
    }

    /// The code of white.
    pub const fn hi(self) -> u16 {
        self.hi
    }

    /// How many levels there are: `hi - lo + 1`.
    pub const fn count(self) -> usize {
        (self.hi - self.lo) as usize + 1
    }

    /// How many codes a sample can have: `2^depth`.
    pub const fn codes(self) -> usize {
        1 << self.depth
    }

    /// These levels in 10 bits; `None` unless they have 8.
    pub const fn with_two_bits_more(self) -> Option<Self> {
        match self {
            Levels { depth: 8, lo: 0, .. } => Some(Levels::full(10)),
            Levels { depth: 8, .. } => Some(Levels::limited(10)),
            _ => None,
        }
    }

    /// The level of `code`, counted from `lo`; codes outside of the levels have the nearest one.
    pub fn level_of(self, code: u16) -> usize {
        usize::from(code.clamp(self.lo, self.hi) - self.lo)
    }

    /// The output for `code`: `out`, limited to the level `ceiling`. Codes whose level is above `ceiling` keep it.
    pub fn under_ceiling(self, code: u16, out: u16, ceiling: u32) -> u16 {
        let (level, highest) = (self.level_of(code) as u16, self.lo + ceiling.min(u32::from(self.hi - self.lo)) as u16);
        if u32::from(level) > ceiling { self.lo + level } else { out.min(highest) }
    }
}
