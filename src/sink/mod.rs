//! Where frames go.

mod clock;
mod encoder_choice;
mod encoder_table;
mod file;
mod fit;
mod metadata;
mod open;
mod raw;
mod streams;
mod target;

pub use encoder_choice::{EncoderChoice, Quality};
pub use file::{OutputOptions, makes_images};
pub use open::{live_target, open, target};
pub use target::{Files, Overwrite, Target, TargetError};
