//! The tests of `histeq-lab`, one binary: what needs no program.

// Helper.
#[path = "../support/backends.rs"]
mod backends;
// The publications' figures.
mod figures;
// Helper.
#[path = "../support/host_program.rs"]
mod host_program;
// Helper.
#[path = "../support/kept_files.rs"]
mod kept_files;
// Helper.
#[path = "../support/pictures.rs"]
mod pictures;
// Helper.
#[path = "../support/random.rs"]
mod random;
// Helper.
#[path = "../support/skip.rs"]
mod skip;
// The kernels on this machine, as C++.
mod variant_kernels;
// Variants against arithmetic by hand, and in videos.
mod variants;
