//! The specification of equalization, in integers: every backend gives the same bytes.
//!
//! ```text
//! Counts -> Temporal: Scenes -> WindowSums -> modifiers -> Curve (cumulative sum, strength) -> LookAhead -> Decision
//! ```
//!
//! The input is counts (a histogram of luminance), the output is a [`Curve`]. This module uses counts and codes, not frames.
//!
//! Rules beyond the published formula:
//! * *Strength* blends each **code** with its output, codes outside of [lo, hi] too. So a strength of k/256 moves each code
//!   by k/256 of the full distance, and strength 0 is the identity for every code.
//! * *Chroma* stays as it is, or is scaled with luma; the rules are in [`chroma`].
//! * *Local equalization* has one curve for each tile instead of one for the frame; the rules are in [`clahe`].
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
pub use equalization::{CurveStep, Equalization, TileStep};
pub use histogram::Histogram;
pub use levels::Levels;
pub use look_ahead::LookAhead;
pub use luminance::{Weights, moved};
pub use scenes::{COARSE, EvictedFrame, Scenes, WindowUpdate};
pub use settings::{Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Threshold, bins};
pub use strength::Strength;
pub use temporal::{Counts, Decision, Mapping, Remembered, Scene, Temporal};
pub use window::WindowSums;
