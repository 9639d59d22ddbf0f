//! The specification of equalization, in integers: every backend gives the same bytes.
//!
//! ```text
//! Lattice -> Measure -> Guides: cuts, tone -> Guide
//! Counts, Guide -> Temporal: Scenes -> WindowSums -> modifiers -> Curve (tone) -> LookAhead -> Decision
//! Counts, Measure of all frames -> WholeScenes -> one Mapping a scene
//! ```
//!
//! The input is counts (a histogram of luminance), the output is a [`Curve`]. This module uses counts and codes, not
//! frames.
//!
//! Rules beyond the published formula:
//! * *Strength* blends each **code** with its output, codes outside of [lo, hi] too. So a strength of k/256 moves each
//!   code by k/256 of the full distance, and strength 0 is the identity for every code.
//! * *Levels* are stretched before strength blends: then it blends the stretched code with the output; the rules are in
//!   [`tone`].
//! * *Chroma* stays as it is, or follows the gain of the levels; the rules are in [`chroma`].
//! * *Local equalization* has one curve for each tile instead of one for the frame; the rules are in [`clahe`].
//! * With a *mask*, each sample has a weight, the count of a level is the sum of the weights of its samples, and points
//!   of the [`Lattice`] whose weight is 0 are left out of the [`Measure`]; a cap in samples is multiplied by the
//!   largest weight (`equalize::Mask`).
//! * With *whole scenes*, all frames of a scene have one mapping, that of the sums over the scene ([`WholeScenes`]).
//! * A sample whose bits exceed its depth (9 bits set in a 16-bit word that should hold 8) is read as the highest code.

pub mod chroma;
pub mod clahe;
mod curve;
pub mod cuts;
pub mod deflicker;
pub mod detail;
mod equalization;
pub mod faint;
pub mod film;
pub mod flicker;
mod guide;
mod histogram;
mod levels;
mod look;
mod look_ahead;
mod luminance;
mod mapping;
pub mod measure;
pub mod modifiers;
pub(crate) mod named;
pub mod natural;
pub mod noise;
mod scenes;
pub(crate) mod setters;
mod settings;
mod strength;
mod temporal;
pub mod tone;
pub mod transfer;
mod whole_scenes;
mod window;

pub use curve::Curve;
pub use cuts::Change;
pub use equalization::{CurveStep, Equalization, TileStep};
pub use guide::{Cleaning, Guide, Guides};
pub use histogram::Histogram;
pub use levels::Levels;
pub use look::{Look, LookParameters, MethodName};
pub use look_ahead::LookAhead;
pub use luminance::{Weights, moved};
pub use mapping::Mapping;
pub use measure::{Lattice, Measure};
pub use named::Named;
pub(crate) use named::named;
pub use scenes::{EvictedFrame, SceneWindows, WindowUpdate};
pub(crate) use setters::setters;
pub use settings::{
    Chroma, Cleaner, Denoise, Effort, Gain, Method, OutputDepth, Plateau, Rect, Region, Settings, Smoothing, Stretch,
    Threshold, WindowKind, bins,
};
pub use strength::Strength;
pub use temporal::{Counts, Decision, Remembered, Scene, Temporal};
pub use tone::{Line, Tone};
pub use transfer::Transfer;
pub use whole_scenes::{MappedScene, MappedScenes, WholeScenes};
pub use window::WindowSums;
