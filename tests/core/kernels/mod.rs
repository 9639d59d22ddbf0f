//! Kernels in an emulator on the CPU, their structures and their arithmetic.

// Structures of the kernels, compared with those in Rust.
mod arguments;
// Arithmetic of the kernels, compared with the specification.
mod arithmetic;
// Kernels in an emulator on the CPU.
mod fused;
// The denoiser's kernels in an emulator on the CPU.
pub(crate) mod noise;
