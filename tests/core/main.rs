//! The tests of `histeq`, one binary: the backends against the reference, the rules against second computations of them, and
//! the kernels on this machine.

// Helper.
#[path = "../support/backends.rs"]
mod backends;
// `--set chroma=follow`.
mod chroma;
// `--method clahe`.
mod clahe;
// Vectors for ports.
mod conformance;
// Errors, memory and overlap of the GPU backend.
mod cuda;
// Scenes.
mod cuts;
// `--denoise`.
mod denoise;
// 8 bits to more and back.
mod depth_conversion;
// Pictures that are on the GPU already.
mod device_surfaces;
// Helper.
#[path = "../support/failing.rs"]
mod failing;
// A backend that takes over from another.
mod failover;
// Frames and planes.
mod frame;
// Kernels on this machine, as C++.
mod fused_kernels;
// Curves that are given.
mod given_curves;
// All backends: formats, sizes, contents.
mod grid;
// All backends: scenes, levels, colour.
mod guided;
// PQ and HLG.
mod hdr;
// Helper.
#[path = "../support/host_program.rs"]
mod host_program;
// Helper.
#[path = "../support/kept_files.rs"]
mod kept_files;
// Structures of kernels beside those of Rust.
mod kernel_arguments;
// Arithmetic of kernels beside the specification.
mod kernel_arithmetic;
// `--bins`, `--plateau`, `--max-gain`.
mod modifiers;
// Kernels of the denoiser on this machine.
mod noise_kernels;
// Helper.
#[path = "../support/pictures.rs"]
mod pictures;
// Helper.
#[path = "../support/random.rs"]
mod random;
// Masks.
mod sample_weights;
// Helper.
#[path = "../support/skip.rs"]
mod skip;
// The curve beside exact fractions.
mod spec;
// Levels and colour.
mod tone;
// Frames before the first one.
mod warm_up;
// `--smooth scene`.
mod whole_scenes;
// `--smooth`, `--look-ahead`.
mod window;
