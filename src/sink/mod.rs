//! Where frames go.

mod clock;
mod encoders;
mod file;
mod fit;
mod metadata;
mod open;
mod raw;
mod streams;
mod target;

pub use encoders::{EncoderChoice, Quality};
pub use file::{OutputOptions, makes_images};
pub use open::{live_target, open, target};
pub use target::{Files, Overwrite, Target, TargetError};
