//! The looks: named sets of numbers for kinds of footage. `benches/results/pictures.md` has the measurements behind them.

use clap::ValueEnum;
use histeq::spec::{Footage, Plateau};
use histeq_media::pipeline::InputKind;
use histeq_media::source::DenoiseKind;

/// Named sets of options.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookArg {
    /// Most video; gray video of more than 8 bits gets thermal.
    Natural,
    /// Dark and noisy footage.
    Night,
    /// Haze, fog, smoke.
    Haze,
    /// Under water.
    Underwater,
    /// Thermal cameras, and other footage that uses a small part of the range.
    Thermal,
    /// Textbook equalization of each frame by itself.
    Exact,
    /// One of natural, night, haze and underwater: what suits the first two seconds.
    Auto,
}

/// What is done to a frame.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodArg {
    /// One curve for the frame.
    Global,
    /// A curve per tile, blended between tiles (contrast-limited adaptive histogram equalization).
    Clahe,
    /// A veil of haze is taken off, more of it where it is denser.
    Dehaze,
    /// Flicker of the light is evened out.
    Deflicker,
    /// Red, green and blue are each stretched by themselves, which takes a cast away.
    Balance,
}

/// What happens to colour.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChromaArg {
    /// Colour stays as it is.
    Keep,
    /// Saturation grows with the contrast of the stretched levels.
    Follow,
    /// Saturation rises and falls with brightness.
    Scale,
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
    /// The most that the levels in use are stretched, 1 or more.
    pub levels: f64,
    /// Where each tile has a curve, the levels in use are stretched to the whole range, however few they are.
    pub fills_range: bool,
    /// Largest slope of the curve of a tile, in multiples of that of the stretched levels; 0 is no limit.
    pub max_gain_of_tiles: f64,
    /// They are stretched fully and lifted, as dark footage needs.
    pub is_dark: bool,
    /// What is done.
    pub method: MethodArg,
    /// What happens to colour.
    pub chroma: ChromaArg,
    /// What removes noise first.
    pub denoise: Option<DenoiseKind>,
}

const EXACT: Look = Look {
    smooth: 0.0,
    scene_threshold: 1.0,
    max_gain: 0.0,
    plateau: Plateau::Off,
    strength: 1.0,
    levels: 1.0,
    fills_range: false,
    max_gain_of_tiles: 3.0,
    is_dark: false,
    method: MethodArg::Global,
    chroma: ChromaArg::Keep,
    denoise: None,
};
const NATURAL: Look = Look {
    smooth: 2.0,
    scene_threshold: 0.25,
    max_gain: 1.5,
    strength: 0.25,
    levels: 8.0,
    max_gain_of_tiles: 2.0,
    chroma: ChromaArg::Follow,
    ..EXACT
};
const NIGHT: Look =
    Look { smooth: 3.0, strength: 0.0, levels: 12.0, is_dark: true, denoise: Some(DenoiseKind::Strong), ..NATURAL };
const HAZE: Look = Look { method: MethodArg::Dehaze, ..NATURAL };
const UNDERWATER: Look = Look { method: MethodArg::Balance, denoise: Some(DenoiseKind::Light), ..NATURAL };
const THERMAL: Look = Look {
    smooth: 2.0,
    scene_threshold: 0.25,
    plateau: Plateau::Millionths(1000),
    fills_range: true,
    max_gain_of_tiles: 32.0,
    ..EXACT
};

impl LookArg {
    /// The numbers of this look for this kind of input.
    pub fn numbers(self, kind: InputKind) -> Look {
        match (self, kind) {
            (LookArg::Exact, _) => EXACT,
            (LookArg::Thermal, _) | (LookArg::Natural | LookArg::Auto, InputKind::DeepGray) => THERMAL,
            (LookArg::Natural | LookArg::Auto, InputKind::Video) => NATURAL,
            (LookArg::Night, _) => NIGHT,
            (LookArg::Haze, _) => HAZE,
            (LookArg::Underwater, _) => UNDERWATER,
        }
    }
}

impl LookArg {
    /// The look that suits this footage.
    pub fn for_footage(footage: Footage) -> Self {
        match footage {
            Footage::UnderWater { .. } => LookArg::Underwater,
            Footage::Dark { .. } => LookArg::Night,
            Footage::Hazy { .. } => LookArg::Haze,
            Footage::Other { .. } => LookArg::Natural,
        }
    }

    /// What is said of that choice.
    pub fn reason(footage: Footage) -> String {
        match footage {
            Footage::UnderWater { red, others } => {
                format!("--look auto: underwater, since red is weak (mean {red}, the other colours {others}, of 255)")
            }
            Footage::Dark { brightest, mean } => {
                format!("--look auto: night, since nothing is bright (mean {mean}, brightest {brightest}, of 255)")
            }
            Footage::Hazy { clearest, densest } => format!(
                "--look auto: haze, since nothing is dark, some regions less than others ({clearest} to {densest} of 255)"
            ),
            Footage::Other { darkest, brightest } => {
                format!("--look auto: natural (levels {darkest} to {brightest} of 255 are used)")
            }
        }
    }
}
