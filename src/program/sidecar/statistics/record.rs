//! The record of a frame: a row of the table.

use serde::{Deserialize, Serialize};

/// The measurements of a frame: *before* of the input, *after* of the equalized frame. Luminance is in codes of the
/// video's own depth, and that of the whole frame, even if only a part of it was counted for the curve.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FrameRecord {
    /// Number of the frame, from 0.
    pub frame: u64,
    /// Its presentation time in seconds, if known.
    pub time: Option<f64>,
    /// Number of its scene, from 0.
    pub scene: u64,
    /// Whether it is the first after a cut.
    pub cut: bool,
    /// Whether it is the first after a flash.
    pub after_flash: bool,
    /// Mean luminance.
    pub mean_before: f64,
    /// Mean luminance.
    pub mean_after: f64,
    /// Standard deviation of luminance, in levels.
    pub deviation_before: f64,
    /// Standard deviation of luminance, in levels.
    pub deviation_after: f64,
    /// Shannon's entropy of luminance, in bits.
    pub entropy_before: f64,
    /// Shannon's entropy of luminance, in bits.
    pub entropy_after: f64,
    /// Local contrast: EME over blocks of 8 x 8 pixels.
    pub eme_before: f64,
    /// Local contrast: EME over blocks of 8 x 8 pixels.
    pub eme_after: f64,
    /// Absolute difference of the means (absolute mean brightness error), in levels.
    pub ambe: f64,
    /// The lowest of the levels that the scene uses, which are stretched; empty if levels are not stretched.
    pub low: Option<u32>,
    /// The highest of these levels.
    pub high: Option<u32>,
    /// The gain of the stretch, also that of chroma where it follows luma: with haze, the mean over the regions; with a
    /// colour cast, over red, green and blue.
    pub gain: f64,
    /// Largest slope of the curve, in output levels an input level; with CLAHE, of the curves of all tiles. 0
    /// where no curve is applied, as to haze.
    pub slope: u16,
    /// How many of the levels in use are mapped to the same output as the level below, so that they cannot be told
    /// apart afterwards; empty if the frame does not have a single curve.
    pub merged: Option<u32>,
    /// Mean absolute difference from the curve of the frame before, in levels; 0 for the first frame. With CLAHE, the
    /// mean over the curves of all tiles.
    pub curve_change: f64,
    /// Milliseconds of decoding since the record before.
    pub decode_ms: f64,
    /// Milliseconds of equalizing since the record before, without the time of the measurements.
    pub equalize_ms: f64,
    /// Milliseconds of encoding and writing since the record before.
    pub encode_ms: f64,
    /// How sure it is that the frame is too dark, 0 to 1. This and the following fields are those of `found` in
    /// `--progress json`, for a single frame; empty with other methods than natural.
    pub found_dark: Option<f64>,
    /// How many times brighter it should be.
    pub found_exposure: Option<f64>,
    /// How many times more contrast it should have.
    pub found_contrast: Option<f64>,
    /// The share of haze.
    pub found_haze: Option<f64>,
    /// The share of a colour cast.
    pub found_cast: Option<f64>,
    /// The share of its noise that is removed.
    pub found_noise: Option<f64>,
    /// The share of flicker that is evened out.
    pub found_flicker: Option<f64>,
    /// Whether bars and captions are left out.
    pub found_bars: Option<f64>,
    pub found_captions: Option<f64>,
}
