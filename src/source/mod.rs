//! Where frames come from: implementations of [`Source`](crate::pipeline::Source).
//!
//! | file | what it is |
//! |---|---|
//! | `options.rs`, `part.rs` | what to read, and which part of it |
//! | `open.rs` | finds out what an input is |
//! | `video_reader.rs` | the decode loop: one video stream is decoded, packets of all others are handed on |
//! | `file` | whatever FFmpeg can open |
//! | `raw.rs` | raw frames and y4m |
//! | `live.rs`, `live_input.rs`, `opened.rs`, `clock.rs` | cameras and streams: opened, opened again, told the time |
//! | `sound.rs`, `microphone.rs` | the sound of a live input, and of a microphone |
//! | `native.rs` | converts what the equalizer does not take |

mod clock;
mod file;
mod live;
mod live_input;
mod microphone;
mod native;
mod open;
mod opened;
mod options;
mod part;
mod raw;
mod sound;
mod video_reader;

pub use clock::{Beginning, LiveClock};
pub use live::LiveSource;
pub use live_input::CameraOptions;
pub use microphone::MicrophoneSource;
pub use open::open;
pub use options::{InputOptions, RawOptions};
pub use part::Part;
