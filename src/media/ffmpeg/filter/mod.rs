//! Converts pictures, and runs them through libavfilter's filters.

pub(crate) mod converter;
mod fields;
pub(crate) mod graph;

pub use converter::{Converter, VideoFormat};
pub use graph::{Conversion, FilterGraph, GraphVideo};
