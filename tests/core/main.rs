//! The tests of `histeq`, one binary: the backends against the reference, the rules against second computations of them, and
//! the kernels on this machine.

#[path = "../support/backends.rs"]
mod backends;
mod chroma;
mod clahe;
mod conformance;
mod cuda;
mod cuts;
mod denoise;
mod depth_conversion;
mod device_surfaces;
#[path = "../support/failing.rs"]
mod failing;
mod failover;
mod frame;
mod fused_kernels;
mod given_curves;
mod grid;
mod guided;
mod hdr;
#[path = "../support/host_program.rs"]
mod host_program;
#[path = "../support/kept_files.rs"]
mod kept_files;
mod kernel_arguments;
mod kernel_arithmetic;
mod modifiers;
mod noise_kernels;
#[path = "../support/pictures.rs"]
mod pictures;
#[path = "../support/random.rs"]
mod random;
mod sample_weights;
#[path = "../support/skip.rs"]
mod skip;
mod spec;
mod tone;
mod warm_up;
mod whole_scenes;
mod window;
