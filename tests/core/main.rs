//! The tests of `histeq`, one binary: the backends against the reference, the rules against second computations of them, and
//! the kernels on this machine.

#[path = "../support/backends.rs"]
mod backends;
mod chroma;
mod clahe;
mod conformance;
mod cuda;
mod curves;
mod cuts;
mod denoise;
mod depth;
mod device_surfaces;
#[path = "../support/failing.rs"]
mod failing;
mod failover;
mod frame;
mod fused_kernels;
mod grid;
mod guided;
mod hdr;
#[path = "../support/host_program.rs"]
mod host_program;
#[path = "../support/kept_files.rs"]
mod kept_files;
mod kernel_arguments;
mod kernel_arithmetic;
mod masks;
mod modifiers;
mod noise_kernels;
#[path = "../support/pictures.rs"]
mod pictures;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/skip.rs"]
mod skip;
mod spec;
mod tone;
mod warm_up;
mod whole_scenes;
mod window;
