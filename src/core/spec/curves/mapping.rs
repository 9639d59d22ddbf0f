//! The mapping of the samples of a frame.

use super::tone::{Balance, Tone, Veil, part_of_gain};
use super::{Curve, Levels, Line};
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::clahe::TileHistograms;
use crate::spec::parameters::Strength;
use std::sync::Arc;

/// The mapping of a frame. Frames of a scene can share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// One curve for all samples.
    Curve {
        /// The curve.
        curve: Arc<Curve>,
        /// The gain of chroma where it follows ([`Chroma::Follow`](crate::spec::parameters::Chroma::Follow)), in 4096ths.
        chroma_gain: u32,
    },
    /// A curve for each tile. [`TileCurves`](crate::spec::clahe::TileCurves) are computed from it later, which takes most of
    /// the time and needs no other frame.
    Tiles {
        /// The counts of the tiles over the window.
        window: Arc<TileHistograms>,
        /// The stretch, the contrast limit and the gain of chroma.
        tone: Tone,
    },
    /// A veil, such as haze, is removed, region by region.
    Veil(Arc<Veil>),
    /// Red, green and blue have a gain and an offset each.
    Balance(Balance),
    /// Red, green and blue have a gain and an offset each, and the result, in the codes of the frame, is mapped again.
    Balanced {
        /// The gains and offsets, which are applied first.
        balance: Balance,
        /// What is applied second: a curve or a veil.
        then: Arc<Mapping>,
    },
}

impl Mapping {
    /// Whether the mapping can be applied to frames with these levels: its curve has an output for each of their codes.
    pub fn suits(&self, levels: Levels) -> bool {
        match self {
            Mapping::Curve { curve, .. } => curve.codes().len() == levels.codes(),
            Mapping::Balanced { then, .. } => then.suits(levels),
            Mapping::Tiles { .. } | Mapping::Veil(_) | Mapping::Balance(_) => true,
        }
    }

    /// The mapping at this strength, for frames with these levels; at strength 0 it leaves frames as they are. A
    /// mapping of tiles stays as it is, because the strength of the settings is applied to its curves later.
    #[must_use]
    pub fn with_strength(&self, levels: Levels, strength: Strength) -> Self {
        match self {
            _ if strength == Strength::FULL || self.has_tiles() => self.clone(),
            _ if strength.to_256ths() == 0 => {
                Mapping::Curve { curve: Curve::identity(levels).into(), chroma_gain: UNIT_GAIN }
            }
            Mapping::Curve { curve, chroma_gain } => Mapping::Curve {
                curve: Curve::clone(curve).blended(levels, &Line::IDENTITY, strength).into(),
                chroma_gain: part_of_gain(*chroma_gain, strength),
            },
            Mapping::Tiles { .. } => self.clone(),
            Mapping::Veil(veil) => Mapping::Veil(veil.with_strength(strength).into()),
            Mapping::Balance(balance) => Mapping::Balance(balance.with_strength(strength)),
            Mapping::Balanced { balance, then } => Mapping::Balanced {
                balance: balance.with_strength(strength),
                then: then.with_strength(levels, strength).into(),
            },
        }
    }

    /// The approximate number of bytes on the heap that the mapping needs.
    pub fn bytes(&self) -> usize {
        match self {
            Mapping::Curve { curve, .. } => size_of_val(curve.codes()),
            Mapping::Tiles { window, .. } => window.bytes(),
            Mapping::Veil(veil) => size_of_val(&**veil),
            Mapping::Balance(_) => 0,
            Mapping::Balanced { then, .. } => size_of_val(&**then) + then.bytes(),
        }
    }

    /// Whether the mapping is computed from the counts of tiles.
    pub fn has_tiles(&self) -> bool {
        match self {
            Mapping::Tiles { .. } => true,
            Mapping::Balanced { then, .. } => then.has_tiles(),
            Mapping::Curve { .. } | Mapping::Veil(_) | Mapping::Balance(_) => false,
        }
    }
}
