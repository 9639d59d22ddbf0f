//! The lines of a curve file.

use histeq::frame::{Frame, Range};
use histeq::spec::Levels;
use histeq::spec::chroma::UNIT_GAIN;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Deserialize, Serialize)]
pub struct Header {
    /// The version of the format.
    pub histeq_curves: u32,
    /// The format of its curves.
    #[serde(flatten)]
    pub format: CurveFormat,
}

/// Depth and range of curves, and of the frames that they fit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct CurveFormat {
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

/// Every other line: a curve.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CurveLine<L> {
    /// Number of the first frame with this curve.
    pub frame: u64,
    /// The output code for each input code.
    pub lut: L,
    /// The gain of chroma where it follows, in 4096ths; left out where that is 1.
    #[serde(default = "unit_gain", skip_serializing_if = "is_unit_gain")]
    pub chroma_gain: u32,
}

fn unit_gain() -> u32 {
    UNIT_GAIN
}

fn is_unit_gain(gain: &u32) -> bool {
    *gain == UNIT_GAIN
}

impl CurveFormat {
    /// The format of curves for `frame`.
    pub fn of(frame: &Frame) -> Self {
        let range = match frame.range() {
            Range::Limited => RangeName::Limited,
            Range::Full => RangeName::Full,
        };
        CurveFormat { depth: frame.format().depth(), range }
    }

    /// The levels of frames with this depth and range.
    pub fn levels(self) -> Levels {
        match self.range {
            RangeName::Limited => Levels::limited(self.depth),
            RangeName::Full => Levels::full(self.depth),
        }
    }
}

impl Display for CurveFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let range = match self.range {
            RangeName::Limited => "limited",
            RangeName::Full => "full",
        };
        write!(f, "{} bits, {range} range", self.depth)
    }
}
