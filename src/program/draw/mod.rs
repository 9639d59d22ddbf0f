//! Drawings.

pub mod chart;
pub mod comparison;
pub mod sheet;
pub mod shown;
