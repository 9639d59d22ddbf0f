//! What is written beside a video.

pub mod curves;
pub mod records;
pub mod statistics;
