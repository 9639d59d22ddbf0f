//! Histogram equalization for video.
//!
//! The way of a frame: a source decodes it, an [`equalize`] backend equalizes it, a sink encodes it; the
//! pipeline runs the three side by side.
//!
//! | room | what it is | may use |
//! |---|---|---|
//! | [`spec`] | histogram, curve, strength: pure integers | nothing |
//! | [`frame`] | a picture: format, planes, pool | nothing |
//! | [`cuda`] | a GPU: memory, streams, kernels | frame, spec |
//! | [`equalize`] | the backends: reference, CPU, CUDA | spec, frame, cuda |

pub mod cuda;
pub mod equalize;
pub mod frame;
pub mod spec;
