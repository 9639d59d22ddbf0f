//! What is applied to the samples of a frame.

use super::clahe::TileHistograms;
use super::tone::{Balance, Tone, Veil};
use super::{Curve, Levels};
use std::sync::Arc;

/// What is applied to a frame. Frames of a scene can share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// One curve for all samples.
    Curve {
        /// The curve.
        curve: Arc<Curve>,
        /// The gain of chroma where it follows ([`Chroma::Follow`](super::Chroma::Follow)), in 4096ths.
        chroma_gain: u32,
    },
    /// A curve for each tile. [`TileCurves`](super::clahe::TileCurves) are made of this, which takes most of the time and needs
    /// no other frame.
    Tiles {
        /// The counts of the tiles over the window.
        window: Arc<TileHistograms>,
        /// What is done to the levels beside.
        tone: Tone,
    },
    /// A veil is taken off.
    Veil(Arc<Veil>),
    /// Red, green and blue are stretched.
    Balance(Balance),
    /// Red, green and blue are stretched, and what comes of that, in the codes of the frame, is mapped again.
    Balanced {
        /// What is done first.
        balance: Balance,
        /// What is done then: a curve or a veil.
        then: Arc<Mapping>,
    },
}

impl Mapping {
    /// Whether it can be applied to frames with these levels: its curve has an output for each of their codes.
    pub fn suits(&self, levels: Levels) -> bool {
        match self {
            Mapping::Curve { curve, .. } => curve.codes().len() == levels.codes(),
            Mapping::Balanced { then, .. } => then.suits(levels),
            Mapping::Tiles { .. } | Mapping::Veil(_) | Mapping::Balance(_) => true,
        }
    }

    /// Whether it is made of the counts of tiles.
    pub fn has_tiles(&self) -> bool {
        match self {
            Mapping::Tiles { .. } => true,
            Mapping::Balanced { then, .. } => then.has_tiles(),
            Mapping::Curve { .. } | Mapping::Veil(_) | Mapping::Balance(_) => false,
        }
    }
}
