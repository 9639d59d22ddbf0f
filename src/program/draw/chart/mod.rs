//! Drawing over pictures: histograms, curves, labels, dividing lines.

mod canvas;
mod graph;
pub(crate) mod label;

pub use canvas::Canvas;
pub use graph::{CURVE, bars, curve, divider};
pub use label::{Lettering, Side, label, words};
