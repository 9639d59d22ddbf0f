//! Plots as SVG: a drawing that escapes its text, and axes with round ticks. What is plotted is the business of the modules
//! that plot.

mod axis;
mod drawing;

pub use axis::Axis;
pub use drawing::{Anchor, Drawing, Spread, escaped};
