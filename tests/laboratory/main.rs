//! The tests of the `histeq-lab` program and of its library, as one binary.

// The program.
mod bench;
// The publications' figures.
mod figures;
// Command lines in the pages.
mod pages;
// Helpers of all tests.
#[path = "../support"]
mod support {
    // The backends under test.
    pub mod backends;
    // C++ programs for the CPU.
    pub mod host_program;
    // Files that are kept from run to run.
    pub mod kept_files;
    // Pictures to equalize.
    pub mod pictures;
    // Running programs.
    pub mod programs {
        // Programs that are loaded once and forked for each run.
        pub mod loaded;
        // Running the program in a separate folder.
        pub mod program;
        // Programs that run during a test.
        pub mod running;
    }
    // Random numbers.
    pub mod random;
    // Skips.
    pub mod skip;

    /// The environment variable that names the program under test, and the default program.
    pub const PROGRAM: (&str, &str) = ("HISTEQ_LAB_BIN", env!("CARGO_BIN_EXE_histeq-lab"));
}
// The kernels in an emulator on the CPU.
mod variant_kernels;
// Variants against results calculated by hand, and on a GPU.
mod variants;
