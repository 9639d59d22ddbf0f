//! The tests of `histeq-lab`, one binary: what needs no program.

#[path = "../support/backends.rs"]
mod backends;
mod figures;
#[path = "../support/host_program.rs"]
mod host_program;
#[path = "../support/kept_files.rs"]
mod kept_files;
#[path = "../support/pictures.rs"]
mod pictures;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/skip.rs"]
mod skip;
mod variant_kernels;
mod variants;
