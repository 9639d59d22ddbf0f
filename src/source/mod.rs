//! Where frames come from.

mod file;
mod native;

pub use file::{FileSource, InputOptions};
