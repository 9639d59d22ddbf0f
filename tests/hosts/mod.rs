//! The library where others call it: Rust, C and Python. The scripts beside have the packages in their hosts.

// C programs, and the header.
mod from_c;
// `histeq::Equalizer` beside the program.
pub mod front;
// Types and help of the module.
mod python;
