//! The streaming engine: a source, an equalizer and a sink, each on its own thread, connected by bounded channels.
//! Frames stay in order, a slow stage slows down the earlier stages, and memory use does not depend on the length of
//! the video. [`live`] is the engine for cameras: it drops frames instead of delaying them.

mod cancel;
mod engine;
mod failure;
mod filtering;
mod flags;
mod flow;
pub mod live;
mod notices;
mod pauses;
mod progress;
mod stages;
mod transcoders;

pub use cancel::Cancel;
pub use engine::{Summary, run, run_with};
pub use failure::{ErrorWithRemedy, Failure, FailureKind, Interrupted, from_stage, reason, to_stage};
pub use filtering::Filtering;
pub use flags::{said, said_of_gpu};
pub use notices::{Level, Notices};
pub use pauses::{Outage, Pauses};
pub use progress::{NOT_CORRECTED, Progress, Stage, UNCHANGED};
pub use stages::{Delivery, Encoding, Input, Message, Outcome, PartPosition, ReaderGone, Sink, Source};
pub use transcoders::{InProcess, OpenTranscoders, Opened, Transcoded, Transcoders};
