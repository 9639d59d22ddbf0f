//! The lines of a file of curves.

use crate::frame::{Frame, Range};
use crate::spec::Levels;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Deserialize, Serialize)]
pub struct Header {
    /// The version of the format.
    pub histeq_curves: u32,
    /// What the curves are for.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What frames have to have in common for a curve to mean the same to them.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// Bits of a sample.
    pub depth: u8,
    range: RangeName,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum RangeName {
    Limited,
    Full,
}

/// Every other line.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Line<L> {
    /// The first frame that gets the curve.
    pub frame: u64,
    /// What each code becomes.
    pub lut: L,
}

impl Kind {
    /// That of `frame`.
    pub fn of(frame: &Frame) -> Self {
        let range = match frame.range() {
            Range::Limited => RangeName::Limited,
            Range::Full => RangeName::Full,
        };
        Kind { depth: frame.format().depth(), range }
    }

    /// The levels of such frames.
    pub fn levels(self) -> Levels {
        match self.range {
            RangeName::Limited => Levels::limited(self.depth),
            RangeName::Full => Levels::full(self.depth),
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let range = match self.range {
            RangeName::Limited => "limited",
            RangeName::Full => "full",
        };
        write!(f, "{} bits, {range} range", self.depth)
    }
}
