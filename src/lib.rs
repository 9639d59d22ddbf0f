//! Histogram equalization for video.
//!
//! The way of a frame: a source decodes it, an [`equalize`] backend equalizes it, a sink encodes it; the
//! pipeline runs the three side by side.
//!
//! | room | what it is | may use |
//! |---|---|---|
//! | [`spec`] | histogram, curve, strength: pure integers | nothing |
//! | [`frame`] | a picture: format, planes, pool | nothing |
//! | [`equalize`] | the backends: reference, CPU, CUDA | spec, frame, cuda |

pub mod cli;
pub mod equalize;
pub mod ffmpeg;
pub mod frame;
pub mod pipeline;
pub mod report;
pub mod sink;
pub mod source;
pub mod spec;
