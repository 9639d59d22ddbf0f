//! Image files.

pub(crate) mod fits;
pub(crate) mod picture;
pub(crate) mod webp;

pub use picture::write_drawn;
