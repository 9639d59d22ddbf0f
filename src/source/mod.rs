//! Where frames come from.

mod file;
mod native;
mod raw;

pub use file::{FileSource, InputOptions};
pub use raw::{Part, RawSource};
