//! Charts, comparisons, sheets and the colour bar.

pub mod chart;
pub mod colour_bar;
pub mod comparison;
pub mod sheet;
pub mod shown;
