//! The laboratory by way of the program. `main.rs` has the tests of `histeq-lab` itself, a binary of their own.

// The command.
mod bench;
// `--histogram`, `--scan`, `--block-size`, `--pixels-per-thread`.
mod options;
