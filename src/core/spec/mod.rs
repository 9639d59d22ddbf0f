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
pub mod curves;
mod guide;
mod luminance;
pub mod measure;
pub mod natural;
pub mod parameters;
pub mod restoration;
pub mod time;
pub mod transfer;

pub use guide::{Cleaning, Guide, Guides};
pub use luminance::{Weights, moved};
pub use measure::{Lattice, Measure};
pub use transfer::Transfer;
