//! Writes packets into a container.

pub(crate) mod container;
mod described;
pub(crate) mod muxer;
pub(crate) mod signalling;

pub use container::Container;
pub use muxer::{MUX_DELAY, Muxer, OutputStream};
pub use signalling::Signalling;
