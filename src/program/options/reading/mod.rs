//! Options of what is read.

pub(crate) mod input;
pub(crate) mod limits;
pub(crate) mod part;
pub(crate) mod sandbox;
pub(crate) mod sequence;

pub use limits::RunLimits;
pub use sandbox::Sandbox;
pub use sequence::images_in;
