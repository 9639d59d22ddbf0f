//! The looks: named sets of numbers for kinds of footage. `benches/results/looks.md` has the measurements behind them.

use crate::pipeline::InputKind;
use crate::spec::Plateau;
use clap::ValueEnum;

/// Named sets of options.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookArg {
    /// Most video; gray video of more than 8 bits gets thermal, a single image gets exact.
    Natural,
    /// Dark and noisy footage.
    Night,
    /// Fog, haze, under water.
    Haze,
    /// Thermal cameras, and other footage that uses a small part of the range.
    Thermal,
    /// Textbook equalization of each frame by itself.
    Exact,
}

/// The numbers of a look.
pub struct Look {
    /// Length of the temporal window, seconds.
    pub smooth: f64,
    /// Threshold of a scene cut, 0 to 1.
    pub scene_threshold: f64,
    /// Largest slope of the curve; 0 is no limit.
    pub max_gain: f64,
    /// Largest count of a bin.
    pub plateau: Plateau,
    /// Share of the equalization, 0 to 1.
    pub strength: f64,
}

const EXACT: Look = Look { smooth: 0.0, scene_threshold: 1.0, max_gain: 0.0, plateau: Plateau::Off, strength: 1.0 };
const NATURAL: Look = Look { smooth: 2.0, scene_threshold: 0.2, max_gain: 2.5, plateau: Plateau::Off, strength: 1.0 };
const NIGHT: Look = Look { smooth: 3.0, max_gain: 4.0, strength: 0.85, ..NATURAL };
const HAZE: Look = Look { max_gain: 5.0, ..NATURAL };
const THERMAL: Look = Look { max_gain: 0.0, plateau: Plateau::Millionths(1000), ..NATURAL };

impl LookArg {
    /// The numbers of this look for this kind of input.
    pub fn numbers(self, kind: InputKind) -> Look {
        match (self, kind) {
            (LookArg::Exact, _) | (LookArg::Natural, InputKind::Image) => EXACT,
            (LookArg::Thermal, _) | (LookArg::Natural, InputKind::DeepGray) => THERMAL,
            (LookArg::Natural, InputKind::Video) => NATURAL,
            (LookArg::Night, _) => NIGHT,
            (LookArg::Haze, _) => HAZE,
        }
    }
}
