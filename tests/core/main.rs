//! The tests of `histeq`, as one binary: the backends against the reference, the rules against second implementations,
//! and the kernels on the CPU.

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
// Conversion from 8 bits to more and back.
mod depth_conversion;
// Frames in GPU memory.
mod device_surfaces;
// Helper.
#[path = "../support/failing.rs"]
mod failing;
// Failover between backends.
mod failover;
// Frames and planes.
mod frame;
// Kernels in an emulator on the CPU.
mod fused_kernels;
// Given curves.
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
// Structures of the kernels, compared with those in Rust.
mod kernel_arguments;
// Arithmetic of the kernels, compared with the specification.
mod kernel_arithmetic;
// Limits of memory, pixels and threads.
mod limits;
// `--bins`, `--plateau`, `--max-gain`.
mod modifiers;
// The denoiser's kernels in an emulator on the CPU.
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
// The curve, compared with exact fractions.
mod spec;
// Levels and colour.
mod tone;
// Frames before the first one.
mod warm_up;
// `--smooth scene`.
mod whole_scenes;
// `--smooth`, `--look-ahead`.
mod window;
