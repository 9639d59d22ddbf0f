//! Where frames go.

mod encoders;
mod file;
mod fit;
mod metadata;
mod raw;
mod streams;
mod target;

pub use encoders::{EncoderChoice, Quality};
pub use file::{FileSink, OutputOptions, is_sequence};
pub use raw::{Framing, RawSink};
pub use target::{Overwrite, Target, TargetError};
