//! The looks: named sets of parameters for kinds of footage. `benches/results/natural.md` has their results.

use super::named::named;
use super::{Chroma, Plateau};
use crate::spec::natural::Assumed;

named! {
    /// A named set of parameters.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Look {
        #[default]
        Natural = "natural" | "auto", "What each scene lacks, and contrast; gray video of more than 8 bits gets thermal";
        Night = "night", "The same, sure that it is dark";
        Haze = "haze", "The same, sure of haze, fog, smoke";
        Underwater = "underwater", "The same, sure of a cast, as under water";
        Faithful = "faithful", "Faults alone: what lacks nothing stays as it is";
        Thermal = "thermal", "Thermal cameras, and other footage that uses a small part of the range";
        Exact = "exact", "Textbook equalization of each frame by itself";
    }
}

named! {
    /// A method by name; [`Method`](super::Method) has the parameters.
    #[non_exhaustive]
    pub enum MethodName {
        Global = "global", "One curve for the frame";
        Clahe = "clahe", "A curve per tile, blended between tiles (contrast-limited adaptive histogram equalization)";
        Detail = "detail", "Small differences of brightness are brought out beside large ones, edges without halos";
        Deflicker = "deflicker", "Flicker of the light is evened out: of the frame, of a colour, in patches, in bands that roll";
        Asinh = "asinh", "What is faint in linear data, as telescopes record, is brought up by asinh";
        Midtones = "midtones", "The same by the midtones function of astronomers";
        Natural = "natural", "What each scene lacks: light, contrast, colour; a veil goes";
    }
}

impl MethodName {
    /// Whether each tile gets a curve.
    #[doc(hidden)]
    pub fn has_tiles(self) -> bool {
        matches!(self, MethodName::Clahe | MethodName::Detail)
    }

    /// Whether the method equalizes histograms, so that plateau, slope limit and number of bins apply.
    #[doc(hidden)]
    pub fn equalizes(self) -> bool {
        self == MethodName::Global || self.has_tiles()
    }
}

/// The parameters of a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookParameters {
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
    /// Largest factor by which the levels in use are stretched, 1 or more.
    pub levels: f64,
    /// Whether the levels in use are stretched to the whole range, however few they are.
    pub fills_range: bool,
    /// Largest slope of the curve of a tile, in multiples of that of the stretched levels; 0 is no limit.
    pub max_gain_of_tiles: f64,
    /// Gain of detail, with [`MethodName::Detail`].
    pub gain_of_detail: f64,
    /// The method.
    pub method: MethodName,
    /// The deficiency that [`MethodName::Natural`] assumes instead of measuring it.
    pub assumed: Assumed,
    /// With [`MethodName::Natural`], whether faults alone are corrected; else contrast and light are set as viewers
    /// choose them, also where nothing is lacking.
    pub faithful: bool,
    /// The treatment of chroma.
    pub chroma: Chroma,
}

const EXACT: LookParameters = LookParameters {
    smooth: 0.0,
    scene_threshold: 1.0,
    max_gain: 0.0,
    plateau: Plateau::Off,
    strength: 1.0,
    levels: 1.0,
    fills_range: false,
    max_gain_of_tiles: 3.0,
    gain_of_detail: 2.0,
    method: MethodName::Global,
    assumed: Assumed::Nothing,
    faithful: false,
    chroma: Chroma::Keep,
};
const NATURAL: LookParameters = LookParameters {
    smooth: 2.0,
    scene_threshold: 0.25,
    max_gain: 1.5,
    strength: 0.25,
    levels: 8.0,
    max_gain_of_tiles: 2.0,
    method: MethodName::Natural,
    chroma: Chroma::Follow,
    ..EXACT
};
const NIGHT: LookParameters = LookParameters { assumed: Assumed::Dark, strength: 0.0, levels: 12.0, ..NATURAL };
const HAZE: LookParameters = LookParameters { assumed: Assumed::Veil, ..NATURAL };
const UNDERWATER: LookParameters = LookParameters { assumed: Assumed::Cast, ..NATURAL };
const THERMAL: LookParameters = LookParameters {
    smooth: 2.0,
    scene_threshold: 0.25,
    plateau: Plateau::Millionths(1000),
    strength: 0.75,
    fills_range: true,
    max_gain_of_tiles: 32.0,
    gain_of_detail: 4.0,
    ..EXACT
};

impl Look {
    /// The parameters of this look, for gray video of more than 8 bits if `is_deep_gray`: thermal cameras, medical
    /// pictures.
    #[doc(hidden)]
    pub fn parameters(self, is_deep_gray: bool) -> LookParameters {
        match self {
            Look::Exact => EXACT,
            Look::Natural | Look::Faithful if is_deep_gray => THERMAL,
            Look::Natural => NATURAL,
            Look::Faithful => LookParameters { faithful: true, ..NATURAL },
            Look::Night => NIGHT,
            Look::Haze => HAZE,
            Look::Underwater => UNDERWATER,
            Look::Thermal => THERMAL,
        }
    }
}
