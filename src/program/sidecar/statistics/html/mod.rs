//! The page with plots.

pub(crate) mod levels;
pub(crate) mod page;
pub(crate) mod scenes;
mod series;
