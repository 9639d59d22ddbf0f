//! The rules in integers: curve, window, scenes, levels, tiles, chroma.

// `--set chroma=follow`.
mod chroma;
// `--method clahe`.
mod clahe;
// The curve, compared with exact fractions.
mod curve;
// Scenes.
mod cuts;
// Conversion from 8 bits to more and back.
mod depth_conversion;
// PQ and HLG.
mod hdr;
// `--bins`, `--plateau`, `--max-gain`.
pub(crate) mod modifiers;
// Levels and colour.
mod tone;
// `--smooth scene`.
mod whole_scenes;
// `--smooth`, `--look-ahead`.
mod window;
