//! Equalizing a file.

pub mod pass;
pub mod scene_survey;
pub mod size;
pub mod target_size;
