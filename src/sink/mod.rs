//! Where frames go.

mod encoders;
mod file;
mod fit;
mod metadata;
mod open;
mod raw;
mod streams;
mod target;

pub use encoders::{EncoderChoice, Quality};
pub use file::{OutputOptions, is_sequence, makes_images};
pub use open::open;
pub use target::{Overwrite, Target, TargetError};
