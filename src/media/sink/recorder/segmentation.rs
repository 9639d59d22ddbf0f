//! How a recording is split into segments.

use crate::sink::recorder::kept::{Retention, Shelf};
use jiff::ZonedDateTime;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a recording is split into segments.
#[derive(Clone)]
pub struct Segmentation {
    /// The length of a segment; must be more than 0.
    pub length: Duration,
    /// How long recordings are kept.
    pub retention: Retention,
    /// The list of all recordings of this run.
    pub shelf: Shelf,
    /// Called with each completed segment.
    pub ended: Arc<dyn Fn(Segment) + Send + Sync>,
}

impl std::fmt::Debug for Segmentation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segmentation({:?}, {:?})", self.length, self.retention)
    }
}

/// A completed segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The path of the file.
    pub file: PathBuf,
    /// When it began, in local time.
    pub begin: ZonedDateTime,
    /// Length of the segment, in seconds.
    pub seconds: f64,
    /// Number of frames in the segment.
    pub frames: u64,
    /// Size of the file, in bytes.
    pub bytes: u64,
}
