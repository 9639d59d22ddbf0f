//! The commands.

#[cfg_attr(not(feature = "lab"), path = "without_bench.rs")]
pub mod bench;
pub mod compare;
pub mod devices;
pub mod live;
pub mod piecework;
pub mod preview;
pub mod restore;
