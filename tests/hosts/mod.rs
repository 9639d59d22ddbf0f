//! The library as its callers use it, in Rust, C and Python. The scripts here test the packages in their hosts.

// C programs, and the header.
mod from_c;
// `histeq::Equalizer`, compared with the program.
pub mod front;
// Types and help of the Python module.
mod python;
