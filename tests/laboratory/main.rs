//! The tests of `histeq-lab`, the program and the library behind it, one binary.

// The program.
mod bench;
// The publications' figures.
mod figures;
// Command lines in the pages.
mod pages;
// Helpers of all tests.
#[path = "../support"]
mod support {
    // The backends that tests of bytes go through.
    pub mod backends;
    // C++ for this machine.
    pub mod host_program;
    // Files that are kept from run to run.
    pub mod kept_files;
    // A library that is loaded before the program.
    pub mod loaded;
    // Pictures to equalize.
    pub mod pictures;
    // The program in a folder of its own.
    pub mod program;
    // Random numbers.
    pub mod random;
    // Programs that run beside a test.
    pub mod running;
    // Skips.
    pub mod skip;

    /// The program under test, and the variable that names another one.
    pub const PROGRAM: (&str, &str) = ("HISTEQ_LAB_BIN", env!("CARGO_BIN_EXE_histeq-lab"));
}
// The kernels on this machine, as C++.
mod variant_kernels;
// Variants against arithmetic by hand, and in videos.
mod variants;
