//! All backends against the reference: formats, scenes, noise, masks, GPUs, failures.

// Errors, memory and overlap of the GPU backend.
mod cuda;
// `--denoise`.
mod denoise;
// Frames in GPU memory.
mod device_surfaces;
// Failover between backends.
mod failover;
// Given curves.
mod given_curves;
// All backends: formats, sizes, contents.
pub(crate) mod grid;
// All backends: scenes, levels, colour.
mod guided;
// Masks.
mod sample_weights;
// Frames before the first one.
mod warm_up;
