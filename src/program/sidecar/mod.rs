//! What is written beside a video.

pub mod curves;
mod record_file;
pub mod records;
pub mod statistics;
