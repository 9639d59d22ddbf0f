//! The tests of `histeq-lab`, one binary: what needs no program.

#[path = "../helpers/backends.rs"]
mod backends;
mod figures;
#[path = "../helpers/host_program.rs"]
mod host_program;
#[path = "../helpers/kept_files.rs"]
mod kept_files;
#[path = "../helpers/pictures.rs"]
mod pictures;
#[path = "../helpers/random.rs"]
mod random;
#[path = "../helpers/skip.rs"]
mod skip;
mod variant_kernels;
mod variants;
