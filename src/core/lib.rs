//! Histogram equalization of video frames: arrays in, arrays out, on the CPU or on an NVIDIA GPU, with the same bytes.
//!
//! # Modules
//! Lowest layer first. Each may use what its row names; a test holds the code to it.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`spec`] | the rules in integers: histogram, temporal window, scenes, curve, tiles, chroma | |
//! | [`frame`] | a picture: format, planes, pool | spec |
//! | [`cuda`] | a GPU: memory, streams, kernels | frame, spec |
//! | [`equalize`] | the backends: reference, CPU, CUDA | spec, frame, cuda |

#[cfg(feature = "cuda")]
pub mod cuda;
pub mod equalize;
mod error;
pub mod frame;
pub mod spec;

pub use error::{CallerError, Error, Result};
