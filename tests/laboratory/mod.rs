//! The laboratory by way of the program. `main.rs` has the tests of `histeq-lab` itself, a binary of their own.

mod bench;
mod options;
