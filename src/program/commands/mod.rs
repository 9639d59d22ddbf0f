//! The commands.

#[cfg(feature = "lab")]
pub mod bench;
pub mod compare;
pub mod devices;
pub mod live;
pub mod piecework;
pub mod preview;
pub mod restore;
