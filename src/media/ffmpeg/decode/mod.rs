//! Decodes packets into memory of a pool, on the CPU or on a GPU.

pub(crate) mod buffers;
pub(crate) mod decoder;
mod nvdec;
mod surface;

pub use decoder::{DecodeOn, Decoded, Decoder, Delay};
