//! Where frames go: implementations of [`Sink`](crate::pipeline::Sink).
//!
//! | file | what it is |
//! |---|---|
//! | `target.rs` | the place that is written to, and what may be overwritten |
//! | `sources.rs` | which outputs are an input, or may be one |
//! | `temporary.rs`, `file_names.rs` | files in the making, and names beside a file's own |
//! | `kind.rs` | the kinds of output: which one a name stands for |
//! | `open.rs` | opens one of that kind |
//! | `file.rs` | encodes into a container |
//! | `encoder_choice.rs`, `encoder_table.rs` | which encoder, and how it is set |
//! | `fit.rs`, `steady.rs`, `clock.rs` | pixel format, size and times for the encoder; properties of all pictures |
//! | `streams.rs`, `stream_choice.rs`, `metadata.rs` | the other streams, which of them are kept, and the metadata |
//! | `keeps.rs` | which metadata of files each container keeps |
//! | `encoder_start.rs` | opens the encoder |
//! | `piece.rs`, `joinable.rs`, `piece_file.rs`, `joined.rs` | pieces of a video, and the file that is joined of them |
//! | `power_loss.rs` | has a recording written to the disk while it grows |
//! | `two_pass.rs` | two passes of an encoder, to meet a size |
//! | `recorder` | recordings in segments, and how long they are kept |
//! | `reconnecting.rs` | live streams to servers, which may go away and come back |
//! | `virtual_camera.rs` | writes to v4l2loopback |
//! | `browser_stream.rs` | two pictures as a video that browsers play |
//! | `picture.rs` | writes a single picture |
//! | `webp.rs` | the last duration of an animated WebP |
//! | `fits_file.rs` | headers of FITS |
//! | `raw.rs` | raw frames and y4m |

mod browser_stream;
mod clock;
mod encoder_choice;
mod encoder_start;
mod encoder_table;
mod file;
mod file_names;
mod fit;
mod fits_file;
mod joinable;
mod joined;
mod keeps;
mod kind;
mod metadata;
mod open;
mod picture;
mod piece;
mod piece_file;
mod power_loss;
mod raw;
mod reconnecting;
mod recorder;
mod sources;
mod steady;
mod stream_choice;
mod streams;
mod target;
mod temporary;
mod together;
mod two_pass;
mod virtual_camera;
mod webp;

pub use browser_stream::{BrowserStream, Fragment, Pairs};
pub use encoder_choice::{EncoderChoice, Quality};
pub use file::{OutputOptions, is_sequence_name};
pub use file_names::{is_free, name_of, next_names};
pub use fit::PixelChoice;
pub use joinable::{PieceEncoder, piece_encoder};
pub use joined::{JoinedFile, check_joined};
pub use keeps::{FileMetadata, KEPT, KEPT_OF_IMAGES};
pub use kind::{OutputKind, VIRTUAL_CAMERA};
pub use open::{check_two_passes, live_target, open, target, try_out};
pub use picture::write_drawn;
pub use piece::{PieceOf, PieceSink};
pub use piece_file::{KeptPacket, PieceDescription, PieceFile};
pub use reconnecting::network_format;
pub use recorder::{Recorded, Retention, Segment, Segmentation, Shelf, check_segment_names, free_bytes, recordings};
pub use sources::is_made_here;
pub use stream_choice::StreamChoice;
pub use target::{Files, Overwrite, Skipped, Target};
pub use temporary::Leftover;
pub use together::Together;
pub use two_pass::{Measured, Pass, SizeRule, TooLarge};
