//! Files that are written beside a video: statistics and curves.

pub mod curves;
mod record_file;
pub mod records;
pub mod statistics;
