//! Clips, readers of files, the order of samples, and a slow implementation of the specification.

// Clips that several test modules use.
pub mod clips;
// The order of samples in each pixel format.
pub mod layout;
// Readers of files: FFmpeg's tools and libraries.
pub mod reader;
// A slow implementation of the specification.
pub mod textbook;
