//! Live inputs: found, opened again, timestamped; the sound of a camera and of a microphone.

pub(crate) mod clock;
pub(crate) mod input;
pub(crate) mod microphone;
mod open;
pub(crate) mod reader;
mod sound;

pub use clock::{LiveClock, StartTime};
pub use input::CameraOptions;
pub use microphone::MicrophoneSource;
pub use reader::open_live;
