//! The treatment of colour, for the rows of the CPU backend.

use super::simd::Kernels;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::clahe::Tiles;
use crate::spec::curves::tone::Veil;
use crate::spec::parameters::Chroma;

/// The treatment of the colour (chroma) of a frame.
#[derive(Clone, Copy)]
pub enum Colour<'a> {
    /// Colour stays as it is.
    Keep,
    /// Colour has this gain, in 4096ths.
    Gain(u32),
    /// Colour has the gain at each pixel that removing this veil of haze requires.
    Veil(&'a Veil, Tiles),
}

impl Colour<'_> {
    /// The treatment that `chroma` asks for, with this gain for [`Chroma::Follow`].
    pub fn new(chroma: Chroma, gain: u32) -> Self {
        match chroma {
            Chroma::Follow if gain != UNIT_GAIN => Colour::Gain(gain),
            Chroma::Keep | Chroma::Follow => Colour::Keep,
        }
    }

    /// Whether colour changes.
    pub fn changes(self) -> bool {
        !matches!(self, Colour::Keep)
    }

    /// The gains in row `y` at every `step`-th pixel from the first on; 1 for [`Colour::Keep`].
    pub fn gains(self, kernels: &Kernels, y: usize, step: usize, gains: &mut [u32]) {
        match self {
            Colour::Keep => gains.fill(UNIT_GAIN),
            Colour::Gain(gain) => gains.fill(gain),
            Colour::Veil(veil, tiles) => {
                let mut first = 0;
                for (end, sum, more) in veil.runs_of_gains(&tiles, y, step, gains.len()) {
                    (kernels.ramp)(sum, more, Veil::area(&tiles), &mut gains[first..end]);
                    first = end;
                }
            }
        }
    }
}

impl From<Chroma> for Colour<'_> {
    /// With [`Chroma::Follow`], the gain is 1.
    fn from(chroma: Chroma) -> Self {
        Colour::new(chroma, UNIT_GAIN)
    }
}
