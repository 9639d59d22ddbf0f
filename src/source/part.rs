//! Which part of an input is asked for.

/// Which frames of a stream to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Where to begin, in microseconds.
    pub start: Option<i64>,
    /// How much to read, in microseconds.
    pub duration: Option<i64>,
    /// How many frames to read.
    pub frames: Option<u64>,
}
