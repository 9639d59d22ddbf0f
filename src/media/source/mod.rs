//! Where frames come from: implementations of [`Source`](crate::pipeline::Source).
//!
//! | file | what it is |
//! |---|---|
//! | `options.rs`, `part.rs` | what to read, and which part of it |
//! | `open.rs` | detects the kind of an input, and opens its source |
//! | `file` | files and other inputs of FFmpeg |
//! | `isolated` | an input that a process of its own opens and decodes |
//! | `failure.rs` | the kinds of errors |
//! | `raw.rs` | raw frames and y4m |
//! | `live.rs`, `live_input.rs`, `open_input.rs`, `clock.rs` | live inputs: found, opened again, timestamped |
//! | `sound.rs`, `microphone.rs` | the audio of a live input, and of a microphone |
//! | `video_reader.rs` | the decode loop: decodes one video stream, and passes on packets of all others |
//! | `packets.rs` | packets that are known before they are decoded |
//! | `filtered.rs` | filters that frames pass before they are equalized |
//! | `coloured.rs` | pictures that become RGB after the equalizer |
//! | `text.rs` | a text that is drawn into pictures |
//! | `log` | log footage: curves of cameras, what names them, how they are shown |
//! | `stack` | stacks of pictures that FFmpeg does not read: TIFF of all kinds, FITS, SER |
//! | `picture.rs` | reads a single picture |
//! | `native.rs` | converts pictures that are not native to native frames |

mod clock;
mod coloured;
mod failure;
mod file;
mod filtered;
pub mod isolated;
mod live;
mod live_input;
mod log;
mod lut;
mod microphone;
mod native;
mod open;
mod open_input;
mod options;
mod packets;
mod part;
mod picture;
mod raw;
mod sound;
mod stack;
mod text;
mod video_reader;

pub use clock::{LiveClock, StartTime};
pub use coloured::coloured;
pub use failure::kind_of_cause;
pub use file::sequence_of;
pub use filtered::{developed, filtered, shrunk};
pub use live::open_live;
pub use live_input::CameraOptions;
pub use log::{Developed, LogChoice, LogCurve};
pub use lut::looked_up;
pub use microphone::MicrophoneSource;
pub use open::open;
pub use options::{Gaps, InputOptions, Isolation, RawOptions};
pub use packets::{Chunk, InputChanged, PacketSurvey, PlannedPart, Reading};
pub use part::Part;
pub use picture::first_picture;
pub use text::with_text;
