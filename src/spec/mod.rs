//! What a frame becomes, in integers: the one specification that every backend meets byte for byte.
//!
//! A histogram of the luminance goes in, a [`Curve`] comes out:
//! `histogram -> modifiers -> cumulative sum -> lookup table -> strength`. This module knows counts and codes, no frames.
//!
//! Rules that the published formula leaves open, settled here:
//! * *Strength* blends each **code** with what equalization makes of it, codes outside of [lo, hi] too: a weak curve
//!   then moves nothing by more than its share, and strength 0 is the identity on every code.
//! * *Colour* follows luma if it is asked to; [`chroma`] has its rules.
//! * *Local equalization* has a curve a tile instead of one a frame; [`clahe`] has its rules.
//! * A sample whose bits exceed its depth (9 bits set in a 16-bit word that should hold 8) is read as the highest code.

pub mod chroma;
pub mod clahe;
mod curve;
mod equalization;
mod histogram;
mod levels;
mod look_ahead;
mod luminance;
pub mod modifiers;
mod scenes;
mod settings;
mod strength;
mod temporal;
mod window;

pub use curve::Curve;
pub use equalization::{Equalization, Step, TileStep};
pub use histogram::Histogram;
pub use levels::Levels;
pub use look_ahead::LookAhead;
pub use luminance::{Weights, moved};
pub use scenes::{COARSE, EvictedFrame, Scenes, WindowUpdate};
pub use settings::{Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Threshold, bins};
pub use strength::Strength;
pub use temporal::{Counts, Decision, Mapping, Remembered, Scene, Temporal};
pub use window::Window;
