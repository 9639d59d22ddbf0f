//! The library where others call it: Rust, C and Python. The scripts beside have the packages in their hosts.

mod from_c;
pub mod front;
mod python;
