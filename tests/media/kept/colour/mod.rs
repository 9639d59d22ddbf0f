//! Colours: matrices, range, transparency, and what is lossless.

// Transparency.
pub(crate) mod alpha;
// The matrix of each format, and colours and pixels that it cannot signal.
mod colours;
// Lossless input, and notes where the output is lossy.
mod lossless;
// Limited and full range.
mod range;
