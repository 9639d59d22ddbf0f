//! Where frames come from: implementations of [`Source`](crate::pipeline::Source) and of
//! [`Camera`](crate::pipeline::live::Camera).
//!
//! | file | what it is |
//! |---|---|
//! | `options.rs`, `part.rs` | what to read, and which part of it |
//! | `open.rs` | finds out what an input is |
//! | `file` | whatever FFmpeg can open: video that is decoded, packets of everything else |
//! | `raw.rs` | raw frames and y4m |
//! | `live.rs`, `live_input.rs`, `clock.rs` | cameras and streams: opened, opened again, told the time |
//! | `native.rs` | converts what the equalizer does not take |

mod clock;
mod file;
mod live;
mod live_input;
mod microphone;
mod native;
mod open;
mod options;
mod part;
mod raw;
mod sound;

pub use clock::{Beginning, LiveClock};
pub use live::LiveSource;
pub use live_input::CameraOptions;
pub use microphone::MicrophoneSource;
pub use open::open;
pub use options::{InputOptions, RawOptions};
pub use part::Part;
