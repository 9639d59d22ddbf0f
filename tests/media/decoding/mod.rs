//! How files are decoded: pixel formats, several decoders, GPUs, without copies.

// The table of pixel formats, compared with FFmpeg's.
mod formats;
// Frames that are not copied.
pub mod in_place;
// Decoding on a GPU.
pub mod nvdec;
// Several decoders for one file.
mod pieces;
