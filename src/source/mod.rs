//! Where frames come from.

mod file;
mod native;
mod open;
mod raw;

pub use file::InputOptions;
pub use open::{RawOptions, open};
