//! Encoding in two passes, for an output that must not exceed a number of bytes.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// One of the two passes of an encoder.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The file in which the first pass stores the statistics of each frame for the second.
    pub stats: PathBuf,
    /// The bit rate of the video in the second pass, in bits per second; `None` in the first.
    pub bit_rate: Option<u64>,
}

/// Whether the size of an output is measured or limited.
#[derive(Clone, Debug)]
pub enum SizeRule {
    /// Measures the size.
    Measure(Arc<OnceLock<Measured>>),
    /// An output of more bytes than this is an error, and is not kept.
    AtMost(u64),
}

/// The size of an output.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The encoder's name.
    pub encoder: String,
    /// FFmpeg's name of the encoded pixel format.
    pub format: String,
    /// Columns and rows of the encoded frames.
    pub size: (usize, usize),
    /// Frames per second, if known.
    pub rate: Option<f64>,
    /// Size of the whole output, in bytes.
    pub all: u64,
    /// Size of the video, in bytes.
    pub video: u64,
    /// Number of key frames.
    pub key_frames: u64,
    /// Size of the key frames, in bytes.
    pub key_bytes: u64,
    /// Length of the video, in seconds.
    pub seconds: f64,
}

/// The error for an output that exceeds the size limit.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the output has {0} bytes, more than --target-size allows (give it more, or a shorter part)")]
pub struct TooLarge(pub u64);

impl Pass {
    /// Adds the options of this pass to those of the encoder `name`.
    pub(crate) fn add_to(&self, name: &str, options: &mut Vec<(String, String)>) {
        let (number, stats) = (if self.bit_rate.is_some() { 2 } else { 1 }, self.stats.display());
        let mut add = |key: &str, value: String| match options.iter_mut().find(|(other, _)| other == key) {
            Some((_, parameters)) => *parameters += &format!(":{value}"),
            None => options.push((key.to_owned(), value)),
        };
        if name == "libx265" {
            add("x265-params", format!("pass={number}:stats={stats}"));
        } else {
            add("flags", format!("+pass{number}"));
            add("stats", stats.to_string());
        }
    }
}
