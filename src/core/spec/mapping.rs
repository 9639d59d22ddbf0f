//! What is applied to the samples of a frame.

use super::Curve;
use super::clahe::TileHistograms;
use super::tone::{Balance, Tone, Veil};
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
}
