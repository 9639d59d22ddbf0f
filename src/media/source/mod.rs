//! Where frames come from: implementations of [`Source`](crate::pipeline::Source).
//!
//! | file | what it is |
//! |---|---|
//! | `options.rs`, `part.rs` | what to read, and which part of it |
//! | `open.rs` | detects the kind of an input, and opens its source |
//! | `file` | files and other inputs of FFmpeg |
//! | `isolated` | an input that a process of its own opens and decodes |
//! | `live` | live inputs: found, opened again, timestamped; their sound, and that of a microphone |
//! | `raw.rs` | raw frames and y4m |
//! | `stack` | stacks of pictures that FFmpeg does not read: TIFF of all kinds, FITS, SER |
//! | `picture.rs` | reads a single picture |
//! | `video_reader.rs` | the decode loop: decodes one video stream, and passes on packets of all others |
//! | `packets.rs` | packets that are known before they are decoded |
//! | `native.rs` | converts pictures that are not native to native frames |
//! | `log` | log footage: curves of cameras, what names them, how they are shown |
//! | `filter` | filters, colour tables and texts, before the equalizer and behind it |
//! | `failure.rs` | the kinds of errors |

mod failure;
mod file;
pub mod filter;
pub mod isolated;
pub mod live;
mod log;
mod native;
mod open;
mod options;
mod packets;
mod part;
mod picture;
mod raw;
mod stack;
mod video_reader;

pub use failure::kind_of_cause;
pub use file::sequence_of;
pub use log::{Developed, LogChoice, LogCurve};
pub use open::open;
pub use options::{Gaps, InputOptions, Isolation, RawOptions};
pub use packets::{Chunk, InputChanged, PacketSurvey, PlannedPart, Reading};
pub use part::Part;
pub use picture::first_picture;
