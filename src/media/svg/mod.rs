//! Plots as SVG: a drawing that escapes its text, and axes with round ticks.

mod axis;
mod drawing;

pub use axis::Axis;
pub use drawing::{Anchor, Drawing, Spread, escaped};
