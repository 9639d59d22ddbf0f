//! Where frames go: implementations of [`Sink`](crate::pipeline::Sink).
//!
//! | file | what it is |
//! |---|---|
//! | `kind.rs`, `open.rs` | the kinds of output: which one a name stands for; opens one |
//! | `files` | the place that is written to, what may be overwritten, files in the making |
//! | `file.rs` | encodes into a container |
//! | `encoder` | which encoder, how it is set, and pictures and times that suit it |
//! | `kept` | what an output keeps beside the picture: other streams and metadata, by container |
//! | `pieces` | pieces of a video, and the file that is joined of them |
//! | `recorder` | recordings in segments, and how long they are kept |
//! | `live` | servers, which may go away and come back; virtual cameras; browsers |
//! | `image` | what image files need: a single picture, durations in WebP, headers of FITS |
//! | `raw.rs` | raw frames and y4m |

pub mod encoder;
mod file;
pub mod files;
pub mod image;
pub mod kept;
mod kind;
pub mod live;
mod open;
mod options;
pub mod pieces;
mod raw;
pub(crate) mod recorder;

pub use file::is_sequence_name;
pub use kind::{OutputKind, VIRTUAL_CAMERA};
pub use open::{check_two_passes, live_target, open, target, try_out};
pub use options::OutputOptions;
pub use recorder::{Recorded, Retention, Segment, Segmentation, Shelf, check_segment_names, free_bytes, recordings};
