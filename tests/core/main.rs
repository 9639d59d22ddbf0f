//! The tests of `histeq`, as one binary: the backends against the reference, the rules against second implementations,
//! and the kernels on the CPU.

// Helper.
#[path = "../support/backends.rs"]
mod backends;
// Vectors for ports.
mod conformance;
// Helper.
#[path = "../support/failing.rs"]
mod failing;
// Frames and planes.
mod frame;
// Helper.
#[path = "../support/host_program.rs"]
mod host_program;
// Helper.
#[path = "../support/kept_files.rs"]
mod kept_files;
// Limits of memory, pixels and threads.
mod limits;
// Helper.
#[path = "../support/pictures.rs"]
mod pictures;
// Helper.
#[path = "../support/random.rs"]
mod random;
// Helper.
#[path = "../support/skip.rs"]
mod skip;
// All backends against the reference.
mod equalize;
// Kernels in an emulator on the CPU, their structures and their arithmetic.
mod kernels;
// The rules in integers.
mod spec;
