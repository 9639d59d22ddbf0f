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
//! | [`options`] | what a caller asks for, and the settings that it means for a video | spec, frame, equalize |

#[cfg_attr(not(feature = "cuda"), path = "without_cuda.rs")]
pub mod cuda;
pub mod equalize;
mod error;
pub mod frame;
mod note;
pub mod options;
pub mod spec;

pub use error::{CallerError, Error, Result};
pub use note::{Note, Notes};
